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
    assert _table.read(table).find(2, "all_reduce", 4, 64).algorithm == "packets"
    # Rows of other calls are kept.
    done = run("-o", table, *sizes, "--calls", "all_to_all", "--plot", plot)
    assert done.returncode == 0, done.stderr
    assert {row["call"] for row in json.loads(table.read_text())["rows"]} == {"all_reduce", "broadcast", "all_to_all"}
    assert "all_to_all, 2 ranks" in xml.dom.minidom.parse(str(plot)).toxml()


@pytest.mark.parametrize("arguments", [["--ranks", "1"], ["--sizes", "0"], ["--rounds", "0"], ["--calls", "gossip"]])
def test_bad_arguments(arguments, capsys):
    with pytest.raises(SystemExit):
        tune.parse(arguments)
    assert "error" in capsys.readouterr().err
