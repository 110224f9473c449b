"""How a test calls symm.check."""

import os
import sys
import threading
from pathlib import Path

import bugs
import pytest
import symm
import symm.triton as st
import torch
import triton
import triton.language as tl
from symm.check import _place


@triton.jit
def copies(world, box, VALUE: tl.constexpr):
    st.store(world, box + 8 + st.rank(world), VALUE, 1 - st.rank(world))


def small(program, **options):
    return symm.check(program, heap_size=1 << 24, schedules=1, **options)


def test_a_kernel_that_is_right():
    report = small(copies, grid=(1,), args=lambda world: (world, world.zeros(16, dtype=torch.int32), 7))
    assert report.is_clean and report.findings == () and report.executions == 2
    named = {"VALUE": 7}
    small(copies, grid=(1,), args=lambda world: {"world": world, "box": world.zeros(16, dtype=torch.int32), **named})


def test_values_are_there_after_the_kernel():
    seen = []

    def program(world):
        box = world.zeros(16, dtype=torch.int32)
        own = torch.zeros(4, dtype=torch.int32)
        world.barrier()
        copies[(1,)](world, box, 7)
        world.barrier()
        box += 1
        copy_of_mine[(1,)](box, own)
        seen.append((world.get_rank(), own.tolist()))
        assert world.broadcast(world.get_rank(), 1) == 1
        world.close()

    small(program)
    assert sorted(seen) == [(0, [1, 8, 1, 1])] * 2 + [(1, [8, 1, 1, 1])] * 2
    assert symm._open.worlds == []


@triton.jit
def copy_of_mine(box, own):
    tl.store(own + tl.arange(0, 4), tl.load(box + 8 + tl.arange(0, 4)))


def test_the_host_takes_part():
    def late(world):
        box = world.zeros(16, dtype=torch.int32)
        world.barrier()
        copies[(1,)](world, box, 7)
        box.fill_(3)
        world.barrier()

    with symm.check.raises("race") as caught:
        symm.check(late, heap_size=1 << 24)
    assert any(place.program is None for finding in caught.report.findings for place in finding.places)


@triton.jit
def looks_at(world, box, AT: tl.constexpr):
    # Rank 1, at what rank 0's host writes meanwhile.
    if st.rank(world) == 1:
        st.load(world, box + AT, 0)


