"""CUDA graphs: builds graphs.c with the kernels of test/conformance/epochs.mlir, and runs it on GPUs.

    python3 test/device/graphs.py FOLDER        # where symm is built: makes FOLDER/symm-graphs and FOLDER/epochs.ptx
    python3 test/device/run.py --bin FOLDER --no-programs --graphs --ranks 1 2 4
"""

import argparse
import os
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILT = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "release"
PORT = 29431
SECONDS = 120
#: Seconds after which all ranks replay, and in which the survivors of one have to end.
STARTS_IN = 8
TOLD_IN = 20


def build(folder, chip="sm_70"):
    """PTX for an old chip runs on all later ones."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cargo", "build", "--release", "-p", "symm-c", "-p", "symm-translate"], cwd=ROOT, check=True)
    program = folder / "symm-graphs"
    subprocess.run(["cc", "-std=c11", "-O2", "-s", "-pthread", "-I", ROOT / "runtime/include",
                    ROOT / "test/device/graphs.c", BUILT / "libsymm.a", "-lm", "-ldl", "-o", program], check=True)
    subprocess.run([BUILT / "symm-translate", ROOT / "test/conformance/epochs.mlir", "--to", "ptx", "--chip", chip,
                    "-o", folder / "epochs.ptx"], check=True)
    print(f"{program} and {folder / 'epochs.ptx'}")


def start(command, rank=None, size=None):
    variables = {} if rank is None else {"RANK": rank, "WORLD_SIZE": size, "LOCAL_WORLD_SIZE": size,
                                         "MASTER_PORT": PORT, "TORCHELASTIC_RUN_ID": "graphs"}
    environment = {**os.environ, **{name: str(value) for name, value in variables.items()}}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)


def finish(children, seconds=SECONDS):
    """Whether all went well, and what they said."""
    ok, lines = True, []
    for child in children:
        try:
            output = child.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            child.kill()
            output = child.communicate()[0] + f"still running after {seconds} s\n"
        ok = ok and child.returncode == 0
        lines += output.splitlines()
    return ok, sorted(lines)


def kill_one(command, ranks):
    """Kills the last rank in the middle of its replays: the others end soon and name it. What is wrong, if anything."""
    children = [start([*command, "--replays", "100000000"], rank, ranks) for rank in range(ranks)]
    time.sleep(STARTS_IN)
    early = [rank for rank, child in enumerate(children) if child.poll() is not None]
    children[-1].kill()
    killed = time.monotonic()
    _, lines = finish(children, TOLD_IN)
    wrong = [f"rank {rank} ended before one was killed" for rank in early]
    wrong += [f"rank {rank} did not fail" for rank, child in enumerate(children) if child.returncode == 0]
    if sum(f"rank {ranks - 1} died" in line for line in lines) != ranks - 1:
        wrong.append(f"not every survivor says that rank {ranks - 1} died")
    return wrong, [f"ended {time.monotonic() - killed:.1f} s after the kill", *lines]


def run(folder, counts):
    """Runs it on each number of ranks; how many failed."""
    command = [folder / "symm-graphs", folder / "epochs.ptx"]
    failed = 0
    for ranks in counts:
        modes = {
            "threads": lambda: [start([*command, "--ranks", str(ranks)])],
            "processes": lambda: [start(command, rank, ranks) for rank in range(ranks)],
            "without the stream's barrier, for comparison": lambda: [
                start([*command, "--ranks", str(ranks), "--without-barrier"])],
        }
        for mode, children in modes.items():
            ok, lines = finish(children())
            failed += not ok
            print(f"{'ok  ' if ok else 'FAIL'} graphs, {ranks} ranks, {mode}")
            print("\n".join("       " + line for line in lines), flush=True)
        if ranks > 1:
            wrong, lines = kill_one(command, ranks)
            failed += bool(wrong)
            print(f"{'FAIL' if wrong else 'ok  '} graphs, {ranks} ranks, one is killed")
            print("\n".join("       " + line for line in wrong + lines), flush=True)
    return failed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the program and its kernels go")
    build(parser.parse_args().folder.resolve())
