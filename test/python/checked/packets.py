"""Packets and floats of kernels under symm.check."""

import pytest
import symm
import symm.triton as st
import torch
import triton
import triton.language as tl


def small(program, **options):
    return symm.check(program, heap_size=1 << 24, schedules=1, **options)


def slots_of(*more, fill=0):
    return lambda world: (world, world.zeros(64, dtype=torch.int32).fill_(fill), *more)


@triton.jit
def counts(world, slots, n):
    """Sends what is a scalar of the kernel where it is compiled: a loop's variable, and what is made of it."""
    me = st.rank(world)
    for i in range(3, n):
        st.put_packet(world, slots + 4 * i, i, 1, 1 - me)
        st.put_packet(world, slots + 32 + 4 * i, i == 4, 1, 1 - me)
    for i in range(3, n):
        tl.device_assert(st.wait_packet(world, slots + 4 * i, 1, dtype=tl.int32) == i)
        tl.device_assert(st.wait_packet(world, slots + 32 + 4 * i, 1, dtype=tl.int1) == (i == 4))


@triton.jit
def halves(world, slots, n):
    me = st.rank(world)
    for i in range(n):
        st.put_floats(world, slots + 4 * i, i * 0.5, 1 - me)
    for i in range(n):
        tl.device_assert(st.wait_floats(world, slots + 4 * i) == i * 0.5)


@pytest.mark.parametrize(("kernel", "fill"), [(counts, 0), (halves, -1)])
def test_a_loops_variable_is_a_value(kernel, fill):
    small(kernel, grid=(1,), args=slots_of(6, fill=fill))


@triton.jit
def sends(world, slots, VALUE: tl.constexpr):
    st.put_packet(world, slots, VALUE, 1, 0)


@pytest.mark.parametrize("value", ["text", None, [1]])
def test_what_is_no_number_is_no_value(value):
    with pytest.raises(symm.CompileError, match="value must be a scalar or a block of the kernel, not"):
        small(sends, grid=(1,), args=slots_of(value))
