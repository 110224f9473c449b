#!/usr/bin/env python3
"""Compares symm's far path with NVSHMEM's device functions called by hand, on two GPUs, in about a minute.

    python3 bench/device/nvshmem.py --bin FOLDER --wheel target/wheels/symm-*.whl [--messages 1000000]

Stores of 8 bytes that have arrived, puts of 1 to 64 MiB and signals there and back: by hand (nvshmem.cu, which nvcc
compiles), by a program (bench/programs/nvshmem.mlir, as `symm-run --engine nvshmem --domain 1` compiles it; `symm-
translate` is in FOLDER) and by Triton kernels. All ranks are far, and all run in the same processes, one after the
other, in turns. Prints a table with the ratio to by hand, of the fastest of several runs. By hand a signal orders
nothing and need not arrive, and a put is one call; further rows compare with calls by hand that promise and do the
same: a signal that releases and has arrived, and puts of a Triton block each.

With `--messages` a ring of this many messages instead, a program's and Triton's, of which every value is checked; then
the exit status is 1 if any was wrong. It needs torch, Triton, nvcc and NVSHMEM (nvidia-nvshmem-cu13, which comes with
torch); nothing is installed.
"""

import argparse
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/device"), str(ROOT / "test/python")]
import far  # noqa: E402

MIB = 1 << 20
SIZES = [MIB, 4 * MIB, 16 * MIB, 64 * MIB]
BLOCKS = [8, 16, 32, 64]
# Of a block; the kernels that are not Triton's take the first.
WARPS = [32, 16]
STORES, PINGS, REPEATS = 2000, 2000, 5
# Puts in a graph.
CAPTURED = 5
# The heap: source and destination of the largest put, and a little.
HEAP = 2 * SIZES[-1] + 8 * MIB
TRITON_BLOCK = 8192


def compile_by_hand(options, folder):
    """nvshmem.cu as machine code, linked with NVSHMEM's device library."""
    nvshmem = Path(options.nvshmem)
    nvcc = options.nvcc or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    source, place = Path(__file__).with_suffix(".cu"), Path(folder) / "by_hand.o"
    includes = [f"-I{each}" for each in [nvshmem / "include", *options.include]]
    flags = [f"-arch={options.chip}", "-O3", "-std=c++17", *includes]
    subprocess.run([nvcc, *flags, "-rdc=true", "-dc", source, "-o", place], check=True)
    target = place.with_suffix(".cubin")
    libraries = [place, nvshmem / "lib/libnvshmem_device.a"]
    subprocess.run([nvcc, f"-arch={options.chip}", "-dlink", "-cubin", *libraries, "-o", target], check=True)
    return target


def compile_program(options, folder):
    """The program as PTX, as a run with the engine has it."""
    target, source = Path(folder) / "program.ptx", ROOT / "bench/programs/nvshmem.mlir"
    library = Path(options.nvshmem) / "lib/libnvshmem_host.so.3"
    line = [Path(options.bin) / "symm-translate", source, "--to", "ptx", "--chip", options.chip, "--engine", "nvshmem"]
    environment = {**os.environ, "SYMM_NVSHMEM_LIBRARY": str(library), "SYMM_CACHE": str(folder)}
    subprocess.run([*line, "-O", "3", "-o", target], check=True, env=environment, stderr=subprocess.DEVNULL)
    return target


class Module:
    """Kernels that CUDA has loaded, connected with the engine."""

    cuda = None

    def __init__(self, path, library):
        Module.cuda = Module.cuda or ctypes.CDLL("libcuda.so.1")
        self.module = ctypes.c_void_p()
        image = ctypes.create_string_buffer(Path(path).read_bytes())
        self._call("cuModuleLoadData", ctypes.byref(self.module), image)
        initialise = library.nvshmemx_cumodule_init
        initialise.argtypes = [ctypes.c_void_p]
        assert initialise(self.module) == 0, f"NVSHMEM does not initialise {path}"

    def _call(self, name, *arguments):
        status = getattr(self.cuda, name)(*arguments)
        assert status == 0, f"{name}: status {status}"

    def __getitem__(self, name):
        function = ctypes.c_void_p()
        self._call("cuModuleGetFunction", ctypes.byref(function), self.module, name.encode())

        def launch(blocks, threads, *arguments):
            import torch

            places = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(each) for each in arguments))
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            self._call("cuLaunchKernel", function, blocks, 1, 1, threads, 1, 1, 0, stream, places, None)

        return launch


def word(value):
    return ctypes.c_uint64(value)


def number(value):
    return ctypes.c_int32(value)


