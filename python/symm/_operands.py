"""What a user wrote in an op, checked, and cast as `tl.load` and `tl.store` cast it."""

import inspect
from typing import Any, NamedTuple, get_args

from triton.language import core as tl

from ._context_argument import Argument
from ._symm import MAX_RANKS


class Bases(NamedTuple):
    """A context of its parts: a pointer to the bases alone, and the rank whose heap pointers point into; `name` is what
    the user's function calls that rank.
    """

    bases: Any
    rank: Any
    name: str = "rank"


class Operands:
    """Takes what a user wrote, and returns a Triton tensor, or None."""

    def __init__(self, semantic):
        self.semantic = semantic

    def context(self, value):
        if hasattr(value, "rank_here"):
            value = Bases(value.heap_bases, value.rank_here)
        if isinstance(value, Bases):
            kind = getattr(value.bases, "type", None)
            if isinstance(value.bases, tl.tensor) and kind.is_ptr() and kind.element_ty in (tl.int64, tl.uint64):
                return value
            raise TypeError(f"heap_bases must be the pointer to the heap bases, not {describe(value.bases)}")
        table = getattr(value, "table", value)
        kind = getattr(table, "type", None)
        if isinstance(table, tl.tensor) and kind.is_ptr() and kind.element_ty in (tl.int64, tl.uint64):
            return table
        wanted = "the World, which is an argument of the kernel, a DeviceContext of it, or its context table (int64)"
        is_class = isinstance(value, type)
        mend = ": launch the kernel with what symm.init() returns" if is_class or is_of_the_host(value) else ""
        raise TypeError(f"ctx must be {wanted}, not {describe(value)}{mend}")

    def deadline(self, ctx, timeout=None):
        """The record of a context's deadline, None where there is none; and the attributes that go with it.

        `timeout` is what an op is given: seconds. A context has a deadline of its own, or a time-out by its type.
        """
        timeout = tl._unwrap_if_constexpr(self.as_compiled(timeout, "timeout"))
        if (record := getattr(ctx, "deadline", None)) is not None:
            if timeout is not None:
                raise TypeError("this context has a deadline of its own: leave out timeout")
            return record, {"tag": tl._unwrap_if_constexpr(ctx.tag)}
        if timeout is None:
            self.context(ctx)
            return (self.record_of(ctx) if self.is_watched(ctx) else None), {}
        if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout > 0:
            raise TypeError(f"timeout must be a constant number of seconds above 0, not {describe(timeout)}")
        # What 63 bits hold of nanoseconds.
        return (self.record_of(ctx), {"limit": int(timeout * 1e9)}) if timeout < 2**63 / 1e9 else (None, {})

    @staticmethod
    def is_watched(ctx):
        """Whether the waits of a context have a time-out where they are given none; a context's own does not count."""
        table = getattr(ctx, "table", ctx)
        is_table = isinstance(table, tl.tensor) and table.type.element_ty == tl.uint64
        return is_table and getattr(ctx, "deadline", None) is None

    def polling(self, ctx):
        """The deadline of a loop that polls by an atomic; a context's own is for waits alone."""
        return (None, {}) if getattr(ctx, "deadline", None) is not None else self.deadline(ctx)

    def seen(self, ctx, flag, order, mask=None, deadline=None, asked=None):
        """What my flag is, or each of a block: by an atomic, so that all threads of the program see the same.

        A loop that polls by it has a `deadline`; `asked` is the comparison that it is for, and the value.
        """
        record, more = deadline or (None, {})
        context = self.context(ctx)
        element = flag.type.scalar.element_ty
        kind = flag.type.with_element_ty(element) if flag.type.is_block() else element
        operands = {
            "ctx": context,
            "ptr": flag,
            "value": self.value(0, flag),
            "rank": self.call("rank", {"ctx": context}, result=tl.int32),
            "mask": mask,
            "deadline": record,
        }
        order = {**order, "sem": order["sem"] or "acquire"}
        return self.call("atomic_rmw", operands, {"kind": "or", **order, **more}, kind)

    def present(self, operands):
        """The operands that are there, by name; a context of parts is three."""
        present = {key: value for key, value in operands.items() if value is not None}
        context = present.get("ctx")
        if not isinstance(context, Bases):
            return present
        rank, num_ranks = self.rank(context.rank, context.name), self.semantic.to_tensor(MAX_RANKS)
        return {"ctx": context.bases, "ctx.rank": rank, "ctx.num_ranks": num_ranks} | {
            name: value for name, value in present.items() if name != "ctx"
        }

    def check_context(self, context, rank, num_ranks):
        """In the interpreter: an error where a rank, and how many there are, are not those of a context."""

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

    def ranks(self, value, pointer):
        """A rank, or a block of them, one for each of a block of pointers."""
        return self._like(self.rank(value, one=False), pointer, "rank") if is_block(value) else self.rank(value)

    def rank(self, value, name="rank", one=True):
        value = tl._unwrap_if_constexpr(value)
        if isinstance(value, int) and not isinstance(value, bool):
            if not 0 <= value < MAX_RANKS:
                raise ValueError(f"{name} must be at least 0 and below the number of ranks, not {value}")
        elif not isinstance(value, tl.tensor) or not value.type.scalar.is_int() or value.type.scalar.is_bool():
            raise TypeError(f"{name} must be an integer, not {describe(value)}")
        elif one and value.type.is_block():
            raise TypeError(f"{name} must be one integer, not a block: all elements come from or go to one rank")
        return self.narrowed(self.semantic.to_tensor(value))

    def narrowed(self, rank):
        """A rank, or a block of them, as int32."""
        if rank.type.scalar.primitive_bitwidth > 32:
            # What 32 bits do not hold is not a rank, whatever the lower half is.
            none = tl.PropagateNan.NONE
            rank = self.semantic.minimum(rank, self.semantic.to_tensor(2**31 - 1), none)
            rank = self.semantic.maximum(rank, self.semantic.to_tensor(-1), none)
        return self.semantic.cast(rank, tl.int32)

    def value(self, value, pointer, name="value"):
        """A value as the pointer's elements are, as `tl.store` casts it."""
        value = tl._unwrap_if_constexpr(value)
        if isinstance(value, int) and pointer.type.scalar.element_ty.is_floating():
            # Triton casts no integers to types of 8 bits.
            value = float(value)
        elif isinstance(value, int):
            whole(value, pointer.type.scalar.element_ty, name)
        element = pointer.type.scalar.element_ty
        is_pointer = isinstance(value, tl.tensor) and value.type.scalar.is_ptr()
        if is_pointer and not (element.is_ptr() or element in (tl.int64, tl.uint64)):
            raise TypeError(f"{name} must be a number or a block of numbers, not {describe(value)}")
        return self.semantic.cast(self._like(value, pointer, name), element)

    def as_compiled(self, value, name):
        """What an argument that has to be a constant is to Triton's compiler: the interpreter knows less of it."""
        return value

    def sent(self, value):
        """A value that is sent with its type: one that a kernel has computed, or was given."""
        if not isinstance(value, tl.tensor) or value.type.scalar.is_ptr():
            wanted = "a scalar or a block of the kernel"
            raise TypeError(f"value must be {wanted}, not {describe(value)}: its type is sent too")
        return value

    def exact(self, value, pointer, name="value"):
        """An integer that the pointer's elements can hold: flags are compared, so none may be cut short."""
        value = tl._unwrap_if_constexpr(value)
        element = pointer.type.scalar.element_ty
        kind = value.type.scalar if isinstance(value, tl.tensor) else None
        if isinstance(value, float) or (kind is not None and not kind.is_int()):
            raise TypeError(f"{name} must be an integer, not {describe(value)}")
        if isinstance(value, int):
            bits = element.primitive_bitwidth
            low, high = (0, 2**bits) if element.is_int_unsigned() else (-(2 ** (bits - 1)), 2 ** (bits - 1))
            if not low <= value < high:
                raise ValueError(f"{name} {value} does not fit in a flag of {element}")
        elif kind is not None and kind.primitive_bitwidth > element.primitive_bitwidth:
            cast = f"cast it where it fits, {name}.to(tl.{element.name}), or make the flag wider"
            raise TypeError(f"{name} is {kind}, but the flag is {element}: {cast}")
        return self.value(value, pointer, name)

    def negative(self, value):
        return self.semantic.minus(value)

    def mask(self, value, pointer):
        value = boolean(value)
        return None if value is None else self._like(value, pointer, "mask")

    def other(self, value, pointer, mask):
        """What masked elements become; `mask` is what the user wrote. Where it is True everywhere, there are none."""
        value, mask = tl._unwrap_if_constexpr(value), tl._unwrap_if_constexpr(mask)
        if value is None:
            return None
        if mask is None:
            raise ValueError("other is what masked elements become: it needs a mask")
        value = self.value(value, pointer, "other")
        return None if mask is True else value

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
        widened, like = self.together(pointer, value, "the pointers", name)
        if shape_of(widened) != shape_of(pointer):
            raise ValueError(f"{name} has shape {shape_of(value)}, but the pointers have {shape_of(pointer)}")
        return like

    def together(self, first, second, name, other):
        """Two values with the shape of both; `name` and `other` are what they are called in a kernel."""
        try:
            return self.semantic.broadcast_impl_value(first, second)
        except (AssertionError, ValueError) as error:
            shapes = shape_of(first), shape_of(second)
            if shapes[0] == shapes[1]:
                # Gluon's layouts.
                raise ValueError(f"{other} is not like {name}: {error}") from None
            has = "have" if name == "the pointers" else "has"
            raise ValueError(f"{other} has shape {shapes[1]}, but {name} {has} {shapes[0]}") from None


