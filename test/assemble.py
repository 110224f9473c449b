"""Assembles what programs compile to, for NVIDIA and AMD GPUs: what `%assemble` of the lit suites stands for.

    // RUN: %assemble %s --chip sm_90 --chip gfx942

PTX is assembled by NVIDIA's ptxas for the chip it was made for, and for sm_90 where that is newer; AMD code by
llvm-mc and lld. Programs without kernels are left out. machine_code.py says what else is looked at.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import machine_code  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
NEWER = "sm_90"


class Refused(Exception):
    """What a tool said when it failed."""


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()
        errors = said[max(said.find("error"), 0) :][:2000]
        raise Refused(f"{errors}\nexit status {done.returncode} from: {' '.join(command)}")
    return done.stdout


def ptxas(chip):
    """NVIDIA's assembler: CUDA 12's, or CUDA 13's for what came later."""
    folder = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "ptxas/nvidia"
    path = folder / ("cu13" if chip.startswith("sm_110") else "cuda_nvcc") / "bin/ptxas"
    if not path.exists():
        raise Refused(f"there is no ptxas in {folder}: ./x ptxas fetches it")
    return str(path)


def assemble(text):
    """Assembles PTX or AMD assembly for the chip that it names; raises Refused."""
    nvidia = re.search(r"^\.target (\w+)", text, re.MULTILINE)
    amd = re.search(r'^\t\.amdgcn_target "amdgcn-amd-amdhsa--(\w+)', text, re.MULTILINE)
    with tempfile.TemporaryDirectory() as folder:
        source, binary, linked = (str(Path(folder) / name) for name in ["code.s", "code.o", "code.hsaco"])
        Path(source).write_text(text, encoding="utf-8")
        if amd:
            run(["llvm-mc", "-triple=amdgcn-amd-amdhsa", f"-mcpu={amd[1]}", "-filetype=obj", source, "-o", binary])
            run(["ld.lld", "-shared", binary, "-o", linked])
            return
        own = nvidia[1]
        for chip in [own, NEWER] if int(re.search(r"\d+", own)[0]) < 90 else [own]:
            run([ptxas(chip), f"-arch={chip}", source, "-o", binary])


def translate(program, chip, *options):
    form = "ptx" if chip.startswith("sm_") else "amdgcn"
    return run(["symm-translate", str(program), "--to", form, "--chip", chip, *options])


def check(program, chip, options):
    """What is wrong with a program's kernels, if something is."""
    try:
        text = translate(program, chip, *options)
        assemble(text)
    except Refused as refusal:
        return f"{program}, {chip}: {refusal}"
    kernels = machine_code.kernels(text)
    if not kernels:
        return f"{program}, {chip}: no kernels in what symm-translate printed"
    faults = [(name, fault) for name, lines in kernels.items() for fault in machine_code.faults(lines)]
    return "\n".join(f"{program}, {chip}: {name}: {fault}" for name, fault in faults)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=Path, nargs="+", help="programs, or folders of them")
    parser.add_argument("--chip", action="append", required=True)
    parser.add_argument("-O", dest="level", help="instead of symm-translate's own level")
    options = parser.parse_args()
    level = [f"-O{options.level}"] if options.level else []

    files = [file for path in options.programs for file in (sorted(path.glob("*.mlir")) if path.is_dir() else [path])]
    programs = [file for file in files if "gpu.module" in file.read_text(encoding="utf-8")]
    jobs = [(program, chip) for program in programs for chip in options.chip]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = list(pool.map(lambda job: check(*job, level), jobs))
    print(f"{len(programs)} programs with kernels, {len(wrong) - wrong.count('')} of {len(wrong)} results are wrong")
    if any(wrong) or not programs:
        sys.exit("\n".join(filter(None, wrong)))


if __name__ == "__main__":
    main()
