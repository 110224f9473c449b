"""The engine that reaches ranks of other nodes (N1 to N4), as far as kernels are concerned: what they are linked with,
and what each of their modules needs when it is loaded.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import functools
import hashlib
import importlib.util
import os
import re
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from . import _symm
from ._memory import text_of, torch
from ._symm import NVSHMEM as NAME
from .errors import ArgumentError, EngineError

# What symm.init is asked for, where it is not told.
ENGINE, DOMAIN = "SYMM_ENGINE", "SYMM_DOMAIN"
# Where the libraries are, if not in NVIDIA's wheel.
HOST, BITCODE = "SYMM_NVSHMEM_LIBRARY", "SYMM_NVSHMEM_BITCODE"
WHEEL = "nvidia.nvshmem"
MEND = "install nvidia-nvshmem-cu13 (or -cu12) 3.4 or later, or name the file in "
# Of the versions that have what is called.
OLDEST = (3, 4)
# What a module has that calls the engine.
STATE = "nvshmemi_device_state_d"
# After so many seconds a user is told what takes the time.
LONG = 1.0
# The entry of a kernel's metadata that says that it calls the engine.
LINKED = "symm_engine"


class Current:
    """The engine of this process: kernels that are compiled from now on have a far path. Until symm.init says more it
    is the environment's, so that kernels can be compiled where no ranks run.
    """

    name = NAME if os.environ.get(ENGINE) == NAME else ""
    # What the environment says, if there is no such engine.
    unknown = "" if name else os.environ.get(ENGINE, "")


def use(name: str) -> None:
    """Makes kernels of this process reach far ranks."""
    if name not in ("", NAME):
        raise EngineError(f"there is no engine {name!r}: use {NAME!r}")
    Current.name, Current.unknown = name, ""


def asked(engine: Any, domain: Any, device: str) -> tuple[str | None, int | None]:
    """The engine and the domain of a run. Raises an error where they do not exist."""
    engine, name = _given(engine, "engine", ENGINE)
    domain = _domain(domain, engine is not None or device == "cpu")
    if engine is None:
        return None, domain
    is_set = name == ENGINE
    if engine != NAME:
        either = f"{NAME!r}, or unset" if is_set else f"{NAME!r} or None"
        raise ArgumentError(f"symm.init: {name} must be {either}, not {text_of(engine)}")
    if device == "cpu":
        mend = f"unset {ENGINE}" if is_set else "leave it out"
        raise EngineError(f"symm.init: no engine reaches ranks on the CPU: {mend}; domain=N simulates far ranks")
    if device != "cuda":
        told = f" ({ENGINE} is set)" if is_set else ""
        raise EngineError(f"symm.init: NVSHMEM is for NVIDIA GPUs, and there is no engine for AMD's yet{told}")
    bitcodes()
    _host()
    # The runtime is to find the same one.
    os.environ.setdefault(HOST, host_library())
    return engine, domain


def _domain(domain, can_be):
    domain, name = _given(domain, "domain", DOMAIN)
    if name == DOMAIN and re.fullmatch("[0-9]+", domain):
        domain = int(domain)
    if domain is not None and (isinstance(domain, bool) or not isinstance(domain, int) or not 0 < domain < 2**63):
        raise ArgumentError(f"symm.init: {name} must be a number of ranks from 1 to 2**63 - 1, not {text_of(domain)}")
    if domain is not None and not can_be:
        raise ArgumentError(f"symm.init: {name} is for an engine: give engine={NAME!r}, too, or set {ENGINE}={NAME}")
    return domain


def _given(value, name, variable):
    """What is asked for, or else what a variable says, and which of them it is from."""
    told = os.environ.get(variable)
    return (told, variable) if value is None and told else (value, name)


def key() -> str:
    """What tells kernels that call this process's engine from others; empty without one."""
    if Current.unknown:
        raise EngineError(f"{ENGINE} must be {NAME!r}, or unset, not {text_of(Current.unknown)}")
    return f"{Current.name} {_digest(bitcodes())} {_symm.far_sends_from_gpu()}" if Current.name else ""


def host_library() -> str:
    """NVSHMEM's library for the host."""
    if told := os.environ.get(HOST):
        return told
    found = [path for folder in _folders() for path in sorted(folder.glob("libnvshmem_host.so*"))]
    return str(found[0]) if found else "libnvshmem_host.so.3"


def bitcodes() -> tuple[str, ...]:
    """NVSHMEM's device library as bitcode: one file, or one for each kind of GPU."""
    if told := os.environ.get(BITCODE):
        if not Path(told).is_file():
            mend = f"name the right one, or unset {BITCODE}"
            raise EngineError(f"{BITCODE} names {told}, and there is no such file: {mend}")
        return (told,)
    for folder in _folders():
        if found := sorted(map(str, folder.glob("libnvshmem_device*.bc"))):
            return tuple(found)
    raise EngineError(f"NVSHMEM's device library (libnvshmem_device.bc) is not found: {MEND}{BITCODE}")


