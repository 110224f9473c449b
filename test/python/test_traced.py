"""Timelines of compiled kernels: what they become, and what the host makes of what they have recorded."""

import re
import types
from unittest import mock

import pytest
import symm
import symm.gluon as sg
import symm.triton as st
import triton
import triton.language as tl
from compiling import compile_for, machine_text
from symm import _host_kernels, _switches, _symm, _timeouts, _trace_clock
from symm._trace import merged
from symm._trace_records import Found
from triton.experimental import gluon

SIGNATURE = {"world": "*i64", "data": "*i32", "flags": "*i64", "on": "i1"}
WORD = _symm.TRACE_RECORD


@triton.jit
def exchange(world, data, flags, on, N: tl.constexpr):
    ctx = st.DeviceContext(world)
    at = tl.arange(0, N)
    if tl.program_id(0) == 3:
        return
    for peer in range(ctx.num_ranks()):
        ctx.put_signal(data + at, data + N + at, flags, 1, peer, op="add")
    ctx.wait(flags, ctx.num_ranks(), compare="eq")
    if on:
        ctx.store(data + at, ctx.load(data + at, 0, mask=at < 3), 0, mask=at < 3)
    ctx.wait_all(flags + tl.arange(0, 4), 0)
    ctx.atomic_add(flags + tl.arange(0, 4), 5, tl.arange(0, 4))
    ctx.signal(flags + tl.arange(0, 4), 5, tl.arange(0, 4))
    ctx.barrier()


@gluon.jit
def gluon_exchange(world, data, flags, on, N: tl.constexpr):
    ctx = sg.DeviceContext(world)
    if on:
        ctx.put_signal(data, data + N, flags, 1, 0, op="add")
    ctx.wait(flags, 1, compare="ge")


LINE = exchange.fn.__code__.co_firstlineno
RECORDS = [
    (1, "kernel 0"), (7, "put_signal 64 add"), (8, "wait 0 eq"), (10, "load <64"), (10, "store <64"),
    (11, "wait_all 0 ge"), (12, "atomic 32 add"), (13, "signal 32 set"), (14, "barrier 0"),
]  # fmt: skip
PAIRS = [(False, False), (False, True), (True, False), (True, True)]
KERNELS = {"triton": exchange, "gluon": gluon_exchange}


@pytest.fixture
def tracing(monkeypatch):
    monkeypatch.setattr(_switches.Tracing, "is_on", True)


def lines(compiled):
    """What a kernel's records are of: each with its line from the kernel's first one on."""
    told = [line.split("\t") for line in compiled.metadata.symm_waits.splitlines()]
    assert {(kernel, file) for _, kernel, file, _, _ in told} == {("exchange", __file__)}
    return [(int(number) - LINE, what.removeprefix("trace ")) for *_, number, what in told]


@pytest.mark.in_turn
@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
@pytest.mark.parametrize("front_end", KERNELS)
def test_compiles(front_end, target):
    clock = "globaltimer" if target == "sm_90" else "s_memrealtime"
    place = rf"{_symm.TRACE_OFFSET}\b|{_symm.TRACE_OFFSET:#x}\b"
    kernel = KERNELS[front_end]
    off = compile_for(target, kernel, SIGNATURE, N=16)
    assert clock not in machine_text(off) and not hasattr(off.metadata, "symm_waits")
    assert not re.search(place, machine_text(off))
    with mock.patch.object(_switches.Tracing, "is_on", True):
        on = compile_for(target, kernel, SIGNATURE, N=16)
    assert machine_text(compile_for(target, kernel, SIGNATURE, N=16)) == machine_text(off)
    assert re.search(place, machine_text(on))
    # Begin and end of each record; what is inlined or unrolled has more.
    tags = [line.split("\t")[0] for line in on.metadata.symm_waits.splitlines()]
    assert machine_text(on).count(clock) >= 2 * len(tags) == 2 * (len(RECORDS) if front_end == "triton" else 3)
    for tag in map(int, tags):
        parts = [tag] if target == "sm_90" else [tag & 2**32 - 1, tag >> 32]
        assert all(re.search(rf"\b({part}|{part:#x})\b", machine_text(on)) for part in parts), tag
    if front_end == "triton":
        assert lines(on) == RECORDS


