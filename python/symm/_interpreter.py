"""The ops under `TRITON_INTERPRET=1`: what they do to the heaps of ranks that are processes on this machine.

Triton's interpreter runs the programs of a kernel one after the other, so a program may wait for other ranks and for
earlier programs, but not for later ones.
"""

import ctypes
import inspect

import numpy as np
from triton import knobs
from triton.language import core as tl
from triton.runtime.interpreter import TensorHandle, interpreter_semantic

from . import (
    _interpreter_autotune,
    _interpreter_barrier,
    _interpreter_deadlock,
    _interpreter_dynamo,
    _interpreter_floats,
    _interpreter_memory,
    _interpreter_polls,
    _interpreter_trace,
    _open,
    _symm,
)
from ._interpreter_deadline import Clock, timed_out
from ._interpreter_memory import bits, check_lines, contiguous, everywhere, from_packets, integer, like, load, store
from ._interpreter_place import in_kernel, kind_of_number, located
from ._operands import Bases, Operands, complaint
from ._symm import DEADLINE_OFFSET, MAX_RANKS, TABLE_HEADER_WORDS
from ._timeouts import barrier_text
from .errors import FarRankError, NotSymmetricError, RankRangeError, SymmError


def run(function, name, args, kwargs):
    """One op of a kernel that Triton interprets; `name` is what the user calls."""
    on_the_host = f"symm {name} is an op for kernels: call it in a function with @triton.jit or @gluon.jit"
    if not knobs.runtime.interpret:
        raise SymmError(on_the_host)
    try:
        return function(Interpreter(name, function, len(args)), *args, **kwargs)
    except (RankRangeError, NotSymmetricError, FarRankError) as error:
        raise located(f"symm {name}: {error.message}", type(error)) from None
    except SymmError:
        raise
    except Exception as error:
        if not in_kernel():
            raise SymmError(on_the_host) from None
        raise located(f"symm {name}: {complaint(function, args, kwargs, error)}") from error


class Interpreter(Operands):
    """Does each op at once, instead of emitting it."""

    def __init__(self, called, function, count):
        super().__init__(interpreter_semantic)
        self.called, self.function, self.count = called, function, count

    def negative(self, value):
        if value.type.scalar != tl.bfloat16:
            return super().negative(value)
        # The interpreter holds its bits in an integer, and would negate that.
        flipped = TensorHandle(value.handle.data ^ np.uint16(0x8000), value.handle.dtype)
        return self.semantic.tensor(flipped, value.type)

    def value(self, value, pointer, name="value"):
        # The interpreter's cast from an integer takes its bits.
        if getattr(value, "type", None) is not None and pointer.type.scalar.element_ty == tl.bfloat16:
            value = self.semantic.cast(value, tl.float32) if value.type.scalar.is_int() else value
        return super().value(value, pointer, name)

    def sent(self, value):
        is_variable = isinstance(value, (bool, int, float)) and self._kind("value") != "constant"
        return super().sent(self.semantic.to_tensor(value) if is_variable else value)

    def as_compiled(self, value, name):
        numbers = value if isinstance(value, tuple) else (value,)
        if not all(isinstance(each, (int, float)) for each in numbers) or self._kind(name) != "variable":
            return value
        variables = tuple(map(self.semantic.to_tensor, numbers))
        return variables if isinstance(value, tuple) else variables[0]

    def _kind(self, name):
        """What a number is. Compiled, a loop's variable is a scalar of the kernel; here it is a number, too."""
        position = list(inspect.signature(self.function).parameters).index(name) - 1
        return kind_of_number(self.called, name, position, self.count)

    def present(self, operands):
        self.says_rank = context.name if isinstance(context := operands.get("ctx"), Bases) else ""
        return super().present(operands)

    def check_context(self, context, rank, num_ranks):
        mine, count, *_ = table({"ctx": context.handle})
        if rank != mine:
            raise ValueError(f"rank is {rank}, but this rank is {mine}")
        if num_ranks != count:
            raise ValueError(f"world_size is {num_ranks}, but there are {count} ranks")

    def record_of(self, ctx):
        words = table({key: value.handle for key, value in self.present({"ctx": self.context(ctx)}).items()})
        address = np.array([words[TABLE_HEADER_WORDS + words[0]] + DEADLINE_OFFSET], dtype=np.uint64)
        kind = tl.pointer_type(tl.int64)
        return self.semantic.tensor(TensorHandle(address, kind), kind)

    def is_used(self):
        return True

    def times(self, count, body):
        for index in range(int(count.handle.data.item())):
            body(self.semantic.to_tensor(index))

    def seen(self, ctx, flag, order, mask=None, deadline=None, asked=None):
        # A loop that waits for several flags looks at the time itself.
        deadline = deadline if asked else None
        with _interpreter_trace.looking(flag, mask):
            return super().seen(ctx, flag, order, mask, deadline and (deadline[0], {**deadline[1], "asked": asked}))

    def until(self, look, kind, ctx, waited):
        words = table({key: value.handle for key, value in self.present({"ctx": self.context(ctx)}).items()})
        return _interpreter_polls.until(look, words, located, waited)

    def narrowed(self, rank):
        # Messages have the number that the user gave.
        return rank

    def reduced(self, block, every):
        return bool(block.handle.data.all() if every else block.handle.data.any())

    def argument(self, operand):
        """What users call an operand of an op: a flag is the pointer of an atomic, too."""
        arguments = inspect.signature(self.function).parameters
        return next((each for each in (operand, "flag", "flags") if each in arguments), operand)

    def named(self, operand):
        return f"symm {self.called}: {self.argument(operand)}"

    def call(self, name, operands, attributes=None, result=None):
        handles = {key: value.handle for key, value in self.present(operands).items()}
        operands = Given(handles, self.argument, self.says_rank)
        kinds = result if isinstance(result, tuple) else (result,)
        if _interpreter_memory.checking.is_on:
            _interpreter_memory.check_operands(name, operands, located, self.named)
        _interpreter_polls.heard(name)
        effect = _interpreter_trace.recorded(name, getattr(Effects, name), remote, self.called)
        done = effect(operands, {**(attributes or {}), "results": kinds})
        if isinstance(result, tuple):
            return [self.semantic.tensor(each, kind) for each, kind in zip(done, kinds, strict=True)]
        return None if result is None else self.semantic.tensor(done, result)