def _folders():
    try:
        found = importlib.util.find_spec(WHEEL)
    except ModuleNotFoundError:
        return []
    return [Path(place) / "lib" for place in (found.submodule_search_locations or ())] if found else []


def bitcode_for(capability: int) -> str:
    """The file for GPUs of a compute capability (90)."""
    files = bitcodes()
    if len(files) == 1:
        return files[0]
    numbered = [(int(number[1]), file) for file in files if (number := re.search(r"sm_(\d+)", file))]
    fitting = [pair for pair in numbered if pair[0] <= capability]
    if not fitting:
        raise EngineError(f"NVSHMEM has no device library for sm_{capability}: {', '.join(files)}")
    return max(fitting)[1]


@functools.cache
def _digest(files):
    digest = hashlib.sha256()
    for file in files:
        found = os.stat(file)
        digest.update(f"{file} {found.st_size} {found.st_mtime_ns}\0".encode())
    return digest.hexdigest()[:16]


def library(capability: int) -> str:
    """What kernels are linked with: NVSHMEM's device library, with what they call and nothing else. It is made once, in
    some seconds, and kept beside the kernels in Triton's cache. Of several ranks one makes it, and the others wait.
    """
    return _library(bitcode_for(capability), _symm.far_sends_from_gpu())


@functools.cache
def _library(source, from_gpu):
    from triton import knobs

    from ._fingerprint import fingerprint

    name = hashlib.sha256(f"{fingerprint()} {_digest((source,))} {from_gpu}".encode()).hexdigest()[:32]
    target = Path(knobs.cache.dir) / f"symm-far-{name}.bc"
    if not _is_whole(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with _alone(target.with_suffix(".lock")):
            # Another rank may have made it meanwhile.
            if not _is_whole(target):
                _make(target, source)
    return str(target)


def _is_whole(file):
    # Triton would crash, or complain of LLVM, over one that is damaged.
    return file.is_file() and _symm.far_is_whole(file.read_bytes())


@contextlib.contextmanager
def _alone(path):
    """No other process or thread is in here with the same file. One that dies is out."""
    with open(path, "a") as file:
        # Without locks in this file system each makes its own.
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            # A process that was forked meanwhile has the file open, too.
            with contextlib.suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_UN)


def _make(target, source):
    made = _trimmed(source)
    file, path = tempfile.mkstemp(dir=target.parent)
    with os.fdopen(file, "wb") as output:
        output.write(made)
    os.replace(path, target)


def _trimmed(source):
    said = f"symm: trimming {source} to what kernels call, once, which takes some seconds"
    teller = threading.Timer(LONG, lambda: print(said, file=sys.stderr, flush=True))
    teller.daemon = True
    teller.start()
    try:
        return _symm.far_library(Path(source).read_bytes())
    except ValueError as error:
        raise EngineError(f"{source}: {error}") from None
    finally:
        teller.cancel()


def linked(options: Any, capability: int) -> Any:
    """Triton's options for a kernel, linked with the engine."""
    import dataclasses

    libraries = dict(options.extern_libs or ())
    return dataclasses.replace(options, extern_libs={**libraries, "symm_far": library(capability)})


@functools.cache
def _host():
    path = host_library()
    try:
        library = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise EngineError(f"NVSHMEM's library {path} cannot be loaded ({error}): {MEND}{HOST}") from None
    version = [ctypes.c_int(), ctypes.c_int(), ctypes.c_int()]
    try:
        library.nvshmemx_vendor_get_version_info(*map(ctypes.byref, version))
    except AttributeError:
        raise EngineError(f"{path} is no library of NVSHMEM: {MEND}{HOST}") from None
    major, minor, _ = numbers = tuple(number.value for number in version)
    if major != OLDEST[0] or minor < OLDEST[1]:
        raise EngineError(f"{path} is NVSHMEM {'.'.join(map(str, numbers))}: {MEND}{HOST}")
    return library


def loaded(module: int) -> None:
    """Connects a loaded module of kernels with the engine: without that they fault."""
    initialise = _host().nvshmemx_cumodule_init
    initialise.argtypes = [ctypes.c_void_p]
    # NVSHMEM would fail, and could not be ended afterwards: its own stream stays a part of the capture.
    if torch().cuda.is_current_stream_capturing():
        mend = "launch the kernel once before the capture"
        raise EngineError(f"NVSHMEM cannot initialise a kernel's module while a graph is captured: {mend}")
    if failed := initialise(module):
        raise EngineError(f"NVSHMEM cannot initialise a kernel's module (status {failed}): was the engine started?")
