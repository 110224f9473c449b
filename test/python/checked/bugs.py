"""Kernels with bugs that others shipped, and some of ours, each with what symm.check has to find in it: `# finds: KIND`
stands above it. Those with `# finds:` alone are right."""

import symm.triton as st
import torch
import triton
import triton.language as tl

CASES = {}


def case(kernel=None, *, grid=(1,), calls=1, **options):
    """A kernel or a function of the World is a case. A kernel's arguments: tensors of 64 int32, int64 for `slots`."""
    if kernel is None:
        return lambda kernel: case(kernel, grid=grid, calls=calls, **options)

    def program(world):
        names = kernel.arg_names[1:]
        kinds = {"slots": torch.int64, "unsigned": torch.uint64}
        tensors = [world.zeros(64, dtype=kinds.get(name, torch.int32)) for name in names]
        world.barrier()
        for _ in range(calls):
            kernel[grid](world, *tensors)

    CASES[kernel.__name__] = program if hasattr(kernel, "arg_names") else kernel, options
    return kernel


# finds:
@case
@triton.jit
def message(world, box, flag):
    at = tl.arange(0, 8)
    if st.rank(world) == 0:
        st.store(world, box + at, at, 1)
        st.signal(world, flag, 1, 1)
    else:
        st.wait(world, flag, 1)
        tl.store(box + 8 + at, tl.load(box + at))


# finds:
@case
@triton.jit
def asks_who_is_near(world, box, flag):
    if st.is_near(world, 1):
        tl.store(box, st.rank(world))


# finds: narrow-release narrow-atomic
@case
@triton.jit
def released_at_gpu_scope(world, box, flag):
    if st.rank(world) == 0:
        st.store(world, box, 7, 1)
        st.signal(world, flag, 1, 1, scope="gpu")
    else:
        st.wait(world, flag, 1)
        tl.store(box + 1, tl.load(box))


# finds: narrow-acquire narrow-atomic
@case
@triton.jit
def polled_at_gpu_scope(world, box, flag):
    if st.rank(world) == 0:
        st.store(world, box, 7, 1)
        st.signal(world, flag, 1, 1)
    else:
        while tl.atomic_cas(flag, 1, 1, sem="acquire", scope="gpu") != 1:
            pass
        tl.store(box + 1, tl.load(box))


# finds: missing-release
@case
@triton.jit
def relaxed_signal(world, box, flag):
    if st.rank(world) == 0:
        st.store(world, box, 7, 1)
        st.signal(world, flag, 1, 1, sem="relaxed")
    else:
        st.wait(world, flag, 1)
        tl.store(box + 1, tl.load(box))


# finds: missing-acquire
@case
@triton.jit
def no_acquire_after_a_volatile_poll(world, box, flag):
    if st.rank(world) == 0:
        st.store(world, box, 7, 1)
        st.signal(world, flag, 1, 1)
    else:
        while tl.load(flag, volatile=True) != 1:
            pass
        tl.store(box + 1, tl.load(box))


# finds:
@case
@triton.jit
def a_fence_after_a_volatile_poll(world, box, flag):
    if st.rank(world) == 0:
        st.store(world, box, 7, 1)
        st.signal(world, flag, 1, 1)
    else:
        while tl.load(flag, volatile=True) != 1:
            pass
        st.fence(world, sem="acquire")
        tl.store(box + 1, tl.load(box))


# finds: passed-by
@case
@triton.jit
def waits_for_equal(world, flag):
    if st.rank(world) == 0:
        st.signal(world, flag, 1, 1)
        st.signal(world, flag, 2, 1)
    else:
        st.wait(world, flag, 1, "eq")


# finds: wrong-event write-after-read
@case(ranks=3)
@triton.jit
def counts_two_senders(world, box, flag):
    me = st.rank(world)
    if me > 0:
        for i in range(2):
            st.store(world, box + 8 * me + i, i, 0)
            st.signal(world, flag, 1, 0, op="add")
    else:
        st.wait(world, flag, 2)
        tl.store(box, tl.load(box + 8) + tl.load(box + 16))


