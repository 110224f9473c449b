"""What the ops of kernels do under the checker: they say so to it, and have the values that it gives them."""

from __future__ import annotations

import ctypes
import math

import numpy as np
from triton.runtime.interpreter import TensorHandle, _get_np_dtype, interpreter_semantic

from .. import _interpreter, _symm
from .._interpreter import (
    bits,
    check_lines,
    check_symmetric,
    contiguous,
    everywhere,
    from_packets,
    lines_of,
    remote,
    table,
)
from .._open import current
from .._interpreter_floats import line_bytes
from .._interpreter_polls import check_mask
from . import _program


def ask(*op):
    """One op of the task that runs; its answer."""
    return _program.task().ask(op)[0]


def block(pointers, mask=None, width=None):
    """Where an op accesses: addresses, mask, bytes of an element."""
    shape = pointers.data.shape
    mask = None if mask is None else contiguous(np.broadcast_to(mask.data, shape).astype(np.uint8))
    return contiguous(pointers.data), mask, width or max(pointers.get_element_ty().primitive_bitwidth // 8, 1)


def load(pointers, mask=None, other=None, volatile=False):
    """A block that is read: weakly, or element by element if it is volatile."""
    if not volatile:
        ask("read", *block(pointers, mask))
        return _interpreter.load(pointers, mask, other)
    found = array(ask("load", *block(pointers, mask), "relaxed", "sys"), pointers)
    if mask is not None and other is not None:
        found = np.where(mask.data, found, other.data)
    return TensorHandle(found, pointers.get_element_ty())


def store(pointers, value, mask=None):
    values = np.broadcast_to(value.data, pointers.data.shape).astype(_get_np_dtype(pointers.get_element_ty()))
    ask("write", *block(pointers, mask), contiguous(values))


def array(data, pointers):
    """A block of the pointers' shape and elements, from bytes."""
    return np.frombuffer(data, _get_np_dtype(pointers.get_element_ty())).reshape(pointers.data.shape)


def atomic(kind, pointers, value, mask, sem, scope):
    """An atomic on each element; the old values."""
    kind, values = kind_of(kind, pointers, value)
    shape = pointers.data.shape
    if isinstance(kind, str):
        answer = ask("atomic", *block(pointers, mask), values, sem, scope, kind)
        return TensorHandle(array(answer, pointers), value.dtype.scalar)
    # Floats are compared as integers: as signed ones where the operand is not negative, else as unsigned ones, the
    # other way round.
    on = np.ones(shape, bool) if mask is None else np.broadcast_to(mask.data, shape)
    negative = np.signbit(np.broadcast_to(value.data, shape))
    found = np.zeros(shape, _get_np_dtype(pointers.get_element_ty()))
    for each, chosen in zip(kind, (~negative, negative), strict=True):
        if (on & chosen).any():
            answer = ask("atomic", *block(pointers, TensorHandle(on & chosen, None)), values, sem, scope, each)
            found = np.where(on & chosen, array(answer, pointers), found)
    return TensorHandle(found, value.dtype.scalar)


def kind_of(kind, pointers, value):
    """The checker's name of an update, or two: for operands that are not negative, and that are."""
    element = pointers.get_element_ty()
    values = contiguous(np.broadcast_to(value.data, pointers.data.shape))
    if kind == "fadd":
        return f"fadd {element.name}", values
    if element.is_floating() and kind in ("min", "max"):
        return {"min": ("min", "umax"), "max": ("max", "umin")}[kind], values
    return kind, values


def cas(pointers, expected, desired, sem, scope):
    operands = (contiguous(np.broadcast_to(each.data, pointers.data.shape)) for each in (expected, desired))
    first, second = operands
    answer = ask("cas", *block(pointers), first, sem, scope, second)
    return TensorHandle(array(answer, pointers), expected.dtype.scalar)


def order(attributes, default):
    return attributes.get("sem") or default, attributes.get("scope") or "sys"


class Checked:
    """What each op does, as `Effects` in `_interpreter.py`."""

    rank, num_ranks = _interpreter.Effects.rank, _interpreter.Effects.num_ranks
    is_near, as_remote = _interpreter.Effects.is_near, _interpreter.Effects.as_remote

    def remote_load(operands, attributes):
        return load(remote(operands, "ptr"), operands.get("mask"), operands.get("other"), attributes.get("volatile"))

    remote_store, get, put, copy = _interpreter.data_ops(load, store)

    def atomic_rmw(operands, attributes):
        there = remote(operands, "ptr")
        return atomic(
            attributes["kind"], there, operands["value"], operands.get("mask"), *order(attributes, "acq_rel")
        )

    def atomic_cas(operands, attributes):
        there = remote(operands, "ptr")
        return cas(there, operands["expected"], operands["desired"], *order(attributes, "acq_rel"))

    def signal(operands, attributes):
        flag, value = remote(operands, "flag"), operands["value"]
        ask("signal", *block(flag), bits(value), *order(attributes, "release"), attributes["kind"] == "add")

    def put_signal(operands, attributes):
        Checked.put(operands, attributes)
        Checked.signal(operands, attributes)

    def wait(operands, attributes):
        flag = operands["flag"]
        check_symmetric(operands, "flag")
        signed = not attributes.get("unsigned")
        asked = bits(operands["value"]), *order(attributes, "acquire"), attributes["comparison"], signed
        ask("wait", *block(flag), *asked)

    def put_packet(operands, attributes):
        if "sentinel" in attributes:
            return put_floats(operands, attributes)
        there, value = remote(operands, "slots"), operands["value"]
        check_lines(there)
        data = value.data.view(f"u{value.data.itemsize}").astype(np.uint64)
        lines = block(there, operands.get("mask"), 8)
        ask("put_packet", *lines, contiguous(np.broadcast_to(data, there.data.shape)), bits(operands["epoch"]))

    def wait_packet(operands, attributes):
        if "sentinel" in attributes:
            return wait_floats(operands, attributes)
        here = lines_of(operands)
        answer = ask("wait_packet", *block(here, operands.get("mask"), 8), b"", bits(operands["epoch"]))
        words = spread(np.frombuffer(answer, np.uint64), here, operands.get("mask"))
        return from_packets(contiguous(words), here, attributes["results"][0])

    def try_packet(operands, attributes):
        if "sentinel" in attributes:
            return try_floats(operands, attributes)
        here, mask = lines_of(operands), operands.get("mask")
        answer = ask("try_packet", *block(here, mask, 8), b"", bits(operands["epoch"]))
        count = len(answer) // 9
        words = spread(np.frombuffer(answer[: 8 * count], np.uint64), here, mask)
        valid = spread(np.frombuffer(answer[8 * count :], np.uint8), here, mask, 1).astype(bool)
        kind = TensorHandle(valid, _interpreter.tl.int1)
        return from_packets(contiguous(words), here, attributes["results"][0]), kind

    def fence(operands, attributes):
        ask("fence", *order(attributes, "acq_rel"))

    def barrier(operands, attributes):
        words = table(operands)
        me, ranks, *bases = words
        (x, y, z), (width, height, depth) = interpreter_semantic.builder.grid_idx, interpreter_semantic.builder.grid_dim
        programs, most = math.prod((width, height, depth)), _symm.max_barrier_blocks(ranks)
        if programs > most:
            raise ValueError(f"the grid has {programs} programs, and there are flags for {most} on {ranks} ranks")
        if current(words) is None:
            raise ValueError("a barrier needs the ranks of symm.init, but this context is not from symm.init")
        meet(me, bases, int(x) + width * (int(y) + height * int(z)))


def put_floats(operands, attributes):
    there = remote(operands, "slots")
    check_lines(there)
    ask("put_floats", *block(there, operands.get("mask"), 8), line_bytes(operands, attributes, there),
        attributes["sentinel"])  # fmt: skip


def wait_floats(operands, attributes):
    here, mask = lines_of(operands), operands.get("mask")
    answer = ask("wait_floats", *block(here, mask, 8), b"", attributes["sentinel"])
    return halves_of(answer, here, mask)


def try_floats(operands, attributes):
    here, mask = lines_of(operands), operands.get("mask")
    answer = ask("try_floats", *block(here, mask, 8), b"", attributes["sentinel"])
    # The bytes of all lines, then one for each.
    data = len(answer) // (_symm.PACKET_LINE_BYTES + 1) * _symm.PACKET_LINE_BYTES
    lower, upper = halves_of(answer[:data], here, mask)
    valid = spread(np.frombuffer(answer[data:], np.uint8), here, mask, 1).astype(bool)
    return lower, TensorHandle(valid, _interpreter.tl.int1), upper


def halves_of(answer, pointers, mask):
    words = np.frombuffer(answer, np.uint64).reshape(-1, 2)
    halves = (spread(words[:, half], pointers, mask) for half in (0, 1))
    return tuple(TensorHandle(half, _interpreter.tl.uint64) for half in halves)


def meet(me, bases, program):
    """The barrier of a program's number: a signal to each rank, and a wait for each."""
    task = _program.task()
    task.execution.runs.meets(task.rank, me, bases)
    epochs, key = task.execution.runs.epochs, (me, bases[me], program)
    epochs[key] = epoch = epochs.get(key, 0) + 1
    # A World's flags are behind its heap here, a team's where they are without the checker: where its bases point.
    start = next((run.size for run in task.execution.runs if run.bases == list(bases)), 0)
    pad = start + 8 * program * (len(bases) + 1)
    at = [np.array([base + pad + 8 * (me + 1)], np.uint64).tobytes() for base in bases]
    mine = [np.array([bases[me] + pad + 8 * (rank + 1)], np.uint64).tobytes() for rank in range(len(bases))]
    signals = [("signal", flag, None, 8, epoch, "release", "sys", False) for flag in at]
    waits = [("wait", flag, None, 8, epoch, "acquire", "sys", "ge", True) for flag in mine]
    task.ask(*signals, *waits)


def spread(found, pointers, mask, masked=0):
    """What was found of each line that is not masked, at its place in the block."""
    # A mask that is computed may be one of numbers, which numpy takes for places.
    on = everywhere(pointers) if mask is None else np.broadcast_to(mask.data, pointers.data.shape).astype(bool)
    values = np.full(pointers.data.shape, masked, found.dtype)
    values[on] = found
    return values


def host_copy(self, to, source, stream):
    """`World.put` or `get`: a read of all of it, and a write."""
    ends = source, to
    width = math.gcd(8, *(tensor.element_size() for tensor in ends))
    if all(tensor.is_contiguous() for tensor in ends):
        # As few words as there are.
        sizes = (tensor.numel() * tensor.element_size() for tensor in ends)
        width = math.gcd(8, *sizes, *(tensor.data_ptr() for tensor in ends))
    read, written = (words(tensor, width) for tensor in ends)
    if read.size:
        ask("read", contiguous(read), None, width)
        data = b"".join(ctypes.string_at(address, width) for address in read.tolist())
        ask("write", contiguous(written), None, width, data)


def words(tensor, width):
    """The addresses of a tensor's words of this many bytes."""
    size, offsets = tensor.element_size(), np.zeros((), np.int64)
    if tensor.is_contiguous():
        size *= tensor.numel()
    else:
        for count, stride in zip(tensor.shape, tensor.stride(), strict=True):
            offsets = np.add.outer(offsets, np.arange(count) * stride * size)
    return np.add.outer(offsets, np.arange(0, size, width)).ravel().astype(np.uint64) + np.uint64(tensor.data_ptr())


def until(self, look, kind, ctx, waited):
    """`Interpreter.until`: the checker sees that a loop polls in vain."""
    found, over = look()
    check_mask(found, over, waited)
    while not over:
        found, over = look()
    return found
