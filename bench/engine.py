#!/usr/bin/env python3
"""Measures how long kernels compile for NVSHMEM, against the same ones without an engine. It needs no GPU.

    ./x ptxas
    PYTHONPATH=python target/python/torch-2.11/bin/python bench/engine.py --nvshmem FOLDER…

FOLDER has a version's include and lib, such as nvidia/nvshmem in what `pip download nvidia-nvshmem-cu13==3.8.0` unpacks
to. Without it the version is measured that Python's packages have (torch brings one).

Prints processor seconds: of Triton kernels from their Python to PTX (sm_90), of examples/hello.mlir from MLIR to PTX,
and of ptxas for each; medians of compilations that take turns. Before them NVSHMEM's device library is trimmed to what
kernels call, which is kept afterwards; how long that takes is printed, too.
"""

import argparse
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "test/python"))
TRANSLATE = ROOT / "target/release/symm-translate"
PTXAS = ROOT / "target/ptxas/nvidia/cu13/bin/ptxas"
KERNELS = ["put_signal", "atomics"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    what = "versions, in place of the installed one"
    parser.add_argument("--nvshmem", nargs="+", type=Path, metavar="FOLDER", help=what)
    parser.add_argument("--from-gpu", action="store_true", help="measure them with what sends from the GPU, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        os.environ |= {"TRITON_ALWAYS_COMPILE": "1", "TRITON_CACHE_DIR": scratch, "SYMM_CACHE": scratch}
        folders = options.nvshmem or installed()
        engines = {version(folder): (bitcode(folder), "0") for folder in folders}
        if options.from_gpu:
            engines |= {f"{version(folder)}, sending from the GPU": (bitcode(folder), "1") for folder in folders}
        measure({None: (None, "0")} | engines, options.rounds, Path(scratch))


def installed():
    from symm import _engine

    found = [folder.parent for folder in _engine._folders()]
    if not found:
        sys.exit("no NVSHMEM is installed here: name the folder of one with --nvshmem")
    return found


def measure(engines, rounds, scratch):
    for engine, how in engines.items():
        if engine:
            for what, work in (("Triton kernel", lambda: kernel(KERNELS[0])), ("program", lambda: program(scratch))):
                seconds, _ = timed(work, *how)
                print(f"NVSHMEM {engine}: the first {what}, with what is trimmed once: {seconds:.2f} s", flush=True)
    for name in KERNELS:
        report(f"Triton kernel {name}", lambda name=name: kernel(name), engines, rounds, scratch)
    if TRANSLATE.exists():
        report("program hello", lambda: program(scratch), engines, rounds, scratch)


def report(what, compile_, engines, rounds, scratch):
    """Prints the times of something with each engine, to PTX and through ptxas."""
    timed(compile_, None, "0")
    to_ptx, assembled, size = {}, {}, {}
    for _ in range(rounds):
        for engine, how in engines.items():
            seconds, ptx = timed(compile_, *how)
            to_ptx.setdefault(engine, []).append(seconds)
            size[engine] = len(ptx)
            if PTXAS.exists():
                seconds, _ = timed(lambda ptx=ptx: assemble(ptx, scratch), *how)
                assembled.setdefault(engine, []).append(seconds)
    for engine in engines:
        with_what = f"with NVSHMEM {engine}" if engine else "without an engine"
        text = f"{what}, {with_what}: {statistics.median(to_ptx[engine]):.2f} s to {size[engine] / 1000:.0f} KB of PTX"
        ptxas = f", ptxas {statistics.median(assembled[engine]):.2f} s" if assembled else ""
        print(text + ptxas, flush=True)


def timed(work, library, from_gpu):
    """Processor seconds of this process and those that it starts, and what the work returns, with a device library."""
    from symm import _engine

    _engine.Current.name = _engine.NAME if library else ""
    os.environ |= {_engine.BITCODE: str(library or ""), "NVSHMEM_IB_ENABLE_IBGDA": from_gpu}
    begin = spent()
    result = work()
    return spent() - begin, result


def spent():
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def kernel(name):
    """The PTX of a Triton kernel."""
    import far_kernels
    from compiling import compile_for, machine_text
    from test_far import KERNELS as ARGUMENTS

    signature, constants, _ = ARGUMENTS[name]
    return machine_text(compile_for("sm_90", getattr(far_kernels, name), signature, **constants))


def program(scratch):
    """The PTX of a program."""
    engine = ["--engine", "nvshmem"] if os.environ["SYMM_NVSHMEM_BITCODE"] else []
    output = scratch / "hello.ptx"
    line = [TRANSLATE, ROOT / "examples/hello.mlir", "--to", "ptx", "--chip", "sm_90", *engine, "-o", output]
    subprocess.run(line, check=True)
    return output.read_text()


def assemble(ptx, scratch):
    (scratch / "kernel.ptx").write_text(ptx)
    chip = re.search(r"[.]target (\w+)", ptx)[1]
    line = [PTXAS, f"-arch={chip}", scratch / "kernel.ptx", "-o", scratch / "kernel.cubin"]
    subprocess.run(line, check=True)


def version(folder):
    """What the folder's header says."""
    told = (folder / "include/non_abi/nvshmem_version.h").read_text()
    numbers = [line.split()[2] for line in told.splitlines() if line.startswith("#define NVSHMEM_VENDOR_")][:3]
    return ".".join(numbers)


def bitcode(folder):
    common, of_chip = folder / "lib/libnvshmem_device.bc", folder / "lib/libnvshmem_device_sm_90.bc"
    return common if common.exists() else of_chip


if __name__ == "__main__":
    from output import until_reader_leaves

    until_reader_leaves(main)
