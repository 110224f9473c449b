"""The programs of docs/comm.md, docs/sendrecv.md, docs/remote.md and docs/providers.md run as they stand, and that of
docs/python.md for torch.compile.

test_remote_processes.py runs the one on four ranks; those that need a host of their own are read only.
"""

import ast
import inspect
import json
import os
import textwrap
import uuid
from pathlib import Path

import pytest
from forked import Process

pytest.importorskip("torch.testing", reason="needs torch itself")

DOCS = Path(__file__).parents[3] / "docs"
SECONDS = 240


def blocks(page):
    return [block.split("```")[0] for block in (DOCS / page).read_text().split("```python\n")[1:]]


def outputs(program, folder, ranks=1, **environment):
    """What a program prints on each rank."""
    script = folder / "program.py"
    script.write_text(program)
    run = {**os.environ, **environment}
    if ranks > 1:
        run |= {"WORLD_SIZE": str(ranks), "TORCHELASTIC_RUN_ID": uuid.uuid4().hex, "TRITON_INTERPRET": "1"}
        started = [Process(script, [], run | {"RANK": str(rank)}) for rank in range(ranks)]
    else:
        # Its workers import what lies beside it.
        started = [Process(script, [], run | {"PYTHONPATH": f"{folder}:{run.get('PYTHONPATH', '')}"})]
    printed = [process.communicate(timeout=SECONDS)[0] for process in started]
    for process, text in zip(started, printed, strict=True):
        assert process.returncode == 0, text
    return printed


def test_collectives(tmp_path):
    program, late = blocks("comm.md")
    assert outputs(program, tmp_path, 2) == [f"rank {rank} got [1.0, 1.0, 1.0, 1.0]\n" for rank in range(2)]
    told, got = "all_reduce: rank 0 waited for rank 1\n", "rank {} got 2.0\n"
    assert outputs(late, tmp_path, 2) == [told + got.format(0), got.format(1)]


def test_torch_compile(tmp_path):
    [program] = [block for block in blocks("python.md") if "custom_op" in block]
    got = [[2.0 * ((rank - 1) % 2 + 3) + 1] * 3 for rank in range(2)]
    assert outputs(program, tmp_path, 2) == [f"rank {rank} got {got[rank]}\n" for rank in range(2)]


def test_torch_compile_in_a_timeline(tmp_path):
    [program] = [block for block in blocks("python.md") if "custom_op" in block]
    before, loop = program.split("for step in")
    loop, after = ("for step in" + loop).split("print(")
    traced = f"with symm.trace({str(tmp_path / 'out.json')!r}):\n{textwrap.indent(loop, '    ')}"
    outputs(f"{before}{traced}print({after}", tmp_path, 2)
    events = json.loads((tmp_path / "out.json").read_text())["traceEvents"]
    for rank in range(2):
        found = [each["name"] for each in events if each["ph"] == "X" and each["pid"] == rank]
        assert [found.count(name) for name in ("to_the_next", f"put_signal → {1 - rank}", "wait")] == [3, 3, 3], found


PRINTED = (
    ["", "rank 1 got [1.0, 3.0, 5.0, 7.0]\n"],
    [f"rank {rank}: off by at most 2.4e-04\n" for rank in range(2)],
    [f"rank {rank}: {[2.0 - rank, 3.0 - rank, 4.0 - rank]}\n" for rank in range(2)],
    [f"rank {rank}: {[40.0 * rank, 40.0 * rank + 80, 40.0 * rank + 160]}\n" for rank in range(2)],
    [f"rank {rank}: {27_000.0 * rank}\n" for rank in range(2)],
    ["recv: rank 0 waited for rank 1\nrank 0 has 7.0\n", "rank 1 has 7.0\n"],
    [f"rank {rank}: {'network' if rank % 2 else 'node'} {float((rank - 1) % 4)} [0, 1, 2, 3]\n" for rank in range(4)],
)


@pytest.mark.parametrize("number", range(len(PRINTED)))
def test_messages(tmp_path, number):
    programs = blocks("sendrecv.md")
    assert len(programs) == len(PRINTED)
    assert outputs(programs[number], tmp_path, len(PRINTED[number])) == PRINTED[number]


def test_remote_tensors(tmp_path):
    first, modules, _, deadline, _ = blocks("remote.md")
    (text,) = outputs(first + modules + deadline, tmp_path)
    assert len([float(line) for line in text.splitlines()]) == 2


def test_remote_functions(tmp_path):
    *_, block = blocks("remote.md")
    function, call = block.split("\n\n")
    (tmp_path / "my_functions.py").write_text(f"from symm import remote\n\n\n{function}\n")
    start = 'remote.launch(1, remote.Processes(modules=["my_functions"]))'
    program = f"import torch\nfrom my_functions import norms\nfrom symm import remote\n\ncluster = {start}\n"
    (text,) = outputs(f"{program}print([norm.item() for norm in {call.split('  #')[0]}])\n", tmp_path)
    assert text == "[1.0, 1.0, 1.0]\n"


def test_providers(tmp_path):
    *others, own, cloud = blocks("providers.md")
    assert outputs(own, tmp_path) == ["['remote:0', 'remote:1']\n"]
    # These need a host, or money: their arguments are those that there are.
    from symm import remote

    hosts = {"user@host": remote.Ssh, "tcp:host:7000": remote.Running}
    for text, provider in zip(others, hosts.values(), strict=True):
        (call,) = [
            call
            for call in ast.walk(ast.parse(text))
            if isinstance(call, ast.Call) and ast.unparse(call.func) == f"remote.{provider.__name__}"
        ]
        arguments, options = [None] * len(call.args), {option.arg: None for option in call.keywords}
        inspect.signature(provider).bind(*arguments, **options)
    made = {}
    exec(compile(cloud, "providers.md", "exec"), made)
    assert made["Cloud"].chooses_gpus
    assert list(inspect.signature(made["Cloud"].start).parameters) == ["self", "count", "gpu"]
    assert "ssh" in vars(made["Cloud"](key="", region="", ssh_key=""))
