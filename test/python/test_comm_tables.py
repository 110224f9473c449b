"""Tables of tuned choices, and the choices themselves, without ranks."""

import json
import re
import xml.dom.minidom
from pathlib import Path

import pytest

from symm import triton as st
from symm.comm import _hierarchy, _plan, _table
from symm.comm._candidates import candidates
from symm.comm._geometry import USUAL, Geometry, geometry_for
from symm.comm._launch import Launch, launcher
from symm.comm._plan import Choice
from symm.comm._plot import rates
from symm.errors import ArgumentError, StagingError

CALLS = ("all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "scatter", "reduce", "gather")
SUMS = ("all_reduce", "reduce_scatter", "reduce")
ROW = {"ranks": 2, "call": "all_reduce", "element_bytes": 2, "bytes": 4096, "algorithm": "packets", "programs": 4,
       "block_bytes": 1024, "warps": 4, "tiles": 1}  # fmt: skip


def table(*rows):
    return _table.TunedTable([{**ROW, **row} for row in rows])


def fits(choice, count, itemsize, geometry, call):
    """Whether a choice asks for nothing that a kernel or the communicator's memory does not have."""
    if choice.algorithm in ("packets", "floats"):
        return choice.programs <= geometry.programs and choice.programs * choice.block_bytes >= count * itemsize
    return (
        1 <= choice.programs <= geometry.programs
        and choice.block_bytes * choice.tiles <= geometry.slot_bytes
        and 1 <= choice.warps <= 32
        and (call not in SUMS or choice.block_bytes <= _plan.MOST_SUMMED * itemsize)
    )


@pytest.mark.parametrize("geometry", [Geometry(2, 128, 216 << 20), Geometry(4, 32, 104 << 20), Geometry(3, 2, 1 << 20)])
@pytest.mark.parametrize("call", CALLS)
def test_choices_fit(call, geometry):
    shipped = _table.shipped("NVIDIA H200")
    for itemsize in (1, 2, 4, 8):
        for power in range(0, 34, 3):
            count = max(1, (1 << power) // itemsize) + 1
            what = call, geometry.size, count, itemsize, geometry, call in SUMS
            for choice in (_plan.default(*what), _plan.choose(shipped, *what), *candidates(*what)):
                assert fits(choice, count, itemsize, geometry, call), (choice, count)
            # Ranks that are far are put to, signalled and waited for, whatever the table says.
            choice = _plan.choose(shipped, *what, far=True)
            assert fits(choice, count, itemsize, geometry, call) and choice.algorithm in ("exchange", "two shot")


def test_hierarchies_pay_for_large_messages_and_many_domains():
    for size, domain in ((4, 2), (8, 4), (16, 8), (72, 8), (1000, 8)):
        for call in ("all_reduce", "all_gather", "reduce_scatter", "gather", "scatter"):
            paid = [_hierarchy.pays(call, size, domain, 1 << power) for power in range(3, 31)]
            # From some size on.
            assert paid == sorted(paid) and paid[-1], (call, size, domain)
    assert not _hierarchy.pays("all_reduce", 4, 2, 64 << 10) and _hierarchy.pays("all_reduce", 4, 2, 1 << 20)
    calls = (*SUMS, "all_gather", "all_to_all", "broadcast", "gather", "scatter", "barrier")
    assert all(_hierarchy.pays(call, 72, 8, 8) for call in calls)
    # All bytes have to cross either way, and some go within the domain first.
    assert not _hierarchy.pays("all_to_all", 16, 8, 64 << 20)


def test_messages_of_one_rank_are_cut_into_shards_where_they_are_large():
    costs = _hierarchy.Costs(72, 8)
    for call in ("broadcast", "reduce"):
        whole, sharded = ([each(1 << power, costs.between(call)) for power in (10, 24)]
                          for each in (costs.whole, costs.sharded))  # fmt: skip
        assert whole[0] < sharded[0] and whole[1] > sharded[1], call


def test_the_model_of_hierarchies_has_the_figures_of_the_page():
    page = (Path(__file__).parents[2] / "docs/scale.md").read_text(encoding="utf-8")
    near, far = _hierarchy.NEAR, _hierarchy.FAR
    near_row = f"{near.latency * 1e6:g} µs; a packet 1.251 µs | {near.gap * 1e6:g} µs | {near.bandwidth / 1e9:g} GB/s |"
    far_row = f"| assumed | {far.latency * 1e6:g} µs | {far.gap * 1e6:g} µs | {far.bandwidth / 1e9:g} GB/s |"
    assert near_row in page and far_row in page


def test_shipped_table_is_read():
    shipped = _table.shipped("NVIDIA H200")
    calls = {call for _, call, _ in shipped.rows}
    assert calls == {"all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast"}
    assert shipped.near(2, "all_reduce", 2, 1024)[0].algorithm == "packets"
    # Of elements that have not been tuned, as of those that have.
    assert shipped.near(2, "all_reduce", 8, 1024) == shipped.near(2, "all_reduce", 2, 1024)
    assert not shipped.near(2, "all_reduce", 0, 1024)
    # Of the same chip, with the same links.
    assert _table.shipped("NVIDIA H100 80GB HBM3").rows == shipped.rows
    assert not _table.shipped("NVIDIA H100 PCIe").rows


def test_nearest_row_is_found():
    tuned = table({"bytes": 1 << 12, "programs": 1}, {"bytes": 1 << 20, "programs": 2})
    found = {
        size: tuned.near(2, "all_reduce", 2, size) for size in (1 << 9, 1 << 10, 1 << 14, 1 << 16, 1 << 18, 1 << 30)
    }
    programs = [[choice.programs for choice in choices] for choices in found.values()]
    # Too far from any row there is none, but after the last.
    assert programs == [[], [1], [1], [], [2], [2]]
    assert not tuned.near(4, "all_reduce", 2, 1 << 12)
    assert not tuned.near(2, "all_reduce", 2, 0)


def test_rows_that_do_not_fit_make_room_for_the_next():
    """A table of a large heap on a smaller one, and for elements that are no floats."""
    row = {"bytes": 1 << 16, "block_bytes": 2048, "programs": 8}
    tuned = table({**row, "algorithm": "floats"}, {**row, "algorithm": "exchange"},
                  {**row, "algorithm": "two shot", "bytes": 1 << 17})  # fmt: skip
    large, small = Geometry(2, 8, 16 << 20), Geometry(2, 8, 7 << 20)

    def algorithm(nbytes, geometry=large, **are):
        return _plan.choose(tuned, "all_reduce", 2, nbytes // 2, 2, geometry, True, **are).algorithm

    assert (large.float_buffers, small.float_buffers) == (8, 0)
    assert algorithm(1 << 16, are_floats=True) == "floats"
    assert algorithm(1 << 16) == algorithm(1 << 16, small, are_floats=True) == "exchange"
    assert algorithm(1 << 17, are_floats=True) == algorithm(1 << 17) == "two shot"
    # Larger blocks, before none.
    choice = _plan.usable(Choice("floats", 1, 2048, 4), "all_reduce", 2, 1 << 16, 2, large, True)
    assert choice == Choice("floats", 8, 4096, 4) and not small.float_buffers
    # A line for each thread, at least.
    assert _plan.usable(Choice("floats", 1, 1024, 32), "all_reduce", 2, 512, 2, large, True).warps == 2


def test_floats_take_nothing_from_the_slots():
    for blocks in range(1, 133):
        found = geometry_for(2, 8 << 30, 132, blocks)
        usual = next(each for most, each in reversed(USUAL.items()) if blocks <= most or most > 64)
        few = Geometry(2, blocks, 2 * usual)
        assert found.slot_bytes == few.slot_bytes and found.float_buffers >= few.float_buffers, blocks


def test_a_table_may_say_that_floats_show_that_they_have_come():
    geometry, tuned = Geometry(2, 8, 16 << 20), table({"algorithm": "floats", "block_bytes": 2048})
    what = 2, 2048, 2, geometry, True
    found = {call: _plan.choose(tuned, call, *what, are_floats=True) for call in SUMS[:2]}
    assert found["all_reduce"] == Choice("floats", 2, 2048, 4)
    # Never the model itself.
    assert found["reduce_scatter"] == _plan.default("reduce_scatter", *what) and found["reduce_scatter"][0] == "packets"
    # What is no float, or has 8 bytes.
    assert _plan.choose(tuned, "all_reduce", *what) == Choice("packets", 2, 2048, 4)
    wide = _plan.choose(tuned, "all_reduce", 2, 512, 8, geometry, True, are_floats=True)
    assert wide == Choice("packets", 2, 2048, 4)
    # A communicator without lines for floats.
    little = Geometry(2, 8, 7 << 20)
    assert not little.float_buffers
    assert _plan.choose(tuned, "all_reduce", 2, 2048, 2, little, True, are_floats=True) == Choice("packets", 2, 2048, 4)
    assert "floats" not in {choice.algorithm for choice in candidates("all_reduce", 2, 2048, 2, little, True)}
    # More blocks than programs: half of the buffers one after the other, some of them ahead.
    several = Choice("floats", 8, 2048, 4, 2)
    assert geometry.float_buffers == 8 and _plan.usable(several, "all_reduce", *what)[1:] == (2, 2048, 4, 1)
    assert _plan.usable(several, "all_reduce", 2, 1 << 15, 2, geometry, True) == several
    assert _plan.usable(several, "all_reduce", 2, 3 << 12, 2, geometry, True)[1:] == (8, 2048, 4, 2)
    # More lines than the communicator has.
    large = "all_reduce", 2, 1 << 20, 2, geometry, True
    assert _plan.choose(tuned, *large, are_floats=True) == _plan.default(*large)
    assert {choice.algorithm for choice in candidates("all_reduce", *what)} >= {"packets", "floats"}
    assert "floats" not in {choice.algorithm for choice in candidates("reduce", *what)}


def test_a_miss_takes_the_model():
    geometry = Geometry(2, 8, 16 << 20)
    what = "all_reduce", 2, 2048, 2, geometry, True
    assert _plan.choose(_table.TunedTable(), *what) == _plan.default(*what)
    assert _plan.choose(table({"programs": 2, "block_bytes": 2048}), *what) == Choice("packets", 2, 2048, 4)
    # More lines than the communicator has.
    large = "all_reduce", 2, 1 << 17, 2, geometry, True
    assert _plan.choose(table({"bytes": 1 << 18}), *large) == _plan.default(*large)


@pytest.mark.parametrize(("change", "said"), [
    ({"algorithm": "guess"}, "there is no algorithm 'guess'"), ({"warps": 3}, "it must be a power of two"),
    ({"warps": 64}, "a block has 32 at most"), ({"bytes": 0}, "bytes is 0"), ({"programs": "4"}, "programs is '4'"),
])  # fmt: skip
def test_bad_rows(tmp_path, change, said):
    path = tmp_path / "table.json"
    path.write_text(json.dumps({"device": "x", "rows": [{**ROW, **change}]}))
    with pytest.raises(ArgumentError, match=re.escape(said)):
        _table.read(path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"rows": [{}]}', '{"rows": 5}'])
def test_what_is_no_table(tmp_path, text):
    path = tmp_path / "table.json"
    path.write_text(text)
    with pytest.raises(ArgumentError, match=r"is not a table of collectives .*symm\.comm\.tune"):
        _table.read(path)
    with pytest.raises(ArgumentError, match="is not a table"):
        _table.read(tmp_path / "missing.json")


def test_usual_geometry():
    def usual(heap, **given):
        found = geometry_for(2, heap, 132, **given)
        return found.programs, found.slot_bytes

    assert usual(8 << 30) == (128, 64 << 10)
    assert usual(512 << 20) == (64, 64 << 10)
    assert usual(256 << 20) == (32, 64 << 10)
    assert usual(8 << 30, blocks=32) == (32, 64 << 10)
    assert usual(8 << 30, blocks=1000) == (132, 64 << 10)
    assert usual(8 << 30, staging=52 << 20) == (32, 64 << 10)
    assert geometry_for(2, 8 << 30, 100).programs == 64
    # Lines for floats take nothing from the slots.
    assert geometry_for(2, 8 << 30, 132).float_buffers and geometry_for(2, 256 << 20, 132).float_buffers
    assert not geometry_for(2, 8 << 30, 132, staging=52 << 20).float_buffers
    # As many as there is room for; between more than two ranks two.
    assert [geometry_for(2, heap, 132).float_buffers for heap in (256 << 20, 1 << 30, 8 << 30)] == [8, 8, 16]
    assert geometry_for(4, 8 << 30, 132).float_buffers == 2
    # Without a GPU nothing says how many there may be.
    assert geometry_for(2, 8 << 30, None).programs == 32
    assert geometry_for(2, 8 << 30, None, blocks=200).programs == 200
    with pytest.raises(StagingError):
        usual(1 << 20)


class Kernel:
    """Takes the pointers that a launch has compiled for."""

    arg_names = ["a", "b", "c", "n", "WORLD"]

    def warmup(self, *arguments, **options):
        self.addresses = [each.data_ptr() % 16 for each in arguments[:3]]
        return self


@pytest.mark.parametrize(("loose", "aligned"), [((), [0, 0, 0]), ((1, 2), [0, 8, 8]), ((1,), [0, 8, 0])])
def test_what_a_launch_is_compiled_for(loose, aligned):
    """Not for the alignment that its first tensors happen to have: the next ones may have another."""
    kernel = Kernel()
    Launch(kernel, 1, 1, ("x", "y", "y"), {"WORLD": 2}, loose).compile()
    assert kernel.addresses == aligned


@pytest.mark.parametrize("hooks", [(), None])
def test_a_launch_with_other_switches_compiles_again(monkeypatch, hooks):
    """`hooks`: those of Triton's launches, in this version and in another one."""
    done = []

    class Compiled(dict):
        run, function, packed_metadata = (lambda self, *arguments: done.append("ran")), 0, ()

        def __missing__(self, grid):
            return lambda *arguments, **options: done.append("ran")

    hook = type("Hook", (), {} if hooks is None else {"calls": []})()
    monkeypatch.setattr("triton.knobs.runtime.launch_enter_hook", hook)
    monkeypatch.setattr("triton.knobs.runtime.launch_exit_hook", hook)
    launch = launcher(Compiled(), (1, 1, 1), (), lambda *arguments: done.append(f"compiled for {arguments}"))
    launch(0, 1)
    with st.options(strict=True):
        launch(0, 2)
    launch(0, 3)
    assert done == ["ran", "compiled for (0, 2)", "ran"]


def test_a_chart_of_rates():
    text = rates("all_reduce", {"symm": [(1 << 10, 2.0), (1 << 20, 5.0)], "NCCL": [(1 << 20, 20.0)]})
    xml.dom.minidom.parseString(text)
    # 209.7 GB/s at most: steps of 50, from zero.
    assert [f">{value}</text>" in text for value in (0, 50, 100, 150, 200, 250)] == [True] * 5 + [False]
    with pytest.raises(ValueError, match="nothing to plot"):
        rates("none", {})