class Given(dict):
    """The operands of an op, by the dialect's names; `called` says what users call each, and `says_rank` is what they
    call the rank that a context of parts is of.
    """

    def __init__(self, handles, called, says_rank):
        super().__init__(handles)
        self.called, self.says_rank = called, says_rank


def data_ops(load, store):
    """`remote_store`, `get`, `put` and `copy`, made of what loads a block and what stores one."""

    def remote_store(operands, attributes):
        store(remote(operands, "ptr"), operands["value"], operands.get("mask"))

    def get(operands, attributes):
        mask = operands.get("mask")
        store(operands["dst"], load(remote(operands, "src"), mask), mask)

    def put(operands, attributes):
        mask = operands.get("mask")
        store(remote(operands, "dst"), load(operands["src"], mask), mask)

    def copy(operands, attributes):
        mask = operands.get("mask")
        store(remote(operands, "dst", "to"), load(remote(operands, "src", "from"), mask), mask)

    return remote_store, get, put, copy


class Effects:
    """What each op does, from its operands by the dialect's names and its attributes."""

    def rank(operands, attributes):
        return integer(table(operands)[0])

    def num_ranks(operands, attributes):
        return integer(table(operands)[1])

    def is_near(operands, attributes):
        words, number = table(operands), int(operands["rank"].data.item())
        world = _open.current(words)
        if not 0 <= number < words[1]:
            raise RankRangeError(_open.range_text(world, number, words[1]))
        return TensorHandle(np.array([world is None or world.is_near(number)]), tl.int1)

    def as_remote(operands, attributes):
        world = _open.current(table(operands))
        for number in np.unique(operands["rank"].data):
            if world is not None and 0 <= number < world.get_num_ranks() and not world.is_near(int(number)):
                far = _open.rank_text(world, int(number))
                raise FarRankError(f"{far} is far: its heap is not mapped, so use ops that take the rank")
        return _interpreter_memory.moved(operands["ptr"], remote(operands, "ptr", checked=False))

    def remote_load(operands, attributes):
        _interpreter_memory.look_at_ranks()
        return load(remote(operands, "ptr"), operands.get("mask"), operands.get("other"))

    remote_store, get, put, copy = data_ops(load, store)

    def atomic_rmw(operands, attributes):
        there, value = remote(operands, "ptr"), operands["value"]
        check_ranks(table(operands))
        mask = operands["mask"].data if "mask" in operands else everywhere(there)
        blocks = (contiguous(each) for each in (there.data, value.data, mask.astype(np.uint8)))
        old = like(value, there, _symm.atomic_rmw(attributes["kind"], there.get_element_ty().name, *blocks))
        _interpreter_polls.polled_by_ours(operands, attributes, table(operands), old, located)
        return old

    def atomic_cas(operands, attributes):
        there, expected, desired = remote(operands, "ptr"), operands["expected"], operands["desired"]
        check_ranks(table(operands))
        blocks = (contiguous(each.data) for each in (there, expected, desired))
        old = like(expected, there, _symm.atomic_cas(there.get_element_ty().name, *blocks))
        _interpreter_polls.polled_by_ours(operands, attributes, table(operands), old, located)
        return old

    def signal(operands, attributes):
        """Returns the flag's new value, for timelines."""
        flag, value = remote(operands, "flag"), operands["value"]
        element, new = flag.get_element_ty().name, value.data.item()
        if attributes["kind"] == "set":
            _symm.set_flag(element, int(flag.data.item()), bits(value))
            return new
        old = _symm.atomic_rmw("add", element, contiguous(flag.data), contiguous(value.data), b"\1")
        return new + np.frombuffer(old, value.data.dtype).item()

    def put_signal(operands, attributes):
        Effects.put(operands, attributes)
        return Effects.signal(operands, attributes)

    def wait(operands, attributes):
        flag, words = operands["flag"], table(operands)
        check_symmetric(operands, "flag")
        asked = int(flag.data.item()), attributes["comparison"], bits(operands["value"])
        element, clock = flag.get_element_ty().name, Clock(operands, attributes)
        if _symm.await_flag(element, *asked, 0.0):
            return
        value, seen = int(operands["value"].data.item()), int(load(flag, None).data.item())
        world = None if clock.tag else _open.current(words)
        what = _interpreter_deadlock.flag_text(world, *asked[:2], element, value, seen)
        with _interpreter_deadlock.waiting(world, located, what) as watch:
            while not _symm.await_flag(element, *asked, clock.time_of_a_poll()):
                check_ranks(words)
                if clock.is_over():
                    seen = int(load(flag, None).data.item())
                    if clock.tag:
                        return clock.give_up(asked[0], value, seen)
                    offset = asked[0] - words[TABLE_HEADER_WORDS + words[0]]
                    place, text = world.flag_at(offset), barrier_text(world, offset, value, seen)
                    text = text or f"{place} {_interpreter_deadlock.COMPARISONS[asked[1]]} {value}: it is {seen}"
                    raise timed_out(world, located, clock, (place, text, value, seen))
                watch.looked()

    def put_packet(operands, attributes):
        if "sentinel" in attributes:
            return _interpreter_floats.put(operands, attributes)
        there, value = remote(operands, "slots"), operands["value"]
        check_lines(there)
        data = value.data.view(f"u{value.data.itemsize}").astype(np.uint64)
        lines, mask = contiguous(there.data), mask_bytes(operands, there)
        _symm.put_packets(lines, contiguous(data), bits(operands["epoch"]), mask)

    def wait_packet(operands, attributes):
        if "sentinel" in attributes:
            return _interpreter_floats.wait(operands, attributes)
        here, words = lines_of(operands), table(operands)
        asked = contiguous(here.data), bits(operands["epoch"]), mask_bytes(operands, here)
        clock = Clock(operands, attributes)
        world = None if clock.tag else _open.current(words)
        if (data := _symm.await_packets(*asked, 0.0)) is not None:
            return from_packets(data, here, attributes["results"][0])
        what = _interpreter_deadlock.packet_text(world, *_interpreter_polls.missing_line(here, *asked))
        with _interpreter_deadlock.waiting(world, located, what) as watch:
            while (data := _symm.await_packets(*asked, clock.time_of_a_poll())) is None:
                check_ranks(words)
                if clock.is_over():
                    if not clock.tag:
                        raise _interpreter_polls.late_packet(world, words, located, clock, (here, *asked))
                    clock.give_up(*_interpreter_polls.missing_line(here, *asked))
                    data = bytes(here.data.nbytes)
                    break
                watch.looked()
        return from_packets(data, here, attributes["results"][0])

    def try_packet(operands, attributes):
        if "sentinel" in attributes:
            return _interpreter_floats.look(operands, attributes)
        here, words = lines_of(operands), table(operands)
        check_ranks(words)
        asked = contiguous(here.data), bits(operands["epoch"]), mask_bytes(operands, here)
        data, valid = _symm.try_packets(*asked)
        _interpreter_polls.polled_packets(operands, attributes, words, valid, (located, here, *asked))
        valid = np.frombuffer(valid, np.uint8).reshape(here.data.shape).astype(bool)
        return from_packets(data, here, attributes["results"][0]), TensorHandle(valid, tl.int1)

    def fence(operands, attributes):
        _symm.full_fence()

    def barrier(operands, attributes):
        _interpreter_barrier.barrier(operands, attributes)


