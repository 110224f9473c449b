"""Compares a command's output with the end of a test: what `%golden` of the lit suites stands for.

    // RUN: %golden symm-opt %s --symm-hoist-translation
    …the input…
    // OUTPUT:
    // …what the command prints, each line after two slashes

For tests where the whole output is the point. With SYMM_BLESS=1 (`./x bless`) the end is rewritten instead.
"""

import difflib
import os
import subprocess
import sys
from pathlib import Path

MARK = "// OUTPUT:\n"


def main():
    test, command = Path(sys.argv[1]), sys.argv[2:]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"exit status {run.returncode} from: {' '.join(command)}")
    # Locations hold the test's path, which is another one on every machine.
    lines = run.stdout.replace(str(test), test.name).strip("\n").split("\n")
    printed = [f"// {line}".rstrip() + "\n" for line in lines]

    before, mark, after = test.read_text(encoding="utf-8").partition(MARK)
    expected = after.splitlines(keepends=True)
    if printed == expected:
        return
    if os.environ.get("SYMM_BLESS") == "1":
        test.write_text((before if mark else before.rstrip("\n") + "\n\n") + MARK + "".join(printed), encoding="utf-8")
        return
    sys.stderr.writelines(difflib.unified_diff(expected, printed, "the test's OUTPUT", "what is printed now"))
    sys.exit(f"{test.name}: the output is not what the test holds. If the new one is right: ./x bless")


main()
