"""Timelines of kernels, interpreted or on a GPU: what they have, where the arrows go, and what ends them."""

import json
import os
import warnings
import xml.etree.ElementTree
from pathlib import Path

import symm
import symm.triton as st
import torch
import triton
import triton.language as tl
from leave import leave

world = symm.init(heap_size=16 << 20, timeout=60)
me, ranks = world.get_rank(), world.get_num_ranks()
folder = Path(os.environ["FOLDER"])


@triton.jit
def ring(world, data, flag, N: tl.constexpr):
    ctx = st.DeviceContext(world)
    at, after = tl.program_id(0) * N + tl.arange(0, N), (ctx.rank() + 1) % ctx.num_ranks()
    ctx.put_signal(data + at, data + 2 * N + at, flag + tl.program_id(0), 1, after, op="add")
    ctx.wait(flag + tl.program_id(0), 1)
    ctx.signal_all(flag + 2, 1, op="add")
    ctx.wait(flag + 2, tl.program_id(0) + 1)
    tl.store(data + at, ctx.load(data + 2 * N + at, after))


def check(events):
    slices = [each for each in events if each["ph"] == "X"]
    kernels = [(each["pid"], each["tid"], each["name"]) for each in slices if each["cat"] == "kernel"]
    assert sorted(kernels) == [(rank, program, "ring") for rank in range(ranks) for program in (0, 1)], kernels
    for rank in range(ranks):
        named = sorted(each["name"] for each in slices if each["pid"] == rank and each["cat"] != "kernel")
        after = (rank + 1) % ranks
        signals = [f"signal → {each}" for each in range(ranks)]
        assert named == sorted(2 * [f"load → {after}", f"put_signal → {after}", *signals, "wait", "wait"]), named
    puts = [each for each in slices if each["cat"] == "put_signal"]
    assert all(each["args"]["bytes"] == 4 * 8 and each["args"]["line"].endswith("traces.py:25") for each in puts), puts
    assert {each["args"]["flag"].split(" of ")[0] for each in puts} == {"element 0", "element 1"}, puts
    # Slices lie in their program's; arrows begin in the signal's, and lead to the end of the wait.
    inside = {(each["pid"], each["tid"]): each for each in slices if each["cat"] == "kernel"}
    for each in slices:
        around = inside[each["pid"], each["tid"]]
        assert around["ts"] <= each["ts"] <= each["ts"] + each["dur"] <= around["ts"] + around["dur"] + 1e-3, each
    starts, ends = ({each["id"]: each for each in events if each["ph"] == phase} for phase in "sf")
    assert len(starts) == len(ends) == 4 * ranks and starts.keys() == ends.keys(), (starts, ends)
    for number, end in ends.items():
        start = starts[number]
        assert start["ts"] <= end["ts"], (start, end)
        [wait] = [
            each for each in slices
            if (each["pid"], each["tid"], each["cat"]) == (end["pid"], end["tid"], "wait")
            and abs(each["ts"] + each["dur"] - end["ts"]) < 2e-3
        ]  # fmt: skip
        if "element 2" not in wait["args"]["flag"]:
            assert (start["pid"], start["tid"]) == ((end["pid"] - 1) % ranks, end["tid"]), (start, end)


data, flag = world.arange(32, dtype=torch.int32), world.zeros(3, dtype=torch.int32)
with symm.trace(folder / "out.json"):
    ring[(2,)](world, data, flag, N=8)
trace = json.loads((folder / "out.json").read_text())
check(trace["traceEvents"])
picture = symm.trace.plot()
tree = xml.etree.ElementTree.fromstring(picture.svg)
assert picture._repr_svg_() == picture.svg == symm.trace.plot(folder / "out.json").svg
tags = [each.tag.split("}")[1] for each in tree.iter()]
assert tags.count("title") >= 2 * ranks and tags.count("line") > 4, tags
told = [each.text for each in tree.iter() if each.tag.endswith("text")]
assert f"kernels: ring ({2 * ranks} programs)" in told and told.count("ring") >= 1, told
assert repr(picture) == "Picture('out.json'): a notebook shows it, and save('out.svg') writes it", picture
picture.save(folder / f"out{me}.svg")
try:
    picture.save(folder / "out.png")
    raise AssertionError("a picture is no PNG")
except symm.ArgumentError as error:
    assert "must end in .svg, not .png" in str(error), error
world.barrier()
assert not [*folder.glob("out.json.*")]


@triton.jit
def several(world, flags, slots, N: tl.constexpr):
    ctx = st.DeviceContext(world)
    at = tl.arange(0, N)
    ctx.signal(flags + ctx.rank(), ctx.rank() + 1, at)
    ctx.wait_all(flags + at, at + 1)
    if ctx.test(flags, 1):
        ctx.put_packet(slots + 2 * ctx.rank() + tl.arange(0, 1), tl.arange(0, 1).to(tl.int64), 3, 0)
    if ctx.rank() == 0:
        ctx.wait_packet(slots + 2 * at, 3, [N], tl.int64)
    ctx.barrier()


