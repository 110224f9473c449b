"""Every collective of ranks in domains: in its hierarchy, where there is one, and between domains with nothing but
puts, signals and waits. The argument is the number of ranks of a domain; LONG=1 takes all types with all sizes.
"""

import itertools
import os
import sys
import time
import zlib

import symm
import torch
from comm_values import FLOATS, INTEGERS, check, expected, values
from symm import _interpreter
from symm.comm import Communicator, _hierarchy

WORLD = symm.init(heap_size=96 << 20)
ME, RANKS, DOMAIN = WORLD.get_rank(), WORLD.get_num_ranks(), int(sys.argv[1])
STAGED = 1 < DOMAIN < RANKS
LONG = os.environ.get("LONG") == "1"
# Between domains all is slow: a message, so that one rank of a domain has all of a broadcast; or each of its bytes.
SLOW = {"messages": _hierarchy.FAR._replace(gap=1.0), "bytes": _hierarchy.FAR._replace(gap=1.0, bandwidth=1.0)}
COUNTS = (0, 1, 3, 1001)
REDUCING = ("all_reduce", "reduce_scatter", "reduce")
MOVING = ("all_gather", "all_to_all", "broadcast", "gather", "scatter")
TYPES = [*FLOATS, *INTEGERS]
OPS = ("sum", "min", "max", "prod", "avg")
FAR_OPS = set()
NUMBERS = itertools.count()


