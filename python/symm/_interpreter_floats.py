"""Lines of floats under `TRITON_INTERPRET=1`: two words of 8 bytes, all data until every bit is set."""

import ctypes

import numpy as np
from triton.language import core as tl
from triton.runtime.interpreter import TensorHandle

from . import _interpreter, _interpreter_deadlock, _open, _symm
from ._interpreter_deadline import Clock, timed_out
from ._interpreter_polls import polled


def line_bytes(operands, attributes, pointers):
    """What is written, the bytes of all lines."""
    bits, shape = attributes["sentinel"], pointers.data.shape
    if attributes.get("clear"):
        return b"\xff" * (_symm.PACKET_LINE_BYTES * pointers.data.size)
    halves = (np.broadcast_to(operands[name].data, shape).astype(np.uint64) for name in ("value", "upper"))
    return _symm.sent_floats(_interpreter.contiguous(np.stack(list(halves), axis=-1)), bits)


def put(operands, attributes):
    there = _interpreter.remote(operands, "slots")
    _interpreter.check_lines(there)
    data, mask = line_bytes(operands, attributes, there), _interpreter.mask_bytes(operands, there)
    _symm.put_floats(_interpreter.contiguous(there.data), data, mask)


def wait(operands, attributes):
    here, words, bits = _interpreter.lines_of(operands), _interpreter.table(operands), attributes["sentinel"]
    pointers, mask = _interpreter.contiguous(here.data), _interpreter.mask_bytes(operands, here)
    clock = Clock(operands, attributes)
    world = None if clock.tag else _open.current(words)
    if (data := _symm.await_floats(pointers, bits, mask, 0.0)) is not None:
        return halves(data, here)
    what = _interpreter_deadlock.floats_text(world, missing_line(here, pointers, bits, mask)[0])
    with _interpreter_deadlock.waiting(world, _interpreter.located, what) as watch:
        while (data := _symm.await_floats(pointers, bits, mask, clock.time_of_a_poll())) is None:
            _interpreter.check_ranks(words)
            if clock.is_over():
                if not clock.tag:
                    raise late(words, clock, here, pointers, bits, mask)
                address, seen = missing_line(here, pointers, bits, mask)
                clock.give_up(address, 0, seen)
                data = bytes(2 * here.data.nbytes)
                break
            watch.looked()
    return halves(data, here)


def look(operands, attributes):
    here, words, bits = _interpreter.lines_of(operands), _interpreter.table(operands), attributes["sentinel"]
    _interpreter.check_ranks(words)
    pointers, mask = _interpreter.contiguous(here.data), _interpreter.mask_bytes(operands, here)
    data, valid = _symm.try_floats(pointers, bits, mask)
    polled(operands, attributes, valid, 0 not in valid, lambda clock: late(words, clock, here, pointers, bits, mask))
    valid = np.frombuffer(valid, np.uint8).reshape(here.data.shape).astype(bool)
    lower, upper = halves(data, here)
    return lower, TensorHandle(valid, tl.int1), upper


def late(words, clock, here, pointers, bits, mask):
    """The error of a wait for floats, or of a loop that looks for them, that is over time."""
    world = _open.current(words)
    address, seen = missing_line(here, pointers, bits, mask)
    place = world.flag_at(address - words[_interpreter.TABLE_HEADER_WORDS + words[0]])
    what = place, f"floats at {place}: they have not come", 0, seen
    return timed_out(world, _interpreter.located, clock, what)


def halves(data, pointers):
    words = np.frombuffer(data, np.uint64).reshape(*pointers.data.shape, 2)
    return tuple(TensorHandle(np.ascontiguousarray(words[..., half]), tl.uint64) for half in (0, 1))


def missing_line(pointers, addresses, bits, mask):
    """The address of the first line that has not come, and what a word of it is."""
    _, valid = _symm.try_floats(addresses, bits, mask)
    address = int(pointers.data.flat[max(valid.find(0), 0)])
    return address, ctypes.c_int64.from_address(address).value
