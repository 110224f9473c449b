"""Interpreted kernels in a function that torch.compile compiles: torch is kept from compiling the interpreter, too."""

import functools
import sys

from triton.runtime import interpreter

REASON = "symm: a kernel that Triton interprets runs between the compiled parts"


def install():
    """Wraps launches of Triton's interpreter, once."""
    if not getattr(install, "done", False):
        install.done = True
        interpreter.InterpretedFunction.run = _undisturbed(interpreter.InterpretedFunction.run)


def _undisturbed(run):
    @functools.wraps(run)
    def wrapper(kernel, *args, **keywords):
        # Nobody compiles anything before it is imported.
        if "torch._dynamo" in sys.modules:
            return _outside(run)(kernel, *args, **keywords)
        return run(kernel, *args, **keywords)

    return wrapper


def _outside(run):
    """The same, for torch to call and not to look into."""
    return sys.modules["torch._dynamo"].disable(run, reason=REASON)


_outside._torchdynamo_disable = True
# What torch says with fullgraph=True.
_outside._torchdynamo_disable_msg = f"{REASON}: launch it in a custom op, as docs/python.md shows under torch.compile"
