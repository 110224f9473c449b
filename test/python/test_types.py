"""What a type checker and an editor know of the package: names, arguments and defaults."""

import importlib
import inspect
import os
import pydoc
import re
import subprocess
from pathlib import Path

import pytest
import symm.gluon
import symm.triton
from symm import _context, _flags, _floats, _ops, _packets, _signals

USES = Path(__file__).parent / "typed/uses.py"
STUB = Path(_ops.__file__).with_name("_symm.pyi")


def test_right_and_wrong_uses(tmp_path):
    mypy = os.environ.get("SYMM_MYPY")
    if mypy is None:
        pytest.skip("SYMM_MYPY does not name mypy: ./x python installs one")
    package = Path(_ops.__file__).parents[1]
    options = ["--check-untyped-defs", "--no-implicit-reexport", "--ignore-missing-imports"]
    options += ["--follow-imports=silent", "--disallow-untyped-calls", "--cache-dir", tmp_path]
    environment = {**os.environ, "MYPYPATH": str(package)}
    done = subprocess.run([mypy, *options, USES, STUB], capture_output=True, text=True, check=False, env=environment)
    found = {int(line): message for line, message in re.findall(r"uses\.py:(\d+): error: (.*)", done.stdout)}
    lines = USES.read_text().splitlines()
    wanted = {number: line.split("  # wrong: ")[1] for number, line in enumerate(lines, 1) if "  # wrong: " in line}
    assert found.keys() == wanted.keys() and "_symm.pyi" not in done.stdout, done.stdout + done.stderr
    for number, message in wanted.items():
        assert message in found[number], f"line {number}: {found[number]}"


@pytest.mark.parametrize("module", [symm.triton, symm.gluon])
def test_every_op_is_a_function_and_a_method(module):
    context, options, *ops = module.__all__
    assert options == "options"
    assert ops == _ops.__all__ + _signals.__all__ + _flags.__all__ + _packets.__all__ + _floats.__all__
    defined = [value for each in (_ops, _signals, _flags, _packets, _floats) for value in vars(each).items()]
    assert set(ops) == {name for name, value in defined if getattr(value, "__triton_builtin__", False)}
    for op in ops:
        assert getattr(module, op).__doc__
        assert getattr(_context.Ops, op) is getattr(getattr(module, context), op) is getattr(module, op)


@pytest.mark.parametrize("context", [symm.triton.DeviceContext, symm.gluon.DeviceContext])
def test_help_shows_what_a_user_gives(context):
    text = pydoc.plain(pydoc.render_doc(context))
    assert f"{context.__name__}(table)" in text
    assert " |  wait(ctx: 'Context', flag: 'tl.tensor', value: " in text
    assert "_semantic" not in pydoc.render_doc(symm.triton.load)
    # Triton looks for them.
    assert "_semantic" in inspect.signature(symm.triton.load).parameters


@pytest.mark.parametrize("module", ["triton", "gluon", "iris", "iris.context", "iris.gluon", "comm.device"])
def test_no_help_shows_what_triton_gives(module):
    module = importlib.import_module(f"symm.{module}")
    for name in module.__all__:
        text = pydoc.plain(pydoc.render_doc(getattr(module, name)))
        assert "_semantic" not in text and "_generator" not in text, text
