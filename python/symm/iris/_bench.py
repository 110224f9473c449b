"""How long something takes on the device, measured as Iris measures it."""

from __future__ import annotations

import math
import statistics
import time
from typing import TYPE_CHECKING, Any, Literal

from .._memory import integer, text_of, torch
from ..errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SUMMARIES = {"mean": statistics.mean, "median": statistics.median, "min": min, "max": max, "all": list}
# Larger than the caches of the GPUs.
CACHE_BYTES = 256 << 20


def do_bench(
    fn: Callable[[], object],
    barrier_fn: Callable[[], object] | None = None,
    preamble_fn: Callable[[], object] | None = None,
    n_warmup: int = 25,
    n_repeat: int = 100,
    quantiles: Sequence[float] | None = None,
    return_mode: Literal["mean", "median", "min", "max", "all"] = "mean",
) -> Any:
    """How many milliseconds `fn` takes on the device, over `n_repeat` calls.

    `barrier_fn` and `preamble_fn` are called before each; the GPU's caches are emptied. Returns the quantiles (from 0
    to 1) if some are asked for, else "mean", "median", "min", "max" or "all" of the times.
    """
    barrier_fn, preamble_fn = (_nothing if each is None else each for each in (barrier_fn, preamble_fn))
    shares = _checked(fn, barrier_fn, preamble_fn, n_warmup, n_repeat, quantiles)
    if not isinstance(return_mode, str) or return_mode not in SUMMARIES:
        raise ArgumentError(f"do_bench: return_mode must be one of {', '.join(SUMMARIES)}, not {text_of(return_mode)}")
    on_gpu = torch().cuda.is_available()
    cache = torch().empty(CACHE_BYTES // 4, dtype=torch().int32, device="cuda") if on_gpu else None
    times = []
    for turn in range(n_warmup + n_repeat):
        barrier_fn()
        preamble_fn()
        if on_gpu:
            cache.fill_(0)
        barrier_fn()
        measured = _on_gpu(fn) if on_gpu else _on_host(fn)
        if turn >= n_warmup:
            times.append(measured)
    barrier_fn()
    times = [measured() for measured in times]
    if quantiles is None:
        return SUMMARIES[return_mode](times)
    found = [_quantile(sorted(times), share) for share in shares]
    return found[0] if len(found) == 1 else found


def _nothing():
    """What is called where nothing is asked for."""


def _checked(fn, barrier_fn, preamble_fn, n_warmup, n_repeat, quantiles):
    """The quantiles as numbers; an error for an argument of `do_bench` that is none, before anything runs."""
    for name, value in (("fn", fn), ("barrier_fn", barrier_fn), ("preamble_fn", preamble_fn)):
        if not callable(value):
            raise ArgumentError(f"do_bench: {name} must be a function without arguments, not {text_of(value)}")
    for name, value, least in (("n_warmup", n_warmup, 0), ("n_repeat", n_repeat, 1)):
        if integer(value) is None or integer(value) < least:
            raise ArgumentError(f"do_bench: {name} must be an integer from {least}, not {text_of(value)}")
    try:
        shares = [] if quantiles is None else [float(share) for share in quantiles]
    except (TypeError, ValueError):
        shares = [math.nan]
    if not all(0 <= share <= 1 for share in shares):
        raise ArgumentError(f"do_bench: quantiles must be a list of numbers from 0 to 1, not {text_of(quantiles)}")
    return shares


def _on_gpu(fn):
    start, end = (torch().cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    fn()
    end.record()

    def milliseconds():
        end.synchronize()
        return start.elapsed_time(end)

    return milliseconds


def _on_host(fn):
    start = time.perf_counter()
    fn()
    milliseconds = 1000 * (time.perf_counter() - start)
    return lambda: milliseconds


def _quantile(ordered, share):
    """The quantile of sorted values, interpolated between two of them."""
    below, part = divmod(share * (len(ordered) - 1), 1)
    above = min(int(below) + 1, len(ordered) - 1)
    return (1 - part) * ordered[int(below)] + part * ordered[above]
