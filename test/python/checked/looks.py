"""Looks at a flag after a wait for it: what the wait has ordered needs no more, whatever the look's scope."""

import pytest
import symm
import symm.triton as st
import torch
import triton
import triton.language as tl


def arguments(world):
    return (world, *(world.zeros(8, dtype=torch.int32) for _ in range(2)))


@triton.jit
def looked_at_after_its_wait(world, box, flag):
    if st.rank(world) == 0:
        st.store(world, box, 7, 1)
        st.signal(world, flag, 1, 1)
    else:
        st.wait(world, flag, 1)
        seen = tl.load(flag, volatile=True) + tl.atomic_add(flag, 0, sem="relaxed", scope="gpu")
        tl.store(box + 1, tl.load(box) + seen)


@triton.jit
def the_next_signal_at_gpu_scope(world, box, flag):
    if st.rank(world) == 0:
        st.signal(world, flag, 1, 1)
        st.store(world, box, 7, 1)
        st.signal(world, flag, 2, 1)
    else:
        st.wait(world, flag, 1)
        st.wait(world, flag, 2, scope="gpu")
        tl.store(box + 1, tl.load(box))


def test_what_was_waited_for_may_be_looked_at():
    symm.check(looked_at_after_its_wait, ranks=2, grid=(1,), args=arguments)
    symm.check(looked_at_after_its_wait, ranks=2, grid=(1,), args=arguments, exhaustive=True)


def test_a_look_that_is_to_order_more_is_too_narrow():
    with symm.check.raises("narrow-acquire", "narrow-atomic"):
        symm.check(the_next_signal_at_gpu_scope, ranks=2, grid=(1,), args=arguments, exhaustive=True)


@triton.jit
def fenced_without_release(world, box, flag):
    if st.rank(world) == 0:
        st.store(world, box, 7, 1)
        st.signal(world, flag, 1, 1, sem="relaxed")
    else:
        st.wait(world, flag, 1, sem="relaxed")
        st.fence(world, "acquire")
        tl.store(box + 1, tl.load(box))


def test_a_fence_after_a_relaxed_wait_is_not_too_weak():
    with symm.check.raises("missing-release") as caught:
        symm.check(fenced_without_release, ranks=2, grid=(1,), args=arguments)
    [finding] = caught.report.findings
    assert finding.help == "what announces the first access has to release at scope sys"


@triton.jit
def looks_by_an_atomic_at_what_is_stored(world, box, flag):
    if st.rank(world) == 0:
        st.store(world, box, 5, 1)
    else:
        while tl.atomic_add(box, 0, sem="relaxed", scope="sys") != 5:
            pass


def test_a_store_does_not_announce_itself():
    with symm.check.raises("race", "write-after-read"):
        symm.check(looks_by_an_atomic_at_what_is_stored, ranks=2, grid=(1,), args=arguments)


@triton.jit
def counts(world, flag, other):
    if st.rank(world) == 0:
        for i in range(70):
            st.signal(world, flag, i + 1, 1, sem="relaxed")
        st.signal(world, other, 1, 1, sem="relaxed")
    else:
        st.wait(world, other, 1, sem="relaxed")
        tl.store(other + 1, tl.load(flag, volatile=True))


def test_what_is_not_kept_is_not_claimed():
    report = symm.check(counts, ranks=2, grid=(1,), args=arguments, exhaustive=True, executions=300)
    assert report.forgotten and not report.exhausted and report.limit is None
    assert "none older than the newest 64 was tried; nothing is known of other schedules" in str(report)
    with (
        pytest.raises(AssertionError, match="A flag had more values than are kept"),
        symm.check.raises("race"),
    ):
        symm.check(counts, ranks=2, grid=(1,), args=arguments, exhaustive=True, executions=300)
