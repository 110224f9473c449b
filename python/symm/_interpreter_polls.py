"""Loops of an interpreted kernel that poll: those of waits for several flags, and a kernel's own.

The latter are `while` loops in which an atomic, or a look for a packet, finds the same again and again, and nobody else
would hear of anything that the kernel does. With a time-out such a loop ends with an error, as a wait does.
"""

import ast
import ctypes
import functools
import linecache
import sys
import threading
import time

import numpy as np
from triton.language import core as tl
from triton.runtime import interpreter
from triton.runtime.errors import InterpreterError
from triton.runtime.interpreter import TensorHandle, interpreter_semantic

from . import _interpreter_deadlock, _interpreter_memory, _interpreter_trace, _open
from ._context_argument import Argument, refuse_classes
from ._host_call import calls, is_call
from ._interpreter_deadline import Clock, timed_out
from ._memory import torch
from ._open import rank_text
from ._symm import DEADLINE_OFFSET, PACKET_EPOCHS, TABLE_HEADER_WORDS, try_packets
from ._timeouts import flag_text

# How long a wait for several flags sleeps between two looks.
SECONDS_BETWEEN_LOOKS = 1e-5
# Ops that a loop may do between two looks.
QUIET = {"rank", "num_ranks", "is_near", "as_remote", "remote_load", "fence", "atomic_rmw", "atomic_cas", "try_packet"}


def until(look, words, located, waited):
    """Looks until that is over, and returns what has been found at last; `waited` is a `Waited`."""
    begin, world = time.monotonic_ns(), _open.current(words)
    record, attributes = waited.deadline
    clock = Clock({} if record is None else {"deadline": record.handle}, attributes)
    found, over = look()
    check_mask(found, over, waited)
    at = 0 if over else int(np.argmax(waited.missing(found).handle.data))
    flags, value = waited.flags.handle, _element(waited.value.handle.data, at)
    first = _element(flags.data, at), flags.get_element_ty().name, waited.comparison, value
    values, mask = found.handle.data, None if waited.mask is None else waited.mask.handle.data
    asked = values if mask is None else values[np.broadcast_to(mask, values.shape)]
    text = _interpreter_deadlock.flags_text(world, asked, waited.any, first)
    with _interpreter_deadlock.waiting(world, located, text) as watch:
        while not over:
            if clock.is_over():
                at = int(np.argmax(waited.missing(found).handle.data))
                asked = waited.comparison, _element(waited.value.handle.data, at), waited.any
                address, seen = _element(waited.flags.handle.data, at), _element(found.handle.data, at)
                raise _late(world, words, located, clock, (address, words[0], asked, seen))
            time.sleep(SECONDS_BETWEEN_LOOKS)
            found, over = look()
            if not over:
                watch.looked()
    _interpreter_trace.waited(waited, found.handle, begin)
    return found


def check_mask(found, over, waited):
    """An error for a wait that goes on, and for no flag: its mask is False everywhere."""
    if not over and not waited.missing(found).handle.data.any():
        raise ValueError("mask is False everywhere: no flag could end this wait")


class Polls(threading.local):
    """What a kernel polls by: by the place in its code what an atomic was given and has found, and since when; and the
    World of the kernel, where that has a time-out. `kernel` is its name, and `are_told` whether other ranks know that
    it polls.
    """

    def __init__(self):
        self.found, self.written, self.world = {}, 0, None
        self.kernel, self.are_told = "", False
        # Of the launch: the kernel's arguments, by their names.
        self.arguments = {}

    def tell(self, where):
        """Other ranks are to know that this one polls."""
        if not self.are_told:
            self.are_told = True
            file, line = where.f_code.co_filename, where.f_lineno
            program = tuple(interpreter_semantic.builder.grid_idx)
            _do(f"polls: program {program}, {file}:{line}: kernel {self.kernel}")

    def forget(self):
        """What was polled by is over."""
        self.found.clear()
        if self.are_told:
            self.are_told = False
            _do(_doing())


polls = Polls()


def install():
    """Wraps launches of Triton's interpreter, once."""
    if not getattr(install, "done", False):
        install.done = True
        interpreter.InterpretedFunction.run = _launched(interpreter.InterpretedFunction.run)


