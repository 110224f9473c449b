"""Messages that do not come: all ranks are told who is missing, and go on when all have recovered.

It runs in the interpreter, where a call itself raises, and on GPUs, where the next one or `check` does.
"""

import math
import os
import time

import symm
import torch
import triton
import triton.language as tl
from symm import errors
from symm.comm import Communicator, MeshTransport, NodeTransport, _deadline, all_to_all, recv, send, sendrecv

WORLD = symm.init(heap_size=96 << 20)
ME, RANKS = WORLD.get_rank(), WORLD.get_num_ranks()
AFTER, BEFORE, LAST = (ME + 1) % RANKS, (ME - 1) % RANKS, RANKS - 1
ON_GPU = WORLD.device.type != "cpu"
torch.set_default_device(WORLD.device)
# Long enough for ranks of a busy machine to come.
SECONDS = 4.0
# As packets, and through rings that wrap.
COUNTS = (50, 5000)


def transport(**settings):
    staging = (88 << 10) * RANKS * settings.get("channels", 1)
    return NodeTransport(WORLD, **{"blocks": 1, "staging": staging, "landing": 4096, "timeout": SECONDS, **settings})


def timed_out(link, function, *arguments, **keywords):
    start = time.monotonic()
    try:
        function(*arguments, **keywords)
        link.check()
    except errors.CollectiveTimeoutError as error:
        assert time.monotonic() - start < 20 * SECONDS
        return error
    raise AssertionError("no CollectiveTimeoutError")


def recover(link):
    """Until it is done: a rank of a busy machine may come too late now and then."""
    while True:
        try:
            return link.recover()
        except errors.CollectiveTimeoutError as error:
            assert error.op == "recover"


def works(link):
    for count in COUNTS:
        for rounds in range(3):
            mine = torch.arange(count, dtype=torch.int32) + 1000 * ME + rounds
            out = sendrecv(link, mine, AFTER, torch.zeros(count, dtype=torch.int32), BEFORE)
            assert torch.equal(out, mine + 1000 * (BEFORE - ME)), (count, rounds)
    for zero_copy in (False, True):
        out = all_to_all(link, torch.full((RANKS, 100), ME), zero_copy=zero_copy)
        assert torch.equal(out.reshape(RANKS, 100), torch.arange(RANKS)[:, None].expand(RANKS, 100))
    link.check()


def never_comes():
    """The last rank makes no call: who waits for it gets an error, and so do all who call after that."""
    link = transport()
    works(link)
    small, large = (torch.ones(count) for count in COUNTS)
    for slot, op, call in (
        ("line 0 of block 0 in buffer", "recv", lambda: recv(link, small, LAST)),
        ("TAIL of block 0", "recv", lambda: recv(link, large, LAST)),
        ("MAIL of block 0", "send", lambda: [send(link, small, LAST) for _ in range(12)]),
        ("HEAD of block 0", "send", lambda: [send(link, large, LAST) for _ in range(2)]),
        ("line 0 of block 0 in buffer", "sendrecv", lambda: sendrecv(link, small, LAST, small.clone(), LAST)),
        ("TAIL of block 0", "all_to_all", lambda: all_to_all(link, torch.ones(RANKS))),
    ):
        WORLD.barrier()
        if ME == 0:
            error = timed_out(link, call)
            assert (error.op, error.rank) == (op, 0) and error.slot.startswith(slot), error
            assert error.peer == LAST or op == "all_to_all", error
            assert error.slot.endswith("of channel 0") and error.expected > error.seen, error
            said = f"{op}: rank 0 has waited {SECONDS:g} s for rank {error.peer}: its {error.slot} has number"
            assert said in str(error) and "The transport is broken: call recover() on all ranks" in str(error), error
            for again in (link.check, link.get_geometry, lambda: send(link, small, LAST)):
                assert str(timed_out(link, again)) == str(error)
        WORLD.barrier()
        if ME == LAST:
            assert timed_out(link, send, link, small, 0).op == op
        WORLD.barrier()
        recover(link)
        works(link)


