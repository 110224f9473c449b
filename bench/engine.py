#!/usr/bin/env python3
"""Measures how long Triton kernels compile for NVSHMEM, against the same ones without an engine. It needs no GPU.

    PYTHONPATH=python target/python/torch-2.11/bin/python bench/engine.py

Prints processor seconds from a kernel's Python to PTX (sm_90): medians of compilations that take turns. Before them
NVSHMEM's device library is trimmed to what kernels call, which is kept in Triton's cache; how long that takes is
printed, too. NVSHMEM is found as symm finds it, torch's by default.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "test/python"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        os.environ |= {"TRITON_ALWAYS_COMPILE": "1", "TRITON_CACHE_DIR": cache}
        measure(options.rounds)


def measure(rounds):
    import far_kernels
    from compiling import compile_for, machine_text
    from symm import _engine
    from test_far import KERNELS

    def compiled(name, engine):
        """Seconds of this process for a kernel, after the ones before."""
        _engine.Current.name = engine
        signature, constants, _ = KERNELS[name]
        begin = time.process_time()
        machine_text(compile_for("sm_90", getattr(far_kernels, name), signature, **constants))
        return time.process_time() - begin

    names = ["put_signal", "atomics"]
    compiled(names[0], None)
    first = compiled(names[0], _engine.NAME)
    print(f"the first kernel, with the library that is trimmed once: {first:.2f} s", flush=True)
    for name in names:
        taken = {None: [], _engine.NAME: []}
        for _ in range(rounds):
            for engine, times in taken.items():
                times.append(compiled(name, engine))
        without, far = (statistics.median(times) for times in taken.values())
        print(f"{name}: {far:.2f} s with {_engine.NAME}, {without:.2f} s without an engine", flush=True)


if __name__ == "__main__":
    main()
