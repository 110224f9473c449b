"""What Iris' objects in kernels are, for `print` and messages, and how they refuse what they are not made of."""

from triton import knobs
from triton.language import core
from triton.runtime.interpreter import TensorHandle

from .. import _interpreter


def described(*names):
    """The `__repr__` of objects with these fields."""

    def described(self):
        return f"{type(self).__name__}({', '.join(f'{name}={_text(getattr(self, name))}' for name in names)})"

    return described


def _text(value):
    """A constant, the number that a value of an interpreted kernel is, or a value's type."""
    value = core._unwrap_if_constexpr(value)
    if not isinstance(value, core.tensor):
        return repr(value)
    scalar = isinstance(value.handle, TensorHandle) and value.handle.data.size == 1 and not value.type.scalar.is_ptr()
    return str(value.handle.data.item() if scalar else value.type)


def refused(message):
    """The error for a wrong argument of what is made in a kernel. Triton's compiler says the line itself."""
    is_interpreted = knobs.runtime.interpret and _interpreter.in_kernel()
    return _interpreter.located(f"symm {message}") if is_interpreted else TypeError(message)
