"""Where an interpreted kernel calls an op, and what it has written there."""

import ast
import functools
import linecache
import sys
from pathlib import Path

from triton.language import core as tl
from triton.runtime import interpreter

from .errors import CompileError


def in_kernel():
    """Whether Triton's interpreter is the caller."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != interpreter.__file__:
        frame = frame.f_back
    return frame is not None


def located(message, kind=CompileError):
    """An error at the line of the kernel that is being interpreted."""
    frame = of_the_user()
    return kind(message, frame.f_code.co_filename, frame.f_lineno)


def of_the_user():
    """The frame of the function that calls this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(not_kernels()):
        frame = frame.f_back
    return frame


@functools.cache
def not_kernels():
    """The folders whose functions are not kernels."""
    return str(Path(__file__).parent), str(Path(tl.__file__).parents[1])


def kind_of_number(called, argument, position, count):
    """What a number that an op was given is to Triton's compiler: "constant", "variable", as what is made of a loop's
    variable or an argument of the kernel is, or "" if that is not known, as of what another function was given.

    `called` is the op, of whose `count` arguments without a name this one, if it has none, is at `position`.
    """
    frame = of_the_user()
    kind = _kind(frame.f_code, frame.f_lineno, called, argument, position, count)
    if kind != "parameter":
        return kind
    is_called = isinstance(frame.f_back.f_locals.get("self"), interpreter.InterpretedFunction)
    return "" if is_called else "variable"


@functools.cache
def _kind(code, line, called, argument, position, count):
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
    except (SyntaxError, ValueError):
        return ""
    around = [node for node in ast.walk(tree) if hasattr(node, "lineno") and node.lineno <= line <= node.end_lineno]
    functions = [node for node in around if isinstance(node, ast.FunctionDef) and node.name == code.co_name]
    calls = [node for node in around if isinstance(node, ast.Call) and _name(node.func) == called]
    if not functions or len(calls) != 1:
        return ""
    # A method's context is in front of the brackets.
    place, written = position - (count - len(calls[0].args)), {each.arg: each.value for each in calls[0].keywords}
    given = written.get(argument, calls[0].args[place] if 0 <= place < len(calls[0].args) else None)
    if given is None:
        return ""
    names = {node.id for node in ast.walk(given) if isinstance(node, ast.Name)}
    loops = [node for node in around if isinstance(node, ast.For) and node.lineno > functions[-1].lineno]
    loops = [loop for loop in loops if isinstance(loop.iter, ast.Call) and _name(loop.iter.func) == "range"]
    if names & {node.id for loop in loops for node in ast.walk(loop.target) if isinstance(node, ast.Name)}:
        return "variable"
    parameters = functions[-1].args.args
    variables = {each.arg for each in parameters if each.annotation is None or _name(each.annotation) != "constexpr"}
    return "parameter" if names & variables else "constant"


def _name(node):
    """The last name of `a.b.name`."""
    return getattr(node, "attr", getattr(node, "id", ""))
