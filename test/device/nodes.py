"""Runs programs on GPUs whose ranks NVSHMEM reaches: all near, all far, and in nodes of two ranks.

Ranks of one host stand for nodes: with `--domain 1` every access of another rank is a call of NVSHMEM, which moves the
data over NVLink or within the GPU. Where there are fewer GPUs than ranks, ranks share them.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TEST = Path(__file__).parents[1]
sys.path.insert(0, str(TEST))
import litmus  # noqa: E402
from nodes import FEW, NEAR_ONLY  # noqa: E402

# The ranks, and those of a node.
MODES = {"near-2": (2, None), "far-2": (2, 1), "mixed-4": (4, 2)}
SETTINGS = {
    "NVSHMEM_REMOTE_TRANSPORT": "none",
    "NVSHMEM_DISABLE_NVLS": "1",
    "NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME": "lo",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, help="the folder of symm-run")
    parser.add_argument("--modes", nargs="+", default=list(MODES), choices=MODES)
    parser.add_argument("--few", action="store_true", help="a few programs that together have every op")
    parser.add_argument("--only", nargs="+", help="programs by name")
    parser.add_argument("--jobs", type=int, default=4, help="runs at the same time")
    parser.add_argument("--seconds", type=int, default=60, help="time for each run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(options.jobs) as pool:
        cases = [(mode, *case) for mode in options.modes for case in programs(scratch, options, mode)]
        results = list(pool.map(lambda case: run(options, *case), cases))
    failed = [name for name, passed in results if not passed]
    print(f"{len(results) - len(failed)} passed, {len(failed)} failed: {' '.join(failed)}", flush=True)
    sys.exit(1 if failed else 0)


def programs(scratch, options, mode):
    """The programs of a mode, each with its arguments."""
    leave_out = {"check", "ctx"} if mode.startswith("near") else NEAR_ONLY
    found = [(path, []) for path in sorted((TEST / "conformance").glob("*.mlir")) if path.stem not in leave_out]
    found += [(litmus.write(path, scratch), []) for path in sorted((TEST / "litmus").glob("*.litmus"))]
    examples = TEST.parent / "examples"
    heat = ["--input", f"image={examples}/data/heat.npy", "--output", f"result={scratch}/{mode}.npy"]
    special = {"heat": heat, "sharded_matmul": ["--arg", "m=13", "--arg", "k=29", "--arg", "n=17"]}
    found += [(path, special.get(path.stem, [])) for path in sorted(examples.glob("*.mlir"))]
    names = options.only or (FEW if options.few else None)
    return [(path, arguments) for path, arguments in found if not names or Path(path).stem in names]


def run(options, mode, program, arguments):
    """The name of a run, and whether it passed."""
    ranks, domain = MODES[mode]
    line = [f"{options.bin}/symm-run", str(program), "--driver", "cuda", "--engine", "nvshmem"]
    line += ["--ranks", str(ranks), "--timeout", str(options.seconds / 2), *arguments]
    line += ["--domain", str(domain)] if domain else []
    name, begun = f"{mode}/{Path(program).stem}", time.monotonic()
    try:
        done = subprocess.run(line, env=os.environ | SETTINGS, capture_output=True, text=True, timeout=options.seconds)
        status, said = done.returncode, done.stdout[-1500:] + done.stderr[-1500:]
    except subprocess.TimeoutExpired as late:
        status, said = "killed", str(late.stderr)[-1500:]
    seconds = time.monotonic() - begun
    print(f"{name}: {'passed' if status == 0 else f'failed ({status})'} in {seconds:.1f} s", flush=True)
    if status != 0:
        print(said, flush=True)
    return name, status == 0


if __name__ == "__main__":
    main()
