"""Prints docs/generated/python.md: what the Python package offers, from its signatures and docstrings.

Neither Triton nor the compiler is needed: what the package imports from them is a stand-in here.
"""

import inspect
import sys
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[3] / "python"))
sys.dont_write_bytecode = True
TRITON = ["", "._C", "._C.libtriton", ".language"]
TRITON += [".runtime", ".runtime.errors", ".runtime.interpreter", ".runtime.jit"]
sys.modules |= {f"triton{part}": mock.MagicMock() for part in TRITON}
# symm.comm looks whether Triton is there, and has nothing to compile.
sys.modules["triton"].__spec__ = sys.modules["symm.triton"] = mock.MagicMock()
sys.modules |= {"numpy": mock.MagicMock(), "symm._symm": mock.MagicMock(__version__="0")}

import symm  # noqa: E402
from symm import _context, _flags, _floats, _ops, _packets, _signals, comm, errors  # noqa: E402
from symm.comm import Communicator  # noqa: E402

INTRODUCTION = """\
<!-- Made from the docstrings in python/symm by ./x gen. -->

# The Python package

The first program is in [Triton, Gluon and torch](../python.md), what to know when writing kernels in
[their page](../kernels.md). What goes wrong raises one of [these exceptions](#exceptions-and-warnings).
"""
KERNELS = """
## `symm.triton` and `symm.gluon`

{doc}

A pointer is one into this rank's heap, or a block of such; `rank` is one integer, a Python number or a scalar of the
kernel, or where an op says so a block of them. Masks, values and `other` have the shape of the pointers or are
broadcast to it, and values are cast as `tl.store` casts them. In Gluon, results have the layout of the pointers.
`scope` is "sys" by default, and a narrower one is widened. `group` is there because the dialect's ops have it: a Triton
program is one thread to its author, so every op is the whole program's, whatever it says. What is wrong with an op is a
CompileError that names its line.

### `symm.triton.DeviceContext(table)`, `symm.gluon.DeviceContext(table)`

{context}
"""


def default(value):
    """A default as a user would write it."""
    large = isinstance(value, int) and value >= 1 << 20 and value & (value - 1) == 0
    return f"1 << {value.bit_length() - 1}" if large else repr(value).replace("'", '"')


def signature(function, skipped=()):
    """Names and defaults, without what is the compiler's."""
    parts = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name in (*skipped, "self") or parameter.name.startswith("_"):
            continue
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        given = "" if parameter.default is parameter.empty else f"={default(parameter.default)}"
        parts.append(f"{stars}{parameter.name}{given}")
    return f"({', '.join(parts)})"


def entry(name, function):
    return f"\n### `{name}{signature(function)}`\n\n{inspect.getdoc(function)}"


def bases(kind):
    """Exceptions of Python that this is one of, too."""
    own = [each for each in kind.__mro__ if each.__module__ != "builtins"]
    names = dict.fromkeys(base.__name__ for each in own for base in each.__bases__ if base.__module__ == "builtins")
    other = [f"`{name}`" for name in names if name not in ("Exception", "UserWarning")]
    return f" (also {', '.join(other)})" if other else ""


def print_members(name, *kinds):
    """The methods that users call, of a class and those that it is derived from."""
    members = {}
    for kind in kinds:
        members |= {each: member for each, member in vars(kind).items() if each not in members}
    for each, member in members.items():
        if inspect.isfunction(member) and not each.startswith("_") and member.__annotations__:
            print(entry(f"{name}.{each}", member))


def print_check():
    print(f"\n## `symm.check`\n\n{inspect.getdoc(symm.check)}")
    for name in ("run", "raises"):
        print(entry(f"symm.check.{name}", getattr(symm.check, name)))
    print(entry("symm.check", symm.check.__call__))
    for kind in (symm.check.Report, symm.check.Finding, symm.check.Place, symm.check.Allowed):
        print(entry(f"symm.check.{kind.__name__}", kind))
    for name in ("json", "summary"):
        print(f"\n### `Report.{name}()`\n\n{inspect.getdoc(getattr(symm.check.Report, name))}")


def main():
    print(INTRODUCTION + "\n## `symm`")
    print(entry("symm.init", symm.init))
    print(f"\n### `symm.World`\n\n{inspect.getdoc(symm.World)}")
    print_members("World", *symm.World.__mro__)
    rest = "Most other methods of `symm.World` are there, too; the heap, `broadcast` and `close` are the World's."
    print(f"\n### `symm.Team`\n\n{inspect.getdoc(symm.Team)} {rest}")
    print_members("Team", symm.Team)
    print(entry("symm.trace", symm.trace))
    print(entry("symm.trace.plot", symm.trace.plot))
    # The first line is of the module for Triton, the second of its context.
    print(KERNELS.format(doc=inspect.getdoc(_ops).split("\n\n", 1)[1], context=inspect.getdoc(_context.Ops)))
    modules = (_ops, _signals, _flags, _packets, _floats)
    ops = [(name, getattr(module, name)) for module in modules for name in module.__all__]
    print("\n".join(entry(name, function).lstrip("\n") + "\n" for name, function in ops), end="")
    print_check()
    print(f"\n## `symm.comm`\n\n{inspect.getdoc(comm)}")
    print(f"\n### `symm.comm.Communicator{signature(Communicator)}`\n\n{inspect.getdoc(Communicator)}")
    for name, member in vars(Communicator).items():
        if inspect.isfunction(member) and not name.startswith("_"):
            print(entry(f"Communicator.{name}", member))
    for function in (comm.send, comm.recv, comm.sendrecv, comm.all_to_all, comm.check_transfer):
        print(entry(f"symm.comm.{function.__name__}", function))
    transports = comm.P2pTransport, comm.NodeTransport, comm.MeshTransport, comm.NetworkTransport, comm.PeerEndpoint
    for kind in transports:
        print(entry(f"symm.comm.{kind.__name__}", kind))
    for name in ("check", "recover", "close", "link_kind", "seam", "endpoint", "get_geometry"):
        print(entry(f"P2pTransport.{name}", getattr(comm.P2pTransport, name)))
    print("\n## Exceptions and warnings\n")
    print("Every exception is a `symm.SymmError`, every warning a `symm.SymmWarning`.\n")
    print("| class | what it says |\n| :-- | :-- |")
    for name, kind in vars(errors).items():
        if inspect.isclass(kind) and issubclass(kind, (symm.SymmError, Warning)):
            print(f"| `{name}`{bases(kind)} | {' '.join(inspect.getdoc(kind).split())} |")


main()
