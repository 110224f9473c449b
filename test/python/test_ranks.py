"""Programs on one, two and four ranks, as processes with Triton's interpreter: no GPU is needed."""

import importlib.util
import os
import shutil
import subprocess
import time
import uuid
from pathlib import Path

import pytest
from forked import Process
from rank_cases import TIMEOUTS, TUTORIALS

import symm
from symm._device import gpu_of

HERE = Path(__file__).parent
PROGRAMS = ("host.py", "ops.py", "alias.py", "tma.py", "messages.py", "iris_host.py", "iris_triton.py", "worlds.py")
PROGRAMS += ("forks.py", "packets.py", "crossed.py", "flags.py", "argument.py", "teams.py", "each.py")
PROGRAMS += ("streams.py", "records.py", "iris_tiles.py", "closed.py")
# Those without ordinary accesses of another rank's heap, which only near ranks have mapped.
FAR_TOO = ("ops.py", "each.py", "messages.py", "packets.py", "flags.py", "argument.py", "streams.py", "tma.py",
           "teams.py")
SECONDS = 400


def stem(program):
    return Path(program).stem


def start(program, ranks, *arguments, only=None, **environment):
    """Starts a program, of `ranks/` or given by its path, once for each rank, or for `only` some, with arguments."""
    run = {**os.environ, "TRITON_INTERPRET": "1", "WORLD_SIZE": str(ranks), "TORCHELASTIC_RUN_ID": uuid.uuid4().hex}
    # Where torch is not installed, something stands in for it.
    if importlib.util.find_spec("torch") is None:
        run["PYTHONPATH"] = f"{HERE / 'stand_in'}:{os.environ.get('PYTHONPATH', '')}"
    run.update(environment)
    started = range(ranks) if only is None else only
    return [Process(HERE / "ranks" / program, arguments, {**run, "RANK": str(rank)}) for rank in started]


def outputs(processes, seconds=SECONDS):
    try:
        return [(process.communicate(timeout=seconds)[0], process.returncode) for process in processes]
    finally:
        for process in processes:
            process.kill()


@pytest.mark.in_turn
@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("program", [*PROGRAMS, *TUTORIALS], ids=stem)
def test_program(program, ranks):
    for output, status in outputs(start(program, ranks)):
        assert status == 0, output


@pytest.mark.in_turn
@pytest.mark.parametrize("program", [*FAR_TOO, *TUTORIALS], ids=stem)
def test_program_between_far_ranks(program):
    for output, status in outputs(start(program, 2, SYMM_DOMAIN="1")):
        assert status == 0, output


def run_from_page(page, folder):
    """What the program of a page prints on two ranks."""
    blocks = (HERE.parents[1] / "docs" / page).read_text().split("```python\n")[1:]
    program = folder / "program.py"
    program.write_text(next(block.split("```")[0] for block in blocks if "@triton.jit" in block))
    for output, status in (results := outputs(start(program, 2))):
        assert status == 0, output
    return [output for output, _ in results]


def test_quick_start(tmp_path):
    got = [[100 * (1 - rank) + i for i in range(3)] for rank in range(2)]
    assert run_from_page("python.md", tmp_path) == [f"rank {rank} got {got[rank]}\n" for rank in range(2)]


def test_program_of_iris(tmp_path):
    got = [[2 * (2 - rank)] * 3 for rank in range(2)]
    assert run_from_page("iris.md", tmp_path) == [f"rank {rank} got {got[rank]}\n" for rank in range(2)]


WRONG = [line for line in (HERE / "ranks/wrong.py").read_text().splitlines() if "  # " in line]


@pytest.mark.parametrize("case", range(len(WRONG)))
def test_wrong_kernel_names_the_line(case):
    lines = (HERE / "ranks/wrong.py").read_text().splitlines()
    at = lines.index(WRONG[case])
    name = next(line for line in reversed(lines[:at]) if line.startswith("def "))[4:].split("(")[0]
    [(output, status)] = outputs(start("wrong.py", 1, CASE=name))
    assert status == 1, output
    # Above it the traceback shows the line, with the comment.
    said = output.splitlines()[-1]
    assert WRONG[case].split("  # ")[1] in said, output
    assert f"wrong.py:{at + 1}: symm " in said, output


