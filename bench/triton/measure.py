#!/usr/bin/env python3
"""Measures Triton kernels with symm ops on GPUs against direct pointers, Iris's way, torch, NCCL and CUDA by hand.

    python3 bench/triton/measure.py --wheel target/wheels/symm-*.whl -o triton.json

`./x bench triton` does so with the wheel that `./x wheel` has built. On a machine without a build carry the wheel and
bench/ there, and bring triton.json back to target/bench; `./x bench publish` makes tables and pictures of it. Needs
torch and Triton, CuPy for what is written by hand, and 4 GPUs; nothing is installed. About three minutes.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import uuid
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: The parts, each with its number of ranks.
PARTS = {"copies": 2, "launch": 1, "gather": 4, "switches": 1}


def run(part, ranks, environment, folder, seconds):
    """Whether a part did well, with a process for each rank; prints what rank 0 prints."""
    name = uuid.uuid4().hex
    environment = {
        **environment,
        "WORLD_SIZE": str(ranks),
        "TORCHELASTIC_RUN_ID": name,
        "SYMM_BENCH_MEETING": str(folder / name),
        "SYMM_BENCH_FIGURES": str(folder),
    }
    files = [None, *(tempfile.TemporaryFile("w+") for _ in range(1, ranks))]
    processes = [
        subprocess.Popen(
            [sys.executable, "-B", HERE / f"{part}.py"],
            env={**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=file,
            stderr=subprocess.STDOUT,
        )
        for rank, file in enumerate(files)
    ]
    end = time.monotonic() + seconds
    while any(process.poll() is None for process in processes):
        failed = any(process.poll() not in (None, 0) for process in processes)
        # The others say why they end, too.
        end = min(end, time.monotonic() + 10) if failed else end
        if time.monotonic() > end:
            for process in processes:
                process.kill()
        time.sleep(0.1)
    codes = [process.returncode for process in processes]
    for rank, (file, code) in enumerate(zip(files, codes, strict=True)):
        if code and file is not None:
            file.seek(0)
            print(f"[rank {rank}: {code}]", *file.read().splitlines()[-12:], sep="\n  ")
    return not any(codes)


def machine(ranks):
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        name, driver = subprocess.run(query, capture_output=True, text=True).stdout.splitlines()[0].split(", ")
    except (OSError, IndexError):
        name, driver = "no GPU", "no driver"
    return {"gpus": f"{ranks} × {name}", "driver": f"driver {driver}", "kernel": platform.release()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS))
    parser.add_argument("--quick", action="store_true", help="that everything runs, not how fast")
    parser.add_argument("--seconds", type=int, default=150, help="for one part")
    options = parser.parse_args()
    failed, figures = [], {}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        zipfile.ZipFile(options.wheel).extractall(folder / "wheel")
        path = os.pathsep.join(filter(None, [str(folder / "wheel"), os.environ.get("PYTHONPATH")]))
        environment = {**os.environ, "PYTHONPATH": path, "SYMM_BENCH_QUICK": str(int(options.quick))}
        environment.setdefault("TRITON_CACHE_DIR", str(folder / "cache"))
        for part in options.only:
            start = time.monotonic()
            ok = run(part, PARTS[part], environment, folder, options.seconds)
            print(f"{'ok  ' if ok else 'FAIL'} {part}, {time.monotonic() - start:.1f} s", flush=True)
            if ok:
                figures[part] = json.loads((folder / f"{part}.json").read_text(encoding="utf-8"))
            else:
                failed.append(part)
    raw = {"machine": machine(max(PARTS.values())), "quick": options.quick, "figures": figures}
    options.output.write_text(json.dumps(raw), encoding="utf-8")
    print(f"failed: {', '.join(failed)}" if failed else f"raw figures: {options.output}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from output import until_reader_leaves

    until_reader_leaves(main)
