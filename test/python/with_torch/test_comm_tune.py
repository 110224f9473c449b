"""The tuner, in Triton's interpreter."""

import json
import os
import subprocess
import sys
import xml.dom.minidom

import pytest
from test_ranks import outputs, start

pytest.importorskip("torch", reason="needs torch: ./x python runs it in an environment that has it")

from symm.comm import _table, tune  # noqa: E402


def run(*arguments):
    environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    environment.pop("RANK", None)
    command = [sys.executable, "-m", "symm.comm.tune", "--blocks", "2", "--staging", str(4 << 20), "--checks", "1",
               "--rounds", "1", "--dtypes", "float32", *map(str, arguments)]  # fmt: skip
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)


def test_ranks():
    for output, status in outputs(start("comm_tune.py", 2, OMP_NUM_THREADS="1")):
        assert status == 0, output


def test_table_and_plot(tmp_path):
    table, plot = tmp_path / "table.json", tmp_path / "plot.svg"
    sizes = "--only", "packets", "--sizes", 64
    done = run("-o", table, *sizes, "--calls", "all_reduce", "broadcast")
    assert done.returncode == 0, done.stderr
    assert "2/2 broadcast" in done.stderr
    first = json.loads(table.read_text())
    assert [(row["call"], row["element_bytes"], row["bytes"]) for row in first["rows"]] == [
        ("all_reduce", 4, 64), ("broadcast", 0, 64)]  # fmt: skip
    assert _table.read(table).near(2, "all_reduce", 4, 64)[0].algorithm == "packets"
    # Rows of other calls are kept.
    done = run("-o", table, *sizes, "--calls", "all_to_all", "--plot", plot)
    assert done.returncode == 0, done.stderr
    assert {row["call"] for row in json.loads(table.read_text())["rows"]} == {"all_reduce", "broadcast", "all_to_all"}
    assert "all_to_all, 2 ranks" in xml.dom.minidom.parse(str(plot)).toxml()


BAD = {"ranks": "1", "sizes": "0", "rounds": "0", "calls": "gossip", "jobs": "-1", "blocks": "0", "staging": "-1",
       "dtypes": "float33", "only": "gossip"}  # fmt: skip


@pytest.mark.parametrize("option", BAD)
def test_bad_arguments(option, capsys):
    with pytest.raises(SystemExit) as exits:
        tune.parse([f"--{option}", BAD[option]])
    said = capsys.readouterr().err
    assert exits.value.code == 2 and "error" in said and f"--{option}" in said


def one_sentence(done, status, text):
    """A run has ended with a status and a sentence, with nothing of Python's before it."""
    said = [line for line in done.stderr.splitlines() if line]
    assert done.returncode == status and text in said[-1], done.stderr
    assert all(line.startswith("python -m symm.comm.tune: ") for line in said), done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no table", "is not a table of collectives (JSONDecodeError"),
        ("[]", "is not a table of collectives (TypeError"),
        ('{"device": "interpreter", "rows": [{}]}', "is not a table of collectives (KeyError: 'ranks')"),
    ],
)
def test_what_is_no_table(text, said, tmp_path, monkeypatch):
    table = tmp_path / "table.json"
    table.write_text(text)
    done = run("-o", table)
    one_sentence(done, 2, said)
    assert "give another --output" in done.stderr and table.read_text() == text
    monkeypatch.setenv("SYMM_COMM_TABLE", str(table))
    one_sentence(run("-o", tmp_path / "other.json"), 2, said)


def test_files_that_cannot_be_written(tmp_path):
    one_sentence(run("-o", tmp_path), 2, f"--output: {tmp_path} cannot be written: it is a folder")
    nowhere = tmp_path / "nowhere"
    one_sentence(run("-o", nowhere / "table.json"), 2, f"cannot be written: there is no folder {nowhere}")
    done = run("-o", tmp_path / "table.json", "--plot", nowhere / "plot.svg")
    one_sentence(done, 2, f"--plot: {nowhere / 'plot.svg'} cannot be written")


def test_machines_without_enough_gpus(tmp_path, monkeypatch, capsys):
    one_sentence(run("-o", tmp_path / "t.json", "--jobs", "2"), 2, "--jobs compiles for a GPU: leave it out")
    for name in ("TRITON_INTERPRET", "RANK"):
        monkeypatch.delenv(name, raising=False)
    for count, said in ((0, "there is no GPU here"), (1, "--ranks 2 is more than this machine has GPUs: 1")):
        monkeypatch.setattr("torch.cuda.device_count", lambda count=count: count)
        assert tune.main(["-o", str(tmp_path / "t.json")]) == 2
        assert said in capsys.readouterr().err


def test_more_ranks_than_a_run_has(capsys):
    for ranks, said in (("1", "--ranks must be 2 or more"), ("129", "--ranks must be 128 or less")):
        with pytest.raises(SystemExit):
            tune.parse(["--ranks", ranks])
        assert said in capsys.readouterr().err


def test_ranks_that_fail_say_so_in_a_sentence(tmp_path):
    one_sentence(run("-o", tmp_path / "t.json", "--staging", "10"), 1, "staging of 10 bytes is too small")