flags, slots = world.zeros(ranks, dtype=torch.int64), world.zeros(2 * ranks, dtype=torch.int64)
world.barrier()
pair = world.team(range(ranks))
with symm.trace(str(folder / "several.json"), world=world):
    several[(1,)](pair, flags, slots, N=ranks)
events = json.loads((folder / "several.json").read_text())["traceEvents"]
names = [each["name"] for each in events if each["ph"] == "X"]
everyone = ", ".join(map(str, range(ranks)))
# On a GPU of several packets the first one counts.
on_gpu = world.device.type != "cpu"
wanted = [ranks, ranks, ranks]
assert [names.count(each) for each in ("barrier", "wait_all", f"signal → {everyone}")] == wanted, names
# What is wanted, and what was there; compiled, the least that is wanted of any.
each_of = 1 if on_gpu or ranks == 1 else [*range(1, ranks + 1)]
for each in events:
    if each["name"] == "wait_all":
        assert each["args"]["waits for"] == f"ge {each_of}", each
        assert on_gpu or each["args"]["found"] == [*range(1, ranks + 1)], each
arrows = [each for each in events if each["ph"] == "f"]
assert len(arrows) == ranks * ranks + (1 if on_gpu else ranks), (arrows, names)
world.barrier()

# Bad input: all of it before any rank waits.
nobody = symm.init(heap_size=16 << 20)
wrong = [
    (lambda: symm.trace(3), "path must be the name of a file, not 3"),
    (lambda: symm.trace("a.json"), "there are several Worlds: say which, world=…"),
    (lambda: symm.trace("a.json", world=3), "world must be an open World, not 3"),
    (lambda: symm.trace("a.json", world=pair), "world must be an open World, not Team"),
    (lambda: symm.trace(folder / "none" / "a.json", world=world).__enter__(), "cannot write"),
    (lambda: symm.trace.plot(folder / "none"), "is not a timeline"),
    (lambda: symm.trace.plot(__file__), "is not a timeline"),
    (lambda: symm.trace.plot(3), "path must be the name of a file, not 3"),
    (lambda: picture.save(folder / "none" / "a.svg"), f"save: cannot write {folder / 'none' / 'a.svg'}: "),
    (lambda: picture.save(folder), f"save: cannot write {folder}: "),
    (lambda: picture.save(3), "save: path must be the name of a file, not 3"),
]
if ranks > 1:
    # Told on all ranks, which may trace again.
    named, where = folder / f"of{me}.json", folder / ("none" if me == 1 else ".") / "a.json"
    said = f"ranks name different files, and one file has all ranks:\n  rank 0: {folder}/of0.json at {__file__}:"
    wrong.append((lambda: symm.trace(named, world=world).__enter__(), said))
    cannot = "cannot write" if me == 1 else "rank 1 cannot write"
    wrong.append((lambda: symm.trace(where, world=world).__enter__(), cannot))
for call, said in wrong:
    try:
        call()
    except symm.ArgumentError as error:
        assert said in str(error), error
    else:
        raise AssertionError(said)
with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    symm.trace(folder / "unused.json", world=world)
[unused] = warned
assert unused.category is symm.SymmWarning and unused.filename == __file__, unused
assert str(unused.message).startswith("symm.trace without `with` does nothing: write `with symm.trace("), unused
with symm.trace(folder / "empty.json", world=world):
    try:
        symm.trace(folder / "inner.json", world=world).__enter__()
    except symm.ArgumentError as error:
        assert "a trace is being made already" in str(error)
    else:
        raise AssertionError("a trace in a trace")
    try:
        world.close()
    except symm.ArgumentError as error:
        assert "symm.trace records this World: close it after the `with` block" in str(error)
    else:
        raise AssertionError("no data would be there")
nobody.close()
xml.etree.ElementTree.fromstring(symm.trace.plot().svg)
try:
    symm.trace("a.json", world=nobody)
except symm.ClosedError as error:
    assert str(error).startswith("symm.trace: this World is closed: trace before World.close, or in another"), error
world.barrier()


@triton.jit
def never(world, flag):
    st.wait(world, flag + 1, 77, timeout=0.2)


try:
    with symm.trace(folder / "failed.json"):
        never[(1,)](world, flag)
except Exception as error:
    # What a compiled one raises has no other cause.
    cause = error if on_gpu else error.__cause__
    assert isinstance(cause, (symm.WaitTimeoutError, symm.DeadlockError, symm.RankFailedError)), error
else:
    raise AssertionError("the wait has ended")
events = json.loads((folder / "failed.json").read_text())["traceEvents"]
waited = any(each["name"] == "wait" and each["args"]["waits for"] == "ge 77" for each in events)
# Another rank's end may have come before this one's wait had begun.
assert waited or isinstance(cause, symm.RankFailedError), events
if on_gpu:
    leave()