def mask_bytes(operands, pointers):
    mask = operands["mask"].data if "mask" in operands else everywhere(pointers)
    return contiguous(mask.astype(np.uint8))


def check_ranks(words):
    """An error when another rank has failed: a kernel may be waiting for it, in `wait` or in a loop of atomics."""
    if (world := _open.current(words)) is not None:
        world.check()


def table(operands):
    """The context table: [rank, num_ranks, base_0, …]."""
    address = int(operands["ctx"].data.item())
    if "ctx.rank" in operands:
        ranks = _open.num_ranks(ctypes.c_int64.from_address(address).value)
        bases = (ctypes.c_int64 * ranks).from_address(address)
        return [int(operands["ctx.rank"].data.item()), ranks, *bases]
    rank, num_ranks = (ctypes.c_int64 * TABLE_HEADER_WORDS).from_address(address)
    if not 0 <= rank < num_ranks <= MAX_RANKS:
        raise TypeError("ctx is not a context table: pass what get_device_context() returns")
    return (ctypes.c_int64 * (TABLE_HEADER_WORDS + num_ranks)).from_address(address)


def check_symmetric(operands, name, mask=True, every=True):
    """An error where an operand's pointers are not on this rank's heap: `every` one, or else one of them."""
    words, pointers = table(operands), operands[name].data
    if (world := _open.current(words)) is None:
        return
    outside = world.outside(pointers[np.broadcast_to(np.asarray(mask, bool), pointers.shape)], words[0], every)
    if outside is not None:
        as_given = f", which is {operands.says_rank}" if operands.says_rank else ""
        said = f"{operands.called(name)} is not on the symmetric heap of {_open.rank_text(world, words[0])}{as_given}"
        lies = _open.lies(outside, world, words[0]) or _interpreter_polls.argument_at(outside)
        raise NotSymmetricError(f"{said}: {lies}")