DEAD = ("wait_for_the_dead", "spin_for_the_dead", "poll_for_the_dead", "load_for_the_dead", "look_for_the_dead")


@pytest.mark.in_turn
@pytest.mark.parametrize("case", [*DEAD, "all_of_the_dead"])
def test_waiting_for_a_rank_that_fails_ends(case):
    (waiting, status), (failed, other) = outputs(start("wrong.py", 2, CASE=case))
    assert (status, other) == (1, 1)
    said = "stopped, because rank 1 reported: rank 1 ended by AssertionError; its own output says why"
    assert f"symm.errors.RankFailedError: {said}" in waiting, waiting
    assert "AssertionError" in failed


def run_from_page_all(page, prelude, folder):
    """Runs the blocks of a page as one program on two ranks: those with kernels first,
    then the others from the last.
    """
    blocks = [block.split("```")[0] for block in (HERE.parents[1] / "docs" / page).read_text().split("```python\n")[1:]]
    program = folder / "program.py"
    blocks = sorted(reversed(blocks), key=lambda block: "@triton.jit" not in block)
    # Files that a block writes.
    program.write_text(f"{prelude}\nimport os\nos.chdir({str(folder)!r})\n" + "".join(blocks))
    for output, status in outputs(start(program, 2)):
        assert status == 0, output


# What the blocks of the page on kernels take for granted.
PRELUDE = """import symm, torch, triton
import symm.triton as st

world = symm.init()
flags = world.zeros(8, dtype=torch.int32)
"""


def test_the_page_on_kernels(tmp_path):
    run_from_page_all("kernels.md", PRELUDE, tmp_path)


@pytest.mark.in_turn
@pytest.mark.parametrize(("case", "environment"), TIMEOUTS.items())
def test_a_wait_has_a_time_out(case, environment):
    for output, status in outputs(start("timeouts.py", 2, CASE=case, **environment)):
        assert status == 0, output


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("case", "ranks"), [("waiting", 1), ("meeting", 4), ("slow", 1), ("slow", 4), ("again", 1), ("wrong", 1)]
)
def test_time_outs_of_one_and_of_four_ranks(case, ranks):
    for output, status in outputs(start("timeouts.py", ranks, CASE=case)):
        assert status == 0, output


@pytest.mark.in_turn
@pytest.mark.parametrize(("ranks", "domain"), [(2, 1), (4, 2)])
def test_time_outs_of_far_ranks(ranks, domain):
    """Far ranks are told by a signal, and their records are read by loads."""
    for output, status in outputs(start("records.py", ranks, SYMM_DOMAIN=str(domain))):
        assert status == 0, output


@pytest.mark.in_turn
@pytest.mark.parametrize(("who", "ranks"), [("all", 1), ("all", 4), ("but one", 2), ("but one", 4)])
def test_a_wait_of_a_team_has_a_time_out(who, ranks):
    for output, status in outputs(start("teams.py", ranks, TIME_OUT=who)):
        assert status == 0, output


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_timelines(ranks, tmp_path):
    for output, status in outputs(start("traces.py", ranks, FOLDER=str(tmp_path))):
        assert status == 0, output


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_bounds_of_tensors(ranks):
    for output, status in outputs(start("bounds.py", ranks, SYMM_BOUNDS_CHECKS="1")):
        assert status == 0, output


def test_bounds_are_not_checked_unasked():
    [(output, status)] = outputs(start("bounds.py", 1))
    assert (status, output.splitlines()[-1]) == (1, "AssertionError: forgotten_mask: no BoundsError"), output
    [(output, status)] = outputs(start("bounds.py", 1, SYMM_BOUNDS_CHECKS="yes"))
    assert "symm.errors.ArgumentError: SYMM_BOUNDS_CHECKS must be 0 or 1, not 'yes'" in output, output


@pytest.mark.parametrize("case", ["barrier", "stream", "close", "broadcast"])
def test_waiting_for_the_gpu_ends_when_a_rank_dies(case):
    (waiting, status), _ = outputs(start("peer_dies.py", 2, CASE=case))
    said = "stopped, because rank 1 reported: rank 1 ended by AssertionError: rank 1 ends here; its own output says why"
    assert (waiting.splitlines()[-1], status) == (said, 0)


