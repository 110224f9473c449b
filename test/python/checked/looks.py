"""Looks at a flag after a wait for it: what the wait has ordered needs no more, whatever the look's scope."""

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