def meets_nobody():
    """The zero-copy all-to-all waits for all ranks before it writes."""
    link = transport(timeout=SECONDS / 2)
    WORLD.barrier()
    if ME != LAST:
        error = timed_out(link, all_to_all, link, torch.ones(RANKS, 10), zero_copy=True)
        assert error.op == "all_to_all" and (ME or error.slot.startswith("MET of block")), error
    WORLD.barrier()
    recover(link)
    WORLD.barrier()
    assert torch.equal(all_to_all(link, torch.ones(RANKS, 10), zero_copy=True), torch.ones(RANKS, 10))


def others_go_on():
    """One transport breaks; a communicator and another transport go on."""
    good, bad, comm = transport(), transport(timeout=0.3), Communicator(WORLD, blocks=2, staging=4 << 20)
    WORLD.barrier()
    if ME != LAST:
        timed_out(bad, recv, bad, torch.zeros(5), LAST)
    works(good)
    assert comm.all_reduce(torch.ones(5)).tolist() == [RANKS] * 5
    WORLD.barrier()
    bad.close()
    works(good)


def meshes():
    """A mesh and its transports are broken and recover together; it says which channel of which peer."""
    near, far = transport(channels=2), transport(channels=2)
    mesh = MeshTransport(near, far, 1)
    works(mesh)
    WORLD.barrier()
    if ME != LAST:
        error = timed_out(mesh, recv, mesh, torch.zeros(5), LAST, channel=1)
        assert error.op == "recv" and error.peer == LAST and error.slot.endswith("of channel 1"), error
        for each in (near, far):
            assert str(timed_out(each, each.usable, "recv")) == str(error)
    WORLD.barrier()
    recover(far)
    for each in (mesh, near, far):
        works(each)


@triton.jit
def fails_later(c):
    value = tl.load(c.inputs(), c.mask())
    if c.tile_idx == 2:
        value += c.not_there
    return value


def hooks_that_fail():
    """A hook that ends a call in the middle leaves cursors as they were, and tiles that have been sent."""
    link = transport()
    WORLD.barrier()
    large = torch.arange(COUNTS[1])
    if ME == 0:
        try:
            send(link, large, LAST, produce=fails_later)
        except Exception as error:
            assert "not_there" in str(error), error
        else:
            raise AssertionError("the hook has not failed")
    elif ME == LAST:
        assert timed_out(link, recv, link, large, 0).slot.startswith("TAIL")
    WORLD.barrier()
    recover(link)
    WORLD.barrier()
    works(link)


def graphs():
    """A graph whose replay a rank leaves out: it ends, and is right again after all have recovered."""
    link = transport()
    counted, out = torch.zeros(5000), torch.zeros(5000)

    def calls():
        counted.add_(ME + 1)
        for count in COUNTS:
            sendrecv(link, counted[:count], AFTER, out[:count], BEFORE)

    calls()
    link.check()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        calls()
    for _ in range(20):
        graph.replay()
    link.check()
    WORLD.barrier()
    if ME != LAST:
        for _ in range(3):
            graph.replay()
        assert timed_out(link, link.check).op == "sendrecv"
    WORLD.barrier()
    recover(link)
    counted.zero_()
    for number in range(1, 100):
        graph.replay()
        assert number % 10 or out.tolist() == [number * (BEFORE + 1)] * 5000
    link.check()


def settings():
    assert transport(timeout=math.inf).watch.deadline.tag("recv") == 0
    assert transport(timeout=None).watch.deadline.seconds == _deadline.USUAL_SECONDS
    os.environ["SYMM_TIMEOUT"] = "17.5"
    assert transport(timeout=None).watch.deadline.seconds == 17.5
    del os.environ["SYMM_TIMEOUT"]
    refused("NodeTransport: timeout must be a number of seconds above 0", transport, timeout=-1)
    refused("intra and inter differ in timeout: 4 and 5 seconds", MeshTransport, transport(), transport(timeout=5), 1)


def refused(text, function, *arguments, **keywords):
    try:
        function(*arguments, **keywords)
    except errors.ArgumentError as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"taken: {text}")


settings()
if RANKS > 1:
    for part in (meets_nobody, others_go_on, meshes, never_comes):
        part()
    if ON_GPU:
        graphs()
    else:
        hooks_that_fail()
else:
    LINK = transport()
    LINK.recover()
    works(LINK)
WORLD.close()
