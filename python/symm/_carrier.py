"""How an op of ours travels through Triton's front end.

An op is emitted as a *carrier*: a `tt.call` of a private function without body. Triton neither removes, merges nor
moves such calls, whatever their operands and layouts; the compiler (passes/) turns them back into symm ops. What does
not fit into operands is a text on the function, its attribute `symm.carrier`.
"""

import functools
import hashlib
import inspect

from triton import knobs
from triton._C.libtriton import ir
from triton.language import core as tl

from . import _interpreter
from .errors import CompileError, SymmError

# On a module that holds carriers, so that the hook can leave all others alone.
MARK = "symm.carriers"


def op(function):
    """Makes `function(emit, ctx, …)` a builtin of Triton and Gluon, called as `builtin(ctx, …)`.

    Whatever it raises reaches the user as a CompileError with the Python line of the call.
    """
    parameters = list(inspect.signature(function).parameters.values())[1:]
    keyword = functools.partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY, default=None)
    hidden = [keyword("_semantic"), keyword("_generator")]

    @functools.wraps(function)
    def builtin(*args, _semantic=None, _generator=None, **kwargs):
        if _semantic is None:
            return _interpreter.call(function.__name__, args, kwargs)
        try:
            return function(Emitter(_semantic, _generator), *args, **kwargs)
        except CompileError:
            raise
        except Exception as error:
            if knobs.compilation.front_end_debugging:
                raise
            message = str(error) or repr(error)
            raise located(f"symm {function.__name__}: {message}", _generator) from error

    builtin.__signature__ = inspect.Signature(parameters + hidden)
    builtin.__triton_builtin__ = True
    return builtin


def located(message, generator):
    """A CompileError at what the generator is looking at."""
    node = generator.cur_node
    line = getattr(node, "lineno", None)
    if line is None:
        return CompileError(message)
    source = generator.jit_fn.src.split("\n")[line - 1].strip()
    return CompileError(f"{message}\n    {source}", generator.file_name, generator.begin_line + line)