def _launched(run):
    """A launch: what one before it has polled by is over."""

    @functools.wraps(run)
    def wrapper(kernel, *args, **keywords):
        refuse_classes((*args, *keywords.values()))
        before = polls.world, polls.kernel, polls.arguments
        polls.forget()
        polls.arguments = {**dict(zip(kernel.arg_names, args)), **keywords}
        polls.world, polls.kernel = _watched((*args, *keywords.values())), calls.name or kernel.fn.__name__
        _do(_doing())
        try:
            return run(kernel, *args, **keywords)
        except InterpreterError as error:
            # Triton wraps an error once more for each function of the kernel that it has gone through.
            cause = unwrapped(error)
            if cause is error or cause is error.__cause__:
                raise
            raise InterpreterError(repr(cause)) from cause
        finally:
            polls.forget()
            polls.world, polls.kernel, polls.arguments = before
            _do(_doing())

    return wrapper


# What it may be in a program that compiles functions.
COPIED = " (torch.compile gives a custom op a copy of what it writes: use tensors of the heap that are no arguments)"


def argument_at(address):
    """The tensor among the kernel's arguments in which an address is, for messages."""
    for name, value in polls.arguments.items():
        if isinstance(value, torch().Tensor):
            storage = value.untyped_storage()
            if 0 <= address - storage.data_ptr() < storage.nbytes():
                told = f"it is in {name}, a tensor of {value.dtype}, {tuple(value.shape)}, that is on no heap"
                return told + (COPIED if "torch._dynamo" in sys.modules else "")
        elif isinstance(value, Argument) and address == value.data_ptr():
            return f"it is that of {name}, the {type(value).__name__} itself"
    return "it is in none of the tensors that the kernel was given"


def unwrapped(error):
    """The error that Triton's interpreter has wrapped, however often."""
    while isinstance(error, InterpreterError) and error.__cause__ is not None:
        error = error.__cause__
    return error


def _doing():
    """What this rank does, if it is in a kernel."""
    if not polls.kernel:
        return ""
    return f"is in {polls.kernel}" if is_call(polls.kernel) else f"runs kernel {polls.kernel}"


def _do(text):
    """What this rank does, for all ranks to see."""
    for world in _open.worlds:
        if (standing := world._standing()) is not None:
            standing.do(text)


def _watched(args):
    """The first World or Team among the arguments of a kernel whose waits have a time-out."""
    for arg in args:
        if isinstance(arg, (tuple, list)):
            found = _watched(arg)
        elif hasattr(arg, "data_ptr") and getattr(arg, "dtype", None) == torch().uint64:
            address = arg.data_ptr()
            known = (world for world in (*_open.worlds, *_open.teams) if world.data_ptr() == address)
            found = next(known, None)
        else:
            found = None
        if found is not None:
            return found
    return None


def heard(name):
    """A kernel does something that others may hear of: what it has polled by is over."""
    if name not in QUIET:
        polls.forget()


def polled(operands, attributes, old, is_there, late):
    """An op has found `old`: an error, which `late` makes, where its loop has found nothing else for longer than it
    may. Where what it looks for `is_there`, the loop ends.
    """
    if polls.written != _interpreter_memory.State.written:
        polls.forget()
        polls.written = _interpreter_memory.State.written
    frames = _frames()
    names = ("ptr", "slots", "rank", "value", "expected", "epoch", "mask")
    given = [operands[name].data.tobytes() for name in names if name in operands]
    place = tuple((frame.f_code, frame.f_lasti) for frame in frames)
    key = tuple(interpreter_semantic.builder.grid_idx), given, old
    before, clock = polls.found.get(place, (None, None))
    if is_there:
        polls.found.pop(place, None)
    elif before != key:
        if before is not None:
            polls.forget()
        polls.found[place] = key, Clock(operands, attributes)
    elif any(_is_in_while(frame.f_code.co_filename, frame.f_lineno) for frame in frames):
        if clock.is_over():
            raise late(clock)
        polls.tell(frames[0])


