#!/usr/bin/env python3
"""Runs ranks that are started as on several hosts, each alone on its own, over NVSHMEM on NVIDIA GPUs.

    python3 test/device/hosts.py --bin FOLDER --wheel target/wheels/symm-*.whl --ranks 2

They meet at a TCP port and share no memory of the host; below, NVSHMEM moves the data over NVLink or within a GPU, by
calls alone where all are far. Runs programs of symm-run, Python's by torchrun with as many nodes as ranks, with
torch.distributed started before and not, collectives, messages, and ranks that are killed. Where there are fewer GPUs
than ranks, ranks share them. Prints a line for each run; the exit status is 1 if anything failed.
"""

import argparse
import importlib.util
import os
import socket
import subprocess
import sys
import tempfile
import time
import uuid
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = {
    "NVSHMEM_REMOTE_TRANSPORT": "none",
    "NVSHMEM_DISABLE_NVLS": "1",
    "NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME": "lo",
    "GLOO_SOCKET_IFNAME": "lo",
}
# Programs of symm-run; Python's; and those that take pointers of other ranks, which have to be near.
COMPILED = ["examples/ring_all_reduce.mlir", "examples/message_passing.mlir", "test/conformance/put_signal.mlir",
            "test/conformance/atomic_rmw_old.mlir", "test/conformance/barrier.mlir"]  # fmt: skip
PYTHON = ["ranks/ops.py", "ranks/far.py", "ranks/messages.py", "ranks/flags.py", "ranks/teams.py"]
NEAR = ["ranks/host.py", "ranks/ops.py", "ranks/streams.py", "ranks/iris_host.py"]
NEAR_EXAMPLES = ["all_gather_matmul.py"]
SHOWN = 25
PARTS = ["compiled", "python", "calls", "faults"]

# A rank that says where it is, and waits for one that never signals.
WAITS = """
import os, sys, symm, torch, triton
import symm.triton as st
if os.environ.get("GROUP"):
    # Each takes the others for ranks of other hosts.
    symm._torch_ranks._host = lambda: (os.environ["RANK"], "a host")
    torch.distributed.init_process_group("gloo")
@triton.jit
def wait(ctx, flag):
    st.wait(ctx, flag, 1)
world = symm.init(1 << 26, timeout=float(os.environ.get("SECONDS", "60")))
flag = world.zeros(1, dtype=torch.int64)
world.barrier()
assert world.broadcast(torch.arange(100000) * (1 + world.get_rank()), 1).sum().item() == 2 * 100000 * 99999 // 2
if os.environ.get("DIES") == str(world.get_rank()):
    os.kill(os.getpid(), 9)
if os.environ.get("WAITS"):
    wait[(1,)](world, flag)
    world.barrier()
    sys.exit("the barrier ended")
world.close()
print("rank", os.environ["RANK"], "done")
"""


def free_port():
    # The one after it is wanted, too.
    while True:
        with socket.create_server(("127.0.0.1", 0)) as one:
            port = one.getsockname()[1]
            if port < 65000:
                try:
                    socket.create_server(("127.0.0.1", port + 1)).close()
                    return port
                except OSError:
                    continue


