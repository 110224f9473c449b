"""A far sender's three credits, over an engine that is late: copies leave when somebody polls, and not before.

HEAD, TAIL and SENT are each needed: without it the same program goes wrong, or ends by its time-out.
"""

import collections
import ctypes
import time

import symm
import symm.triton as st
import torch
import triton
import triton.language as tl
from symm import errors
from symm.comm import MeshTransport, NetworkTransport, NodeTransport, all_to_all, recv, send, sendrecv
from symm.comm.device import NETWORK

WORLD = symm.init(heap_size=64 << 20)
ME, RANKS = WORLD.get_rank(), WORLD.get_num_ranks()
BASES, CALLS, SECONDS = WORLD.bases, 12, 3.0
# What has been asked of the engine, and not been done yet.
LATE = collections.deque()


def whole(value):
    """A number of a kernel's."""
    value = tl.core._unwrap_if_constexpr(value)
    return int(value.handle.data.ravel()[0]) if isinstance(value, tl.tensor) else int(value)


def addresses(pointers):
    return [int(each) for each in pointers.handle.data.ravel()]


def there(address, rank):
    return address - BASES[ME] + BASES[rank]


def copies(src, dst, rank, mask):
    size, to = src.dtype.scalar.element_ty.primitive_bitwidth // 8, whole(rank)
    given = [True] * len(addresses(src)) if mask is None else mask.handle.data.ravel()
    pairs = [pair for pair, is_on in zip(zip(addresses(src), addresses(dst)), given, strict=True) if is_on]
    LATE.append(lambda: [ctypes.memmove(there(dst, to), src, size) for src, dst in pairs])


def sets(flag, value, rank=None):
    address, word = addresses(flag)[0], whole(value)
    at = address if rank is None else there(address, whole(rank))
    LATE.append(lambda: setattr(ctypes.c_int64.from_address(at), "value", word))


def progress(flag, value):
    """Does what is asked for, in its order, until a flag has come so far."""
    mine = ctypes.c_int64.from_address(addresses(flag)[0])
    while LATE and mine.value < whole(value):
        LATE.popleft()()


def finish():
    while LATE:
        LATE.popleft()()


@triton.jit
def late_copy(ctx, src, dst, rank, mask):
    copies(src, dst, rank, mask)


@triton.jit
def late_signal(ctx, flag, value, rank):
    sets(flag, value, rank)


@triton.jit
def late_sent(ctx, flag, value, rank):
    sets(flag, value)


@triton.jit
def late_wait(ctx, flag, value):
    progress(flag, value)
    st.wait(ctx, flag, value)


SENT_FLAGS = []


@triton.jit
def without_sent(ctx, flag, value):
    if not is_sent(flag):
        st.wait(ctx, flag, value)


@triton.jit
def without_head(ctx, flag, value):
    if is_sent(flag):
        st.wait(ctx, flag, value)


@triton.jit
def never_sent(ctx, flag, value, rank):
    tl.device_assert(rank >= 0)


@triton.jit
def signals_nobody(ctx, flag, value, rank):
    tl.device_assert(rank >= 0)


def is_sent(flag):
    return addresses(flag)[0] in SENT_FLAGS[0]


def transport(**ops):
    """One program with a ring of four slots of 4 KiB, and staging for two of them."""

    class Link(NetworkTransport):
        pass

    Link.ops = NETWORK._replace(**ops)
    made = Link(WORLD, blocks=1, staging=(88 << 10) * RANKS, timeout=SECONDS)
    memory = made.memory
    assert memory.ring == 16 << 10 and memory.staged_bytes == 8 << 10
    first = memory.stage(0, 0)
    SENT_FLAGS[:] = [range(first, first + memory.pairs * memory.stage_bytes)]
    return made


LATE_OPS = {"copy": late_copy, "signal": late_signal, "sent": late_sent, "wait": late_wait}


def data(number, count):
    return torch.arange(count, dtype=torch.int32) + 10_000 * number


