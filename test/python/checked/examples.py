"""Checks the kernels of these files on 2 ranks, and says as JSON what was found."""

import importlib.util
import json
import sys
from pathlib import Path

import symm.check


def check_of(file):
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.check


files = [Path(name) for name in sys.argv[1:]]
reports = {file.stem: symm.check.run(check_of(file), 2, schedules=2, heap_size=1 << 26) for file in files}
print(json.dumps({name: str(report) for name, report in reports.items()}))
