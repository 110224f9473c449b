"""Wrong things in interpreted kernels: CASE says which one. The line is in what it raises."""

import os

import symm
import symm.triton as st
import torch
import triton
import triton.language as tl

world = symm.init(heap_size=16 << 20, timeout=float(os.environ.get("TIMEOUT", 20)))
here, outside = world.zeros(8, dtype=torch.int32), torch.zeros(8, dtype=torch.int32)


@triton.jit
def rank_out_of_range(table, p):
    st.load(table, p, 9)  # symm load: rank 9 out of range [0, 1)


@triton.jit
def one_rank_of_a_block_out_of_range(table, p):
    at = tl.arange(0, 8)
    st.load(table, p + at, at, mask=at < 2)  # symm load: rank 1 out of range [0, 1)


@triton.jit
def not_on_the_heap(table, p):
    st.store(table, p + tl.arange(0, 8), 0, 0)  # ptr is not on the symmetric heap of rank 0: it is in p, a tensor of


@triton.jit
def context_is_forgotten(table, p):
    st.store(p, 1, 0)  # 'rank'. Is ctx, the first argument, forgotten? Write store(ctx, ptr, value, rank, …); ctx is


@triton.jit
def nobody_is_near(table, p):
    st.is_near(table, st.num_ranks(table))  # symm is_near: rank 1 out of range [0, 1)


@triton.jit
def rank_that_no_run_has(table, p):
    st.load(table, p, 128)  # symm load: rank must be at least 0 and below the number of ranks, not 128


@triton.jit
def epoch_is_too_wide(table, p):
    st.put_packet(table, p, st.rank(table), 1 << 40, 0)  # symm put_packet: epoch 1099511627776 does not fit in int32


@triton.jit
def scope_is_a_value(table, p):
    st.signal(table, p, 1, 0, scope=st.rank(table))  # symm signal: scope must be one of 'cta', 'gpu', 'sys', not int32


@triton.jit
def volatile_is_a_value(table, p):
    st.load(table, p, 0, volatile=st.rank(table))  # symm load: volatile must be True or False, not int32


@triton.jit
def rank_is_a_boolean(table, p):
    st.load(table, p, True)  # symm load: rank must be an integer, not True


@triton.jit
def rank_is_a_comparison(table, p):
    st.signal(table, p, 1, st.rank(table) > 0)  # symm signal: rank must be an integer, not int1


@triton.jit
def value_is_too_wide(table, p):
    st.store(table, p, 1 << 32, 0)  # symm store: value 4294967296 does not fit in int32


@triton.jit
def rank_is_no_integer(table, p):
    st.load(table, p, 0.5)  # rank must be an integer, not 0.5


@triton.jit
def table_of_bases(table, p):
    st.load(table, p, 0)  # symm load: ctx is not a context table: pass what get_device_context() returns


@triton.jit
def flag_is_too_narrow(table, p):
    st.wait(table, p, 1 << 40)  # symm wait: value 1099511627776 does not fit in a flag of int32


@triton.jit
def flag_not_on_the_heap(table, p):
    st.wait(table, p, 1)  # flag is not on the symmetric heap of rank 0: it is in p, a tensor of torch.int32, (8,), that


@triton.jit
def counterpart_of_what_is_not_on_the_heap(table, p):
    st.as_remote(table, p, 0)  # ptr is not on the symmetric heap of rank 0: it is in p, a tensor of


@triton.jit
def second_operand_not_on_the_heap(table, p):
    st.put(table, p, p, 0)  # dst is not on the symmetric heap of rank 0: it is in p, a tensor of torch.int32, (8,)


@triton.jit
def flag_of_a_test_not_on_the_heap(table, p):
    st.test(table, p, 1)  # flag is not on the symmetric heap of rank 0: it is in p, a tensor of torch.int32, (8,)


@triton.jit
def tensor_of_another_world(table, p):
    st.load(table, p + 2, 0)  # ptr is not on the symmetric heap of rank 0: it is element 2 of World.ones: torch.int32,


@triton.jit
def tensor_without_elements(table, p):
    st.load(table, p, 0)  # ptr is not on the symmetric heap of rank 0: it is null, as the pointer of a tensor without


@triton.jit
def no_pointer(table, p):
    st.load(table, p, 0)  # ptr must be a pointer or a block of pointers, not None


@triton.jit
def rank_of_64_bits(table, p):
    st.load(table, p, tl.full([], 1 << 32, tl.int64))  # symm load: rank 4294967296 out of range [0, 1)


@triton.jit
def no_flag_of_several(table, p):
    at = tl.arange(0, 8)
    st.wait_any(table, p + at, 1, mask=at > st.num_ranks(table) + 7)  # mask is False everywhere: no flag could end


@triton.jit
def wait_for_the_dead(table, p):
    if st.rank(table) == 0:
        st.wait(table, p, 1)
    else:
        tl.device_assert(False, "rank 1 ends here")
        assert False


@triton.jit
def spin_for_the_dead(table, p):
    if st.rank(table) == 0:
        while st.atomic_add(table, p, 0, 0) == 0:
            pass
    else:
        tl.device_assert(False, "rank 1 ends here")
        assert False


@triton.jit
def barrier_of_too_many(table, p):
    st.barrier(table)  # symm barrier: the grid has 130816 programs, and there are flags for 130815 on 1 ranks


@triton.jit
def poll_for_the_dead(table, p):
    if st.rank(table) == 0:
        while tl.load(p, volatile=True) == 0:
            pass
    else:
        tl.device_assert(False, "rank 1 ends here")
        assert False


@triton.jit
def load_for_the_dead(table, p):
    if st.rank(table) == 0:
        while st.load(table, p, 0, volatile=True) == 0:
            pass
    else:
        tl.device_assert(False, "rank 1 ends here")
        assert False


@triton.jit
def look_for_the_dead(table, p):
    if st.rank(table) == 0:
        while not st.test(table, p, 1):
            pass
    else:
        tl.device_assert(False, "rank 1 ends here")
        assert False


@triton.jit
def all_of_the_dead(table, p):
    if st.rank(table) == 0:
        st.wait_all(table, p + tl.arange(0, 8), 1)
    else:
        tl.device_assert(False, "rank 1 ends here")
        assert False


GRIDS = {"barrier_of_too_many": (130_816,)}
tensor = outside if os.environ["CASE"].endswith("not_on_the_heap") else here
if os.environ["CASE"] == "tensor_of_another_world":
    tensor = symm.init(heap_size=16 << 20).ones(8, dtype=torch.int32)
if os.environ["CASE"] == "tensor_without_elements":
    tensor = world.zeros(0, dtype=torch.int32)
tensor = None if os.environ["CASE"] == "no_pointer" else tensor
context = world.get_heap_bases() if os.environ["CASE"] == "table_of_bases" else world.get_device_context()
try:
    globals()[os.environ["CASE"]][GRIDS.get(os.environ["CASE"], (1,))](context, tensor)
except triton.runtime.errors.InterpreterError as error:
    ours = error.__cause__
    assert not isinstance(ours, symm.errors.LocatedError) or (ours.file, ours.line is None) == (__file__, False), ours
    raise
