"""Timelines of compiled kernels, on GPUs alone: what was compiled before, loops and masks, graphs, a full buffer, an
exception, two Worlds, waits for several flags, collectives; and other switches. All checks run, and what is wrong is
printed. SPEED=1 also tells what a trace costs.
"""

import json
import os
import sys
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import symm
import symm.triton as st
import torch
import triton
import triton.language as tl
from symm.comm import Communicator

world = symm.init(heap_size=16 << 20, timeout=60)
other = symm.init(heap_size=8 << 20, timeout=60)
me, ranks = world.get_rank(), world.get_num_ranks()
after, before = (me + 1) % ranks, (me - 1) % ranks
folder = Path(os.environ["FOLDER"])
ROUNDS, failed = 5, []


@triton.jit
def rounds(world, data, flag, first, ROUNDS: tl.constexpr, N: tl.constexpr):
    if tl.program_id(0) == 1:
        # Programs take different ways.
        return
    ctx = st.DeviceContext(world)
    peer, at = (ctx.rank() + 1) % ctx.num_ranks(), tl.arange(0, N)
    for turn in range(ROUNDS):
        ctx.put(data + at, data + N + at, peer, mask=at < 3)
        ctx.signal(flag, first + turn + 1, peer, op="set")
        ctx.wait(flag, first + turn + 1, compare="ge")
        if ctx.rank() == 0:
            ctx.store(data, turn, peer)


data, flag = world.zeros(64, dtype=torch.int32), world.zeros(1, dtype=torch.int64)
theirs, their_flag = other.zeros(64, dtype=torch.int32), other.zeros(1, dtype=torch.int64)
turns = 0


def launch():
    global turns
    rounds[(2,)](world, data, flag, turns, ROUNDS=ROUNDS, N=16)
    turns += ROUNDS


def slices(name):
    made = json.loads((folder / name).read_text())
    world.barrier()
    return [each for each in made["traceEvents"] if each["ph"] == "X"], made


def counts(found, rank):
    return Counter(each["name"] for each in found if each["pid"] == rank)


def one_run(times=1):
    """What each rank does, by name."""
    usual = {"rounds": 2 * times, f"put → {after}": ROUNDS, f"signal → {after}": ROUNDS, "wait": ROUNDS}
    own = {f"store → {after}": ROUNDS} if me == 0 else {}
    return Counter({name: count * (1 if name == "rounds" else times) for name, count in {**usual, **own}.items()})


def compiled_before():
    """It runs without a trace first; afterwards it records nothing."""
    launch()
    world.barrier()
    with symm.trace(folder / "before.json", world=world):
        launch()
    found, made = slices("before.json")
    assert counts(found, me) == one_run(), counts(found, me)
    print("clocks:", made["otherData"])
    assert set(made["otherData"]["dropped_events"].values()) == {0}
    for each in found:
        assert 0 <= each["ts"] and 0 <= each["dur"] < 10_000_000, each
    arrows = [each for each in made["traceEvents"] if each["ph"] == "f" and each["pid"] == me]
    assert len(arrows) == ROUNDS, arrows
    puts = [each["args"]["bytes"] for each in found if each["cat"] == "put"]
    assert set(puts) == {"at most 64"}, puts
    launch()
    world.barrier()


def again():
    with symm.trace(folder / "again.json", world=world):
        launch()
        launch()
    found, _ = slices("again.json")
    assert counts(found, me) == one_run(2), counts(found, me)
    # The two runs are one after the other, and each op is in its own.
    runs = sorted((each["ts"], each["dur"]) for each in found if each["pid"] == me and each["tid"] == 0
                  and each["cat"] == "kernel")  # fmt: skip
    assert len(runs) == 2 and runs[0][0] + runs[0][1] <= runs[1][0] + 0.1, runs


def a_graph():
    graph, at = torch.cuda.CUDAGraph(), torch.zeros(1, dtype=torch.int64, device=world.device)
    with symm.trace(folder / "graph.json", world=world):
        captured(at)
        with torch.cuda.graph(graph):
            captured(at)
        graph.replay()
    found, _ = slices("graph.json")
    wanted = Counter({"in_order": 2, f"signal → {after}": 2, "wait": 2})
    assert counts(found, me) == wanted, counts(found, me)
    graph.replay()
    world.barrier()
    with symm.trace(folder / "replayed.json", world=world):
        graph.replay()
    found, _ = slices("replayed.json")
    assert counts(found, me) == Counter({"in_order": 1, f"signal → {after}": 1, "wait": 1}), counts(found, me)


@triton.jit
def in_order(world, at, flag):
    ctx = st.DeviceContext(world)
    turn = tl.load(at) + 1
    tl.store(at, turn)
    ctx.signal(flag, turn, (ctx.rank() + 1) % ctx.num_ranks())
    ctx.wait(flag, turn)