def whole(value, element, name):
    """An error for a constant of which an integer would hold a part only, signed or not."""
    bits = element.primitive_bitwidth
    if not -(2 ** (bits - 1)) <= value < 2**bits:
        raise ValueError(f"{name} {value} does not fit in {element}")


def boolean(value):
    """The mask that a user wrote; None where it is True everywhere."""
    value = tl._unwrap_if_constexpr(value)
    if value is None or value is True:
        return None
    if not isinstance(value, bool) and not (isinstance(value, tl.tensor) and value.type.scalar.is_bool()):
        mend = "write True or False, or a comparison such as offsets < n"
        raise TypeError(f"mask must be boolean, not {describe(value)}: {mend}")
    return value


def choice(value, name, choices):
    """A keyword that the user wrote, or None for the default; `choices` is a Literal."""
    value = tl._unwrap_if_constexpr(value)
    # What is none is not compared: what a kernel computes cannot be.
    if value is None or (isinstance(value, str) and not value):
        return None
    if not isinstance(value, str) or value not in get_args(choices):
        allowed = ", ".join(repr(each) for each in get_args(choices) if each)
        raise ValueError(f"{name} must be one of {allowed}, not {describe(value)}")
    return value.lstrip(".")


def flag(value, name):
    value = tl._unwrap_if_constexpr(value)
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, not {describe(value)}")
    return value


