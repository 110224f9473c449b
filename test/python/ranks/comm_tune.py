"""The tuner's ranks: what is right is measured, what is wrong is found, and all ranks have one table."""

import json
import os
import tempfile
from pathlib import Path

import symm
import torch
from symm.comm import Communicator, _compile, _measure, tune
from symm.comm._plan import Choice
from symm.errors import MismatchError, SymmError

WORLD = symm.init(heap_size=64 << 20)
ME, RANKS = WORLD.get_rank(), WORLD.get_num_ranks()
OPTIONS = tune.parse(["--ranks", "2", "--blocks", "2", "--staging", str(4 << 20), "--sizes", "96", "--checks", "2",
                      "--rounds", "1"])  # fmt: skip
TUNER = _measure.Tuner(OPTIONS, WORLD)
CHOICES = {"packets": Choice("packets", 1, 512, 1), "floats": Choice("floats", 1, 512, 1),
           "exchange": Choice("exchange", 1, 1024, 2, 2),
           "two shot": Choice("two shot", 2, 1024, 2), "direct": Choice("direct", 2, 1024, 2),
           "direct all reduce": Choice("direct all reduce", 1, 1024, 2)}  # fmt: skip


def case(call, nbytes=96):
    return _measure.Case(WORLD, TUNER.comm, call, nbytes, torch.float32, TUNER.heap)


def measured():
    for call in tune.CALLS:
        for name, choice in CHOICES.items():
            if name == "floats" and call not in ("all_reduce", "reduce_scatter"):
                continue
            if name.endswith(("two shot", "all reduce")) != (call == "all_reduce") and name not in (
                "packets",
                "floats",
                "exchange",
            ):
                continue
            for on_heap in {False, name.startswith("direct")}:
                assert TUNER.measure(case(call), choice, on_heap) > 0, (call, choice)


def compiled_in_advance():
    """What --jobs compiles is what the ranks launch, no more and no less."""
    options = tune.parse(["--ranks", str(RANKS), "--blocks", "2", "--staging", str(4 << 20), "--sizes", "96",
                          "--checks", "1", "--rounds", "1", "--calls", "reduce_scatter", "all_to_all", "broadcast",
                          "--only", "packets", "floats", "direct"])  # fmt: skip
    tuner = _measure.Tuner(options, WORLD)
    progress = _measure.Progress(1, False)
    assert all(tuner.rows(plan, progress) for plan in _measure.plans(options))
    wanted, found = set(tuner.calls.launches), set(_compile.launches(options, None))
    assert wanted == found, (wanted - found, found - wanted)


class Stale(_measure.Case):
    """A collective that leaves its result as it was, every other time."""

    turn = 0

    def act(self, on_heap):
        before = self.tensors[on_heap][1].clone()
        super().act(on_heap)
        self.turn += 1
        if self.turn % 2 == 0 and ME == RANKS - 1:
            self.tensors[on_heap][1].copy_(before)


def stale_results_are_found():
    for call in ("all_reduce", "all_to_all"):
        stale = Stale(WORLD, TUNER.comm, call, 96, torch.float32, TUNER.heap)
        try:
            TUNER.measure(stale, CHOICES["packets"], False)
        except SymmError as error:
            assert "is wrong with Choice(algorithm='packets'" in str(error), error
        else:
            raise AssertionError("nothing was found")


def choices():
    slow, fast, direct = Choice("exchange", 1, 1024, 2), Choice("exchange", 8, 1024, 2), Choice("direct", 4, 1024, 2)
    # Within 2.5 %, the one with fewer programs.
    assert _measure.chosen({slow: 10.2, fast: 10.0}, {}) == slow
    assert _measure.chosen({slow: 10.4, fast: 10.0}, {}) == fast
    # A direct one pays between tensors on the heap, and costs little elsewhere.
    assert _measure.chosen({fast: 10.0, direct: 10.9}, {direct: 9.0}) == direct
    assert _measure.chosen({fast: 10.0, direct: 12.5}, {direct: 9.0}) == fast
    assert _measure.chosen({fast: 10.0, direct: 10.9}, {direct: 9.8}) == fast


def the_fastest_without_floats_has_a_row_too():
    times = {"floats": 1.0, "exchange": 2.0, "packets": 3.0}
    TUNER.measure = lambda case, choice, on_heap: times.get(choice.algorithm, 4.0)
    progress, plan = _measure.Progress(9, False), ("all_reduce", torch.float32, 4096)
    assert [row["algorithm"] for row in TUNER.rows(plan, progress)] == ["floats", "exchange"]
    # Packets are what rows of floats become anyway.
    times["packets"] = 1.5
    assert [row["algorithm"] for row in TUNER.rows(plan, progress)] == ["floats"]
    del TUNER.measure


def tables_that_differ():
    row = {"ranks": RANKS, "call": "all_reduce", "element_bytes": 4, "bytes": 400, "algorithm": "exchange",
           "programs": 1, "block_bytes": 1024, "warps": 2, "tiles": 1, "microseconds": 1.0}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.json"
        os.environ["SYMM_COMM_TABLE"] = str(path)
        path.write_text(tune.written({"device": "interpreter", "rows": [row]}))
        comm = Communicator(WORLD, blocks=2, staging=4 << 20)
        assert torch.equal(
            comm.all_reduce(torch.full((100,), ME + 1.0)), torch.full((100,), sum(range(1, RANKS + 1)) * 1.0)
        )
        assert {launch.kernel.__name__ for launch in comm._calls.launches.values()} == {"exchange"}
        row["programs"] += ME == RANKS - 1
        path.write_text(json.dumps({"device": "interpreter", "rows": [row]}) + " ")
        path.write_text(tune.written({"device": "interpreter", "rows": [row]}))
        try:
            Communicator(WORLD, blocks=2, staging=4 << 20)
        except MismatchError as error:
            assert f"ranks {RANKS - 1} have another table" in str(error), error
        else:
            raise AssertionError("nobody has said that the tables differ")
        del os.environ["SYMM_COMM_TABLE"]


measured()
compiled_in_advance()
stale_results_are_found()
choices()
if RANKS > 1:
    the_fastest_without_floats_has_a_row_too()
    tables_that_differ()
WORLD.close()
