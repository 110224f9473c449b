"""The predictions of bench/scale.py, and what docs/scale.md says of them."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE

import pytest
from symm.comm import _hierarchy

ROOT = Path(__file__).parents[2]


def load():
    spec = importlib.util.spec_from_file_location("bench_scale", ROOT / "bench/scale.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


scale = load()
# A byte takes a second.
NEAR = scale.Level("near", 3.0, 1.0, 0.5, 1.0, 7.0, "", ())
FAR = scale.Level("far", 0.0, None, 0.0, 1.0, 0.0, "", ())


@pytest.mark.parametrize("level", scale.LEVELS.values(), ids=list(scale.LEVELS))
def test_levels_are_what_the_pages_say(level):
    page = (ROOT / level.page).read_text(encoding="utf-8")
    assert [row for row in level.rows if row not in page] == []


def test_messages_go_one_after_the_other_through_a_port():
    stage = [scale.Send(scale.NEAR, 3, 10.0)]
    assert scale.simulate([stage], (NEAR, FAR), 1) == 3 * (0.5 + 10) + 3
    # Twice the bytes, and another latency.
    assert scale.simulate([stage], (NEAR, FAR), 1, scale.PACKETS) == 3 * (0.5 + 20) + 1
    # Two ports work at once.
    assert scale.simulate([[*stage, scale.Send(scale.FAR, 1, 40.0)]], (NEAR, FAR), 1) == 40


def test_chunks_are_in_several_stages_at_once():
    stages = [[scale.Send(scale.FAR, 1, 8.0)], [scale.Send(scale.NEAR, 1, 8.0)]]
    free = NEAR._replace(gap=0.0, latency=0.0)
    for chunks in (1, 2, 8):
        assert scale.simulate(stages, (free, FAR), chunks) == 8 + 8 / chunks
    # One port is a bottleneck however the message is cut.
    assert scale.simulate([stages[0]] * 2, (free, FAR), 8) == 16


def test_every_algorithm_sends_what_it_has_to():
    layout, nbytes = scale.Layout(12, 4, NEAR, FAR), 1200.0

    def sent(stages, port):
        return sum(each.messages * each.nbytes for stage in stages for each in stage if each.port == port)

    found = scale.all_reduces(layout, nbytes)
    assert sent(found["two shot"], scale.NEAR) + sent(found["two shot"], scale.FAR) == 2 * 11 / 12 * nbytes
    assert sent(found["hierarchy, two shot"], scale.NEAR) == 2 * 3 / 4 * nbytes
    assert sent(found["hierarchy, two shot"], scale.FAR) == sent(found["hierarchy, ring"], scale.FAR) == 2 * 200
    found = scale.all_to_alls(layout, nbytes)
    assert sent(found["flat"], scale.FAR) == sent(found["hierarchy"], scale.FAR) == 8 * 100
    # The flat one sends a part to each of its domain, the other one also what is for others' domains.
    assert (sent(found["flat"], scale.NEAR), sent(found["hierarchy"], scale.NEAR)) == (3 * 100, 3 * 300)
    # A part crosses once to each domain, and is then sent to all others of it.
    for stages in (scale.all_gathers, scale.scatters):
        found = stages(layout, nbytes)
        assert (sent(found["flat"], scale.FAR), sent(found["hierarchy"], scale.FAR)) == (8 * nbytes, 2 * nbytes)
        assert sent(found["hierarchy"], scale.NEAR) == 3 * 3 * nbytes
    found = scale.broadcasts(layout, nbytes)
    assert sent(found["whole"], scale.FAR) == 8 * nbytes and sent(found["hierarchy, whole"], scale.FAR) == 2 * nbytes
    assert sent(found["hierarchy, in parts"], scale.FAR) == 2 * nbytes / 4
    assert sent(found["hierarchy, in parts twice"], scale.FAR) == 2 * 2 * nbytes / 12


def test_one_domain_has_no_hierarchy():
    for call in scale.CALLS:
        assert list(scale.shape(scale.predict(call, scale.Layout(8, 8, NEAR, FAR), 1 << 10))) == ["flat"]


def test_the_page_has_what_the_script_prints(capsys):
    page = (ROOT / "docs/scale.md").read_text(encoding="utf-8")
    for arguments in (["--check"], []):
        scale.main(arguments)
        printed = capsys.readouterr().out
        assert printed and printed in page, f"docs/scale.md: put in what bench/scale.py {arguments} prints:\n{printed}"


def test_predictions_are_a_floor():
    page = (ROOT / "docs/comm.md").read_text(encoding="utf-8")
    ratios = [predicted / seen for *_, predicted, seen in scale.check(page)]
    assert len(ratios) == 51
    assert 0.49 < min(ratios) <= max(ratios) < 1


def test_a_hierarchy_pays_from_the_size_that_the_page_says():
    page = (ROOT / "docs/comm.md").read_text(encoding="utf-8")
    said = float(re.search(r"With 2 domains of 2, an `all_reduce` uses a hierarchy from ([\d.]+) KiB on", page)[1])
    pays = [_hierarchy.pays("all_reduce", 4, 2, 1024 * (said + more)) for more in (-0.1, 0)]
    assert pays == [False, True], f"docs/comm.md: {said} KiB"
    assert "with 9 domains of 8 ranks, at any size" in page and _hierarchy.pays("all_reduce", 72, 8, 1)


def test_charts_are_written(tmp_path):
    scale.main(["--ranks", "8", "16", "--bytes", "1024", "65536", "--plot", str(tmp_path)])
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(f"scale_{call}.svg" for call in scale.CALLS)
    assert "16 ranks, hierarchy" in (tmp_path / "scale_all_reduce.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--ranks", "0"], "a number of ranks must be a whole number from 1 to 100000, not '0'"),
        (["--ranks", "12"], "--ranks 12 is no multiple of --domain 8"),
        (["--bytes", "1.5"], "bytes must be a whole number"),
        (["--far", "pigeons"], "invalid choice: 'pigeons'"),
        (["--plot", "/nowhere"], "--plot /nowhere is no folder"),
    ],
)
def test_wrong_arguments_are_told(arguments, said, capsys):
    with pytest.raises(SystemExit, match="2"):
        scale.main(arguments)
    assert said in capsys.readouterr().err


def test_a_reader_that_leaves_is_no_error():
    """As `head` does."""
    line = [sys.executable, ROOT / "bench/scale.py", "--ranks", "8"]
    script = subprocess.Popen(line, stdout=PIPE, stderr=PIPE, text=True)
    script.stdout.close()
    assert "Error" not in script.stderr.read() and script.wait() == 1