# finds: write-after-read
@case
@triton.jit
def ring_without_credits(world, box, flag, out):
    me, at = st.rank(world), tl.arange(0, 8)
    for i in range(4):
        if me == 0:
            st.store(world, box + i % 2 * 8 + at, at + i, 1)
            st.signal(world, flag, i + 1, 1)
        else:
            st.wait(world, flag, i + 1)
            tl.store(out + 8 * i + at, tl.load(box + i % 2 * 8 + at))


# finds: missing-release
@case
@triton.jit
def credits_are_relaxed(world, box, flag, head):
    me = st.rank(world)
    for i in range(3):
        if me == 0:
            st.wait(world, head, i)
            st.store(world, box, i, 1)
            st.signal(world, flag, i + 1, 1)
        else:
            st.wait(world, flag, i + 1)
            tl.store(box + 1, tl.load(box))
            st.signal(world, head, i + 1, 0, sem="relaxed")


# finds: never-signalled
@case
@triton.jit
def an_unsigned_target_that_is_negative(world, unsigned):
    if st.rank(world) == 0:
        st.wait(world, unsigned, (tl.load(unsigned + 1) - 1).to(tl.uint64))


# finds: race
@case
@triton.jit
def a_flag_is_taken_back(world, box, flag):
    if st.rank(world) == 0:
        for i in range(2):
            st.store(world, box + i, 7, 1)
            st.signal(world, flag, 1, 1)
    else:
        st.wait(world, flag, 1)
        tl.store(flag, 0)


# finds: wrong-event write-after-read
@case(calls=2)
@triton.jit
def flags_of_the_last_replay(world, box, flag):
    if st.rank(world) == 0:
        st.store(world, box, 7, 1)
        st.signal(world, flag, 1, 1)
    else:
        st.wait(world, flag, 1)
        tl.store(box + 1, tl.load(box))


# finds: too-many-blocks
@case(grid=(3,), programs=2, ranks=1)
@triton.jit
def more_programs_than_fit(world, flag):
    me = tl.program_id(0)
    if me == 2:
        st.signal(world, flag, 1, 0)
    else:
        st.wait(world, flag, 1)


# finds: deadlock
@case(ranks=3)
@triton.jit
def set_and_waited_for_as_a_sum(world, flag):
    if st.rank(world) > 0:
        st.signal(world, flag, 1, 0)
    else:
        st.wait(world, flag, 2)


# finds: set-against-add
@case(ranks=3)
@triton.jit
def set_against_add(world, flag):
    me = st.rank(world)
    if me == 1:
        st.signal(world, flag, 1, 0)
    if me == 2:
        st.signal(world, flag, 1, 0, op="add")
    if me == 0:
        st.wait(world, flag, 1)


# finds: deadlock
@case
@triton.jit
def each_waits_for_the_other(world, flag):
    st.wait(world, flag, 1)
    st.signal(world, flag, 1, 1 - st.rank(world))


# finds: never-signalled
@case
@triton.jit
def polls_in_vain(world, flag):
    if st.rank(world) == 1:
        while tl.atomic_or(flag, 0, sem="acquire", scope="sys") == 0:
            pass


# finds: deadlock
@case
@triton.jit
def waits_for_one_of_several_in_vain(world, flag):
    st.wait_any(world, flag + tl.arange(0, 4), 1)


# finds: deadlock
@case
@triton.jit
def tries_packets_in_vain(world, slots):
    value, there = st.try_packet(world, slots, 1)
    while there == 0:
        value, there = st.try_packet(world, slots, 1)


# finds:
@case
@triton.jit
def polls_a_number_of_times(world, flag, out):
    tries = 0
    while (tl.atomic_or(flag, 0, sem="acquire", scope="sys") == 0) & (tries < 200):
        tries += 1
    tl.store(out, tries)


