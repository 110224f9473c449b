"""Ranks that do not come: all others are told which, and go on when all have recovered.

It runs in the interpreter, where a call itself raises, and on GPUs, where the next one or `check` does.
"""

import math
import os
import time

import symm
import torch
from symm import errors
from symm.comm import Communicator, _deadline, _plan

WORLD = symm.init(heap_size=96 << 20)
ME, RANKS = WORLD.get_rank(), WORLD.get_num_ranks()
LAST = RANKS - 1
ON_GPU = WORLD.device.type != "cpu"
torch.set_default_device(WORLD.device)
# Long enough for ranks of a busy machine to come.
SECONDS = 4.0


def communicator(**settings):
    return Communicator(WORLD, blocks=2, staging=4 << 20, **{"timeout": SECONDS, **settings})


def timed_out(comm, function, *arguments, **keywords):
    start = time.monotonic()
    try:
        function(*arguments, **keywords)
        comm.check()
    except errors.CollectiveTimeoutError as error:
        assert time.monotonic() - start < 20 * SECONDS
        return error
    raise AssertionError("no CollectiveTimeoutError")


def recover(comm):
    """Until it is done: a rank of a busy machine may come too late now and then."""
    while True:
        try:
            return comm.recover()
        except errors.CollectiveTimeoutError as error:
            assert error.op == "recover"


def works(comm):
    for count in (3, 5000):
        assert comm.all_reduce(torch.full((count,), ME + 1.0)).tolist() == [sum(range(RANKS + 1))] * count
        assert comm.all_gather(torch.tensor([ME])).tolist() == list(range(RANKS))
        assert comm.broadcast(torch.full((count,), ME), LAST).tolist() == [LAST] * count
    comm.barrier()
    comm.check()


def is_of_the_last(error, op):
    assert error.op == op and error.peer == LAST and error.rank != LAST, (error, op)
    assert error.slot.split()[0] in ("line", "flag") and error.expected != error.seen, error
    assert f"{op}: rank {error.rank} has waited" in str(error) and f"for rank {LAST}:" in str(error)
    assert isinstance(error, TimeoutError)


def never_comes():
    """The last rank makes no call; the others get an error, again and again."""
    comm = communicator()
    works(comm)
    WORLD.barrier()
    if ME != LAST:
        first = timed_out(comm, comm.all_reduce, torch.ones(10))
        is_of_the_last(first, "all_reduce")
        for call in (comm.barrier, comm.check, lambda: comm.all_gather(torch.ones(3)), lambda: comm.split(0)):
            assert str(timed_out(comm, call)) == str(first)
    WORLD.barrier()
    if ME == LAST:
        # What it says first may still find all that it waits for.
        is_of_the_last(timed_out(comm, comm.check), "all_reduce")
        is_of_the_last(timed_out(comm, comm.all_reduce, torch.ones(10)), "all_reduce")
    recover(comm)
    works(comm)
    recover(comm)
    works(comm)


def told_while_it_waits():
    """A rank that waits without end is told by one that does not."""
    comm = communicator(timeout=SECONDS if ME == 0 else 100 * SECONDS)
    WORLD.barrier()
    if ME != LAST:
        error = timed_out(comm, comm.all_reduce, torch.ones(10))
        is_of_the_last(error, "all_reduce")
        assert error.rank == 0
    WORLD.barrier()
    recover(comm)
    works(comm)


def late_to_recover():
    """A recovery may be given up, and taken up again."""
    comm = communicator(timeout=0.5)
    WORLD.barrier()
    if ME != LAST:
        is_of_the_last(timed_out(comm, comm.barrier), "barrier")
        error = timed_out(comm, comm.recover)
        assert error.op == "recover" and error.peer == LAST, error
        assert timed_out(comm, comm.barrier).op == "barrier"
    WORLD.barrier()
    recover(comm)
    WORLD.barrier()
    for _ in range(3):
        assert comm.all_gather(torch.tensor([ME])).tolist() == list(range(RANKS))


def two_communicators():
    """One breaks, and the other one goes on."""
    good, bad = communicator(), communicator(timeout=0.3)
    WORLD.barrier()
    if ME != LAST:
        timed_out(bad, bad.barrier)
    for _ in range(3):
        works(good)
    WORLD.barrier()
    recover(bad)
    for _ in range(3):
        works(good)
    WORLD.barrier()
    bad.close()
    halves = good.split(ME % 2)
    if ME % 2 == 0:
        halves.barrier()
    works(good)