@pytest.mark.in_turn
@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_with_the_other_switches(target, tracing, monkeypatch):
    monkeypatch.setenv("SYMM_BOUNDS_CHECKS", "1")
    watched = {**SIGNATURE, "world": "*u64"}
    assert "trace wait 0 eq" in compile_for(target, exchange, watched, N=16).metadata.symm_waits


def test_kernels_of_different_switches_are_different():
    every = [_switches.Switches(strict, "", *more) for strict in (False, True) for more in PAIRS]
    assert len({each.key() for each in every}) == len(every)


@pytest.mark.in_turn
def test_symms_own_kernels_are_recorded_too(tracing):
    assert _switches.of(_host_kernels.team_barrier).trace and _switches.of(exchange).trace
    compiled = compile_for("sm_90", _host_kernels.team_barrier, {"team": "*i64", "words": "*i64"})
    assert "globaltimer" in machine_text(compiled)


@triton.jit
def waits(world, flags, unsigned, N: tl.constexpr):
    ctx, at = st.DeviceContext(world), tl.arange(0, N)
    ctx.wait_any(unsigned + at, 5, compare="gt", mask=at < 3)
    ctx.wait_all(flags + 16 * at, at.to(tl.int64), compare="eq", timeout=2.0)
    while tl.sum(ctx.wait_all(flags + at, 1)) < 99:
        ctx.signal(flags, 1, 0)
    # A loop of the kernel's own.
    while not ctx.test(flags, 1):
        pass


@pytest.mark.in_turn
@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
@pytest.mark.parametrize("table", ["*i64", "*u64"])
def test_waits_for_several_flags_compile(target, table, tracing):
    made = compile_for(target, waits, {"world": table, "flags": "*i64", "unsigned": "*u32"}, N=8)
    told = [line.split("\t")[-1] for line in made.metadata.symm_waits.splitlines()]
    assert [each.removeprefix("trace ") for each in told if each.startswith("trace ")] == [
        "kernel 0", "wait_any 0 unsigned gt", "wait_all 0 eq", "wait_all 0 ge", "signal 0 set",
    ]  # fmt: skip
    assert "globaltimer" in machine_text(made) or "s_memrealtime" in machine_text(made)


@pytest.mark.in_turn
@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_kernels_of_collectives(target, tracing):
    from test_comm_kernels import compiled, exchange, of_bytes, two_shot

    for kernel in (exchange, two_shot):
        made = compiled(target, kernel, "fp32", SHAPE="all", OP="sum", ACC=tl.float32, **of_bytes(4))
        told = {line.split("\t")[-1].split()[1] for line in made.metadata.symm_waits.splitlines()}
        assert {"kernel", "signal", "wait"} <= told, told


def test_what_is_compiled_already_is_compiled_once_more(monkeypatch):
    assert _switches.of_launch() == ""
    monkeypatch.setattr(_switches.Tracing, "is_on", True)
    assert _switches.of_launch() != ""


@pytest.mark.parametrize(("target", "on_amd"), [("sm_90", False), ("gfx942", True)])
def test_the_clock_compiles(target, on_amd):
    signature = {"address": "i64", "patience": "i64"}
    compiled = compile_for(target, _trace_clock.answer, signature, ROUNDS=64, ON_AMD=on_amd)
    assert ("s_memrealtime" if on_amd else "globaltimer") in machine_text(compiled)