CALLS = ("init0", "init1", "zeros", "barrier", "device_barrier", "broadcast", "close", "kernel", "second")


@pytest.mark.in_turn
@pytest.mark.parametrize("case", CALLS)
def test_ctrl_c_ends_a_wait(case, tmp_path):
    for output, status in outputs(start("interrupts.py", 2, CASE=case, FOLDER=str(tmp_path))):
        assert status == 0, output


def test_what_fails_at_the_end_is_said_once_and_is_a_failure():
    [(output, status), _] = outputs(start("leaving.py", 2, OMP_NUM_THREADS="1"))
    assert status == 1, output
    assert output.count("symm: rank 0 could not leave the run: RankFailedError: ") == 1, output
    assert output.count("rank 1 died") == 1 and "Traceback" not in output, output
    assert "the last words" in output, output


def test_a_rank_that_ends_while_others_go_on_is_said():
    (waiting, status), (ended, _) = outputs(start("ends.py", 2))
    assert status == 1
    for output in waiting, ended:
        assert "rank 1: World.close at the end of the program\n" in output, output


@pytest.mark.parametrize("status", [0, 3])
def test_a_rank_that_leaves_with_a_status(status):
    (looking, first), (_, second) = outputs(start("exits.py", 2, STATUS=str(status)))
    assert (first, second) == (min(status, 1), status), looking
    assert ("rank 1 ended by sys.exit(3)" in looking) == bool(status), looking


def test_one_thread_joins_at_a_time():
    [(output, status)] = outputs(start("joins_twice.py", 1, WORLD_SIZE="2"))
    assert status == 0, output


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_ranks_are_those_of_torch_distributed():
    [(output, status)] = outputs(start("spawned.py", 2)[:1])
    assert status == 0, output


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_a_group_that_was_destroyed_is_told():
    [(output, status)] = outputs(start("destroyed.py", 1))
    assert status == 0, output


BYTES = "symm.errors.ArgumentError: symm.init: heap_size must be a number of bytes, such as 1 << 30, not"


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"MISSING": "torch"}, "symm.errors.MissingDependencyError: symm.init needs PyTorch"),
        ({"DEVICE": "cuda", "CUDA_VISIBLE_DEVICES": ""}, "BootstrapError: rank 0 could not join the run: no CUDA "),
        ({"DEVICE": "hip", "HIP_VISIBLE_DEVICES": ""}, "BootstrapError: rank 0 could not join the run: no HIP "),
        ({"DEVICE": "cuda:1", "CUDA_VISIBLE_DEVICES": ""}, "BootstrapError: rank 0 could not join the run: no CUDA "),
        ({"DEVICE": "cuda:x"}, "symm.errors.ArgumentError: symm.init: no device \"cuda:x\": cpu, cuda or hip"),
        ({"DEVICE": ""}, "symm.errors.ArgumentError: symm.init: no device \"\": cpu, cuda or hip"),
        ({"DEVICE": "tpu"}, "symm.errors.ArgumentError: symm.init: no device \"tpu\": cpu, cuda or hip"),
        ({"HEAP_SIZE": "-1"}, f"{BYTES} -1"),
        ({"TIMEOUT": "-1"}, "symm.errors.ArgumentError: symm.init: timeout must be a number of seconds above 0"),
        ({"TIMEOUT": "0"}, "symm.errors.ArgumentError: symm.init: timeout must be a number of seconds above 0"),
        ({"HEAP_SIZE": str(1 << 70)}, BYTES),
        ({"HEAP_SIZE": str(1 << 41)}, "symm.errors.ArgumentError: symm.init: a heap of 2199023255552 bytes: its size"),
        ({"HEAP_SIZE": "4096"}, "symm.errors.ArgumentError: symm.init: a heap of 4096 bytes: its size (heap_size"),
        ({"WORLD_SIZE": "four"}, "symm.errors.BootstrapError: environment variable WORLD_SIZE"),
        ({"WORLD_SIZE": "129"}, "symm.errors.BootstrapError: environment variable WORLD_SIZE is 129, and a run has 1"),
        ({}, "this rank has left the run"),
        ({"TIMEOUT": "inf"}, "this rank has left the run"),
        ({"TIMEOUT": "1e300"}, "this rank has left the run"),
    ],
)
def test_wrong_start_is_said(environment, message):
    [(output, status)] = outputs(start("start.py", 1, **environment))
    assert status == 1
    assert message in output.splitlines()[-1], output