def wrong_calls(link, count):
    """How many calls of rank 1 are wrong, which receives with what everybody has, after rank 0 has sent."""
    WORLD.barrier()
    wrong = 0
    for number in range(CALLS):
        if ME == 0:
            send(link, data(number, count), 1)
            finish()
        elif ME == 1:
            out = recv(link, torch.zeros(count, dtype=torch.int32), 0)
            wrong += not torch.equal(out, data(number, count))
    WORLD.barrier()
    return wrong


def late_engines_are_waited_for():
    link = transport(**LATE_OPS if ME == 0 else {})
    for count in (100, 1500, 3500, 20_000):
        assert wrong_calls(link, count) == 0, count


def without_sent_it_goes_wrong():
    ops = {**LATE_OPS, "wait": without_sent}
    wrong = wrong_calls(transport(**ops if ME == 0 else {}), 3500)
    assert (wrong > 0) == (ME == 1), wrong


def without_head_it_goes_wrong():
    link = transport(**{"wait": without_head} if ME == 0 else {})
    wrong = 0
    for number in range(CALLS if ME == 0 else 0):
        send(link, data(number, 1500), 1)
    WORLD.barrier()
    for number in range(CALLS if ME == 1 else 0):
        out = recv(link, torch.zeros(1500, dtype=torch.int32), 0)
        wrong += not torch.equal(out, data(number, 1500))
    WORLD.barrier()
    assert (wrong > 0) == (ME == 1), wrong


def receivers_come_late():
    link = transport()
    WORLD.barrier()
    if ME == 1:
        time.sleep(0.3)
    assert wrong_calls(link, 6000) == 0


def timed_out(link, calls):
    try:
        calls(link)
        link.check()
    except errors.CollectiveTimeoutError as error:
        return error
    raise AssertionError("no CollectiveTimeoutError")


def recover(link):
    WORLD.barrier()
    while True:
        try:
            return link.recover()
        except errors.CollectiveTimeoutError as error:
            assert error.op == "recover"


def what_does_not_come_is_named():
    """SENT, HEAD or TAIL: which one, and of whom; then all go on."""
    large = data(0, 3500)
    for slot, ops, calls in (
        ("SENT", {"sent": never_sent}, lambda link: send(link, large, 1)),
        ("HEAD", {}, lambda link: [send(link, large, 1) for _ in range(2)]),
        ("TAIL", {"signal": signals_nobody}, lambda link: recv(link, large.clone(), 0)),
    ):
        link = transport(**ops if ME == 0 else {})
        waits = int(slot == "TAIL")
        WORLD.barrier()
        if ME == waits:
            error = timed_out(link, calls)
            assert (error.rank, error.peer, error.slot) == (ME, 1 - ME, f"{slot} of block 0 of channel 0"), error
        elif slot == "TAIL":
            send(link, data(0, 1000), 1)
        recover(link)
        if slot == "HEAD":
            assert wrong_calls(link, 3500) == 0


def meshes_recover():
    """A rank of another domain does not come; both transports of the mesh break and recover."""
    near = NodeTransport(WORLD, blocks=1, staging=(88 << 10) * RANKS, timeout=SECONDS)
    mesh = MeshTransport(near, transport(), 1)
    for late in (False, True):
        for count in (50, 9000):
            out = torch.zeros(count, dtype=torch.int32)
            assert torch.equal(sendrecv(mesh, data(ME, count), 1 - ME, out, 1 - ME), data(1 - ME, count))
        assert all_to_all(mesh, torch.full((RANKS,), ME)).tolist() == list(range(RANKS))
        WORLD.barrier()
        if late:
            break
        if ME == 0:
            error = timed_out(mesh, lambda link: recv(link, torch.zeros(5), 1))
            assert error.slot == "TAIL of block 0 of channel 0" and (error.rank, error.peer) == (0, 1), error
        recover(mesh)


for part in (late_engines_are_waited_for, without_sent_it_goes_wrong, without_head_it_goes_wrong, receivers_come_late,
             what_does_not_come_is_named, meshes_recover):  # fmt: skip
    part()
    WORLD.barrier()
WORLD.close()