@pytest.mark.parametrize(
    ("at", "written"),
    [(0, 1), (1021, 0), (1022, 4), (1023, 4), (1024, 4), (1025, 4), (1026, 0), (3071, 1), (3072, 0), (4999, 1)],
)
def test_what_the_host_has_written_is_told_once(at, written):
    """Where it begins and ends, within the pages that are compared at once and across them."""
    word = 0x01010101

    def program(world):
        box, out = world.zeros(5000, dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
        world.barrier()
        if world.get_rank() == 0:
            for first, end in ((0, 1), (1022, 1026), (3071, 3072), (4999, 5000)):
                box[first:end].fill_(word)
            # The same as before is no write.
            box[1021:1022].fill_(0)
            copy_of_mine[(1,)](out, torch.zeros(4, dtype=torch.int32))
        looks_at[(1,)](world, box, at)
        world.barrier()
        # By now all of it has been told, and is written no more.
        looks_at[(1,)](world, box, 1022)

    report = symm.check.run(program, heap_size=1 << 24, schedules=0)
    found = [place for finding in report.findings for place in finding.places if place.program is None]
    assert [place.what.split(" of ")[0] for place in found] == [
        f"writes {4 * written} bytes at element {1022 if written == 4 else at}"
    ] * bool(written), str(report)


def test_a_barrier_that_a_rank_does_not_come_to():
    def uneven(world):
        if world.get_rank() == 0:
            world.barrier()

    with symm.check.raises("barrier-divergence"):
        small(uneven)


def line_of(text):
    """The number of the line of this file that this text is, apart from its indentation."""
    return 1 + [line.strip() for line in Path(__file__).read_text().splitlines()].index(text)


def assert_raised_by(error, who, text):
    if hasattr(error, "__notes__"):
        assert error.__notes__ == [f"symm.check: raised by {who}, at {__file__}:{line_of(text)}"]


@triton.jit
def has_no_such_shape(world, box):
    tl.zeros((3,), tl.float32)


def test_an_exception_has_the_users_line():
    """Also one that Triton's functions, or others, have raised; one of the program is no op that is missing."""

    def raises(world):
        raise NotImplementedError("not yet")

    with pytest.raises(NotImplementedError, match="not yet") as raised:
        small(raises)
    assert_raised_by(raised.value, "rank 0, host", 'raise NotImplementedError("not yet")')
    with pytest.raises(Exception, match="must be a power of 2") as raised:
        small(has_no_such_shape, grid=(1,), args=lambda world: (world, world.zeros(1)))
    who = "rank 1, program 0, 0, 0 of kernel has_no_such_shape"
    assert_raised_by(raised.value, who, "tl.zeros((3,), tl.float32)")
    with pytest.raises(TypeError, match="missing 1 required positional") as raised:
        small(lambda world: copies[(1,)](world, VALUE=1))
    assert_raised_by(raised.value, "rank 0, host", "small(lambda world: copies[(1,)](world, VALUE=1))")


@triton.jit
def asserts_on_the_device(world, box):
    tl.device_assert(tl.load(box) == 1, "the box is empty")


def test_an_assertion_on_the_device():
    with symm.check.raises("failed-check") as caught:
        small(asserts_on_the_device, grid=(1,), args=lambda world: (world, world.zeros(1, dtype=torch.int32)))
    [place] = caught.report.findings[0].places
    assert place.what == "the box is empty"
    assert place.line == line_of('tl.device_assert(tl.load(box) == 1, "the box is empty")')


def test_a_barrier_of_a_team_is_where_the_host_calls_it():
    def uneven(world):
        team = world.split(0)
        if world.get_rank() == 0:
            team.barrier()

    with symm.check.raises("never-signalled") as caught:
        small(uneven)
    [place] = caught.report.findings[0].places
    assert place.line == line_of("team.barrier()") and place.column == 13
    assert place.what.startswith("is at the barrier of World.team (made at "), place.what
    assert place.what.endswith("to which the team's rank 1 (rank 1) does not come"), place.what


def test_a_kernel_of_the_package_is_told_by_its_call(monkeypatch):
    monkeypatch.setattr(_place, "KERNELS", bugs.__file__)
    with symm.check.raises("never-signalled") as caught:
        small(bugs.CASES["polls_in_vain"][0])
    [place] = caught.report.findings[0].places
    call = next(at for at, line in enumerate(Path(bugs.__file__).read_text().splitlines(), 1) if "kernel[grid]" in line)
    assert place.what.endswith(f"; nobody has signalled it (called at {bugs.__file__}:{call})"), place.what


def test_copies_of_the_host():
    def program(world, ranks):
        box, out = (world.zeros(8, dtype=torch.int32) for _ in range(2))
        box += 1 + world.get_rank()
        world.barrier()
        if world.get_rank() < ranks:
            world.put(box[::2], out[::2], 1)
        world.barrier()
        assert world.get_rank() == 0 or out.tolist() == [1, 0] * 4
        own = torch.zeros(8, dtype=torch.int32)
        world.get(out, own, 1)
        assert own.tolist() == [1, 0] * 4
        world.barrier()

    small(lambda world: program(world, 1))
    with symm.check.raises("race", "failed-check") as caught:
        small(lambda world: program(world, 2))
    [finding] = (each for each in caught.report.findings if each.kind == "race")
    assert finding.help == "nothing orders the two: a barrier of all hosts (world.barrier()) between them"
    assert {place.what.split(" of ")[0] for place in finding.places} == {"writes 4 bytes at element 0"}
    assert {place.line for place in finding.places} == {line_of("world.put(box[::2], out[::2], 1)")}


def test_exceptions_are_the_programs():
    def wrong(world):
        world.zeros(4 + world.get_rank(), dtype=torch.int32)

    with pytest.raises(symm.MismatchError, match="ranks make different tensors"):
        small(wrong)
    with pytest.raises(ZeroDivisionError) as raised:
        small(lambda: 1 // 0)
    assert_raised_by(raised.value, "rank 0, host", "small(lambda: 1 // 0)")
    with pytest.raises(symm.HeapExhaustedError):
        small(lambda world: world.zeros(1 << 24, dtype=torch.int64))


@pytest.mark.parametrize("options", [{}, {"exhaustive": True}, {"seed": 3}])
def test_ranks_that_call_different_things(options):
    def check(program, *said):
        with pytest.raises(symm.MismatchError) as raised:
            symm.check(program, heap_size=1 << 24, **options)
        text = str(raised.value)
        assert text.startswith("ranks call different things: all call the same ones, in the same order")
        assert all(each in text for each in said), text

    def in_another_order(world):
        calls = [world.barrier, lambda: world.zeros(4, dtype=torch.int32)]
        for call in reversed(calls) if world.get_rank() == 0 else calls:
            call()

    def fewer(world):
        world.zeros(4, dtype=torch.int32)
        if world.get_rank() == 0:
            world.zeros(8, dtype=torch.int32)

    def leaves_early(world):
        world.barrier()
        if world.get_rank() == 1:
            sys.exit()
        world.zeros(4, dtype=torch.int32)

    check(in_another_order, ": makes a tensor", ": World.barrier")
    check(fewer, ": makes a tensor", "rank 1 has come to its end")
    check(lambda world: world.broadcast(1, world.get_rank()), "a broadcast from rank 0", "a broadcast from rank 1")
    check(leaves_early, ": makes a tensor", "rank 1 has come to its end")


def test_an_exception_while_another_rank_launches():
    def program(world):
        box = world.zeros(16, dtype=torch.int32)
        if world.get_rank() == 1:
            raise ZeroDivisionError
        copies[(1,)](world, box, 7)

    with pytest.raises(ZeroDivisionError):
        small(program)


@pytest.mark.parametrize(("module", "name"), [(sys, "exit"), (os, "_exit")])
def test_a_rank_may_end_by_an_exit(module, name):
    assert small(lambda: getattr(module, name)(0)).executions == 2
    with pytest.raises(RuntimeError, match="the program ends with status 3"):
        small(lambda: getattr(module, name)(3))


def test_what_never_ends_is_ended():
    turns = []

    def loops():
        while True:
            turns.append(0)

    with pytest.raises(symm.CheckError, match="uses.py:.*rank 0, its host: no step that the checker sees for 0.5 s"):
        small(loops, seconds=0.5)
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join(10)
            assert not thread.is_alive(), thread


@triton.jit
def waits_in_vain(world, box):
    st.wait(world, box, 1)


def test_what_an_execution_before_an_exception_has_found_stays():
    """Also what it has found not to come; of the execution with the exception that is not known."""
    calls = []

    def program(world):
        calls.append(world.get_rank())
        box = world.zeros(1, dtype=torch.int32)
        world.barrier()
        if len(calls) > 3:
            raise ZeroDivisionError
        if world.get_rank() == 0:
            waits_in_vain[(1,)](world, box)

    for executions, kinds in ((1, ["never-signalled"]), (0, [])):
        calls[:] = [] if executions else [0, 1]
        with pytest.raises(ZeroDivisionError) as raised:
            small(program)
        found = raised.value.found.findings if hasattr(raised.value, "found") else ()
        assert [finding.kind for finding in found] == kinds


WRONG = [{"ranks": True}, {"schedules": -1}, {"grid": (1,)}, {"seed": 1, "exhaustive": True}]


@pytest.mark.parametrize("options", WRONG)
def test_wrong_arguments(options):
    with pytest.raises(symm.ArgumentError, match="symm.check: "):
        symm.check(lambda: None, **options)


def test_a_kernel_needs_its_arguments():
    with pytest.raises(symm.ArgumentError, match="a kernel needs grid, and args"):
        symm.check(copies)


@triton.heuristics({"TWICE": lambda arguments: 2 * arguments["n"]})
@triton.jit
def in_steps(world, box, steps, n, TWICE: tl.constexpr, BLOCK: tl.constexpr):
    step = tl.load(steps) + 1
    for at in range(0, n, BLOCK):
        st.store(world, box + at + tl.arange(0, BLOCK), step * TWICE, 1 - st.rank(world))
    st.barrier(world)
    tl.store(steps, step)


def tuned(**options):
    return triton.autotune([triton.Config({"BLOCK": size}) for size in (4, 8)], key=["n"], **options)(in_steps)


def test_each_rank_tunes_by_itself_in_each_execution():
    times = iter(range(1000, 0, -1))

    def timed(call, quantiles):
        call()
        return [float(next(times))] * len(quantiles)

    for kernel in (tuned(), tuned(do_bench=timed)):
        chosen = []

        def program(world, kernel=kernel, chosen=chosen):
            box, steps = (world.zeros(16, dtype=torch.int32) for _ in range(2))
            assert not hasattr(kernel, "best_config")
            for launches in range(3, 5):
                world.barrier()
                kernel[(1,)](world, box, steps, 16)
                assert steps.tolist()[0] == launches
            chosen.append(kernel.best_config.kwargs["BLOCK"])
            world.barrier()
            assert box.tolist() == [4 * 32] * 16
            world.barrier()

        small(program)
        assert chosen == [4] * 4 and kernel.cache == {} and not hasattr(kernel, "best_config")


def test_an_autotuned_kernel():
    def arguments(world):
        return world, *(world.zeros(16, dtype=torch.int32) for _ in range(2)), 16

    small(tuned(), grid=(1,), args=arguments)
