"""Checks each case of bugs.py, and says as JSON what was found: `cases.py [NAME …]`."""

import json
import sys

import bugs
import symm.check


def checked(name):
    program, options = bugs.CASES[name]
    report = symm.check.run(program, heap_size=1 << 24, **{"ranks": 2, **options})
    return {**json.loads(report.json()), "text": str(report)}


names = sys.argv[1:] or bugs.CASES
print(json.dumps({name: checked(name) for name in names}))