def test_the_shortest_answer_counts(monkeypatch):
    class Device(dict):
        """Answers question n after 1000 - n, in the middle; its clock is a million ahead."""

        def __missing__(self, question):
            delay = 1000 - question
            self[question] = (now[0] + delay // 2 + 1_000_000) // 10
            now[0] += delay
            return self[question]

    now = [10**18]
    monkeypatch.setattr(_trace_clock.time, "monotonic_ns", lambda: now[0])
    device, ahead, error = _trace_clock.asked(Device(), 10)
    assert abs(ahead - 1_000_000) <= 11 and error == (1000 - _trace_clock.ROUNDS) // 2, (device, ahead, error)


def test_clocks_are_aligned_to_a_nanosecond():
    begin = 1_700_000_000_123_456_789
    time_of = _trace_clock.aligned((begin, 10**18, 5), (begin + 1000, 10**18 + 10, 5), 1)
    assert [time_of(begin + each) - begin + 10**18 for each in (0, 100, 1000)] == [0, 99, 990]
    # One look only, and ticks.
    same = begin // 10 * 10, 10**18, 5
    assert _trace_clock.aligned(same, same, 10)(begin // 10 + 7) == same[0] + 70 - 10**18


# What the host makes of records. Two ranks with heaps of 4096 bytes, as rank 0 sees them; at 100 ns its clock's zero.
BASES, TABLE = [10_000, 20_000], 10_100
WORLD = types.SimpleNamespace(bases=BASES, heap_size=4096)
TAGS = {
    1: ("ring", "a.py", 1, "trace kernel 0"),
    2: ("ring", "a.py", 2, "trace put_signal 64 add"),
    3: ("ring", "a.py", 3, "trace wait 0 unsigned ge"),
    4: ("ring", "a.py", 4, "trace load <128"),
    5: ("ring", "a.py", 5, "trace atomic 8 set"),
    6: ("ring", "a.py", 6, "trace barrier 0"),
    7: ("other", "b.py", 7, "trace signal 0 set"),
    8: ("ring", "a.py", 8, "trace put_packet 32 packet"),
    9: ("ring", "a.py", 9, "trace wait_packet 32 packet"),
    10: ("ring", "a.py", 10, "wait ge"),
    11: ("ring", "a.py", 11, "trace wait_all 0 ge"),
    12: ("ring", "a.py", 12, "trace wait_any 0 unsigned ge"),
    13: ("ring", "a.py", 13, "trace wait_all 0"),
}


def record(tag, begin, end, address=0, peers=0, value=0, table=TABLE, program=0):
    return [tag, begin, end, address, peers, value, table, program]


def found(*records, room=100, asked=None):
    head = [len(records) if asked is None else asked, room, 0, 0, 0, 0, 0, 0]
    words = [*head, *(word for each in records for word in each)]
    with mock.patch.dict(_timeouts.waits, TAGS, clear=True):
        return Found(words, lambda device: device - 100, WORLD)


def test_the_layout_is_what_the_made_up_records_have():
    names = ["tag", "begin", "end", "values", None, None, "table", "program"]
    assert all(WORD[name] == at for at, name in enumerate(names) if name)
    assert (WORD["asked"], WORD["room"], WORD["words"]) == (0, 1, len(names))


def test_events_are_those_of_the_interpreter():
    made = found(
        record(1, 100, 900, program=2 | 1 << 32),
        record(2, 200, 250, BASES[1] + 64, 0, 1, program=2 | 1 << 32),
        record(3, 300, 400, BASES[0] + 64, 0, -1, program=2 | 1 << 32),
        record(4, 500, 510, BASES[1], program=2 | 1 << 32),
        record(6, 600, 700, program=2 | 1 << 32),
        record(8, 800, 810, BASES[1] + 128, 0, 3, program=2 | 1 << 32),
        record(9, 820, 830, BASES[0] + 128, 0, 3, program=2 | 1 << 32),
    )
    assert made.programs == [["ring", [2, 1, 0], 0, 800]] and made.dropped == 0
    common = {"program": 0, "peers": [], "bytes": 0, "signals": [], "wait": None}
    assert made.events == [
        {**common, "name": "put_signal", "begin": 100, "end": 150, "at": "a.py:2", "peers": [1], "bytes": 64,
         "signals": [[1, 64, None]], "value": 1},
        {**common, "name": "wait", "begin": 200, "end": 300, "at": "a.py:3", "wait": [[[0, 64]], "ge", 2**64 - 1]},
        {**common, "name": "load", "begin": 400, "end": 410, "at": "a.py:4", "peers": [1], "bytes": "at most 128"},
        {**common, "name": "barrier", "begin": 500, "end": 600, "at": "a.py:6"},
        {**common, "name": "put_packet", "begin": 700, "end": 710, "at": "a.py:8", "peers": [1], "bytes": 32,
         "signals": [[1, 128, 3]], "value": 3},
        {**common, "name": "wait_packet", "begin": 720, "end": 730, "at": "a.py:9", "bytes": 32,
         "wait": [[[0, 128]], "eq", 3]},
    ]  # fmt: skip


def several(first, count, stride, tag=11, value=3):
    [event] = found(record(tag, 100, 110, first, count << 40 | max(count - 1, 0) * stride, value)).events
    return event


def test_waits_for_several_flags():
    event = several(BASES[0] + 64, 4, 16)
    assert (event["name"], event["signals"], event["peers"], event["bytes"]) == ("wait_all", [], [], 0)
    assert event["wait"] == [[[0, 64], [0, 80], [0, 96], [0, 112]], "ge", 3]
    assert several(BASES[0] + 8, 1, 0, 12, -1)["wait"] == [[[0, 8]], "ge", 2**64 - 1]
    # A mask that leaves out all; flags that do not lie evenly; and a loop that asks for something else.
    assert several(2**64 - 1, 0, 0)["wait"] == [[], "ge", 3]
    [event] = found(record(11, 100, 110, BASES[0], 3 << 40 | 9, 3)).events
    assert event["wait"] == [[[0, 0]], "ge", 3]
    assert several(BASES[0], 2, 8, 13)["wait"] is None


def test_a_block_of_ranks_has_the_numbers_of_its_team():
    [event] = found(record(5, 100, 110, BASES[0] + 8, 0b11, 4)).events
    assert event["peers"] == [0, 1] and event["signals"] == [[0, 8, 4], [1, 8, 4]]
    team = types.SimpleNamespace(world=WORLD, members=(1, 0), data_ptr=lambda: 77)
    with mock.patch("symm._trace_records._open.teams", [team]):
        for table, peer in ((77, 1), (TABLE, 0)):
            assert found(record(5, 100, 110, BASES[0] + 8, 1, 4, table=table)).events[0]["peers"] == [peer]


def test_an_op_is_in_the_last_run_of_its_program():
    made = found(
        record(1, 500, 600), record(1, 100, 200), record(1, 100, 900, program=1), record(6, 100, 120),
        record(6, 550, 560), record(6, 560, 570, program=1),
    )  # fmt: skip
    # One begins in the very tick in which its program does.
    runs = [made.programs[event["program"]] for event in made.events]
    assert runs == [["ring", [0, 0, 0], 0, 100], ["ring", [0, 0, 0], 400, 500], ["ring", [1, 0, 0], 0, 800]]


def test_kernels_of_which_only_ops_are_recorded():
    made = found(record(7, 100, 110, BASES[1]), record(7, 300, 310, BASES[1]), record(7, 200, 210, program=1))
    assert sorted(made.programs) == [["other", [0, 0, 0], 0, 210], ["other", [1, 0, 0], 100, 110]]
    # A mask has left out all: it goes nowhere.
    assert [len(event["signals"]) for event in made.events] == [1, 1, 0]


def test_what_has_not_ended_ends_with_the_last():
    made = found(record(1, 100, 0), record(3, 200, 0, BASES[0]), record(6, 300, 700, program=1), record(0, 0, 0))
    assert made.programs[0][2:] == [0, 600] and (made.events[0]["begin"], made.events[0]["end"]) == (100, 600)


def test_what_found_no_room_is_counted():
    made = found(record(6, 100, 110), record(6, 120, 130), room=2, asked=12)
    assert (made.dropped, len(made.events)) == (10, 2)
    assert (found().dropped, found().programs, found().events) == (0, [], [])


def test_other_tags_are_no_events():
    assert not found(record(10, 100, 110), record(99, 100, 110)).events


def test_a_file_of_two_ranks():
    sender = found(record(1, 100, 300), record(2, 150, 200, BASES[1] + 64, 0, 1))
    waiter = found(record(1, 100, 300), record(3, 120, 220, BASES[1] + 64, 0, 1))
    about = {"clock_error_ns": 1, "dropped_events": 0}
    parts = {}
    for rank, made in enumerate((sender, waiter)):
        events = [{**event, "flag": "element 8"} for event in made.events]
        parts[rank] = {"programs": made.programs, "events": events, "about": about}
    events = merged(parts)
    [start], [end] = ([each for each in events if each["ph"] == phase] for phase in "sf")
    assert ((start["pid"], start["ts"]), (end["pid"], end["ts"])) == ((0, 0.1), (1, 0.12))
    put = next(each for each in events if each.get("cat") == "put_signal")
    assert put["name"] == "put_signal → 1" and put["args"] == {
        "line": "a.py:2", "bytes": 64, "flag": "element 8", "value": 1
    }  # fmt: skip


def test_wrong_numbers_of_events():
    for wrong in (0, -1, True, 1.5, "many", 2**31):
        with pytest.raises(symm.ArgumentError, match="symm.trace: max_events must be a number of events from 1 to "):
            symm.trace("out.json", max_events=wrong)
