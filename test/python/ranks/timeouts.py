"""Waits in kernels whose time is over, as CASE says: the error names the kernel, its line, who waited and for what."""

import os
import time

import pytest
import symm
import symm.triton as st
import torch
import triton
import triton.language as tl
from leave import leave

case = os.environ["CASE"]
world = symm.init(heap_size=16 << 20)
me, ranks = world.get_rank(), world.get_num_ranks()
on_gpu = world.device.type != "cpu"
flags = world.zeros(8, dtype=torch.int32)  # made
slots = world.zeros(64, dtype=torch.int64)
# Of floats, which are cleared.
slots[32:].fill_(-1)
# That a rank has waited in vain, for the one that does not come; no kernel waits for this element.
told = world.as_remote(flags, ranks - 1)[7:]
SECONDS = 0.5


@triton.jit
def waiting(world, flags, slots):
    if tl.program_id(0) == 1:
        st.wait(world, flags + 2, 3)  # wait


@triton.jit
def impatient(world, flags, slots):
    st.wait(world, flags, 1, timeout=0.5)  # wait
    st.wait(world, flags + 1, 1, timeout=0.5)


@triton.jit
def meeting(world, flags, slots):
    st.barrier(world)  # wait


@triton.jit
def receiving(world, flags, slots):
    st.wait_packet(world, slots, 7)  # wait


@triton.jit
def several(world, flags, slots):
    at = tl.arange(0, 4)
    st.wait_all(world, flags + at, tl.where(at == 2, 4, 0), timeout=0.5)  # wait


@triton.jit
def one_of(world, flags, slots):
    at = tl.arange(0, 8)
    st.wait_any(world, flags + at, 5, mask=(at == 3) | (at == 4))  # wait


@triton.jit
def locked(world, flags, slots):
    while st.atomic_cas(world, flags + 6, 0, 1, st.rank(world)) != 0:  # wait
        pass


@triton.jit
def testing(world, flags, slots):
    while not st.test(world, flags + 1, 2):  # wait
        pass


@triton.jit
def asking(world, flags, slots):
    while not st.test(world, flags + 1, 2):  # wait
        st.is_near(world, 0)


@triton.jit
def spinning(world, flags, slots):
    while tl.atomic_cas(flags + 6, 0, 1) == 1:  # wait
        pass
    st.fence(world)


@triton.jit
def spinning_there(world, flags, slots):
    there = st.as_remote(world, flags + 4, 0)
    while tl.atomic_add(there, 0, sem="acquire", scope="sys") < 2:  # wait
        pass


@triton.jit
def trying(world, flags, slots):
    value, is_there = st.try_packet(world, slots, 7)
    while not is_there:
        value, is_there = st.try_packet(world, slots, 7)  # wait


@triton.jit
def trying_floats(world, flags, slots):
    value, is_there = st.try_floats(world, slots + 32)
    while not is_there:
        value, is_there = st.try_floats(world, slots + 32)  # wait


@triton.jit
def trying_several(world, flags, slots):
    lines = slots + 2 * tl.arange(0, 4)
    value, is_there = st.try_packet(world, lines, 7)
    while tl.min(is_there.to(tl.int32), 0) == 0:
        value, is_there = st.try_packet(world, lines, 7, mask=tl.arange(0, 4) > 1)  # wait


@triton.jit
def put_signalled(world, flags, slots):
    last = st.num_ranks(world) - 1
    at = tl.arange(0, 16)
    # The last rank does not come.
    if (st.rank(world) == last) & (last > 0):
        st.put_signal(world, slots + at, slots + 16 + at, flags + 3, 1, 0)
    else:
        st.wait(world, flags + 3, 1)  # wait


@triton.jit
def in_a_helper(world, flags, slots):
    helper(world, flags)


@triton.jit
def helper(world, flags):
    ctx = st.DeviceContext(world)
    if ctx.wait(flags + 5, 1, "eq") == 1:  # wait
        ctx.signal(flags, 1, 0)


@triton.jit
def beside_a_poll(world, flags, slots):
    st.wait(world, flags + 2, 3)  # wait


@triton.jit
def until_told(world, flags):
    while tl.atomic_add(flags, 0) == 0:
        while not st.test(world, flags + 7, 1):  # polls
            pass
        st.signal(world, flags, 1, st.rank(world))


@triton.jit
def patient(world, flags, slots):
    """No time-out: the last rank takes its time."""
    st.wait(world, flags, 1)
    st.barrier(world, timeout=60)