class Hosts:
    """Ranks, each alone on its host, and what they are to do."""

    def __init__(self, options, folder):
        self.options, self.folder, self.cases = options, Path(folder), []
        path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
        self.environment = {**os.environ, **SETTINGS, "PYTHONPATH": path, "SYMM_ENGINE": "nvshmem"}
        found = importlib.util.find_spec("nvidia.nvshmem")
        if found:
            library = Path(next(iter(found.submodule_search_locations))) / "lib/libnvshmem_host.so.3"
            self.environment.setdefault("SYMM_NVSHMEM_LIBRARY", str(library))
        self.program = self.folder / "waits.py"
        self.program.write_text(WAITS)

    def alone(self):
        """What tells a rank that it is alone on its host, and where the ranks meet."""
        told = {"LOCAL_WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
        return told | {"TORCHELASTIC_RUN_ID": uuid.uuid4().hex, "WORLD_SIZE": str(self.options.ranks)}

    def by_hand(self, *command):
        """For each rank a command, and what it is told."""
        told = self.alone()
        return [([*map(str, command)], told | {"RANK": str(rank)}) for rank in range(self.options.ranks)]

    def by_torchrun(self, program):
        line = [sys.executable, "-m", "torch.distributed.run", "--nnodes", str(self.options.ranks), "--nproc-per-node"]
        line += ["1", "--master-addr", "127.0.0.1", "--master-port", str(free_port())]
        return [([*line, "--node-rank", str(rank), str(program)], {}) for rank in range(self.options.ranks)]

    def add(self, name, start, *command, fails=None, domain=1, **more):
        """A case: `fails` is what all but the rank that DIES say when they end."""
        self.cases.append((name, start, command, fails, more | ({"SYMM_DOMAIN": str(domain)} if domain else {})))

    def run(self, name, start, command, fails, more):
        begun, commands = time.monotonic(), start(*command)
        files = [tempfile.TemporaryFile("w+") for _ in commands]
        processes = [
            subprocess.Popen(line, env=self.environment | told | more, stdout=file, stderr=subprocess.STDOUT)
            for (line, told), file in zip(commands, files)
        ]
        codes = []
        for process in processes:
            try:
                codes.append(process.wait(max(0.1, begun + self.options.seconds - time.monotonic())))
            except subprocess.TimeoutExpired:
                process.kill()
                codes.append("late")
        said = []
        for file in files:
            file.seek(0)
            said.append(file.read())
        if fails is None:
            well = not any(codes)
        else:
            others = [text for rank, text in enumerate(said) if str(rank) != more.get("DIES")]
            well = "late" not in codes and all(codes) and all(fails in text for text in others)
        told = [f"{'ok  ' if well else 'FAIL'} {name}, {time.monotonic() - begun:.1f} s"]
        for rank, (code, text) in enumerate(zip(codes, said)):
            told += [] if well else [f"[rank {rank}: {code}]", *text.splitlines()[-SHOWN:]]
        print("\n  ".join(told), flush=True)
        return well

    def compiled(self):
        line = [f"{self.options.bin}/symm-run", "--driver", "cuda", "--engine", "nvshmem", "--timeout", "60"]
        for program in COMPILED:
            for far in ([], ["--domain", "1"]):
                name = f"{program}{', far' if far else ''}"
                self.add(name, self.by_hand, *line, *far, ROOT / program, domain=None)

    def python(self):
        self.add("torchrun", self.by_torchrun, self.program)
        self.add("torchrun, torch.distributed started", self.by_torchrun, self.program, GROUP="1")
        for programs, domain in ((PYTHON, 1), (NEAR, None)):
            for program in programs:
                name = f"{program}, {'far' if domain else 'near'}"
                path = ROOT / "test/python" / program
                self.add(name, self.by_hand, sys.executable, path, domain=domain, FOLDER=str(self.folder))
        for example in sorted((ROOT / "examples/python").glob("*.py")):
            domain = None if example.name in NEAR_EXAMPLES else 1
            self.add(f"{example.name}, torchrun", self.by_torchrun, example, domain=domain)

    def calls(self):
        """Collectives and messages, as their own scripts start them."""
        for script, more in (("comm.py", ["--calls", "100", "--replays", "20", "--dtypes", "float32"]),
                             ("sendrecv.py", ["--calls", "10", "--replays", "20"])):  # fmt: skip
            line = [sys.executable, ROOT / "test/device" / script, "--wheel", self.options.wheel.resolve()]
            line += ["--ranks", self.options.ranks, "--engine", "nvshmem", "--domain", 1, *more]
            self.add(script, lambda *line: [([*map(str, line)], self.alone())], *line)

    def faults(self):
        own = [sys.executable, self.program]
        for dies in range(2):
            self.add(f"rank {dies} is killed", self.by_hand, *own, fails=f"rank {dies} died", DIES=str(dies), WAITS="1")
        self.add("nobody signals", self.by_hand, *own, fails="WaitTimeoutError", WAITS="1", SECONDS="3")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="the folder of symm-run")
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, which share the GPUs")
    parser.add_argument("--seconds", type=int, default=120, help="for one run")
    parser.add_argument("--only", nargs="+", choices=PARTS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        zipfile.ZipFile(options.wheel).extractall(folder)
        hosts = Hosts(options, folder)
        for part in options.only or PARTS:
            getattr(hosts, part)()
        failed = list(pool.map(lambda case: hosts.run(*case), hosts.cases)).count(False)
    print("nothing failed" if not failed else f"{failed} runs failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
