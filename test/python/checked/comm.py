"""Checks calls of symm.comm, and says as JSON what was found, and which kernels ran: `comm.py [OPTIONS] [NAME…]`.

With `--less`, NAMEs are of LESS: each is a copy of symm.comm with one synchronisation less.
"""

import argparse
import functools
import json
import shutil
import sys
import tempfile
from pathlib import Path

import symm
import symm.check
import symm.triton as st
import torch
import triton
import triton.language as tl

COUNT = 40
# Larger than the packets of a message of two programs, and than a ring of theirs.
RING_COUNT = 2100
# The thresholds of symm.comm's plans: this says that all messages are small, and 0 that none is.
EVERY = 1 << 30


@triton.jit
def put(world, box, value):
    st.store(world, box + st.rank(world), value, (st.rank(world) + 1) % st.num_ranks(world))


@triton.jit
def take(box, out, COUNT: tl.constexpr):
    tl.store(out + tl.arange(0, COUNT), tl.load(box + tl.arange(0, COUNT)))


def collectives(world, tensor, kernels, domain=None):
    """Every collective twice, with other roots."""
    from symm.comm import Communicator

    comm = Communicator(world, blocks=2, staging=1 << 20, domain=domain)
    me, ranks = comm.get_rank(), comm.get_num_ranks()
    each = COUNT // ranks
    given = [torch.arange(each * ranks, dtype=torch.float32) + 100 * rank for rank in range(ranks)]
    total, everything = sum(given), torch.cat(given)
    parts = [one.view(ranks, each) for one in given]

    def filled():
        mine = tensor(world, each * ranks)
        mine.copy_(given[me])
        return mine

    def same(out, wanted):
        assert out is None or torch.equal(out.view(-1), wanted.reshape(-1)), f"{out} is not {wanted}"

    for root in (0, ranks - 1):
        mine, whole, part = filled(), tensor(world, each * ranks), tensor(world, each)
        same(comm.all_reduce(mine, out=whole), total)
        same(comm.reduce_scatter(mine, out=part), total[me * each :][:each])
        same(comm.all_gather(mine, out=tensor(world, each * ranks * ranks)), everything)
        same(comm.all_to_all(mine, out=whole), torch.cat([other[me] for other in parts]))
        same(comm.reduce(mine, root, out=whole), total)
        same(comm.gather(mine, root, out=tensor(world, each * ranks * ranks)), everything)
        same(comm.scatter(mine if me == root else None, root, out=part), parts[root][me])
        same(comm.broadcast(filled(), root), given[root])
        comm.barrier()
    hierarchy = [comm._hierarchy.inner, comm._hierarchy.outer] if comm._hierarchy else []
    for calls in (comm._calls, *hierarchy):
        kernels |= {key[0] if isinstance(key, tuple) else key for key in calls.launches}
    comm.close()


def ahead(world, kernels):
    """A root that only sends is ahead of the others; and a barrier, before and after which all write and read."""
    from symm.comm import Communicator

    comm = Communicator(world, blocks=1, staging=1 << 20)
    me, ranks = comm.get_rank(), comm.get_num_ranks()
    box, out = world.zeros(4, dtype=torch.int32), torch.zeros(4, dtype=torch.int32)
    for call in range(6):
        mine = torch.full((COUNT,), float(call if me == 0 else -1))
        assert comm.broadcast(mine, 0).tolist() == [float(call)] * COUNT
    for call in range(1, 3):
        put[(1,)](world, box, call)
        comm.barrier()
        take[(1,)](box, out, 4)
        assert out.tolist()[(me - 1) % ranks] == call
        comm.barrier()
    kernels |= {key[0] if isinstance(key, tuple) else key for key in comm._calls.launches}


def own(world, count):
    return torch.empty(count, dtype=torch.float32)


def on_heap(world, count):
    return world.zeros(count, dtype=torch.float32)


def plans(packets=0, one_shot=EVERY, direct=EVERY):
    """How the calls of a case are done: a block is 64 bytes, so that a message is several."""
    from symm.comm import _plan

    _plan.PACKET_BYTES, _plan.USUAL_PACKET_BYTES = {}, packets
    _plan.ONE_SHOT_BYTES, _plan.USUAL_ONE_SHOT_BYTES = {}, one_shot
    _plan.BLOCKS, _plan.DIRECT_BYTES, _plan.DIRECT_BLOCK = ((EVERY, 64, 2),), direct, 64
    _plan.PARTED_BROADCAST_BYTES = one_shot