class Emitter:
    """Checks operands and emits carriers, in the function that Triton's front end is in."""

    def __init__(self, semantic, generator):
        self.semantic = semantic
        self.builder = semantic.builder
        self.generator = generator

    def call(self, name, operands, attributes=None, result=None):
        """Emits one op.

        `operands` are by the names that the dialect's definition gives them, in its order; those that are None are
        left out, as are attributes that are None or False. `result` is the type of the result.
        """
        operands = {key: value for key, value in operands.items() if value is not None}
        described = ", ".join(f"{key} = {attribute(value)}" for key, value in (attributes or {}).items() if value)
        carrier = f"{name}({', '.join(operands)})" + (f" {{{described}}}" if described else "")
        handles = [value.handle for value in operands.values()]
        function = self._function(name, carrier, operands, handles, result)
        call = self.builder.call(function, handles)
        return None if result is None else self.semantic.tensor(call.get_result(0), result)

    def _function(self, name, carrier, operands, handles, result):
        """The function to call: one for each carrier and types."""
        module, builder = self.generator.module, self.builder
        types = "|".join(str(value.type) for value in operands.values())
        digest = hashlib.sha256(f"{carrier}|{types}|{result}".encode()).hexdigest()[:16]
        symbol = f"symm.{name}.{digest}"
        if module.has_function(symbol):
            return module.get_function(symbol)
        results = [] if result is None else [result.to_ir(builder)]
        signature = builder.get_function_ty([handle.get_type() for handle in handles], results)
        # A builder of its own has no insertion point: the function stays detached until it is pushed back.
        detached = ir.builder(self.generator.context)
        detached.set_loc(builder.get_loc())
        function = detached.get_or_insert_function(module, symbol, signature, "private", True)
        function.set_attr("symm.carrier", builder.get_string_attr(carrier))
        module.push_back(function)
        module.set_attr(MARK, builder.get_int32_attr(1))
        return function

    # Operands. Each of these takes what a user wrote and returns a tensor of Triton's, or None.

    def context(self, value):
        table = getattr(value, "table", value)
        kind = getattr(table, "type", None)
        if isinstance(table, tl.tensor) and kind.is_ptr() and kind.element_ty == tl.int64:
            return table
        wanted = "a DeviceContext or the pointer to the context table (int64)"
        raise TypeError(f"ctx must be {wanted}, not {describe(value)}")

    def pointer(self, value, name="ptr", written=False, scalar=False):
        """A pointer or a block of pointers; one to booleans becomes one to bytes, which is how they are stored."""
        kind = getattr(value, "type", None)
        if not isinstance(value, tl.tensor) or not kind.scalar.is_ptr():
            raise TypeError(f"{name} must be a pointer or a block of pointers, not {describe(value)}")
        if kind.scalar.element_ty.is_block():
            raise TypeError(f"{name} must be a pointer or a block of pointers; block pointers are not supported")
        if scalar and kind.is_block():
            raise TypeError(f"{name} must be one pointer, not a block of them")
        if written and kind.scalar.is_const():
            raise TypeError(f"{name} is a pointer to constants, and cannot be written to")
        if kind.scalar.element_ty == tl.int1:
            value = self.semantic.cast(value, tl.pointer_type(tl.int8, kind.scalar.address_space))
        return value

    def rank(self, value, name="rank"):
        value = tl._unwrap_if_constexpr(value)
        if isinstance(value, int) and not isinstance(value, bool):
            if not 0 <= value < 2**31:
                raise ValueError(f"{name} must be a number from 0 below the number of ranks, not {value}")
        elif not isinstance(value, tl.tensor) or not value.type.scalar.is_int() or value.type.scalar.is_bool():
            raise TypeError(f"{name} must be an integer, not {describe(value)}")
        elif value.type.is_block():
            raise TypeError(f"{name} must be one integer, not a block: all elements come from or go to one rank")
        return self.semantic.cast(self.semantic.to_tensor(value), tl.int32)

    def value(self, value, pointer, name="value"):
        """A value as the pointer's elements are, as `tl.store` casts it."""
        value = tl._unwrap_if_constexpr(value)
        if isinstance(value, int) and pointer.type.scalar.element_ty.is_floating():
            # Triton casts no integers to types of 8 bits.
            value = float(value)
        value = self._like(value, pointer, name)
        return self.semantic.cast(value, pointer.type.scalar.element_ty)

    def mask(self, value, pointer):
        value = tl._unwrap_if_constexpr(value)
        if value is None or value is True:
            return None
        value = self._like(value, pointer, "mask")
        if not value.type.scalar.is_bool():
            raise TypeError(f"mask must be boolean, not {describe(value)}")
        return value

    def other(self, value, pointer, mask):
        value = tl._unwrap_if_constexpr(value)
        if value is None:
            return None
        if mask is None:
            raise ValueError("other is what masked elements become: it needs a mask")
        return self.value(value, pointer, "other")

    def _like(self, value, pointer, name):
        """A value with the shape of a pointer."""
        value = tl._unwrap_if_constexpr(value)
        if isinstance(value, (bool, int, float)):
            value = self.semantic.to_tensor(value)
        if not isinstance(value, tl.tensor):
            raise TypeError(f"{name} must be a number or a block, not {describe(value)}")
        if not pointer.type.is_block():
            if value.type.is_block():
                raise TypeError(f"{name} is a block, but the pointer is not")
            return value
        pointer_shape = pointer.type.get_block_shapes()
        widened, value = self.semantic.broadcast_impl_value(pointer, value)
        if widened.type.get_block_shapes() != pointer_shape:
            raise ValueError(f"{name} has shape {value.type.get_block_shapes()}, but the pointers have {pointer_shape}")
        return value


def choice(value, name, choices):
    """A keyword that the user wrote, or None for the default."""
    value = tl._unwrap_if_constexpr(value)
    if value is None or value == "":
        return None
    if value not in choices:
        allowed = ", ".join(repr(each) for each in choices)
        raise ValueError(f"{name} must be one of {allowed}, not {value!r}")
    return value.lstrip(".")


def flag(value, name):
    value = tl._unwrap_if_constexpr(value)
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, not {value!r}")
    return value


def attribute(value):
    return "true" if value is True else value


def describe(value):
    value = tl._unwrap_if_constexpr(value)
    return str(value.type) if isinstance(value, tl.tensor) else repr(value)
