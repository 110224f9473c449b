"""Compiles the kernels of one package with one version of Triton, and says in lines of JSON what came out.

corpus.py starts it, and starts it again after the kernel with which it ended too early.
"""

import argparse
import json
import os
import sys

os.environ["TRITON_ALWAYS_COMPILE"] = "1"

import stand_ins
from compare import Skipped, outcomes
from kernels import kernels_of


def say(**words):
    # What kernels and packages print goes to the standard output, too.
    print(f"\n{json.dumps(words)}", file=sys.__stdout__, flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--limit", type=int, required=True)
    parser.add_argument("--begin", type=int, default=0)
    parser.add_argument("--remote", type=int, default=0)
    parser.add_argument("--keep", required=True)
    options = parser.parse_args()
    stand_ins.install()
    sys.path.insert(0, options.folder)
    kernels, refused = kernels_of(options.folder)
    every = max(1, -(-len(kernels) // options.limit)) if options.limit else 1
    chosen = kernels[::every]
    say(found=len(kernels), chosen=len(chosen), refused=refused)
    for number, kernel in enumerate(chosen[options.begin :], options.begin):
        say(kernel=kernel.name, number=number)
        try:
            results = outcomes(kernel, options.remote, options.keep)
        except Skipped as reason:
            results = [
                {"target": target, "outcome": "skipped", "detail": str(reason)} for target in ("sm_90", "gfx942")
            ]
        say(kernel=kernel.name, results=results)


if __name__ == "__main__":
    main()