def packets(world, kernels):
    plans(packets=EVERY)
    collectives(world, own, kernels)


def slots(world, kernels):
    plans()
    collectives(world, own, kernels)


def two_shot(world, kernels):
    plans(one_shot=0)
    collectives(world, own, kernels)


def direct(world, kernels):
    plans(direct=0)
    collectives(world, on_heap, kernels)


def direct_elsewhere(world, kernels):
    """Tensors that are not on the heap."""
    plans(direct=0)
    collectives(world, own, kernels)


def ahead_in_packets(world, kernels):
    plans(packets=EVERY)
    ahead(world, kernels)


def floats(world, kernels):
    """Sums of floats that show by themselves that they have come: a rank may be ahead of the others by a call."""
    sums_of_floats(world, kernels, (COUNT,) * 3)


def floats_in_turns(world, kernels):
    """Of more than a block for each program: of four buffers each call uses two."""
    sums_of_floats(world, kernels, (128, COUNT, 100), buffers=4)


def sums_of_floats(world, kernels, counts, buffers=2):
    from symm.comm import Communicator
    from symm.comm._plan import Choice, usable

    ranks = world.get_num_ranks()
    comm = Communicator(world, blocks=2, staging=ranks * (10 + buffers) << 15)
    assert comm._calls.geometry.float_buffers == buffers
    me = comm.get_rank()
    comm._calls.choose = lambda *what, **_: usable(Choice("floats", 2, 128, 1), *what)
    for call, count in enumerate(counts):
        given = [torch.arange(count * ranks, dtype=torch.float32) + 100 * rank + call for rank in range(ranks)]
        total, mine = sum(given), given[me][:count].clone()
        assert torch.equal(comm.all_reduce(mine), total[:count])
        assert torch.equal(comm.reduce_scatter(given[me], out=torch.empty(count)), total[me * count :][:count])
    kernels |= {key[0] if isinstance(key, tuple) else key for key in comm._calls.launches}
    comm.close()


def ahead_in_slots(world, kernels):
    plans()
    ahead(world, kernels)


def rows(world, kernels):
    """Numbers of rows that the device alone knows."""
    from symm.comm import Communicator

    comm = Communicator(world, blocks=2, staging=1 << 20)
    me, ranks = comm.get_rank(), comm.get_num_ranks()
    for call in range(3):
        sent = [[(rank + other + call) % 3 for other in range(ranks)] for rank in range(ranks)]
        mine = torch.full((sum(sent[me]), 3), float(me))
        out = torch.zeros(sum(other[me] for other in sent), 3)
        came = comm.all_to_all_v(mine, torch.tensor(sent[me]), out)
        assert came.tolist() == [other[me] for other in sent]
        assert out[:, 0].tolist() == [float(rank) for rank in range(ranks) for _ in range(sent[rank][me])]
    kernels |= {key[0] for key in comm._calls.launches}


def some_ranks(world, kernels):
    """Two communicators of some ranks each."""
    from symm.comm import Communicator

    plans()
    half = Communicator(world, blocks=2, staging=1 << 20).split(world.get_rank() % 2, key=-world.get_rank())
    members = [rank for rank in range(world.get_num_ranks()) if rank % 2 == world.get_rank() % 2]
    for _ in range(3):
        mine = torch.full((COUNT,), float(world.get_rank()))
        assert half.all_reduce(mine).tolist() == [float(sum(members))] * COUNT
    kernels |= {key[0] for key in half._calls.launches}


def domains(world, kernels):
    """All calls between domains: each rank is one, or two are, and then everything goes in a hierarchy."""
    from symm.comm import _hierarchy

    plans()
    _hierarchy.FAR = _hierarchy.FAR._replace(gap=1.0, bandwidth=1.0)
    collectives(world, own, kernels, domain=2 if world.get_num_ranks() > 2 else 1)