graph_flag = world.zeros(1, dtype=torch.int64)


def captured(at):
    in_order[(1,)](world, at, graph_flag)


def a_full_buffer():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with symm.trace(folder / "full.json", world=world, max_events=4):
            launch()
    found, made = slices("full.json")
    dropped = sum(one_run().values()) - 4
    assert made["otherData"]["dropped_events"][f"rank {me}"] == dropped, made["otherData"]
    assert [str(dropped) in str(each.message) for each in told if each.category is symm.SymmWarning] == [True], told


def an_exception():
    try:
        with symm.trace(folder / "error.json", world=world):
            launch()
            raise KeyError("mine")
    except KeyError:
        pass
    world.barrier()
    found, _ = slices("error.json")
    assert counts(found, me) == one_run(), counts(found, me)


def another_world():
    with symm.trace(folder / "other.json", world=world):
        rounds[(2,)](other, theirs, their_flag, 0, ROUNDS=ROUNDS, N=16)
        torch.cuda.synchronize()
    found, _ = slices("other.json")
    assert not found, found


def a_team():
    team = world.team([rank for rank in range(ranks)][::-1])
    numbered = world.zeros(1, dtype=torch.int64)
    with symm.trace(folder / "team.json", world=world):
        rounds[(2,)](team, data, numbered, 0, ROUNDS=ROUNDS, N=16)
        world.synchronize()
    found, _ = slices("team.json")
    # The next one in the team is the one before in the World.
    assert counts(found, me)[f"signal → {before}"] == ROUNDS, counts(found, me)


@triton.jit
def told_by_all(world, flags, N: tl.constexpr):
    ctx, at = st.DeviceContext(world), tl.arange(0, N)
    ctx.signal_all(flags + 2 * ctx.rank(), 1)
    ctx.wait_any(flags + 2 * at, 1, mask=at < ctx.num_ranks())
    ctx.wait_all(flags + 2 * at, 1, mask=at < ctx.num_ranks())


def several_flags():
    flags = world.zeros(64, dtype=torch.int64)
    with symm.trace(folder / "several.json", world=world):
        told_by_all[(1,)](world, flags, N=16)
    found, made = slices("several.json")
    names = Counter(each["cat"] for each in found if each["pid"] == me)
    assert names == Counter({"kernel": 1, "signal": ranks, "wait_any": 1, "wait_all": 1}), names
    [wait] = [each for each in found if each["pid"] == me and each["cat"] == "wait_all"]
    assert wait["args"]["waits for"] == "ge 1" and "World.zeros" in wait["args"]["flag"], wait
    # An arrow from each signal, at the latest where it has waited for all.
    ends = [each for each in made["traceEvents"] if each["ph"] == "f" and each["pid"] == me]
    assert len(ends) >= ranks, ends


def a_collective():
    comm, numbers = Communicator(world, blocks=8), torch.full((1024,), me + 1.0, device=world.device)
    comm.all_reduce(numbers.clone())
    with symm.trace(folder / "collective.json", world=world):
        assert comm.all_reduce(numbers.clone())[0] == ranks * (ranks + 1) / 2
    comm.all_reduce(numbers)
    found, _ = slices("collective.json")
    mine = {each["cat"] for each in found if each["pid"] == me}
    assert "kernel" in mine and (ranks == 1 or mine & {"wait", "wait_packet"}), mine
    comm.close()


def switched():
    """Launched again with other switches the kernel is compiled again; then it is what it was."""
    kept = rounds.device_caches[world.device.index][0]
    before = len(kept)
    with st.options(bounds_checks=True):
        launch()
    world.synchronize()
    assert len(kept) == before + 1, list(kept)
    launch()
    assert len(kept) == before + 1, list(kept)


def speed():
    def took():
        times = []
        for _ in range(50):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            launch()
            torch.cuda.synchronize()
            times.append(time.perf_counter() - begin)
        return 1e6 * sorted(times)[len(times) // 2]

    off = took()
    world.barrier()
    with symm.trace(folder / "speed.json", world=world):
        on = took()
    world.barrier()
    print(f"rank {me}: a kernel of {ROUNDS} rounds takes {off:.1f} us, traced {on:.1f} us; after it {took():.1f} us")


cases = [compiled_before, again, a_graph, a_full_buffer, an_exception]
cases += [another_world, a_team, several_flags, a_collective]
cases += [switched]
for case in [*cases, *([speed] if os.environ.get("SPEED") else [])]:
    try:
        case()
    except Exception:
        failed.append(case.__name__)
        print(f"rank {me}: {case.__name__} is wrong:\n{traceback.format_exc()}", flush=True)
    # Even where one of them was wrong, the ranks begin the next one together.
    world.barrier()
print(f"rank {me}: wrong: {', '.join(failed) or 'nothing'}", flush=True)
world.barrier()
other.close()
world.close()
sys.exit(bool(failed))
