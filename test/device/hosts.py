#!/usr/bin/env python3
"""Runs ranks that are started as on several hosts, each alone on its own, over NVSHMEM on NVIDIA GPUs.

    python3 test/device/hosts.py --bin FOLDER --wheel target/wheels/symm-*.whl --ranks 2

They meet at a TCP port and share no memory of the host; below, NVSHMEM moves the data over NVLink or within a GPU, with
`--domain 1` (the default) by calls alone. Runs programs of symm-run, Python's by torchrun with as many nodes as ranks,
with torch.distributed started before and not, collectives, messages, and ranks that are killed. Where there are fewer
GPUs than ranks, ranks share them. Prints a line for each run; the exit status is 1 if anything failed.
"""

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = {
    "NVSHMEM_REMOTE_TRANSPORT": "none",
    "NVSHMEM_DISABLE_NVLS": "1",
    "NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME": "lo",
    "GLOO_SOCKET_IFNAME": "lo",
}
# Programs of symm-run; of Python in test/python/ranks and examples/python.
COMPILED = ["examples/ring_all_reduce.mlir", "examples/message_passing.mlir", "test/conformance/put_signal.mlir",
            "test/conformance/atomic_rmw_old.mlir", "test/conformance/barrier.mlir"]  # fmt: skip
PYTHON = ["test/python/ranks/host.py", "test/python/ranks/ops.py", "test/python/ranks/far.py"]
SHOWN = 25

# A rank that says where it is, and waits for one that never signals.
WAITS = """
import os, sys, symm, torch, triton, triton.language as tl
import symm.triton as st
if os.environ.get("GROUP"):
    torch.distributed.init_process_group("gloo")
@triton.jit
def wait(ctx, flag):
    st.wait(ctx, flag, 1, st.GE)
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
    """Ranks, each alone on its host."""

    def __init__(self, options, folder):
        self.options, self.failed = options, 0
        path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
        self.environment = {**os.environ, **SETTINGS, "PYTHONPATH": path, "SYMM_ENGINE": "nvshmem"}
        if options.domain:
            self.environment["SYMM_DOMAIN"] = str(options.domain)

    def by_hand(self, command):
        """A process for each rank, and what it is told."""
        ranks, port, run = self.options.ranks, free_port(), uuid.uuid4().hex
        told = {"WORLD_SIZE": ranks, "LOCAL_WORLD_SIZE": 1, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        told = {name: str(value) for name, value in told.items()} | {"TORCHELASTIC_RUN_ID": run}
        return [(command, told | {"RANK": str(rank)}) for rank in range(ranks)]

    def by_torchrun(self, program, *arguments):
        ranks, port = self.options.ranks, free_port()
        line = [sys.executable, "-m", "torch.distributed.run", "--nnodes", str(ranks), "--nproc-per-node", "1"]
        line += ["--master-addr", "127.0.0.1", "--master-port", str(port)]
        return [([*line, "--node-rank", str(rank), str(program), *arguments], {}) for rank in range(ranks)]

    def run(self, name, commands, more=None, fails=None):
        """Runs the ranks; `fails`: what all but the rank that DIES say when they end."""
        begun, more = time.monotonic(), more or {}
        files = [tempfile.TemporaryFile("w+") for _ in commands]
        processes = [
            subprocess.Popen(command, env=self.environment | told | more, stdout=file, stderr=subprocess.STDOUT)
            for (command, told), file in zip(commands, files)
        ]
        codes = []
        for process in processes:
            try:
                codes.append(process.wait(max(0.1, begun + self.options.seconds - time.monotonic())))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
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
        print(f"{'ok  ' if well else 'FAIL'} {name}, {time.monotonic() - begun:.1f} s", flush=True)
        if not well:
            self.failed += 1
            for rank, (code, text) in enumerate(zip(codes, said)):
                print(f"  [rank {rank}: {code}]", *text.splitlines()[-SHOWN:], sep="\n  ", flush=True)

    def compiled(self):
        line = [f"{self.options.bin}/symm-run", "--driver", "cuda", "--engine", "nvshmem", "--timeout", "60"]
        line += ["--domain", str(self.options.domain)] if self.options.domain else []
        for program in COMPILED:
            self.run(program, self.by_hand([*line, str(ROOT / program)]))

    def python(self, folder):
        own = Path(folder) / "waits.py"
        own.write_text(WAITS)
        self.run("torchrun", self.by_torchrun(own))
        self.run("torchrun, torch.distributed started", self.by_torchrun(own), {"GROUP": "1"})
        for program in PYTHON:
            self.run(program, self.by_hand([sys.executable, str(ROOT / program)]), {"FOLDER": str(folder)})
        for example in sorted((ROOT / "examples/python").glob("*.py")):
            self.run(f"{example.name}, torchrun", self.by_torchrun(example))

    def calls(self):
        """Collectives and messages, as their own scripts start them."""
        for script, more in (("comm.py", ["--calls", "3000", "--replays", "200"]),
                             ("sendrecv.py", ["--calls", "400", "--replays", "200"])):  # fmt: skip
            line = [sys.executable, str(ROOT / "test/device" / script), "--wheel", str(self.options.wheel)]
            line += ["--ranks", str(self.options.ranks), "--engine", "nvshmem", *more]
            line += ["--domain", str(self.options.domain)] if self.options.domain else []
            told = {"LOCAL_WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
            self.run(script, [(line, told)])

    def faults(self, folder):
        own = [sys.executable, str(Path(folder) / "waits.py")]
        for dies in range(2):
            said = f"rank {dies} died"
            self.run(f"rank {dies} is killed", self.by_hand(own), {"DIES": str(dies), "WAITS": "1"}, said)
        self.run("nobody signals", self.by_hand(own), {"WAITS": "1", "SECONDS": "3"}, "rank 1: ")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="the folder of symm-run")
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--domain", type=int, default=1, help="ranks that count as a node; 0: as NVSHMEM has it")
    parser.add_argument("--seconds", type=int, default=120, help="for one run")
    parser.add_argument("--only", nargs="+", choices=["compiled", "python", "calls", "faults"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(options.wheel).extractall(folder)
        hosts, wanted = Hosts(options, folder), options.only or ["compiled", "python", "calls", "faults"]
        (Path(folder) / "waits.py").write_text(WAITS)
        for part in wanted:
            getattr(hosts, part)(*([folder] if part in ("python", "faults") else []))
    print("nothing failed" if not hosts.failed else f"{hosts.failed} runs failed")
    return 1 if hosts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
