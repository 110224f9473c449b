"""The Triton kernels of nvshmem.py."""

import symm.triton as st
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["rounds", "rank"])
def store(table, to, rounds, rank):
    for i in range(rounds):
        st.store(table, to, tl.cast(i, tl.int64), rank)


@triton.jit(do_not_specialize=["count", "rank"])
def put(table, source, target, count, rank, BLOCK: tl.constexpr):
    for block in range(count):
        at = (tl.program_id(0) * count + block) * BLOCK + tl.arange(0, BLOCK)
        st.put(table, source + at, target + at, rank)


@triton.jit(do_not_specialize=["start", "rounds", "me", "rank"])
def ping(table, flag, start, rounds, me, rank):
    for v in range(start + 1, start + rounds + 1):
        if me == 0:
            st.signal(table, flag, tl.cast(v, tl.int64), rank)
        st.wait(table, flag, tl.cast(v, tl.int64), compare="ge")
        if me != 0:
            st.signal(table, flag, tl.cast(v, tl.int64), rank)