def polled_by_ours(operands, attributes, words, old, located):
    """An atomic of ours has found `old`."""
    asked, at = attributes.get("asked"), 0
    if asked is not None:
        comparison, value = asked
        asked = comparison, _element(value.handle.data, 0), False
    elif "expected" in operands:
        asked, at = _swapped(operands, old)

    def late(clock):
        world, address = _open.current(words), _element(operands["ptr"].data, at)
        rank, seen = _element(operands["rank"].data, at), _element(old.data, at)
        return _late(world, words, located, clock, (address, rank, asked, seen))

    polled(operands, attributes, old.data.tobytes(), _is_there(operands, old), late)


def polled_by_triton(operands, old, located):
    """A Triton atomic has found `old`."""
    world = polls.world
    if world is None:
        return
    record = np.array([world.bases[world.get_rank()] + DEADLINE_OFFSET], dtype=np.uint64)
    operands["deadline"] = TensorHandle(record, tl.pointer_type(tl.int64))

    def late(clock):
        asked, at = _swapped(operands, old) if "expected" in operands else (None, 0)
        flag, seen = _flag(world, _element(operands["ptr"].data, at)), _element(old.data, at)
        expected = None if asked is None else asked[1]
        return timed_out(world, located, clock, (flag, flag_text(flag, asked, seen), expected, seen))

    polled(operands, {}, old.data.tobytes(), _is_there(operands, old), late)


def polled_packets(operands, attributes, words, valid, asked):
    """A look for packets has found some of them."""
    located, *asked = asked

    def late(clock):
        return late_packet(_open.current(words), words, located, clock, asked)

    polled(operands, attributes, valid, 0 not in valid, late)


def late_packet(world, words, located, clock, asked):
    """The error of a wait for packets that is over time."""
    address, wanted, found = missing_line(*asked)
    place = world.flag_at(address - words[TABLE_HEADER_WORDS + words[0]])
    text = f"a packet of epoch {wanted} at {place}: its epoch is {found}"
    return timed_out(world, located, clock, (place, text, wanted, found))


def missing_line(pointers, addresses, epoch, mask):
    """The address of the first line that is not of an epoch, the epoch, and that of the line."""
    _, valid = try_packets(addresses, epoch, mask)
    address = int(pointers.data.flat[max(valid.find(0), 0)])
    epochs = [ctypes.c_int32.from_address(address + offset).value for offset in PACKET_EPOCHS]
    wanted = ctypes.c_int32(epoch).value
    return address, wanted, epochs[0] if epochs[0] != wanted else epochs[1]


def _is_there(operands, old):
    """Whether a compare-and-swap has swapped."""
    return "expected" in operands and bool((old.data == operands["expected"].data).all())


def _swapped(operands, old):
    """What a compare-and-swap waits for, and the first element that is not so."""
    expected = operands["expected"].data
    at = int(np.argmax(old.data != expected))
    return ("eq", _element(expected, at), False), at


def _flag(world, address):
    """What lies at an address of whatever rank, for messages."""
    home, members = world._place()
    for rank, member in enumerate(members):
        offset = address - home.bases[member]
        if 0 <= offset < home.heap_size:
            return home.flag_at(offset) + ("" if rank == world.get_rank() else f" of {rank_text(world, rank)}")
    return home.flag_at(-1)


def _late(world, words, located, clock, waited):
    """The error of a loop that has timed out."""
    address, rank, asked, seen = waited
    flag = world.flag_at(address - words[TABLE_HEADER_WORDS + words[0]])
    flag += "" if rank == words[0] else f" of {rank_text(world, rank)}"
    expected = None if asked is None else asked[1]
    return timed_out(world, located, clock, (flag, flag_text(flag, asked, seen), expected, seen))


def _element(data, index):
    return data.flat[index if data.size > 1 else 0].item()


def _frames():
    """The frames of the kernel that is interpreted, the innermost first."""
    frame, frames, launch = sys._getframe(2), [], interpreter.GridExecutor.__call__.__code__
    while frame is not None and frame.f_code is not launch:
        if not frame.f_globals.get("__name__", "").startswith((f"{__package__}.", "triton.")):
            frames.append(frame)
        frame = frame.f_back
    return frames


def _is_in_while(file, line):
    return any(first <= line <= last for first, last in _whiles(file))


@functools.cache
def _whiles(file):
    """The first and last lines of the `while` loops of a file."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return []
    return [(node.lineno, node.end_lineno) for node in ast.walk(tree) if isinstance(node, ast.While)]
