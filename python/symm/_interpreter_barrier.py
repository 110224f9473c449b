"""The barrier of interpreted kernels, on the flags that it has on a GPU."""

import ctypes
import math

from triton.runtime.interpreter import interpreter_semantic

from . import _interpreter, _interpreter_deadlock, _open, _symm
from ._interpreter_deadline import Clock, timed_out
from ._open import rank_text
from .errors import SymmError


def barrier(operands, attributes):
    """The op's effect."""
    words = _interpreter.table(operands)
    programs, most = math.prod(interpreter_semantic.builder.grid_dim), _symm.max_barrier_blocks(words[1])
    if programs > most:
        raise ValueError(f"the grid has {programs} programs, and there are flags for {most} on {words[1]} ranks")
    if (world := _open.current(words)) is not None:
        try:
            meet(world, words, Clock(operands, attributes))
        except SymmError:
            raise
        except BaseException:
            # As in a barrier of the host: other ranks may have counted this one.
            world._rank.end("interrupted")
            raise
    elif words[1] > 1:
        raise SymmError("symm barrier needs the ranks of symm.init, but this context is not from symm.init")


def meet(world, words, clock):
    """The barrier of this program's number, with the words that it has on a GPU."""
    me, ranks, *bases = words
    (x, y, z), (width, height, _) = interpreter_semantic.builder.grid_idx, interpreter_semantic.builder.grid_dim
    pad = 8 * (int(x) + width * (int(y) + height * int(z))) * (ranks + 1)
    word = ctypes.c_int64.from_address(bases[me] + pad)
    word.value = epoch = word.value + 1
    for base in bases:
        _symm.set_flag("int64", base + pad + 8 * (me + 1), epoch)
    of_team = f" of a team of {ranks}" if hasattr(world, "members") else ""
    with _interpreter_deadlock.waiting(world, _interpreter.located, f"barrier number {epoch}{of_team}") as watch:
        for rank in range(ranks):
            flag = bases[me] + pad + 8 * (rank + 1)
            while not _symm.await_flag("int64", flag, "ge", epoch, clock.time_of_a_poll()):
                _interpreter.check_ranks(words)
                if clock.is_over():
                    seen = ctypes.c_int64.from_address(flag).value
                    text = f"{rank_text(world, rank)} to come to its barrier number {epoch}: it has come to {seen}"
                    what = f"the barrier's flag of {rank_text(world, rank)}"
                    raise timed_out(world, _interpreter.located, clock, (what, text, epoch, seen))
                watch.looked()
