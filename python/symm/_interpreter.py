"""The ops under `TRITON_INTERPRET=1`."""

from .errors import SymmError


def call(name, args, kwargs):
    raise SymmError(f"symm {name} is an op for kernels: call it in a function with @triton.jit or @gluon.jit")
