"""`symm.check`: what it finds in kernels with bugs, that it finds nothing in right ones, and how it is called.

Kernels are run by programs of their own, with Triton's interpreter; `checked/cases.py` runs all of `checked/bugs.py`.
"""

import functools
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import symm
from rank_cases import TUTORIALS

# Each case with one Triton version, where all of them run.
pytestmark = pytest.mark.in_turn
HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BUGS = (HERE / "checked/bugs.py").read_text()
# The kinds that each case is to have found.
CASES = {name: set(kinds.split()) for kinds, name in re.findall(r"^# finds:(.*)\n(?:@.*\n)+def (\w+)", BUGS, re.M)}
KERNELS = sorted((ROOT / "examples/python/kernels").glob("*.py"))
SECONDS = 300


def python(*command, folder=None, given=None, **environment):
    """Runs Python with Triton's interpreter; what it has printed, and its status."""
    run = {**os.environ, "TRITON_INTERPRET": "1", **environment, "PYTHONPATH": stand_ins()}
    command = [sys.executable, *map(str, command)]
    how = {"capture_output": True, "text": True, "timeout": SECONDS, "check": False}
    return subprocess.run(command, input=given, env=run, cwd=folder, **how)


def stand_ins():
    """Python's path, with what stands in for torch where that is not installed."""
    paths = [str(HERE / "stand_in")] if importlib.util.find_spec("torch") is None else []
    return os.pathsep.join([*paths, str(Path(symm.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])


def checked(script, *options, **environment):
    return python("-m", "symm.check", *options, script, **environment)


@functools.cache
def found():
    done = python(HERE / "checked/cases.py", folder=ROOT)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def kinds(report):
    return {finding["kind"] for finding in report["findings"] if finding["severity"] == "error"}


@pytest.mark.parametrize("case", CASES)
def test_case(case):
    report = found()[case]
    assert kinds(report) == CASES[case], report["text"]
    assert report["given_up"] == 0


def test_the_checker_knows_every_op():
    program = """if True:
        from symm import _interpreter
        from symm.check import _effects
        print(*sorted(set(vars(_interpreter.Effects)) - set(dir(_effects.Checked))))
        """
    done = python("-c", program)
    assert (done.stdout, done.returncode) == ("\n", 0), done


def test_all_cases_say_what_they_find():
    assert set(found()) == set(CASES)


def test_a_report_has_both_places_and_what_is_missing():
    text = found()["relaxed_signal"]["text"]
    lines = BUGS.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("def relaxed_signal"))
    store, signal, wait, load = (start + more for more in (3, 4, 6, 7))
    world = BUGS[: BUGS.index("world.zeros(64")].count("\n") + 1
    file, tensor = (
        "bugs.py",
        f"element 0 of World.zeros: torch.int32, (64,) (made at test/python/checked/bugs.py:{world}, number 1 of 2)",
    )
    for number, column, said in (
        (store, 9, f"rank 0, program 0 of relaxed_signal: writes 4 bytes at {tensor} of rank 1"),
        (load, 27, f"rank 1, program 0 of relaxed_signal: reads 4 bytes at {tensor} of rank 1"),
        (signal, 9, "rank 0, program 0 of relaxed_signal: announces the first access"),
        (wait, 9, "rank 1, program 0 of relaxed_signal: sees it before the second"),
    ):
        place = f"{file}:{number}:{column}: {said}\n{lines[number - 1]}\n{' ' * (column - 1)}^~~"
        assert place in text, text
    assert "  help: what announces the first access has to release at scope sys\n" in text
    assert re.search(r"  again: (seed=\d+, or )?replay='[\d .*]*'", text)


def test_what_a_host_writes_is_whole_elements():
    text = found()["filled_while_it_is_read"]["text"]
    assert "rank 0, host: writes 32 bytes at element 0 of World.zeros" in text, text
    assert " 1 bytes" not in text


def test_a_deadlock_has_its_wait_graph():
    [finding] = found()["set_and_waited_for_as_a_sum"]["findings"]
    [place] = finding["places"]
    assert (place["rank"], place["program"], place["kernel"]) == (0, 0, "set_and_waited_for_as_a_sum")
    assert re.search(
        r"waits for element 0 of World.zeros.* >= 2, sees 1; signalled by rank [12] program 0 \(", place["what"]
    )


def test_a_loop_that_polls_in_vain_says_for_what():
    text = found()["polls_in_vain"]["text"]
    assert "polls element 0 of World.zeros" in text and "in vain, sees 0; nobody has signalled it" in text


def test_all_schedules_of_a_small_program():
    assert found()["a_lock"]["exhausted"] and found()["a_lock"]["executions"] > 2


def test_kernels_of_the_examples_are_right():
    done = python(HERE / "checked/examples.py", *KERNELS)
    assert done.returncode == 0, done.stderr
    reports = json.loads(done.stdout)
    assert set(reports) == {file.stem for file in KERNELS}
    for name, text in reports.items():
        assert text.startswith("symm.check: nothing found; 3 executions tried"), f"{name}\n{text}"


@pytest.mark.parametrize("script", TUTORIALS, ids=lambda path: path.stem)
def test_tutorial_is_right(script):
    done = checked(script, "--ranks=3", "--schedules=1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("symm.check: nothing found; 2 executions tried")


SCRIPT = """
import sys
import symm
import symm.triton as st
import torch
import triton
import triton.language as tl

@triton.jit
def kernel(world, box, flag):
{body}

world = symm.init(heap_size=16 << 20)
box, flag = (world.zeros(8, dtype=torch.int32) for _ in range(2))
world.barrier()
print("printed by", world.get_rank())
kernel[(1,)](world, box, flag)
world.close()
"""
ASM = "    tl.inline_asm_elementwise('', '=r,r', [tl.load(box)], tl.int32, True, 1)"
UNALIGNED = "    tl.atomic_add((box.to(tl.int64) + 2).to(tl.pointer_type(tl.int32)), 1)"
RACY = "    tl.store(st.as_remote(world, box, 0), 1 + st.rank(world))"


def script(folder, body=RACY, after=""):
    path = folder / "script.py"
    path.write_text(SCRIPT.format(body=body) + after)
    return path


def test_the_script_as_a_command(tmp_path):
    done = checked(script(tmp_path), "--schedules=2", "--seed=5")
    assert (done.returncode, done.stderr) == (1, ""), done.stderr
    assert "error: race (O1)" in done.stdout and "printed" not in done.stdout
    again = checked(script(tmp_path), "--schedules=2", "--seed=5")
    assert done.stdout == again.stdout
    replay = shlex.split(re.search(r"  again: (.*)", done.stdout)[1])
    replay = replay[replay.index("--replay") + 1]
    replayed = checked(script(tmp_path), f"--replay={replay}", "--json")
    assert replayed.returncode == 1, replayed.stderr
    report = json.loads(replayed.stdout)
    [finding] = report["findings"]
    assert (finding["kind"], finding["schedule"], report["executions"]) == ("race", replay, 1)
    assert {(place["rank"], place["program"]) for place in finding["places"]} == {(0, 0), (1, 0)}


def test_again_is_a_whole_command(tmp_path):
    path = script(tmp_path, RACY, "assert sys.argv[1:] == ['of mine']\n")
    path = path.rename(tmp_path / "it's.py")
    allowed = tmp_path / "allowed"
    allowed.write_text("*'s.py never-waited of nothing here\n")
    options = (f"--allow={allowed}", "--steps=5000", "--seconds=30", "--programs=3", "--ranks=3", "--changes=2")
    done = python("-m", "symm.check", "--schedules=2", *options, path, "of mine")
    assert done.returncode == 1, done.stdout + done.stderr
    commands = re.findall(r"  again: (.*)", done.stdout)
    assert commands, done.stdout
    given = f"--ranks 3 --programs 3 --steps 5000 --seconds 30.0 --allow {allowed} --replay "
    for command in commands:
        assert given in command and command.endswith("""it'"'"'s.py' 'of mine'"""), command
        run = {**os.environ, "PYTHONPATH": stand_ins()}
        how = {"capture_output": True, "text": True, "timeout": SECONDS, "check": False}
        again = subprocess.run(command, shell=True, env=run, **how)
        assert again.returncode == 1 and f"  again: {command}\n" in again.stdout, again.stdout + again.stderr


def test_a_long_schedule_is_told_by_its_seed():
    from symm.check._report import Command, Finding, Report

    finding = Finding("race", "O1", "error", (), "", 7, "0 1 " * 1000)
    command = Command(["python3", "-m", "symm.check"], ["script.py"], ["--changes", "2"])
    counts = 1, 0, 0, None, False, 0, 0, False
    said = [Report((finding,), (), (), *counts, {}, each).again(finding) for each in (command, None)]
    assert said == ["python3 -m symm.check --seed 7 --changes 2 script.py", "seed=7"]


def test_a_script_gets_its_arguments_and_ends_as_it_says(tmp_path):
    path = script(tmp_path, "    pass", "assert sys.argv[1:] == ['--of', 'mine']\nsys.exit(0)\n")
    assert checked(path, "--schedules=0").returncode == 1
    done = python("-m", "symm.check", "--schedules=0", path, "--of", "mine")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("body", "options", "status", "said"),
    [
        ("    tl.store(box, undefined)", (), 2, "NameError"),
        ("    tl.store(box, undefined)", ("--exhaustive",), 2, "NameError"),
        (ASM, (), 2, "cannot run this: inline_asm"),
        (
            "    while True:\n        tl.store(box, 1)",
            ("--steps=300", "--ranks=1"),
            2,
            "1 given up after too many steps, in the end at /",
        ),
        (
            "    while True:\n        pass",
            ("--seconds=10",),
            2,
            "kernel kernel: no step that the checker sees for 10 s",
        ),
        ("    pass", ("--replay=x",), 2, "'x' is not a step of a schedule"),
        ("    pass", ("--ranks=0",), 2, "ranks must be 1 to"),
        ("    pass", (f"--schedules={1 << 64}",), 2, "schedules must be 0 to 2**64 - 1"),
        ("    pass", ("--steps=-1",), 2, "steps must be 0 to 2**64 - 1, not -1"),
        ("    pass", ("--seconds=nan",), 2, "seconds must be more than 0, not nan"),
        ("    pass", ("--programs=0",), 2, "programs must be 1 to 2**64 - 1, not 0"),
        ("    pass", (f"--changes={1 << 64}",), 2, "changes must be 0 to 2**64 - 1"),
        ("    pass", ("--exhaustive", "--executions=0"), 2, "executions must be 1 to 2**64 - 1, not 0"),
        ("    pass", ("--executions=5",), 2, "--executions is the limit of --exhaustive"),
        ("    pass", ("--html=-",), 2, "--html -: give a file"),
        ("    pass", ("--exhaustive", "--seed=1"), 2, "exclude each other"),
        (UNALIGNED, (), 2, "not the address of a value of 4 bytes"),
    ],
)
def test_what_cannot_be_checked_is_said(tmp_path, body, options, status, said):
    options = options if {"--replay=x", "--exhaustive"} & set(options) else ("--schedules=0", *options)
    done = checked(script(tmp_path, body), *options)
    assert done.returncode == status, done.stdout + done.stderr
    assert said in done.stdout + done.stderr
    assert "PanicException" not in done.stderr


def test_the_time_without_a_step(tmp_path):
    """Imports do not count, and what waits in a library is at the user's line."""
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(5)\n")
    path = tmp_path / "script.py"
    path.write_text("import slow, threading\nimport symm\nworld = symm.init(heap_size=16 << 20)\n")
    done = checked(path, "--schedules=0", "--seconds=3")
    assert done.returncode == 0, done.stdout + done.stderr
    path.write_text(path.read_text() + "if world.get_rank():\n    threading.Event().wait()\n")
    done = checked(path, "--schedules=0", "--seconds=3")
    assert done.returncode == 2, done.stdout + done.stderr
    said = f"{path}:5: rank 1, its host: no step that the checker sees for 3 s, and no end: an endless loop? If not, "
    assert said + "raise seconds" in done.stderr, done.stderr


def test_a_script_that_ends_with_a_status(tmp_path):
    done = checked(script(tmp_path, "    pass", "sys.exit('no luck')\n"), "--schedules=0")
    assert done.returncode == 2 and "RuntimeError: the program ends with status no luck" in done.stderr, done.stderr


@pytest.mark.parametrize("use", ["shared.world.barrier()", "kernel[(1,)](shared.world)", "shared.world.zeros(1)"])
def test_a_world_that_is_made_in_a_module(tmp_path, use):
    (tmp_path / "shared.py").write_text("import symm\nworld = symm.init(heap_size=16 << 20)\n")
    kernel = "import shared, triton\n@triton.jit\ndef kernel(world):\n    pass\n"
    path = tmp_path / "script.py"
    path.write_text(f"{kernel}{use}\n")
    done = checked(path, "--schedules=0")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "ArgumentError: rank 1 uses the World of rank 0: all ranks and executions are in one process" in done.stderr


def test_no_script(tmp_path):
    done = checked(tmp_path / "none.py")
    assert done.returncode == 2 and "FileNotFoundError" in done.stderr
    (tmp_path / "empty.py").write_text("")
    done = checked(tmp_path / "empty.py", "--schedules=0")
    assert done.returncode == 2 and "empty.py has not called symm.init, so nothing was checked" in done.stderr


def test_a_report_that_cannot_be_written(tmp_path):
    command = f'{sys.executable} -m symm.check --schedules=0 "{script(tmp_path, "    pass")}" > /dev/full'
    run = {**os.environ, "PYTHONPATH": stand_ins()}
    done = subprocess.run(command, shell=True, capture_output=True, text=True, env=run, timeout=SECONDS, check=False)
    assert (done.returncode, done.stderr) == (2, "symm.check: OSError: [Errno 28] No space left on device\n")


@pytest.mark.parametrize(
    "file",
    ["uses.py", "expected.py", "polls.py", "looks.py", "teams.py", "packets.py", "gpus.py", "hosts.py"],
)
def test_as_a_function_of_a_test(tmp_path, file):
    done = python("-m", "pytest", "-q", "-p", "no:cacheprovider", HERE / "checked" / file, "--rootdir", tmp_path)
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout + done.stderr


def run_from_page(page, folder):
    """Runs the test of a page; the report of its kernel with the order relaxed, and the one that the page shows."""
    text = (ROOT / "docs" / page).read_text()
    program, shown = (text.split(f"```{fence}\n")[1].split("```")[0] for fence in ("python", "text"))
    (folder / "test_send.py").write_text(program)
    done = python("-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", folder, folder / "test_send.py")
    assert done.returncode == 0, done.stdout + done.stderr
    report = "import os, sys; sys.path.insert(0, os.curdir); import test_send as t, symm; "
    report += "print(symm.check.run(t.send, grid=(1,), args=t.arguments('relaxed')))"
    return python("-c", report, folder=folder).stdout, shown


def test_the_page(tmp_path):
    printed, shown = run_from_page("checking.md", tmp_path)
    assert printed.startswith(f"{shown}  again: "), printed


def test_it_needs_the_interpreter():
    done = python("-c", "import symm; symm.check(print)", TRITON_INTERPRET="0")
    assert "ArgumentError: symm.check runs kernels in Triton's interpreter: set TRITON_INTERPRET=1" in done.stderr
