#!/usr/bin/env python3
"""Runs every op of Triton kernels against peers that NVSHMEM reaches, with all of them far and all near.

    python3 test/device/far.py --wheel target/wheels/symm-*.whl --ranks 1 2 [--rounds 100000]

Each rank is a process, with a heap in NVSHMEM's memory and a context table of its own making, so that a peer is near or
far as the table says. A single rank is its own peer. It needs torch, Triton and NVSHMEM (nvidia-nvshmem-cu13, which
torch's wheel brings); nothing is installed. Prints a line for each op; the exit status is 1 if anything failed.
"""

import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
import time
import traceback
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEAP = 64 << 20
WITH_UNIQUE_ID = 1 << 3
DEFAULTS = {"NVSHMEM_DISABLE_NVLS": "1", "NVSHMEM_REMOTE_TRANSPORT": "none", "NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME": "lo",
            "NVSHMEM_SYMMETRIC_SIZE": str(1 << 30)}  # fmt: skip


class UniqueId(ctypes.Structure):
    _fields_ = [("version", ctypes.c_int), ("internal", ctypes.c_char * 124)]


class IdArguments(ctypes.Structure):
    _fields_ = [("version", ctypes.c_int), ("id", ctypes.c_void_p), ("rank", ctypes.c_int), ("ranks", ctypes.c_int)]


class Arguments(ctypes.Structure):
    _fields_ = [("version", ctypes.c_int), ("id", IdArguments), ("content", ctypes.c_char * 96)]


class Attributes(ctypes.Structure):
    _fields_ = [("version", ctypes.c_int), ("mpi", ctypes.c_void_p), ("arguments", Arguments)]


def versioned(structure):
    made = structure()
    made.version = (1 << 16) + ctypes.sizeof(structure)
    return made


class Heap:
    """A rank's heap, its context tables, and tensors on it."""

    def __init__(self, rank, ranks, folder):
        import torch
        from symm import _engine
        from symm._memory import Memory

        self.rank, self.ranks, self.torch, self.memory = rank, ranks, torch, Memory
        self.device = torch.device("cuda", rank % torch.cuda.device_count())
        torch.cuda.set_device(self.device)
        torch.zeros(1, device=self.device)
        _engine.use("nvshmem")
        self.library = _engine._host()
        self.library.nvshmem_align.restype = self.library.nvshmem_ptr.restype = ctypes.c_void_p
        self.library.nvshmem_align.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
        self.library.nvshmem_ptr.argtypes = [ctypes.c_void_p, ctypes.c_int]
        self._start(Path(folder) / "id")
        self.base = self.library.nvshmem_align(2 << 20, HEAP)
        assert self.base, "no memory for the heap"
        self.used = 2 << 20
        whole = Memory(self.base, HEAP).tensor(self.device, torch.int64, (HEAP // 8,))
        whole.zero_()
        self.meet()

    def _start(self, file):
        unique = versioned(UniqueId)
        if self.rank == 0:
            assert self.library.nvshmemx_get_uniqueid(ctypes.byref(unique)) == 0, "no unique id"
            file.with_suffix(".new").write_bytes(bytes(unique))
            os.replace(file.with_suffix(".new"), file)
        while not file.exists():
            time.sleep(0.01)
        unique = UniqueId.from_buffer_copy(file.read_bytes())
        attributes = versioned(Attributes)
        attributes.arguments.version = (1 << 16) + ctypes.sizeof(Arguments)
        told = attributes.arguments.id
        told.version = (1 << 16) + ctypes.sizeof(IdArguments)
        told.id, told.rank, told.ranks = ctypes.addressof(unique), self.rank, self.ranks
        status = self.library.nvshmemx_hostlib_init_attr(WITH_UNIQUE_ID, ctypes.byref(attributes))
        assert status == 0, f"NVSHMEM does not start: {status}"

    def table(self, domain):
        """The context table where this many ranks are a node."""
        near = [peer // domain == self.rank // domain for peer in range(self.ranks)]
        # One rank alone is far from itself, if any is.
        if self.ranks == 1:
            near = [domain > 1]
        at = [self.library.nvshmem_ptr(self.base, peer) or 0 for peer in range(self.ranks)]
        unmapped = [(1 << 46) + (peer << 36) for peer in range(self.ranks)]
        bases = [at[peer] if near[peer] or peer == self.rank else unmapped[peer] for peer in range(self.ranks)]
        words = [self.rank, self.ranks, *bases, 0, 0, *map(int, near)]
        return self.torch.tensor(words, dtype=self.torch.int64, device=self.device)

    def make(self, values):
        """A tensor on the heap with these values."""
        size = values.numel() * values.element_size()
        address = self.base + self.used
        self.used += -(-size // 256) * 256
        assert self.used <= HEAP
        made = self.memory(address, size).tensor(self.device, values.dtype, values.shape)
        made.copy_(values)
        return made

    def fresh(self):
        self.meet()
        self.used = 2 << 20

    def meet(self):
        self.torch.cuda.synchronize()
        self.library.nvshmem_barrier_all()


def rank_main(rank, ranks, folder, rounds):
    import far_checks

    heap = Heap(rank, ranks, folder)
    print(f"rank {rank} of {ranks}: started", flush=True)
    failed = 0
    for domain in (1, 2 * ranks):
        where = "far" if domain == 1 else "near"
        table = heap.table(domain)
        for check in far_checks.CHECKS:
            start = time.monotonic()
            try:
                heap.fresh()
                said = check(heap, table, domain > 1, rounds)
                heap.torch.cuda.synchronize()
                verdict = "ok  "
            except Exception as error:
                failed, verdict = failed + 1, "FAIL"
                said = f"{type(error).__name__}: {error}\n{traceback.format_exc(limit=-4)}"
            took = f"{time.monotonic() - start:.2f} s"
            print(f"{verdict} {check.__name__} {where} on {rank}/{ranks}, {took} {said or ''}",
                  flush=True)  # fmt: skip
    heap.meet()
    print("done", flush=True)
    # NVSHMEM has nothing to save, and its end may wait for others.
    os._exit(1 if failed else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1])
    parser.add_argument("--rounds", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=150)
    parser.add_argument("--rank", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rank:
        rank, ranks, folder, rounds = options.rank
        sys.path[:0] = [str(ROOT / "test/python"), str(ROOT / "test/device")]
        rank_main(int(rank), int(ranks), folder, int(rounds))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        environment = {**DEFAULTS, **os.environ}
        if options.wheel:
            zipfile.ZipFile(options.wheel).extractall(folder)
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))
        for ranks in options.ranks:
            with tempfile.TemporaryDirectory() as shared:
                command = [sys.executable, __file__, "--rank"]
                processes = [
                    subprocess.Popen([*command, str(rank), str(ranks), shared, str(options.rounds)], env=environment)
                    for rank in range(ranks)
                ]
                end = time.monotonic() + options.seconds
                for rank, process in enumerate(processes):
                    try:
                        code = process.wait(max(0.1, end - time.monotonic()))
                    except subprocess.TimeoutExpired:
                        process.kill()
                        code = "too long"
                    print(f"rank {rank} of {ranks}: exit {code}", flush=True)
                    failed += code != 0
    print("nothing failed" if not failed else f"{failed} ranks failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