# finds: out-of-heap
@case
@triton.jit
def no_mask(world, box):
    tl.store(box + tl.arange(0, 128), 1)


# finds: out-of-heap
@case
@triton.jit
def before_the_first_tensor(world, box):
    tl.store(box - 4096, 1)


# finds: race
@case(grid=(2,), ranks=1)
@triton.jit
def programs_of_one_rank(world, box):
    tl.store(box + tl.arange(0, 8), tl.program_id(0))


# finds:
@case(grid=(2,), ranks=1, exhaustive=True)
@triton.jit
def a_lock(world, lock, box):
    while tl.atomic_cas(lock, 0, 1, sem="acquire", scope="gpu") == 1:
        pass
    tl.store(box, tl.load(box) + 1)
    tl.atomic_xchg(lock, 0, sem="release", scope="gpu")


# finds: missing-release
@case(grid=(2,), ranks=1)
@triton.jit
def a_lock_without_release(world, lock, box):
    while tl.atomic_cas(lock, 0, 1, sem="acquire", scope="gpu") == 1:
        pass
    tl.store(box, tl.load(box) + 1)
    tl.atomic_xchg(lock, 0, sem="relaxed", scope="gpu")


# finds: failed-check
@case
@triton.jit
def asserts(world, box):
    assert tl.load(box) == 1, "the box is empty"


# finds:
@case(ranks=3)
@triton.jit
def barriers(world, box):
    me, ranks = st.rank(world), st.num_ranks(world)
    for i in range(3):
        st.store(world, box + me, i, (me + 1) % ranks)
        st.barrier(world)
        tl.store(box + 8 + i, tl.load(box + (me + ranks - 1) % ranks))
        st.barrier(world)


# finds: write-after-read
@case
@triton.jit
def one_barrier_too_few(world, box):
    me, ranks = st.rank(world), st.num_ranks(world)
    for i in range(3):
        st.store(world, box + me, i, (me + 1) % ranks)
        st.barrier(world)
        tl.store(box + 8 + i, tl.load(box + (me + ranks - 1) % ranks))


# finds:
@case
@triton.jit
def packets(world, slots, box):
    me, at = st.rank(world), tl.arange(0, 8)
    for i in range(1, 4):
        st.put_packet(world, slots + i % 2 * 16, at + i, i, 1 - me)
        tl.store(box + at, st.wait_packet(world, slots + i % 2 * 16, i, 8, tl.int32))


# finds: packet-overwritten
@case
@triton.jit
def packets_of_one_way(world, slots, box):
    me, at = st.rank(world), tl.arange(0, 8)
    for i in range(1, 3):
        if me == 0:
            st.put_packet(world, slots, at + i, i, 1)
    if me == 1:
        tl.store(box + at, st.wait_packet(world, slots, 2, 8, tl.int32))


# finds:
@case
@triton.jit
def atomics_of_all_ranks(world, box, flag):
    st.atomic_add(world, box + tl.arange(0, 4), 1, 0)
    st.atomic_max(world, box + 8, st.rank(world), 0)
    st.signal_all(world, flag, 1, op="add")
    st.wait(world, flag, st.num_ranks(world))
    if st.rank(world) == 0:
        assert tl.sum(tl.load(box + tl.arange(0, 4))) == 4 * st.num_ranks(world)
        assert tl.load(box + 8) == st.num_ranks(world) - 1


@triton.jit
def look_at(world, box):
    if st.rank(world) == 1:
        tl.store(box + 16 + tl.arange(0, 8), st.load(world, box + tl.arange(0, 8), 0))


# finds: write-after-read race
@case
def filled_while_it_is_read(world):
    box = world.zeros(64, dtype=torch.int32)
    world.barrier()
    look_at[(1,)](world, box)
    if world.get_rank() == 0:
        box[:8].fill_(7)
    look_at[(1,)](world, box)
