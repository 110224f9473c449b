"""What happens when a run goes wrong: each fault ends within its deadline on every surviving rank, with an error that
names rank and cause, and leaves no process, socket or shared memory; the next run works.

Ranks are started one by one, with the variables that torchrun sets. A wrong context table and ranks of different
versions can't be had through symm-run; the runtime's own tests have them.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
HELLO = HERE.parent.parent / "examples/hello.mlir"
STAGES = HERE / "faults/stages.mlir"
NEVER = HERE / "faults/never.mlir"
WRONG_TABLE = HERE / "faults/wrong_table.mlir"
PORT = 29417
#: MiB that a driver may keep of a GPU between runs.
SLACK = 64
#: Takes the memory of a GPU.
HOG = """
import sys, time, torch
torch.cuda.set_device(int(sys.argv[1]))
free = torch.cuda.mem_get_info()[0]
memory = torch.empty(free - (3 << 30), dtype=torch.uint8, device="cuda")
print("full", flush=True)
time.sleep(600)
"""


class World:
    """The ranks of a run, as processes that this script has started."""

    def __init__(self, symm_run, driver, size):
        self.symm_run, self.driver, self.size, self.ranks = symm_run, driver, size, []
        self.scratch = tempfile.TemporaryDirectory()

    def start(self, rank, program, *arguments, size=None):
        size = self.size if size is None else size
        variables = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": size, "LOCAL_WORLD_SIZE": size,
                     "MASTER_PORT": PORT, "MASTER_ADDR": "127.0.0.1", "TORCHELASTIC_RUN_ID": "faults"}
        environment = {**os.environ, **{name: str(value) for name, value in variables.items()}}
        log = Path(self.scratch.name) / f"{len(self.ranks)}.log"
        with log.open("w", encoding="utf-8") as out:
            child = subprocess.Popen([self.symm_run, program, "--driver", self.driver, *arguments], stdout=out,
                                     stderr=subprocess.STDOUT, env=environment, start_new_session=True)
        self.ranks.append((rank, child, log))

    def start_all(self, program, *arguments):
        for rank in range(self.size):
            self.start(rank, program, *arguments)

    def wait_for_line(self, which, line, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if line in self.ranks[which][2].read_text(errors="replace"):
                return
            time.sleep(0.02)
        rank = self.ranks[which][0]
        raise AssertionError(f"rank {rank} does not say '{line}' within {seconds} s: {self.said(which)}")

    def said(self, which):
        return self.ranks[which][2].read_text(errors="replace").strip()[-400:]

    def kill(self, which):
        os.kill(self.ranks[which][1].pid, signal.SIGKILL)

    def end(self, seconds, says, fails=True, survivors=None):
        """Every rank ends in time; with an error that matches `says` unless it was killed or all is well."""
        end = time.monotonic() + seconds
        for which, (rank, child, _) in enumerate(self.ranks):
            try:
                code = child.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                raise AssertionError(f"rank {rank} still runs after {seconds} s: {self.said(which)}") from None
            if survivors is not None and which not in survivors:
                continue
            if (code != 0) != fails:
                raise AssertionError(f"rank {rank} ended with status {code}: {self.said(which)}")
            if fails and not re.search(says, self.said(which)):
                raise AssertionError(f"rank {rank} does not say /{says}/: {self.said(which)}")

    def clean_up(self):
        for _, child, _ in self.ranks:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        self.scratch.cleanup()


def killed(stage):
    def scenario(world):
        victim = world.size - 1
        world.start_all(STAGES, "--arg", f"stage={stage}")
        world.wait_for_line(victim, f"stage {stage}", 60)
        time.sleep(1)
        world.kill(victim)
        world.end(30, rf"rank {victim}\b", survivors=range(victim))

    return scenario


def never(world):
    world.start_all(NEVER, "--timeout", "3")
    world.end(60, r"rank \d+.*wait|wait.*rank \d+")


def wrong_table(world):
    world.start_all(WRONG_TABLE)
    world.end(60, r"rank \d+.*context table|context table.*rank \d+")


def missing(world):
    world.start(0, HELLO, size=2)
    world.end(60, r"rank 1\b")


def twice(world):
    for rank in [0, 1, 1]:
        world.start(rank, HELLO, size=3)
    world.end(60, r"rank [12]\b")


def sizes(world):
    for rank in range(world.size):
        world.start(rank, HELLO, "--heap-size", "128M" if rank == world.size - 1 else "64M")
    world.end(60, r"heap|different")


def stale(world):
    world.start_all(STAGES, "--arg", "stage=1")
    for rank in range(world.size):
        world.wait_for_line(rank, "stage 1", 60)
    for rank in range(world.size):
        world.kill(rank)
    world.end(30, "", survivors=[])


def out_of_memory(world):
    count = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=True).stdout.count("GPU ")
    last = min(count, world.size) - 1
    # Ranks that share it have no memory either, and any of them may be the first to say so.
    who = rf"rank {last}\b" if count >= world.size else r"rank \d+\b"
    hog = subprocess.Popen([sys.executable, "-c", HOG, str(last)], stdout=subprocess.PIPE, text=True)
    try:
        hog.stdout.readline()
        world.start_all(HELLO, "--heap-size", "8G")
        world.end(90, who)
    finally:
        hog.kill()
        hog.wait()


SCENARIOS = [
    ("a rank is killed before a kernel", killed(0), True),
    ("a rank is killed in a kernel", killed(1), True),
    ("a rank is killed after a kernel", killed(2), True),
    ("a wait that never comes", never, True),
    ("a kernel is given a wrong context table", wrong_table, False),
    ("a rank is missing", missing, True),
    ("two claim the same rank", twice, True),
    ("heaps of different sizes", sizes, True),
    ("all ranks are killed; their socket is stale", stale, True),
    ("no memory on one GPU", out_of_memory, False),
]


def left():
    """Sockets of these runs, and shared memory."""
    lines = Path("/proc/net/unix").read_text(encoding="utf-8").splitlines()
    sockets = [line.split()[-1] for line in lines if "symm-" in line and f"-{PORT}-" in line]
    return set(sockets + [entry.name for entry in Path("/dev/shm").iterdir() if "symm" in entry.name])


def gpu_memory():
    """MiB in use on each GPU; nothing where there is none."""
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    try:
        return [int(word) for word in subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()]
    except (OSError, subprocess.CalledProcessError):
        return []


def try_one(scenario, symm_run, driver, size):
    used, before = gpu_memory(), left()
    world = World(symm_run, driver, size)
    try:
        scenario(world)
    finally:
        world.clean_up()
    remains = lambda: [*(left() - before), *(f"{now - then} MiB of a GPU" for now, then in zip(gpu_memory(), used)
                                             if now > then + SLACK)]
    end = time.monotonic() + 5
    while remains() and time.monotonic() < end:
        time.sleep(0.1)
    if remains():
        raise AssertionError(f"left over: {remains()}")
    world = World(symm_run, driver, size)
    try:
        world.start_all(HELLO)
        world.end(60, "", fails=False)
    finally:
        world.clean_up()


def run(symm_run, driver, size):
    """Tries all faults on `size` ranks; how many failed."""
    failed = 0
    print(f"\nfaults, {size} processes:")
    for name, scenario, anywhere in SCENARIOS:
        if not anywhere and driver != "cuda":
            print(f"  not tried here: {name}")
            continue
        start, problem = time.monotonic(), None
        try:
            try_one(scenario, symm_run, driver, size)
        except AssertionError as error:
            problem = str(error)
            failed += 1
        print(f"  {'ok  ' if problem is None else 'FAIL'} {time.monotonic() - start:5.1f} s  {name}", flush=True)
        if problem is not None:
            print("      " + problem.replace("\n", "\n      ")[:1200], flush=True)
    return failed
