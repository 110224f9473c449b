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
STRICT, DUMP = "SYMM_STRICT", "SYMM_DUMP"
# What a kernel has of its own, and no other process asks the cache for.
OWN, THIS_PROCESS = "symm_switches", uuid.uuid4().hex


class Switches(NamedTuple):
    """`strict`: errors instead of repairs. `dump`: the folder for the text of each stage."""

    strict: bool = False
    dump: str = ""

    def key(self):
        """What tells kernels compiled with these from others; empty with none."""
        return f"strict={self.strict} dump={self.dump and THIS_PROCESS}" if self != Switches() else ""


class Current(threading.local):
    """The kernel that this thread compiles: its name, its hash and its switches; whether torch does, to look what it
    writes.
    """

    name, hash, switches, is_analysed = "", "", Switches(), False


current = Current()


def options(*, strict: bool | None = None, dump: str | os.PathLike[str] | None = None) -> Any:
    """A decorator of kernels, before `@triton.jit` or `@gluon.jit`, for switches of the compiler.

    With `strict` what the compiler would repair and warn of is an error. With `dump`, a folder, it writes there what it is
    given, what each pass makes of it, and all that Triton makes of that. What is None is as the environment says:
    SYMM_STRICT=1, SYMM_DUMP=FOLDER.
    """
    if strict is not None and not isinstance(strict, bool):
        raise ArgumentError(f"options: strict must be True or False, not {strict!r}")
    if dump is not None and not isinstance(dump, (str, os.PathLike)):
        raise ArgumentError(f"options: dump must be a folder, not {dump!r}")

    def decorate(kernel: Kernel) -> Kernel:
        if not isinstance(kernel, JITFunction) and not hasattr(kernel, "fn"):
            raise ArgumentError(f"options: {kernel!r} is no kernel: write it above @triton.jit")
        setattr(kernel, OWN, (strict, dump))
        return kernel

    return decorate


def of(kernel):
    """The switches of a kernel."""
    strict, dump = getattr(kernel, OWN, (None, None))
    if strict is None:
        told = os.environ.get(STRICT, "")
        if told not in ("", "0", "1"):
            raise ArgumentError(f"{STRICT} must be 0 or 1, not {told!r}")
        strict = told == "1"
    return Switches(strict, os.fspath(dump) if dump is not None else os.environ.get(DUMP, ""))


def write(folder, name, number, texts):
    """Writes texts by their names, numbered from `number`, for a kernel of this name and hash."""
    place = Path(folder) / name
    try:
        place.mkdir(parents=True, exist_ok=True)
        for index, (stage, text) in enumerate(texts, number):
            (place / f"{index:02}-{stage}").write_text(text)
    except OSError as error:
        raise ArgumentError(f"{DUMP}: cannot write to {place}: {error}") from None
