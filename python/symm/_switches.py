"""Switches of the compiler: for all kernels in the environment, for one by a decorator.

They are part of what Triton's cache of compiled kernels is asked for. A kernel that is dumped is compiled anew in each
process.
"""

from __future__ import annotations

import os
import threading
import uuid
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from triton.runtime.jit import JITFunction

from .errors import ArgumentError

Kernel = TypeVar("Kernel")
STRICT, DUMP, BOUNDS = "SYMM_STRICT", "SYMM_DUMP", "SYMM_BOUNDS_CHECKS"
# What a kernel has of its own, and no other process asks the cache for.
OWN, THIS_PROCESS = "symm_switches", uuid.uuid4().hex


class Switches(NamedTuple):
    """`strict`: errors instead of repairs. `dump`: the folder for the text of each stage. `bounds`: what leaves its
    tensor is left out, and told. `trace`: programs record what they do.
    """

    strict: bool = False
    dump: str = ""
    bounds: bool = False
    trace: bool = False

    def key(self):
        """What tells kernels compiled with these from others; empty with none."""
        if self == Switches():
            return ""
        more = [name for name in ("bounds", "trace") if getattr(self, name)]
        return " ".join([f"strict={self.strict}", f"dump={self.dump and THIS_PROCESS}", *more])


class Tracing:
    """Whether this process makes a timeline of compiled kernels."""

    is_on = False


class Current(threading.local):
    """The kernel that this thread compiles: its name, its hash and its switches; whether torch does, to look what it
    writes.
    """

    name, hash, switches, is_analysed = "", "", Switches(), False


current = Current()


def options(
    *, strict: bool | None = None, dump: str | os.PathLike[str] | None = None, bounds_checks: bool | None = None
) -> Any:
    """A decorator of kernels, before `@triton.jit` or `@gluon.jit`, for switches of the compiler.

    With `strict` what the compiler would repair and warn of is an error. With `dump`, a folder, it writes there what it
    is given, what each pass makes of it, and all that Triton makes of that. With `bounds_checks` the compiled kernel
    leaves out an access that leaves its tensor, and World.check and all that waits for the device raises BoundsError.
    What is None is as the environment says: SYMM_STRICT=1, SYMM_DUMP=FOLDER, SYMM_BOUNDS_CHECKS=1.
    """
    for name, told in {"strict": strict, "bounds_checks": bounds_checks}.items():
        if told is not None and not isinstance(told, bool):
            raise ArgumentError(f"options: {name} must be True or False, not {told!r}")
    if dump is not None and not isinstance(dump, (str, os.PathLike)):
        raise ArgumentError(f"options: dump must be a folder, not {dump!r}")

    def decorate(kernel: Kernel) -> Kernel:
        if not isinstance(kernel, JITFunction) and not hasattr(kernel, "fn"):
            raise ArgumentError(f"options: {kernel!r} is not a kernel: write it above @triton.jit")
        setattr(kernel, OWN, (strict, dump, bounds_checks))
        return kernel

    return decorate


def of(kernel):
    """The switches of a kernel."""
    strict, dump, bounds = getattr(kernel, OWN, (None, None, None))
    # What comes with symm is right, and not to be slower.
    is_ours = getattr(kernel, "__module__", "").startswith(f"{__package__}.")
    if bounds is None:
        bounds = is_on(BOUNDS) and not is_ours
    folder = os.fspath(dump) if dump is not None else os.environ.get(DUMP, "")
    return Switches(is_on(STRICT) if strict is None else strict, folder, bounds, Tracing.is_on and not is_ours)


def is_on(name):
    """A switch of the environment, off where nothing is said."""
    told = os.environ.get(name, "")
    if told not in ("", "0", "1"):
        raise ArgumentError(f"{name} must be 0 or 1, not {told!r}")
    return told == "1"


def write(folder, name, number, texts):
    """Writes texts by their names, numbered from `number`, for a kernel of this name and hash."""
    place = Path(folder) / name
    try:
        place.mkdir(parents=True, exist_ok=True)
        for index, (stage, text) in enumerate(texts, number):
            (place / f"{index:02}-{stage}").write_text(text)
    except OSError as error:
        raise ArgumentError(f"{DUMP}: cannot write to {place}: {error}") from None