def messages(world, kernels, network=False):
    """Messages around the ring of ranks, in pairs, and to all: as packets, and through rings that wrap around."""
    from symm.comm import NetworkTransport, NodeTransport, all_to_all, recv, send, sendrecv

    me, ranks = world.get_rank(), world.get_num_ranks()
    # The smallest rings, of four chunks of 512 bytes each.
    kind = NetworkTransport if network else NodeTransport
    link = kind(world, blocks=2, staging=133 * 1024 * ranks, landing=128)
    after, before = (me + 1) % ranks, (me - 1) % ranks

    def of(rank, count):
        return torch.arange(count, dtype=torch.float32) + 1000 * rank

    for count in [COUNT] * 9 + [RING_COUNT]:
        if me == 0:
            send(link, of(me, count), 1)
        if me == 1:
            assert torch.equal(recv(link, torch.zeros(count), 0), of(0, count))
    for count in (COUNT, RING_COUNT):
        assert torch.equal(sendrecv(link, of(me, count), after, torch.zeros(count), before), of(before, count))
    every = [of(rank, 32 * ranks).view(ranks, 32)[me] for rank in range(ranks)]
    out = torch.zeros(32)
    for _ in range(2):
        assert torch.equal(all_to_all(link, of(me, 32 * ranks)), torch.cat(every))
        landed = all_to_all(link, of(me, 32 * ranks), zero_copy=True)
        for part, wanted in zip(landed.view(ranks, 32), every, strict=True):
            take[(1,)](part, out, 32)
            assert torch.equal(out, wanted)
    kernels |= {key[0].__name__ for key in link.made}
    link.close()


def network(world, kernels):
    """The same messages between nodes, which leave from staging."""
    messages(world, kernels, network=True)


CASES = {each.__name__: each for each in (packets, slots, two_shot, direct, direct_elsewhere, ahead_in_packets,
                                          ahead_in_slots, rows, some_ranks, messages, domains, network,
                                          floats, floats_in_turns)}  # fmt: skip

TELL_ALL = "        ctx.signal(flags + me * FLAG_WORDS, value, rank_of(members, 1 - me, SUBSET))\n"
AWAIT_ALL = "        ctx.wait(flags + (me + i) % WORLD * FLAG_WORDS, value)\n"
TAIL = "signal(lane.ctx, lane.signals + (TAIL * lane.BLOCKS + block) * LINE, cursor + CHUNK, lane.peer)\n"
AWAIT_TAIL = "wait(lane.ctx, lane.flags + (TAIL * lane.BLOCKS + block) * LINE, cursor + CHUNK)\n"
HEAD = "signal(lane.ctx, lane.signals + (HEAD * lane.BLOCKS + c.block_id) * LINE, end, lane.peer)\n"
AWAIT_HEAD = "wait(lane.ctx, lane.flags + (HEAD * lane.BLOCKS + c.block_id) * LINE, freed)\n"


def relaxed(op):
    """An op of a seam as a method of the context, without order."""
    return op.replace("lane.ctx, ", "").replace(")\n", ', sem="relaxed")\n')


