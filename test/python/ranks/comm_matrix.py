"""Every call × operation × element type × kind of size against torch in float64.

Without LONG=1 it is one case in five, with the kinds of sizes in turn.
"""

import itertools
import os

import symm
import torch
from comm_values import FLOATS, INTEGERS, check, expected, values
from symm.comm import Communicator

WORLD = symm.init(heap_size=64 << 20)
ME, RANKS = WORLD.get_rank(), WORLD.get_num_ranks()
ON_GPU = WORLD.device.type != "cpu"
torch.set_default_device(WORLD.device)
COMM = Communicator(WORLD, blocks=2, staging=4 << 20)
# Elements of a message, how far the tensor is from an aligned one, and whether it is on the heap.
KINDS = [(0, 0, False), (1, 0, False), (77, 0, False), (1000, 1, False), (4097, 3, False)]
KINDS += [(2048, 0, True), (333, 1, True)]
KINDS += [(100_003, 0, False), (70_001, 5, True)] if os.environ.get("LONG") == "1" else []
HEAP = [WORLD.zeros(8 * RANKS * 100_100, dtype=torch.uint8) for _ in range(2)]
NUMBERS = itertools.count()


def place(which, count, dtype, offset, on_heap):
    """A tensor of this many elements, between others that nobody may write."""
    if on_heap:
        memory = HEAP[which][: (count + offset + 1) * dtype.itemsize].view(dtype)
    else:
        memory = torch.empty(count + offset + 1, dtype=dtype)
    memory.view(torch.uint8).fill_(0x5A)
    return memory[offset : offset + count], memory


def untouched(memory, count, offset):
    around = memory[:offset].view(torch.uint8).tolist() + memory[offset + count :].view(torch.uint8).tolist()
    return all(byte == 0x5A for byte in around)


def one(call, op, dtype, kind):
    count, offset, on_heap = kind
    number, what = next(NUMBERS), (call, op, dtype, kind)
    parts = RANKS if call in ("reduce_scatter", "all_to_all", "scatter") else 1
    joined = RANKS if call in ("all_gather", "all_to_all", "gather") else 1
    given = [values(rank, number, count * parts, dtype).to(WORLD.device) for rank in range(RANKS)]
    bits = [each.view(torch.uint8) for each in given]
    root, mine = number % RANKS, slice(ME * count * dtype.itemsize, (ME + 1) * count * dtype.itemsize)
    # Each rank's tensor begins elsewhere.
    offset += ME if offset else 0
    inp, around = place(0, count * parts, dtype, offset, on_heap)
    inp.copy_(given[ME])
    out, memory = (inp, around) if call == "broadcast" else place(1, count * joined, dtype, offset, on_heap)
    options = {"root": root} if call in ("broadcast", "reduce", "gather", "scatter") else {}
    options |= {"op": op} if op else {}
    options |= {} if call == "broadcast" else {"out": out}
    if call == "scatter" and ME != root:
        COMM.scatter(None, **options)
    else:
        getattr(COMM, call)(inp, **options)
    assert untouched(memory, out.numel(), offset), what
    if call in ("reduce", "gather") and ME != root:
        return
    if op:
        exact = expected(given, op)
        check(out, exact[ME * count : (ME + 1) * count] if call == "reduce_scatter" else exact, what)
        return
    wanted = {
        "all_gather": lambda: torch.cat(bits), "gather": lambda: torch.cat(bits), "broadcast": lambda: bits[root],
        "all_to_all": lambda: torch.cat([each[mine] for each in bits]), "scatter": lambda: bits[root][mine],
    }[call]()  # fmt: skip
    assert torch.equal(out.view(torch.uint8), wanted), what


def ragged(dtype, kind):
    """`all_to_all_v`: up to as many elements from each rank, none for some of the others."""
    (count, offset, on_heap), number = kind, next(NUMBERS)
    what, ranks = ("all_to_all_v", dtype, kind), range(RANKS)
    counts = [[count * ((rank + other + number) % 3) // (2 * RANKS) for other in ranks] for rank in ranks]
    given = [values(rank, number, sum(counts[rank]), dtype).to(WORLD.device) for rank in ranks]
    offset += ME if offset else 0
    inp, _ = place(0, sum(counts[ME]), dtype, offset, on_heap)
    inp.copy_(given[ME])
    out, memory = place(1, sum(counts[rank][ME] for rank in ranks), dtype, offset, on_heap)
    came = COMM.all_to_all_v(inp, torch.tensor(counts[ME]), out)
    assert came.tolist() == [counts[rank][ME] for rank in ranks], what
    assert untouched(memory, out.numel(), offset), what
    wanted = torch.cat([given[rank].split(counts[rank])[ME] for rank in ranks])
    assert torch.equal(out.view(torch.uint8), wanted.view(torch.uint8)), what


CASES = [
    (call, op, dtype)
    for call in ("all_reduce", "reduce_scatter", "reduce")
    for op in ("sum", "avg", "min", "max", "prod")
    for dtype in FLOATS + (INTEGERS if op != "avg" else [])
]
CASES += [
    (call, None, dtype)
    for call in ("all_gather", "all_to_all", "broadcast", "gather", "scatter")
    for dtype in FLOATS + INTEGERS
]
if os.environ.get("LONG") == "1" or ON_GPU:
    for case, kind in itertools.product(CASES, KINDS):
        one(*case, kind)
    for dtype, kind in itertools.product(FLOATS + INTEGERS, KINDS):
        ragged(dtype, kind)
else:
    for index, case in enumerate(CASES[::5]):
        one(*case, KINDS[index % len(KINDS)])
    for index, dtype in enumerate(FLOATS + INTEGERS):
        ragged(dtype, KINDS[index % len(KINDS)])
COMM.check()
COMM.close()
WORLD.close()