def watch_ops():
    """Keeps which ops name a rank of another domain."""
    call = _interpreter.Interpreter.call

    def watched(self, name, operands, attributes=None, result=None):
        if "rank" in operands:
            given = self.present(operands)
            # Counts are stored one by one.
            is_count = name == "remote_store" and given["value"].handle.data.size == 1
            ranks = given["rank"].handle.data.ravel()
            if any(int(rank) // DOMAIN != ME // DOMAIN for rank in ranks) and not is_count:
                FAR_OPS.add(name)
        return call(self, name, operands, attributes, result)

    _interpreter.Interpreter.call = watched


def bits(tensor):
    return tensor.reshape(-1).view(torch.uint8)


def summed(tensors, op):
    exact, dtype = expected(tensors, op), tensors[0].dtype
    return (exact.to(torch.float32) if dtype in FLOATS[1:] else exact).to(dtype)


def in_domains(given, op):
    """The sum of each domain, rounded, and then the sum of these."""
    return summed([summed(given[first : first + DOMAIN], op) for first in range(0, RANKS, DOMAIN)], op)


def called(comm, call, given, out, op, root):
    """A call, into `out`."""
    if call == "scatter":
        return comm.scatter(given if ME == root else None, root, out=out)
    if call == "broadcast":
        return comm.broadcast(out.copy_(given), root)
    if call in ("reduce", "gather"):
        more = {"op": op} if call == "reduce" else {}
        return getattr(comm, call)(given, root, out=out if ME == root else None, **more)
    return getattr(comm, call)(given, *([op] if call in REDUCING else []), out=out)


def wanted(call, given, count, root):
    """What rank ME gets; of sums, what they are of."""
    has_parts = call in ("all_to_all", "scatter", "reduce_scatter")
    parted = [each.view(RANKS, count) for each in given] if has_parts else None
    if call in REDUCING:
        return [each[ME] for each in parted] if parted else given
    if call == "all_to_all":
        return torch.stack([each[ME] for each in parted])
    if call == "scatter":
        return parted[root][ME]
    return given[root] if call == "broadcast" else torch.stack(given)


def one(comm, call, dtype, op, count, root):
    parts = RANKS if call in ("all_to_all", "scatter", "reduce_scatter") else 1
    joined = RANKS if call in ("all_gather", "all_to_all", "gather") else 1
    number, what = next(NUMBERS), (call, dtype, op, count, root)
    given = [values(rank, number, parts * count, dtype) for rank in range(RANKS)]
    got, again = torch.empty(joined * count, dtype=dtype), torch.empty(joined * count, dtype=dtype)
    result = called(comm, call, given[ME].clone(), got, op, root)
    takes = call not in ("reduce", "gather") or ME == root
    assert (result is not None) == takes, what
    called(comm, call, given[ME].clone(), again, op, root)
    if not takes:
        return
    right = wanted(call, given, count, root)
    if call not in REDUCING:
        assert torch.equal(bits(got), bits(right)), what
    else:
        # What is no multiple of a domain is summed at once by an all-reduce.
        staged = (count // DOMAIN * DOMAIN if call == "all_reduce" else count) if STAGED else 0
        assert torch.equal(bits(got[:staged]), bits(in_domains(right, op)[:staged])), what
        check(got[staged:], expected(right, op)[staged:], what)
    assert torch.equal(bits(got), bits(again)), what


def cases():
    """Each call with all sizes; each type and operation occurs, and every root."""
    types, roots = itertools.cycle(TYPES), itertools.cycle(range(RANKS))
    for call in (*REDUCING, *MOVING):
        ops = itertools.cycle(OPS)
        for count in COUNTS:
            for dtype in TYPES if LONG else [next(types) for _ in range(2)]:
                op = next(ops)
                op = "sum" if op == "avg" and not dtype.is_floating_point else op
                yield call, dtype, op, count, next(roots)


def in_place(comm):
    """Where the results are what was given, or are on the heap."""
    whole = torch.arange(RANKS * 5.0)
    mine = whole.clone().view(RANKS, 5)
    mine[:ME], mine[ME + 1 :] = -1, -1
    assert torch.equal(comm.all_gather(mine[ME], out=mine), whole.view(RANKS, 5))
    parts = whole + 100 * ME
    comm.all_to_all(parts, out=parts)
    assert torch.equal(parts.view(RANKS, 5), torch.stack([(whole + 100 * r).view(RANKS, 5)[ME] for r in range(RANKS)]))
    parts = (whole + 100 * ME).view(RANKS, 5)
    comm.reduce_scatter(parts, out=parts[ME])
    assert torch.equal(parts[ME], RANKS * whole.view(RANKS, 5)[ME] + 100 * sum(range(RANKS)))
    heap = WORLD.zeros(77, dtype=torch.float32).fill_(ME + 1)
    for root in range(RANKS):
        total = comm.reduce(heap.fill_(ME + 1), root)
        assert (total is None) == (ME != root) and (ME == root or heap.tolist() == [ME + 1] * 77)
        assert comm.broadcast(heap, root).tolist() == [sum(range(RANKS + 1))] * 77


def ragged(comm):
    """Rows for each rank that only the device counts: none for some, and more than there is room for."""
    for seed in range(3):
        counts = [[(3 * me + 5 * to + seed) % 4 for to in range(RANKS)] for me in range(RANKS)]
        given = [torch.arange(sum(each) * 3).view(-1, 3) + 1000 * rank for rank, each in enumerate(counts)]
        out = torch.full((4 * RANKS, 3), -1)
        came = comm.all_to_all_v(given[ME], torch.tensor(counts[ME]), out)
        firsts = [sum(each[:ME]) for each in counts]
        rows = torch.cat([given[r][firsts[r] : firsts[r] + counts[r][ME]] for r in range(RANKS)])
        assert came.tolist() == [each[ME] for each in counts]
        assert torch.equal(out[: len(rows)], rows) and out[len(rows) :].eq(-1).all()


def barriers(comm):
    """Whoever comes late, all see what all did before."""
    seen = WORLD.zeros(1, dtype=torch.int64)
    for number in range(1, RANKS + 1):
        if ME == number - 1:
            time.sleep(0.2)
        seen.fill_(number)
        comm.barrier()
        for rank in range(RANKS):
            assert WORLD.as_remote(seen, rank).item() >= number, (number, rank)


def same_all_reduce(comm):
    """Small floats and sizes that do not divide: all ranks have the same bits."""
    for count in (1, 1001):
        got = comm.all_reduce(values(ME, count, count, torch.bfloat16))
        mine = zlib.crc32(bytes(bits(got).tolist()))
        assert all(WORLD.broadcast(mine, rank) == mine for rank in range(RANKS)), count


watch_ops()
for kind, level in SLOW.items():
    _hierarchy.FAR = level
    comm = Communicator(WORLD, blocks=2, staging=4 << 20, domain=DOMAIN)
    assert (comm._hierarchy is not None) == STAGED
    if STAGED:
        assert all(comm._hierarchy.takes(call, 4) for call in (*REDUCING, *MOVING, "barrier"))
        assert (comm._hierarchy.shard_of(10, "reduce", 4)[0] > 0) == (kind == "bytes")
    for case in cases() if kind == "messages" else [each for each in cases() if each[0] in ("broadcast", "reduce")]:
        one(comm, *case)
    for part in (in_place, ragged, barriers, same_all_reduce):
        part(comm)
    comm.check()
    assert FAR_OPS == {"put", "signal"}, FAR_OPS
    comm.close()
    if not STAGED:
        break
WORLD.close()