LINES = open(__file__).read().splitlines()
MADE = next(n for n, line in enumerate(LINES) if line.endswith("# made")) + 1
# The flag, what is expected of it and what is there; where the program that waits is not the first, its number.
FLAGS = {
    "waiting": ("element 2 of World.zeros: torch.int32, (8,) (made at ", 3, 0),
    "impatient": ("element 0 of World.zeros: torch.int32, (8,) (made at ", 1, 0),
    "meeting": (f"the barrier's flag of rank {ranks - 1}", 1, 0),
    "receiving": ("element 0 of World.zeros: torch.int64, (64,) (made at ", 7, 0),
    "several": ("element 2 of World.zeros: torch.int32, (8,) (made at ", 4, 0),
    "one_of": ("element 3 of World.zeros: torch.int32, (8,) (made at ", 5, 0),
    # Who takes the lock first ends, and leaves it taken.
    "locked": ("element 6 of World.zeros: torch.int32, (8,) (made at ", 0, 1),
    "asking": ("element 1 of World.zeros: torch.int32, (8,) (made at ", 2, 0),
    # Compiled, its loop waits until another value than 1 is there.
    "spinning": ("element 6 of World.zeros: torch.int32, (8,) (made at ", 1 if on_gpu else 0, 1),
    # In which way it is compared is not known in the interpreter.
    "spinning_there": ("element 4 of World.zeros: torch.int32, (8,) (made at ", 2 if on_gpu else None, 0),
    "trying": ("element 0 of World.zeros: torch.int64, (64,) (made at ", 7, 0),
    "trying_floats": ("element 32 of World.zeros: torch.int64, (64,) (made at ", 0, -1),
    "trying_several": ("element 4 of World.zeros: torch.int64, (64,) (made at ", 7, 0),
    "testing": ("element 1 of World.zeros: torch.int32, (8,) (made at ", 2, 0),
    "put_signalled": ("element 3 of World.zeros: torch.int32, (8,) (made at ", 1, 0),
    "beside_a_poll": ("element 2 of World.zeros: torch.int32, (8,) (made at ", 3, 0),
    "in_a_helper": ("element 5 of World.zeros: torch.int32, (8,) (made at ", 1, 0),
}


def wrong_values():
    with pytest.warns(symm.SymmWarning, match="World.timeout without `with` does nothing: write ") as warned:
        world.timeout(3)
    assert (warned[0].filename, LINES[warned[0].lineno - 1].strip()) == (__file__, "world.timeout(3)")
    for value in (0, -1, True, "soon", float("nan"), [1]):
        with pytest.raises(symm.ArgumentError, match="World.timeout: seconds must be a number of seconds above 0"):
            world.timeout(value)
        if value == 0:
            continue
        with pytest.raises(symm.ArgumentError, match="timeout"):
            symm.init(timeout=value)


def again():
    """A lock that is taken at once, each time, has not been waited for."""
    for _ in range(3):
        flags.fill_(0)
        launch(locked, 1)
        flags.fill_(0)
        launch(spinning, 1)
        time.sleep(1.5 * SECONDS)
    world.close()


def slow():
    with world.timeout(60):
        if me == ranks - 1:
            time.sleep(1)
            for rank in range(ranks):
                world.as_remote(flags, rank).fill_(1)
        patient[(1,)](world, flags, slots)
        world.synchronize()
    world.close()


def launch(kernel, programs=2):
    if case == "impatient" or "SYMM_TIMEOUT" in os.environ:
        kernel[(programs,)](world, flags, slots)
    else:
        with world.timeout(SECONDS):
            kernel[(programs,)](world, flags, slots)
    world.synchronize()


def check(error, kernel):
    start = next(n for n, line in enumerate(LINES) if line.startswith(f"def {kernel}("))
    line = next(n for n in range(start, len(LINES)) if "# wait" in LINES[n]) + 1
    flag, expected, seen = FLAGS[case]
    assert (error.file, error.line, error.kernel) == (__file__, line, case), error
    assert error.flag.startswith(flag) and (error.expected, error.seen) == (expected, seen), error
    assert error.program == ((1, 0, 0) if case == "waiting" else error.program), error
    assert f"kernel {case}: rank {error.rank}, program {error.program} has waited " in str(error)
    assert "made at " not in flag or f"made at {__file__}:{MADE})" in error.flag or "int64" in flag, error
    assert isinstance(error, TimeoutError) and isinstance(error, symm.SymmError)
    assert len({text.split()[1].rstrip(",:") for text in error.others} - {str(error.rank)}) == ranks - 1, error
    if not on_gpu:
        line = next(n for n, line in enumerate(LINES, 1) if line.endswith("# polls"))
        polls = f"polls: program (0, 0, 0), {__file__}:{line}: kernel until_told"
        last = polls if case == "beside_a_poll" else "is in no kernel"
        assert error.others[-1] == f"rank {ranks - 1} {last}", error


def main():
    if case == "wrong":
        return wrong_values()
    if case in ("slow", "again"):
        return globals()[case]()
    world.barrier()
    begun = time.monotonic()
    if me == ranks - 1 and ranks > 1:
        # As long as another rank takes to compile its kernel, and to wait in vain.
        if on_gpu:
            with pytest.raises(symm.WaitTimeoutError) as raised:
                while time.monotonic() < begun + 60:
                    world.check()
                    time.sleep(0.05)
            assert raised.value.rank != me
        elif case == "beside_a_poll":
            until_told[(1,)](world, flags)
        else:
            while flags[7].item() == 0 and time.monotonic() < begun + 60:
                time.sleep(0.05)
    else:
        kinds = (symm.WaitTimeoutError, triton.runtime.errors.InterpreterError)
        with pytest.raises(kinds) as raised:
            launch(globals()[case])
        error = raised.value
        # Also where the wait is in a function that the kernel calls.
        if isinstance(error, triton.runtime.errors.InterpreterError):
            error = error.__cause__
        if ranks == 1 and not on_gpu:
            # It is found at once.
            assert isinstance(error, symm.DeadlockError), error
        else:
            assert isinstance(error, symm.WaitTimeoutError), error
            check(error, "helper" if case == "in_a_helper" else case)
            assert SECONDS / 2 < time.monotonic() - begun < 60
            print(error)
        if on_gpu:
            with pytest.raises(symm.WaitTimeoutError):
                world.barrier()
        else:
            told.fill_(1)
    leave()


main()