# A synchronisation: the file, its text, what is there instead, the case that shows it, on how many ranks, and what is
# found, maybe among more.
LESS = {
    "relaxed signal": ("kernels_parts.py", TELL_ALL, TELL_ALL.replace("))", '), sem="relaxed")'), "ahead_in_slots", 2,
                       "missing-release"),
    "no fence": ("kernels_parts.py", '        ctx.fence("release")\n', "", "ahead_in_slots", 3, "missing-release"),
    "relaxed wait": ("kernels_parts.py", AWAIT_ALL, AWAIT_ALL.replace("value)", 'value, sem="relaxed")'),
                     "ahead_in_slots", 2, "missing-acquire"),
    "exchange: no wait for what comes": (
        "kernels_exchange.py", "            await_senders(ctx, flags, step + i, me, root, WORLD, SHAPE)\n", "",
        "ahead_in_slots", 2, "wrong-event"),
    "exchange: no wait for room": (
        "kernels_exchange.py", "                await_all(ctx, flags, step + i - 1, me, WORLD)\n",
        "                pass\n", "ahead_in_slots", 2, "write-after-read"),
    "exchange: no signal": (
        "kernels_exchange.py", "            tell_all(ctx, members, flags, step + i + 1, me, WORLD, SUBSET)\n", "",
        "ahead_in_slots", 2, "deadlock"),
    "barrier: no wait": (
        "kernels_exchange.py", "    await_all(ctx, flags, step + 1, me, WORLD)\n    tl.store(steps, step + 1)\n",
        "    tl.store(steps, step + 1)\n", "ahead_in_slots", 2, "race"),
    "two shot: no wait for sums": (
        "kernels_two_shot.py", "            await_all(ctx, back_flags, back + i - 1, me, WORLD)\n", "", "two_shot", 2,
        "race"),
    "packets: no wait for room": (
        "kernels_packets.py", "        await_taken(ctx, flags, step - 1, me, WORLD)\n", "        pass\n",
        "ahead_in_packets", 2, "packet-overwritten"),
    "packets: nothing says that they were taken": (
        "kernels_packets.py", "        tell_taken(ctx, members, flags, step, at, me, WORLD, SUBSET)\n",
        "        pass\n", "ahead_in_packets", 2, "deadlock"),
    "floats: one buffer": ("kernels_floats.py", "step % BUFFERS", "0", "floats", 2, "packet-overwritten"),
    "floats in turns: fewer buffers than two calls use": (
        "_calls.py", '"BUFFERS": self.geometry.float_buffers,', '"BUFFERS": self.geometry.float_buffers - 1,',
        "floats_in_turns", 2, "packet-overwritten"),
    "floats: not cleared": (
        "kernels_floats.py",
        "        ctx.clear_floats(lines + (me + i) % WORLD * APART, BLOCK, TYPE, mask, words=True)\n",
        "        pass\n", "floats", 2, "packet-overwritten"),
    "mail: no wait for room": (
        "kernels_channel.py",
        "                SEND_OPS.wait(ctx, to_flags + (MAIL * BLOCKS + block) * LINE, step - HALF)\n",
        "                pass\n", "messages", 2, "packet-overwritten"),
    "ring: no wait for room": (
        "kernels_ring.py",
        "        OPS.wait(lane.ctx, lane.flags + (HEAD * lane.BLOCKS + c.block_id) * LINE, freed)\n", "        pass\n",
        "messages", 2, "failed-check"),
    "ring: TAIL signalled relaxed": (
        "kernels_ring.py", f"    OPS.{TAIL}", f"    lane.ctx.{relaxed(TAIL)}", "messages", 2, "missing-release"),
    "ring: TAIL awaited relaxed": (
        "kernels_ring.py", f"    OPS.{AWAIT_TAIL}", f"    lane.ctx.{relaxed(AWAIT_TAIL)}", "messages", 2,
        "missing-acquire"),
    "ring: HEAD signalled relaxed": (
        "kernels_ring.py", f"        OPS.{HEAD}", f"        lane.ctx.{relaxed(HEAD)}", "messages", 2,
        "missing-release"),
    "ring: HEAD awaited relaxed": (
        "kernels_ring.py", f"        OPS.{AWAIT_HEAD}", f"        lane.ctx.{relaxed(AWAIT_HEAD)}", "messages", 2,
        "missing-acquire"),
}  # fmt: skip


def change(file, old, new, folder):
    """Has symm.comm come from a copy with another text."""
    copied = Path(folder) / "comm"
    shutil.copytree(SYMM / "comm", copied, ignore=shutil.ignore_patterns("__pycache__"))
    text = (copied / file).read_text()
    if text.count(old) != 1:
        sys.exit(f"{file} has this {text.count(old)} times:\n{old}")
    (copied / file).write_text(text.replace(old, new))
    for name in [name for name in sys.modules if name.startswith("symm.comm")]:
        del sys.modules[name]
    symm.__path__[:] = [folder, str(SYMM)]


SYMM = Path(symm.__file__).parent


def checked(case, ranks, schedules):
    kernels = set()
    program = functools.partial(CASES[case], kernels=kernels)
    report = symm.check.run(program, ranks, schedules=schedules, heap_size=1 << 24)
    return {**json.loads(report.json()), "text": str(report), "kernels": sorted(kernels)}


def checked_with_less(name, schedules):
    *texts, case, ranks, wanted = LESS[name]
    with tempfile.TemporaryDirectory() as folder:
        change(*texts, folder)
        return {**checked(case, ranks, schedules), "wanted": wanted}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--schedules", type=int, default=1)
    parser.add_argument("--less", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.less:
        found = {name: checked_with_less(name, options.schedules) for name in options.names or LESS}
    else:
        found = {name: checked(name, options.ranks, options.schedules) for name in options.names or CASES}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