def every_call():
    """Each call says its own name, with packets and with signals."""
    part = torch.ones(RANKS * 40)
    calls = {
        "all_reduce": lambda comm: comm.all_reduce(part),
        "reduce_scatter": lambda comm: comm.reduce_scatter(part),
        "all_gather": lambda comm: comm.all_gather(part),
        "all_to_all": lambda comm: comm.all_to_all(part),
        "all_to_all_v": lambda comm: comm.all_to_all_v(part, torch.full((RANKS,), 40), torch.ones(RANKS * 40)),
        "broadcast": lambda comm: comm.broadcast(part, LAST),
        "reduce": lambda comm: comm.reduce(part, 0),
        "gather": lambda comm: comm.gather(part, 0),
        "scatter": lambda comm: comm.scatter(None, LAST, out=torch.ones(40)),
        "barrier": lambda comm: comm.barrier(),
    }
    for packets in (True, False):
        _plan.USUAL_PACKET_BYTES, _plan.PACKET_BYTES = (1 << 17 if packets else 0), {}
        comm = communicator(timeout=0.25)
        for name, call in calls.items():
            WORLD.barrier()
            if ME == 0:
                is_of_the_last(timed_out(comm, call, comm), name)
            WORLD.barrier()
            recover(comm)


def garbage():
    """Where kernels take addresses and numbers from what has come, they take none from what has not."""
    _plan.DIRECT_BYTES, _plan.USUAL_PACKET_BYTES, _plan.PACKET_BYTES = 0, 0, {}
    heap, wide = WORLD.zeros(3000, dtype=torch.int32), WORLD.zeros(3000 * RANKS, dtype=torch.int32)
    calls = {
        "all_to_all_v": lambda comm: comm.all_to_all_v(heap, torch.full((RANKS,), 40), wide),
        "all_gather": lambda comm: comm.all_gather(heap, out=wide),
        "all_reduce": lambda comm: comm.all_reduce(heap),
    }
    _plan.ONE_SHOT_BYTES, _plan.USUAL_ONE_SHOT_BYTES = {}, 0
    comm = communicator()
    for name, call in calls.items():
        WORLD.barrier()
        call(comm)
        geometry = comm._calls.geometry
        geometry.memory[: geometry.first_packet].fill_(0x21)
        WORLD.barrier()
        if ME != LAST:
            assert timed_out(comm, call, comm).op == name
        WORLD.barrier()
        recover(comm)
        call(comm)
    comm.check()


def graphs():
    """A graph whose replay a rank leaves out: it ends, and is right again after all have recovered."""
    comm = communicator()
    counted, out = torch.zeros(1000), torch.zeros(1000)

    def calls():
        counted.add_(ME + 1)
        comm.all_reduce(counted, out=out)
        comm.barrier()
        comm.all_reduce(counted, "max", out=out)

    calls()
    comm.check()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        calls()
    for _ in range(20):
        graph.replay()
    comm.check()
    WORLD.barrier()
    if ME != LAST:
        for _ in range(3):
            graph.replay()
        assert timed_out(comm, comm.check).op in ("all_reduce", "barrier")
    WORLD.barrier()
    recover(comm)
    counted.zero_()
    for number in range(1, 100):
        graph.replay()
        assert number % 10 or out.tolist() == [number * RANKS] * 1000
    comm.check()


def settings():
    assert communicator(timeout=math.inf)._calls.deadline.tag("barrier") == 0
    assert communicator(timeout=None)._calls.deadline.seconds == _deadline.USUAL_SECONDS
    os.environ["SYMM_TIMEOUT"] = "17.5"
    assert communicator(timeout=None)._calls.deadline.seconds == 17.5
    for wrong in ("soon", "-1"):
        os.environ["SYMM_TIMEOUT"] = wrong
        refused(f"SYMM_TIMEOUT must be a number of seconds above 0, or math.inf for none, not '{wrong}'", None)
    del os.environ["SYMM_TIMEOUT"]
    for wrong in (0, -3, math.nan, "x", "5", b"5", True, [1], 10**400, 10**5000):
        refused("Communicator: timeout must be a number of seconds above 0", wrong)


def refused(text, timeout):
    try:
        communicator(timeout=timeout)
    except errors.ArgumentError as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"taken: {timeout}")


settings()
if RANKS > 1:
    for part in (never_comes, told_while_it_waits, late_to_recover, two_communicators):
        part()
    if RANKS == 2:
        every_call()
        garbage()
    if ON_GPU:
        graphs()
else:
    COMM = communicator()
    COMM.recover()
    works(COMM)
WORLD.close()