class Measure:
    """One rank's kernels of all three kinds, on the same heap."""

    def __init__(self, rank, ranks, shared, code):
        import nvshmem_kernels
        import torch

        far.HEAP = HEAP
        self.heap, self.torch, self.kernels = far.Heap(rank, ranks, shared), torch, nvshmem_kernels
        self.me, self.peer = rank, (rank + 1) % ranks
        self.table = self.heap.table(1)
        library = self.heap.library
        by_hand, program = (Module(path, library) if path else None for path in code)
        self.by_hand, self.program = by_hand, program
        made = torch.zeros(SIZES[-1] // 4, dtype=torch.int32, device=self.heap.device)
        self.source, self.target = self.heap.make(made), self.heap.make(made)
        self.flag, self.place = (
            self.heap.make(torch.zeros(1, dtype=torch.int64, device=self.heap.device)) for _ in range(2)
        )
        self.turn = 0

    def captured(self, launch):
        """Launches several times at once, so that it does not count how long the host takes for one."""
        cuda = self.torch.cuda
        launch()
        cuda.synchronize()
        graph = cuda.CUDAGraph()
        with cuda.graph(graph):
            for _ in range(CAPTURED):
                launch()
        return graph.replay

    def timed(self, launch):
        """Seconds of the fastest of several launches, after one that is not counted; both ranks launch together."""
        cuda, best = self.torch.cuda, float("inf")
        for again in range(REPEATS + 1):
            self.heap.meet()
            begin, end = (cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            launch()
            end.record()
            cuda.synchronize()
            best = min(best, begin.elapsed_time(end) / 1e3) if again else best
        return best

    def store(self, way):
        def launch():
            told = word(self.place.data_ptr()), word(STORES), number(self.peer)
            if way == "by hand":
                self.by_hand["store"](1, 1, *told)
            elif way == "program":
                self.program["store"](1, 1, word(self.table.data_ptr()), *told)
            else:
                self.kernels.store[(1,)](self.table, self.place, STORES, self.peer, num_warps=1)

        return self.timed(launch) / STORES

    def put(self, way, size, piece=None):
        """The fastest of several grids, and sizes of Triton's blocks; every block has a part, by hand in pieces of so
        many bytes.
        """
        to, source = self.target.data_ptr(), self.source.data_ptr()

        def launch(blocks, warps):
            each = -(-size // blocks)
            told = word(to), word(source), word(size), word(each)
            if way == "by hand":
                self.by_hand["put"](blocks, 32 * warps, *told, word(piece or each), number(self.peer))
            elif way == "program":
                self.program["put"](blocks, 32 * warps, word(self.table.data_ptr()), *told, number(self.peer))
            else:
                count = each // 4 // TRITON_BLOCK
                arguments = self.table, self.source, self.target, count, self.peer, TRITON_BLOCK
                self.kernels.put[(blocks,)](*arguments, num_warps=warps)

        grids = [(blocks, warps) for blocks in BLOCKS if size // blocks >= 4 * TRITON_BLOCK
                 for warps in (WARPS if way == "Triton" else WARPS[:1])]  # fmt: skip
        return min(self.timed(self.captured(lambda grid=grid: launch(*grid))) for grid in grids) / CAPTURED

    def ping(self, way):
        def launch():
            start, self.turn = self.turn, self.turn + PINGS
            flag, told = word(self.flag.data_ptr()), (word(start), word(PINGS), number(self.me), number(self.peer))
            if way in ("by hand", "by hand, released"):
                self.by_hand["ping" if way == "by hand" else "ping_released"](1, 1, flag, *told)
            elif way == "program":
                self.program["ping"](1, 1, word(self.table.data_ptr()), flag, *told)
            else:
                self.kernels.ping[(1,)](self.table, self.flag, start, PINGS, self.me, self.peer, num_warps=1)

        return self.timed(launch) / PINGS

    def compare(self):
        """Rows of what is measured, its unit and the results: by hand, by a program and by Triton."""
        ways = ("by hand", "program", "Triton")
        yield "store of 8 bytes", "µs", [self.store(way) * 1e6 for way in ways]
        piece = 4 * TRITON_BLOCK
        for size in SIZES:
            by_hand, program, triton = (size / self.put(way, size) / 1e9 for way in ways)
            yield f"put of {size // MIB} MiB", "GB/s", [by_hand, program, triton]
            by_hand = size / self.put("by hand", size, piece) / 1e9
            yield f"put of {size // MIB} MiB, {piece >> 10} KiB at a time", "GB/s", [by_hand, None, triton]
        by_hand, program, triton = (self.ping(way) * 1e6 for way in ways)
        yield "signal there and back", "µs", [by_hand, program, triton]
        yield "the same, released", "µs", [self.ping("by hand, released") * 1e6, program, triton]

    def messages(self, count):
        """How many values were wrong in a ring of messages by a program, and by Triton, and how long each took."""
        import far_kernels

        def made(size):
            return self.heap.make(self.torch.zeros(size, dtype=self.torch.int64, device=self.heap.device))

        sender = (self.me - 1) % self.heap.ranks
        for way in ("program", "Triton"):
            source, target, flag, credit, wrong = made(128), made(128), made(1), made(1), made(1)
            cuda = self.torch.cuda
            self.heap.meet()
            begin, end = (cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            if way == "program":
                places = [word(each.data_ptr()) for each in (self.table, source, target, flag, credit, wrong)]
                told = number(self.peer), number(sender), word(0), word(count)
                self.program["messages"](1, 128, *places, *told)
            else:
                arguments = self.table, source, target, flag, credit, wrong.view(self.torch.int32), self.peer, sender
                far_kernels.messages[(1,)](*arguments, 0, count, 128)
            end.record()
            cuda.synchronize()
            yield way, int(wrong.item()), begin.elapsed_time(end) / 1e3


def rank_main(rank, ranks, shared, by_hand, program, messages):
    measure = Measure(rank, ranks, shared, (by_hand, program))
    failed = 0
    if messages:
        for way, wrong, took in measure.messages(messages):
            failed += wrong != 0
            print(f"rank {rank}: {way}: {messages} messages, {wrong} wrong, {took / messages * 1e6:.2f} µs each",
                  flush=True)  # fmt: skip
    else:
        if rank == 0:
            print("| | by hand | program | Triton | program / by hand | Triton / by hand |")
            print("|---|---:|---:|---:|---:|---:|")
        for what, unit, values in measure.compare():
            by_hand = values[0]
            # Above 1 is slower, of times and of bandwidths.
            ratios = [value and (by_hand / value if unit == "GB/s" else value / by_hand) for value in values[1:]]
            if rank == 0:
                cells = [value and f"{value:.3g} {unit}" for value in values]
                cells = [cell or "" for cell in cells + [ratio and f"{ratio:.2f}" for ratio in ratios]]
                print(f"| {what} | {' | '.join(cells)} |", flush=True)
    measure.heap.meet()
    # NVSHMEM has nothing to save, and its end may wait for others.
    sys.stdout.flush()
    os._exit(1 if failed else 0)


def nvshmem_folder():
    import importlib.util

    found = importlib.util.find_spec("nvidia.nvshmem")
    return next(iter(found.submodule_search_locations)) if found else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", help="the folder of symm-translate")
    parser.add_argument("--wheel", type=Path, help="symm's wheel, if it is not installed")
    parser.add_argument("--messages", type=int, default=0, metavar="COUNT", help="send and check this many instead")
    parser.add_argument("--chip", default="sm_90")
    parser.add_argument("--nvshmem", help="the folder of NVSHMEM's include and lib; default: Python's package")
    parser.add_argument("--nvcc", help="CUDA's compiler; default: the one on the path")
    parser.add_argument("--include", nargs="+", default=[], help="more folders for it")
    parser.add_argument("--compile-only", action="store_true", help="needs no GPU")
    parser.add_argument("--seconds", type=int, default=100)
    parser.add_argument("--rank", nargs=6, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rank:
        rank, ranks, shared, by_hand, program, messages = options.rank
        rank_main(int(rank), int(ranks), shared, by_hand, program, int(messages))
    options.nvshmem = options.nvshmem or nvshmem_folder()
    if not options.bin or not options.nvshmem:
        sys.exit("give --bin, and --nvshmem where Python has no nvidia-nvshmem package")
    with tempfile.TemporaryDirectory() as folder:
        program = compile_program(options, folder)
        by_hand = "" if options.messages else compile_by_hand(options, folder)
        if options.compile_only:
            print(f"compiled: {[Path(each).stat().st_size for each in (by_hand, program) if each]} bytes")
            return 0
        environment = {**far.DEFAULTS, "NVSHMEM_SYMMETRIC_SIZE": str(HEAP + (512 << 20)), **os.environ}
        environment["SYMM_NVSHMEM_LIBRARY"] = str(Path(options.nvshmem) / "lib/libnvshmem_host.so.3")
        if options.wheel:
            zipfile.ZipFile(options.wheel).extractall(folder)
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))
        return run(options, environment, folder, by_hand, program)


def run(options, environment, shared, by_hand, program):
    """Runs both ranks; 1 if one of them failed."""
    command = [sys.executable, __file__, "--rank"]
    told = ["2", shared, str(by_hand), str(program), str(options.messages)]
    processes = [subprocess.Popen([*command, str(rank), *told], env=environment) for rank in range(2)]
    codes = []
    for process in processes:
        try:
            codes.append(process.wait(options.seconds))
        except subprocess.TimeoutExpired:
            process.kill()
            codes.append(f"killed after {options.seconds} s")
    if any(codes):
        print(f"ranks ended with {codes}")
    return int(any(codes))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from output import until_reader_leaves

    until_reader_leaves(main)
