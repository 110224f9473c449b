"""What the compiler says of an op, as errors of kernels say it: with Python's names, the line, and what to write."""

import linecache
import re

from .errors import CompileError

OF_AN_OP = re.compile(r"'symm\.(\w+)' op ")
OF_TRITON = re.compile(r"'tt\.(\w+)' op ")
# Ops that Python calls otherwise.
NAMES = {"remote_load": "load", "remote_store": "store", "atomic_rmw": "atomic"}
# Those that are atomics, or are made of some.
CALLED = re.compile(r"\b(signal|test|wait_all|wait_any|atomic_\w+)\(")
# What is repaired with a warning where it is not an error, and what to write instead.
MENDS = {
    "O2: scope ": 'write scope="sys", or leave scope out',
    "without a release fence": 'write sem="release", or leave sem out',
    "without an acquire fence": 'write sem="acquire", or leave sem out',
}


def renamed(message, file=None, line=None):
    """The compiler's text with the names of Python's ops: of an atomic, which may be a part of another op, the one that
    the line calls.
    """

    def name(op):
        called = {*CALLED.findall(_text_of(file, line))} if op[1].startswith("atomic_") else ()
        return f"symm {called.pop() if len(called) == 1 else NAMES.get(op[1], op[1])}: "

    message = OF_TRITON.sub(lambda op: f"tl.{op[1].removesuffix('_rmw')}: ", message)
    return OF_AN_OP.sub(name, message)


def _text_of(file, line):
    return linecache.getline(file, line).strip() if file and line else ""


def translated(error, is_strict):
    """An error of the compiler. A strict one says how to mend it, and that it is an error because of that."""
    message = renamed(error.message, error.file, error.line)
    mend = next((mend for said, mend in MENDS.items() if said in message), None)
    if is_strict and mend is not None:
        message += f": {mend}. Without strict the compiler repairs it, and warns"
    line = _text_of(error.file, error.line)
    return CompileError(f"{message}\n    {line}" if line else message, error.file, error.line)
