"""The recorder of compiled kernels with torch, on a heap of the CPU: words are written there as kernels would."""

import ctypes
import json
import threading

import pytest
import symm
from symm import _switches, _symm, _timeouts, _trace_clock, _trace_device

torch = pytest.importorskip("torch", reason="needs torch: ./x python runs it in an environment that has it")

WORD = _symm.TRACE_RECORD
world = symm.init(heap_size=8 << 20, device="cpu")
flags = world.zeros(8, dtype=torch.int64)


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch):
    monkeypatch.setattr(_trace_clock, "measured", lambda world: (1000, 900, 3))
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device=None: None)
    monkeypatch.setitem(_timeouts.waits, 7, ("ring", "a.py", 7, "trace kernel 0"))
    monkeypatch.setitem(_timeouts.waits, 8, ("ring", "a.py", 8, "trace signal 0 set"))
    monkeypatch.setattr(symm.trace, "_recorder", lambda self: _trace_device.Recorder(self.world, self.max_events))


def word(each):
    """Where a World's or a Team's kernels look for the buffer."""
    return ctypes.c_int64.from_address(each.bases[each.get_rank()] + _symm.TRACE_OFFSET).value


def kernel(each, begin=1000, end=2000):
    """Records a program that has signalled, as one would do on a GPU."""
    buffer = word(each)
    if buffer == 0:
        return
    head = (ctypes.c_int64 * 2).from_address(buffer)
    signal = [8, begin + 100, begin + 200, flags.data_ptr() + 8, 0, 5, each.data_ptr(), 0]
    for record in ([7, begin, end, 0, 0, 0, each.data_ptr(), 0], signal):
        index, head[WORD["asked"]] = head[WORD["asked"]], head[WORD["asked"]] + 1
        if index < head[WORD["room"]]:
            (ctypes.c_int64 * 8).from_address(buffer + 64 * (1 + index))[:] = record


def slices(path):
    made = json.loads(path.read_text())
    return [(each["name"], each["ts"], each["dur"]) for each in made["traceEvents"] if each["ph"] == "X"], made


def test_a_trace_of_a_world_and_its_teams(tmp_path):
    path = tmp_path / "out.json"
    before = world.team([0])
    with symm.trace(path):
        assert _switches.Tracing.is_on
        after = world.team([0])
        assert word(before) == word(after) == word(world) != 0
        kernel(world)
        kernel(after, 3000, 4000)
    assert not _switches.Tracing.is_on
    assert word(before) == word(after) == word(world) == 0
    found, made = slices(path)
    assert found == [("ring", 0, 1), ("ring", 2, 1), ("signal → 0", 0.1, 0.1), ("signal → 0", 2.1, 0.1)]
    assert made["otherData"] == {"clock_error_ns": {"rank 0": 3}, "dropped_events": {"rank 0": 0}}
    signal = next(each["args"] for each in made["traceEvents"] if each.get("cat") == "signal")
    assert signal["flag"].startswith("element 1 of World.zeros") and signal["value"] == 5
    # What was captured then is replayed.
    kernel(world)
    assert slices(path)[0] == found
    with symm.trace(path):
        kernel(world)
    assert slices(path)[0] == found[0::2]


def test_what_finds_no_room_is_said(tmp_path):
    with pytest.warns(symm.SymmWarning, match="3 events of rank 0 did not fit .* max_events=3") as warned:
        with symm.trace(tmp_path / "out.json", max_events=3):
            for _ in range(3):
                kernel(world)
    assert warned[0].filename == __file__
    found, made = slices(tmp_path / "out.json")
    assert len(found) == 3 and made["otherData"]["dropped_events"] == {"rank 0": 3}


def test_an_error_leaves_what_was_recorded(tmp_path):
    with pytest.raises(KeyError), symm.trace(tmp_path / "out.json"):
        kernel(world)
        raise KeyError
    assert len(slices(tmp_path / "out.json")[0]) == 2 and word(world) == 0


def test_an_error_of_the_device_at_the_end(tmp_path, monkeypatch):
    def fail():
        raise symm.WaitTimeoutError("a wait")

    with pytest.raises(symm.WaitTimeoutError, match="a wait"), symm.trace(tmp_path / "out.json"):
        kernel(world, end=0)
        monkeypatch.setattr(world, "_synchronize", fail)
    monkeypatch.undo()
    assert slices(tmp_path / "out.json")[0] == [("ring", 0, 0.2), ("signal → 0", 0.1, 0.1)]
    assert not symm.trace._is_open


def test_kernels_that_do_not_end(tmp_path, monkeypatch):
    ended = threading.Event()
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device=None: ended.wait(60))
    monkeypatch.setattr(torch.cuda, "Stream", lambda device: None)
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: threading.Lock())
    monkeypatch.setattr(_trace_device, "SECONDS_TO_END", 0.2)
    count = len(_trace_device.lost)
    with pytest.raises(KeyError), symm.trace(tmp_path / "out.json"):
        kernel(world)
        raise KeyError
    # They still have their buffer.
    [buffer] = _trace_device.lost[count:]
    assert word(world) == buffer.data_ptr()
    ended.set()


def test_a_trace_that_cannot_begin(tmp_path, monkeypatch):
    def fail(world):
        raise symm.DeviceError("no clock")

    monkeypatch.setattr(_trace_clock, "measured", fail)
    with pytest.raises(symm.DeviceError, match="no clock"), symm.trace(tmp_path / "out.json"):
        pass
    assert not symm.trace._is_open and not _switches.Tracing.is_on