def test_a_gpu_that_is_not_the_ranks_is_said():
    assert [gpu_of(rank, 2, wanted) for rank, wanted in ((0, None), (3, None), (0, 0), (3, 1))] == [0, 1, 0, 1]
    with pytest.raises(symm.errors.ArgumentError, match="rank 3 uses GPU 1 of 2, not 0: leave out the number"):
        gpu_of(3, 2, 0)


def test_heap_on_the_cpu_is_said():
    for interpreted, said in (("1", False), ("0", True)):
        [(output, _)] = outputs(start("start.py", 1, TRITON_INTERPRET=interpreted))
        warned = "start.py:11: SymmWarning: torch finds no GPU, so the heap is on the CPU: kernels run" in output
        assert warned == said, output


OLD_DRIVER = """
int cuInit(unsigned flags) { return 0; }
int cuDriverGetVersion(int *version) { return *version = 11080, 0; }
int cuDeviceGetCount(int *count) { return *count = 1, 0; }
"""


def test_a_driver_that_is_too_old_is_said(tmp_path):
    library = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", tmp_path / "libcuda.so"]
    subprocess.run(library, input=OLD_DRIVER, text=True, check=True)
    shutil.copy(tmp_path / "libcuda.so", tmp_path / "libcuda.so.1")
    [(output, status)] = outputs(start("start.py", 1, DEVICE="cuda", LD_LIBRARY_PATH=str(tmp_path)))
    assert status == 1
    message = "the driver is for CUDA 11.8, which is too old: install one for CUDA 12.0 or later"
    assert "symm.errors.BootstrapError: " in output.splitlines()[-1], output
    assert message in output.splitlines()[-1], output


def test_ranks_that_differ_are_told():
    run = uuid.uuid4().hex
    sizes = [{"HEAP_SIZE": str(size << 20)} for size in (16, 32)]
    both = [start("start.py", 2, only=[rank], TORCHELASTIC_RUN_ID=run, **own) for rank, own in enumerate(sizes)]
    told = [output for output, _ in outputs(sum(both, []))]
    assert all("the heap's size is 33554432 on rank 1 and 16777216 on rank 0" in output for output in told), told


DISAGREEING = (
    ({"SYMM_DOMAIN": "1"}, {"SYMM_DOMAIN": "2"}, "the domain is 2 on rank 1 and 1 on rank 0"),
    ({"SYMM_DOMAIN": "1"}, {}, "the domain is not given on rank 1 and 1 on rank 0"),
    ({"SYMM_ENGINE": "nvshmem"}, {}, "rank 0 could not join the run: symm.init: no engine reaches ranks on the CPU"),
    ({}, {"SYMM_ENGINE": "a"}, "rank 1 could not join the run: symm.init: SYMM_ENGINE must be 'nvshmem', or unset"),
)


@pytest.mark.parametrize(("first", "second", "said"), DISAGREEING)
def test_ranks_that_disagree_on_the_engine_are_told_at_once(first, second, said):
    run = uuid.uuid4().hex
    told = {"TORCHELASTIC_RUN_ID": run, "TIMEOUT": "60"}
    both = [start("start.py", 2, only=[rank], **told, **own) for rank, own in enumerate((first, second))]
    begin = time.monotonic()
    for (output, status), own in zip(outputs(sum(both, [])), (first, second)):
        # Who is wrong alone says so without the words for the others.
        assert status == 1 and (said if own.get("SYMM_ENGINE") is None else said.split("run: ")[1]) in output, output
    # Not after the time that ranks wait for each other.
    assert time.monotonic() - begin < 45


def test_absent_rank_is_named():
    [(output, status)] = outputs(start("wrong.py", 2, only=[0], TIMEOUT="3"))
    assert status == 1
    assert "BootstrapError: rank 1 did not join within 3s" in output, output
    assert output.rstrip().endswith("or give a longer timeout"), output
