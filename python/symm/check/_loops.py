"""Loops of a kernel's source: whether a line may be a poll, and which variables of its loop only count."""

from __future__ import annotations

import ast
import linecache
from functools import cache

LOOPS = ast.While, ast.For
FUNCTIONS = ast.FunctionDef, ast.AsyncFunctionDef
# What makes a value of others and does nothing else, whatever the values: a division may end with an exception.
PLAIN = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp)
PLAIN += (ast.expr_context, ast.unaryop, ast.boolop, ast.cmpop)
PLAIN += (ast.Add, ast.Sub, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)


@cache
def polls(code, line):
    """Whether a line of a function is in a `while` loop, as far as is known; a `for` loop ends by itself."""
    found = _loops(code, line)
    return found is None or any(isinstance(loop, ast.While) for loop in found)


@cache
def counters(code, line):
    """The variables of which nothing depends that the outermost loop around a line does: of each of its turns one
    learns nothing else but its number.
    """
    found = _loops(code, line)
    if not found:
        return frozenset()
    # Others may see variables of a module, and of a function around another one.
    return _only_count(found[0]) & set(code.co_varnames) - set(code.co_cellvars)


@cache
def _loops(code, line):
    """The loops around a line of a function, the outermost first; None where there is no source."""
    if code.co_name.startswith("<") and code.co_name != "<module>":
        # An expression: a lambda, or a comprehension, which ends by itself.
        return []
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
    except (SyntaxError, ValueError):
        return None
    around = [node for node in ast.walk(tree) if hasattr(node, "lineno") and node.lineno <= line <= node.end_lineno]
    functions = [node for node in around if isinstance(node, FUNCTIONS) and node.name == code.co_name]
    first = max((function.lineno for function in functions), default=0)
    if not functions and not (around and code.co_name == "<module>"):
        return None
    loops = [node for node in around if isinstance(node, LOOPS) and node.lineno > first]
    return sorted(loops, key=lambda loop: (loop.lineno, loop.col_offset))


def _only_count(loop):
    """The variables that a loop makes of plain values alone, and uses for nothing but such variables."""
    made, used, flows, inner = set(), set(), [], set()
    for node in ast.walk(loop):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)) and node.value is not None:
            target = node.target
        else:
            continue
        parts = list(ast.walk(node.value))
        if isinstance(node, ast.AugAssign):
            parts.append(node.op)
        if isinstance(target, ast.Name) and all(isinstance(part, PLAIN) for part in parts):
            made.add(target.id)
            flows += [(part.id, target.id) for part in parts if isinstance(part, ast.Name)]
            inner |= {id(target), *map(id, parts)}
    for node in ast.walk(loop):
        if isinstance(node, ast.Name) and id(node) not in inner:
            # Used by something else, or made by something else.
            used.add(node.id)
    while more := {name for name, into in flows if (into in used or into not in made) and name not in used}:
        used |= more
    return frozenset(made - used)
