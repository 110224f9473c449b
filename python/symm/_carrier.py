"""How one of symm's ops travels through Triton's front end.

An op is emitted as a *carrier*: a `tt.call` of a private function without body. Triton neither removes, merges nor
moves such calls, whatever their operands and layouts; the compiler (passes/) turns them back into symm ops. What does
not fit into operands is a text on the function, its attribute `symm.carrier`.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from triton import knobs
from triton._C.libtriton import ir
from triton.language import core as tl

from . import _interpreter, _switches
from ._operands import Operands, complaint
from ._symm import DEADLINE_OFFSET, WRITTEN
from .errors import CompileError

# On a module that holds carriers, so that the hook can leave all others alone.
MARK = "symm.carriers"
# On a module whose waits have a time-out where they are given none: loops that poll by Triton's atomics then have it.
DEFAULT_TIMEOUT = "symm.default_timeout"

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class Shown(inspect.Signature):
    """The signature of what Triton calls with hidden arguments, which `help` does not show."""

    def __str__(self):
        return str(inspect.Signature([each for each in self.parameters.values() if not each.name.startswith("_")]))

    def format(self, **keywords):
        """What newer versions of Python show."""
        return str(self)

    @staticmethod
    def of(parameters):
        """That of parameters, with the hidden ones."""
        keyword = functools.partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY, default=None)
        return Shown([*parameters, keyword("_semantic"), keyword("_generator")])


def shown(made, parameters):
    """A class that Triton has made an aggregate, whose `help` has these parameters."""
    made.__signature__ = made.__new__.__signature__ = Shown.of(parameters)
    return made


def op(
    function: Callable[Concatenate[Any, Parameters], Result], name: str | None = None
) -> Callable[Parameters, Result]:
    """Makes `function(emit, ctx, …)` a builtin of Triton and Gluon, called as `builtin(ctx, …)`.

    Whatever it raises reaches the user as a CompileError with the Python line of the call. `name` is what users call it
    if that is not the function's name.
    """
    if name is not None:
        function.__qualname__, function.__name__ = name, name.rpartition(".")[2]
    called = function.__name__ if name is None else name
    parameters = list(inspect.signature(function).parameters.values())[1:]

    @functools.wraps(function)
    def builtin(*args, _semantic=None, _generator=None, **kwargs):
        if _semantic is None:
            return _interpreter.run(function, called, args, kwargs)
        try:
            return function(Emitter(_semantic, _generator), *args, **kwargs)
        except CompileError:
            raise
        except Exception as error:
            if knobs.compilation.front_end_debugging:
                raise
            message = complaint(function, args, kwargs, error)
            raise located(f"symm {called}: {message}", _generator) from error

    builtin.__signature__ = Shown.of(parameters)
    builtin.__triton_builtin__ = True
    return cast("Callable[Parameters, Result]", builtin)


def located(message, generator):
    """A CompileError at what the generator is looking at."""
    node = generator.cur_node
    line = getattr(node, "lineno", None)
    if line is None:
        return CompileError(message)
    source = generator.jit_fn.src.split("\n")[line - 1].strip()
    return CompileError(f"{message}\n    {source}", generator.file_name, generator.begin_line + line)


class Emitter(Operands):
    """Emits carriers in the function that Triton's front end is in."""

    def __init__(self, semantic, generator):
        super().__init__(semantic)
        self.builder = semantic.builder
        self.generator = generator

    def context(self, value):
        context = super().context(value)
        if self.is_watched(value):
            self.generator.module.set_attr(DEFAULT_TIMEOUT, self.builder.get_int32_attr(1))
        return context

    def call(self, name, operands, attributes=None, result=None):
        """Emits one op.

        `operands` are by the names that the dialect's definition gives them, in its order; those that are None are
        left out, as are attributes that are None or False. `result` is the type of the result, or of several.
        """
        operands = self.present(operands)
        attributes = {key: value for key, value in (attributes or {}).items() if value}
        described = ", ".join(f"{key} = {'true' if value is True else value}" for key, value in attributes.items())
        carrier = f"{name}({', '.join(operands)})" + (f" {{{described}}}" if described else "")
        handles = [value.handle for value in operands.values()]
        function = self._function(name, carrier, operands, handles, result)
        call = self.builder.call(function, handles)
        values = [self.semantic.tensor(call.get_result(index), each) for index, each in enumerate(_types(result))]
        return values if isinstance(result, tuple) else values[0] if values else None

    def record_of(self, ctx):
        """The record of the waits of this rank's kernels, on its heap."""
        context = self.context(ctx)
        me = self.call("rank", {"ctx": context}, result=tl.int32)
        heap = self.call("heap_base", {"ctx": context, "rank": me}, result=tl.pointer_type(tl.int64))
        return self.semantic.add(heap, self.semantic.to_tensor(DEADLINE_OFFSET // 8), True)

    def is_used(self):
        """Whether the kernel does something with the result of the op that is being called."""
        return not getattr(self.generator.cur_node, "_is_unused", False)

    def times(self, count, body):
        """Emits a loop of `count` iterations; `body` emits one, and is given its number from 0."""
        first, step = (self.semantic.to_tensor(number).handle for number in (0, 1))
        loop = self.builder.create_for_op(first, count.handle, step, [])
        with self._inside():
            self.builder.set_insertion_point_to_start(loop.get_body(0))
            body(self.semantic.tensor(loop.get_induction_var(), count.type))

    def until(self, look, kind, ctx, waited):
        """Emits a loop that does `look` until it says that it is over, and returns what it has found at last.

        `look` returns what it has found, of the type `kind`, and whether it is over; the compiler finds out from that
        what is `waited` for.
        """
        if _switches.current.is_analysed:
            # Torch's analysis of what a kernel writes gives up at a loop whose values are not carried.
            return look()[0]
        types = [kind.to_ir(self.builder)]
        loop = self.builder.create_while_op(types, [])
        with self._inside():
            self.builder.set_insertion_point_to_start(self.builder.create_block_with_parent(loop.get_before(), []))
            found, over = look()
            self.builder.create_condition_op(self.semantic.not_(over).handle, [found.handle])
            self.builder.set_insertion_point_to_start(self.builder.create_block_with_parent(loop.get_after(), types))
            self.builder.create_yield_op([])
        return self.semantic.tensor(loop.get_result(0), kind)

    def reduced(self, block, every):
        """Whether `every` boolean of a block is True, or one of them is."""
        combine = self.builder.create_and if every else self.builder.create_or

        def fill(reduce):
            with self._inside():
                kind = tl.int1.to_ir(self.builder)
                inner = self.builder.create_block_with_parent(reduce.get_region(0), [kind, kind])
                self.builder.set_insertion_point_to_start(inner)
                self.builder.create_reduce_ret(combine(inner.arg(0), inner.arg(1)))

        while block.type.is_block():
            [block] = self.semantic.reduction([block], 0, fill)
        return block

    @contextlib.contextmanager
    def _inside(self):
        """Emits in a region, and goes on after the op that has it."""
        place, location = self.builder.get_insertion_point(), self.builder.get_loc()
        try:
            yield
        finally:
            self.builder.restore_insertion_point(place)
            self.builder.set_loc(location)

    def _function(self, name, carrier, operands, handles, result):
        """The function to call: one for each carrier and types."""
        module, builder = self.generator.module, self.builder
        types = "|".join(str(value.type) for value in operands.values())
        digest = hashlib.sha256(f"{carrier}|{types}|{result}".encode()).hexdigest()[:16]
        symbol = f"symm.{name}.{digest}"
        if module.has_function(symbol):
            return module.get_function(symbol)
        results = [each.to_ir(builder) for each in _types(result)]
        signature = builder.get_function_ty([handle.get_type() for handle in handles], results)
        # A builder of its own has no insertion point: the function stays detached until it is pushed back.
        detached = ir.builder(self.generator.context)
        detached.set_loc(builder.get_loc())
        function = detached.get_or_insert_function(module, symbol, signature, "private", True)
        function.set_attr("symm.carrier", builder.get_string_attr(carrier))
        module.push_back(function)
        if _switches.current.is_analysed:
            self._tell_writes(function, WRITTEN[name], operands, results)
        module.set_attr(MARK, builder.get_int32_attr(1))
        return function

    def _tell_writes(self, function, written, operands, results):
        """Gives a carrier a body that writes where the op does: torch looks there for what a kernel writes."""
        with self._inside():
            self.builder.set_insertion_point_to_start(function.add_entry_block())
            for index, (name, operand) in enumerate(operands.items()):
                if name in written:
                    # The builder's loads and stores take other arguments in other versions of Triton.
                    place = self.semantic.tensor(function.args(index), operand.type)
                    tl.store(place, tl.load(place, _semantic=self.semantic), _semantic=self.semantic)
            self.builder.ret([self.builder.create_poison(each) for each in results])


def _types(result):
    """The types of an op's results."""
    return result if isinstance(result, tuple) else () if result is None else (result,)