def is_block(value):
    return isinstance(value, tl.tensor) and value.type.is_block()


def shape_of(value):
    """The shape of a value, as it is written in a kernel."""
    return [tl._unwrap_if_constexpr(size) for size in value.type.get_block_shapes()] if is_block(value) else []


def describe(value):
    """What a user wrote, for messages: a constant as it is, of anything else its type and shape."""
    value = tl._unwrap_if_constexpr(value)
    # Asked first: in some versions of Triton a tuple raises ValueError for an attribute that it has not.
    if isinstance(value, (tl.tuple, tuple, list)):
        return f"the tuple ({', '.join(map(describe, value))})"
    if isinstance(value, tl.tensor):
        return f"a block of {value.type.scalar} of shape {shape_of(value)}" if is_block(value) else str(value.type)
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if is_of_the_host(value):
        return f"a {type(value).__name__ if isinstance(value, Argument) else 'tensor'} of the host"
    if isinstance(value, tl.base_value):
        return f"a {type(value).__name__}"
    if callable(value):
        return f"the function {getattr(value, '__name__', type(value).__name__)}, which is not called"
    return repr(value)


def is_of_the_host(value):
    """Whether a value is a tensor or a World of the host, which a kernel has only as an argument."""
    return not isinstance(value, type) and hasattr(value, "data_ptr")


def complaint(function, args, kwargs, error):
    """What the error of an op says. Where arguments do not fit, Python counts the emitter, too, which users do not
    give, and may name a function that they do not call.
    """
    said = str(error) or repr(error)
    if not isinstance(error, (TypeError, ValueError)):
        return said
    signature = inspect.signature(function)
    try:
        signature.bind(None, *args, **kwargs)
    except TypeError as wrong:
        _, missing, names = said.partition("() missing ")
        takes = ", ".join(list(signature.parameters)[1:])
        said = f"{function.__qualname__}{missing}{names}" if missing else f"{wrong}: {function.__name__} takes {takes}"
    required = [each.name for each in signature.parameters.values() if each.default is each.empty][1:]
    if required[:1] == ["ctx"] and "ctx" not in kwargs and not (args and is_context(args[0])):
        wanted = f"{function.__name__}({', '.join(required)}, …)" if required[1:] else f"{function.__name__}(ctx)"
        said += f". Is ctx, the first argument, forgotten? Write {wanted}; ctx is the World or a DeviceContext"
    return said


def is_context(value):
    """Whether a value may be a context: what else points to integers of 64 bits is not told from a table."""
    kind = getattr(getattr(value, "table", value), "type", None)
    is_table = isinstance(kind, tl.pointer_type) and kind.element_ty in (tl.int64, tl.uint64)
    is_meant = isinstance(value, type) or is_of_the_host(value)
    return is_table or is_meant or hasattr(value, "rank_here") or isinstance(value, Bases)