def lines_of(operands):
    """The lines on this rank's heap that an op looks at."""
    here = operands["slots"]
    check_symmetric(operands, "slots", operands["mask"].data if "mask" in operands else True)
    check_lines(here)
    return here


def remote(operands, name, rank="rank", checked=True):
    """The counterparts of pointers on a rank; those of an access are `checked` to be on the heap, each of them."""
    pointers, to, words = operands[name], operands[rank].data, table(operands)
    me, num_ranks, *bases = words
    mask = operands["mask"].data if "mask" in operands and name != "flag" else True
    if to.size > 1:
        to = np.where(mask, to, me)
    else:
        to = to.item() if mask is True or mask.any() else me
    for number in (me, *np.unique(to)) if isinstance(to, np.ndarray) else (me, to):
        if not 0 <= number < num_ranks:
            raise RankRangeError(_open.range_text(_open.current(words), number, num_ranks))
    check_symmetric(operands, name, mask, every=checked)
    if isinstance(to, np.ndarray):
        distance = np.array([(base - bases[me]) % 2**64 for base in bases], np.uint64)[to]
    else:
        distance = np.uint64((bases[to] - bases[me]) % 2**64)
    return TensorHandle(pointers.data + distance, pointers.dtype)


if knobs.runtime.interpret:
    _interpreter_memory.install(located, _interpreter_polls.polled_by_triton)
    _interpreter_polls.install()
    _interpreter_autotune.install()
    _interpreter_dynamo.install()
