"""Sums whose floats show by themselves that they have come, against those by packets, bit for bit: new data in each
call, poisoned outputs, types and sizes that change in the same lines, -0.0, infinities and NaNs, tails, `recover`.
What clears a line is sent as another NaN, so that of NaNs only that they are some is the same.
"""

import os
import warnings

import symm
import torch
from symm.comm import Communicator, _plan
from symm.comm._plan import Choice

# Of infinities and NaNs, which the interpreter computes with as a GPU does.
warnings.filterwarnings("ignore", "invalid value", RuntimeWarning)

WORLD = symm.init(heap_size=64 << 20)
ME, RANKS = WORLD.get_rank(), WORLD.get_num_ranks()
COMM = Communicator(WORLD, blocks=4, staging=8 << 20)
INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32}
USED, TURNS = [], []
# A GPU's blocks have a line for each thread of two warps: ptxas 12 crashes if one warp has more of float8.
SCALE = 1 if WORLD.device.type == "cpu" else 4
torch.set_default_device(WORLD.device)


def by(name, block, ahead=1):
    """Has all sums be made by an algorithm that can."""

    def choose(call, size, count, itemsize, geometry, reduces, are_floats=False):
        choice = Choice(name, 1, block * SCALE, block * SCALE // 256, ahead)
        found = _plan.usable(choice, call, size, count, itemsize, geometry, reduces)
        found = found if are_floats or name != "floats" else None
        USED.append(name if found else None)
        TURNS.append(-(-count * itemsize // (found.programs * found.block_bytes)) if found else 1)
        return found or _plan.default(call, size, count, itemsize, geometry, reduces)

    COMM._calls.choose = choose
    COMM._calls.made.clear()


def data(count, dtype, turn, special=True):
    torch.manual_seed(1000 * turn + ME)
    found = torch.randn(count)
    if special and count > 8:
        # On one rank or another: results are those of the others, or NaN.
        found[(turn + ME) % count] = float("inf")
        found[(3 * turn + 5 * ME) % count] = float("nan")
        found[4:8] = -0.0
        found[8] = 0.0 if ME else -0.0
    found = found.to(dtype)
    if special and count > 8 and ME == turn % RANKS:
        bits(found)[2:4] = 0xFF if dtype.itemsize == 1 else -1
    return found


def bits(tensor):
    return tensor.view(INTEGERS[tensor.element_size()])


def sums(call, given, out, op):
    # A poisoned output.
    bits(out).fill_(0x25)
    getattr(COMM, call)(given, op, out=out)
    COMM.check()
    return bits(out).clone()


turn = 0
# In the interpreter every two of type, count and call together: of each type and count two calls, or one where more
# than two ranks take turns.
WHOLE = WORLD.device.type != "cpu" or os.environ.get("LONG")
COUNTS = (1, 3, 9, 64, 250)
CALLS = (("all_reduce", "sum"), ("all_reduce", "avg"), ("reduce_scatter", "sum"), ("all_reduce", "max"),
         ("reduce_scatter", "prod"))  # fmt: skip
for number, dtype in enumerate((torch.float32, torch.bfloat16, torch.float16, torch.float8_e5m2, torch.float8_e4m3fn)):
    for which, count in enumerate(each if each < 9 else SCALE * each for each in COUNTS):
        some = [CALLS[(number + which + shift) % 5] for shift in ((0, 2) if RANKS < 3 else (0,))]
        for call, op in CALLS if WHOLE else some:
            turn += 1
            given = data(count * RANKS if call == "reduce_scatter" else count, dtype, turn)
            # Unaligned, too.
            room = torch.empty(given.numel() + 1, dtype=dtype)
            there = room[1:] if turn % 3 == 0 else room[:-1]
            there.copy_(given)
            out = torch.empty(count, dtype=dtype)
            found = []
            for name in ("packets", "floats"):
                by(name, (256, 512)[turn % 2])
                found.append(sums(call, there, out, op))
            packets, floats = found
            nans = out.float().isnan()
            assert ((packets == floats) | (nans & packets.view(dtype).float().isnan())).all(), (dtype, count, call, op)
            if call == "all_reduce":
                every = COMM.all_gather(floats)
                assert (every.view(RANKS, -1) == floats).all(), "all ranks have the same bits"
assert RANKS == 1 or USED.count("floats") > 20, USED

# Between two ranks more than a block for each program, sent ahead or not, in calls that use other numbers of lines.
if RANKS == 2:
    TURNS.clear()
    for nbytes, dtype, ahead in ((2600, torch.bfloat16, 1), (3000, torch.float32, 2), (4096, torch.float8_e5m2, 4),
                                 (100, torch.float32, 1), (1800, torch.float16, 2)):  # fmt: skip
        for call in ("all_reduce", "reduce_scatter"):
            turn += 1
            count = SCALE * nbytes // dtype.itemsize
            given = data(count * RANKS if call == "reduce_scatter" else count, dtype, turn, special=False)
            by("packets", 512)
            wanted = sums(call, given, torch.empty(count, dtype=dtype), "sum")
            by("floats", 256, ahead)
            # Aligned and, in place, not; or the other way round.
            room = torch.empty(given.numel() + 1, dtype=dtype)
            there, other = (room[:-1], room[1:])[:: 1 if turn % 2 else -1]
            there.copy_(given)
            assert torch.equal(sums(call, there, torch.empty(count, dtype=dtype), "sum"), wanted), (call, dtype)
            other.copy_(given)
            out = other if call == "all_reduce" else other[ME * count :][:count]
            getattr(COMM, call)(other, out=out)
            COMM.check()
            assert torch.equal(bits(out), wanted), (call, dtype, "in place")
    assert set(TURNS) == {1, 2, 3, 4}, TURNS

# Nothing but what clears a line, many times; -0.0 stays what it is.
by("floats", 512)
for _ in range(5):
    ones, zeros = torch.full((100,), -1, dtype=torch.int32).view(torch.float32), torch.full((100,), -0.0)
    COMM.all_reduce(ones)
    COMM.all_reduce(zeros)
    COMM.check()
    assert ones.isnan().all() and bits(zeros).eq(-(2**31)).all()

# What is infinite stays so, and what is large.
for name in ("packets", "floats"):
    by(name, 512)
    for dtype, most in ((torch.float32, 1e38), (torch.bfloat16, 1e38), (torch.float16, 6e4), (torch.float8_e5m2, 4e4)):
        x = torch.tensor([float("inf"), -float("inf"), most, 0.0]).to(dtype)
        wanted, out = x.clone(), COMM.all_reduce(x.clone(), "max")
        COMM.check()
        assert torch.equal(bits(out), bits(wanted)), (name, dtype, out)

# Sums beyond the largest float8, by each algorithm: as torch converts them.
for name in ("packets", "floats", "exchange", "two shot", "direct all reduce"):
    by(name, 512)
    for dtype, most in ((torch.float8_e5m2, 57344.0), (torch.float8_e4m3fn, 448.0)):
        given = [most, -most, most / 2, -most / 2, most / 8, 0.0, most * 0.875, 5 * most / 8]
        given = given + [float("inf"), -float("inf")] if dtype == torch.float8_e5m2 else given
        x = WORLD.zeros(16, dtype=torch.uint8).view(dtype)
        x[: len(given)].copy_(torch.tensor(given).to(dtype))
        wanted = (x.double() * RANKS).to(dtype)
        COMM.all_reduce(x)
        COMM.check()
        assert torch.equal(bits(x), bits(wanted)), (name, dtype, x, wanted)

# Integers and wide floats go another way.
for given, op in ((torch.arange(64, dtype=torch.int32), "sum"), (torch.arange(64.0, dtype=torch.float64), "max")):
    wanted = given * RANKS if op == "sum" else given.clone()
    COMM.all_reduce(given, op)
    COMM.check()
    assert (given == wanted).all()

# What was half sent before is no call's.
COMM.recover()
by("floats", 512)
x = torch.full((100,), float(ME + 1))
COMM.all_reduce(x)
COMM.check()
assert (x == RANKS * (RANKS + 1) / 2).all()

# A subset has lines of its own.
part = COMM.split(ME % 2)
part._calls.choose = COMM._calls.choose
x = torch.full((30,), float(ME))
part.all_reduce(x)
part.check()
assert (x == sum(rank for rank in range(RANKS) if rank % 2 == ME % 2)).all()
WORLD.barrier()
print(f"OK on {RANKS} ranks")
WORLD.close()
