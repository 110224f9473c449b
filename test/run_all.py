"""Runs a program on 1, 2, 4 and 8 ranks, as threads and as processes: what `%run-all` of the lit suites stands for.

A line `// RANKS: 2 4` in the program restricts the numbers of ranks. Arguments after the program's name go to
every symm-run; {ranks} and {mode} in them stand for the number of ranks and for `threads` or `processes`. The program
of a litmus test is made from its table first.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import litmus

ALL_RANKS = ["1", "2", "4", "8"]
SECONDS_PER_RUN = "60"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--driver", required=True)
    parser.add_argument("program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()

    program = Path(options.program)
    if program.suffix == ".litmus":
        with tempfile.TemporaryDirectory() as scratch:
            run(litmus.write(program, scratch), options)
    else:
        run(program, options)


def run(program, options):
    restricted = re.search(r"^// RANKS: ([\d ]+)$", program.read_text(encoding="utf-8"), re.MULTILINE)
    for ranks in restricted[1].split() if restricted else ALL_RANKS:
        for mode in ["threads", "processes"]:
            command = ["symm-run", str(program), "--ranks", ranks, "--driver", options.driver]
            command += ["--timeout", SECONDS_PER_RUN]
            command += ["--processes"] if mode == "processes" else []
            command += [each.replace("{ranks}", ranks).replace("{mode}", mode) for each in options.arguments]
            code = subprocess.run(command, check=False).returncode
            if code != 0:
                sys.exit(f"exit status {code} from: {' '.join(command)}")


main()
