"""CUDA graphs: builds graphs.c with the kernels of test/conformance/epochs.mlir, and runs it on GPUs.

    python3 test/device/graphs.py FOLDER        # where symm is built: makes FOLDER/symm-graphs and FOLDER/epochs.ptx
    python3 test/device/run.py --bin FOLDER --no-programs --graphs --ranks 1 2 4
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILT = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "release"
PORT = 29431
SECONDS = 120


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


def finish(children):
    """Whether all went well, and what they said."""
    ok, lines = True, []
    for child in children:
        try:
            output = child.communicate(timeout=SECONDS)[0]
        except subprocess.TimeoutExpired:
            child.kill()
            output = child.communicate()[0] + f"still running after {SECONDS} s\n"
        ok = ok and child.returncode == 0
        lines += output.splitlines()
    return ok, sorted(lines)


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
    return failed


if __name__ == "__main__":
    build(Path(sys.argv[1]).resolve())
