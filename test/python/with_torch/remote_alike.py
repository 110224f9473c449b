"""Programs that do on a worker what they do here: their results are as here, or they raise what they raise here."""

import torch
from torch.utils._pytree import tree_map

PROGRAMS = {}


def program(function):
    """Notes a program; it takes the device."""
    PROGRAMS[function.__name__] = function
    return function


def outcome(function, device):
    """The result on the CPU, or what was raised."""
    torch.manual_seed(0)
    try:
        result = tree_map(
            lambda value: value.detach().cpu() if isinstance(value, torch.Tensor) else value, function(device)
        )
        if device != "cpu":
            torch.remote.synchronize()
        return result
    except Exception as error:
        return error


def check(function, device):
    """Fails where a program is not alike here and there."""
    here, there = outcome(function, "cpu"), outcome(function, device)
    if isinstance(here, Exception):
        assert isinstance(there, type(here)), f"{here!r} here, {there!r} on {device}"
        return
    if isinstance(there, Exception):
        raise there
    torch.testing.assert_close(there, here, rtol=1e-4, atol=1e-5, equal_nan=True)
