"""Kernels whose far peers an engine reaches: for a near peer what they are without it, for a far one calls (N1 to N4).

NVSHMEM need not be installed: a stand-in for its device library has the functions that are called.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

import far_kernels
import pytest
import triton.language as tl
from compiling import TARGETS, VERSION, compile_for, machine_text
from ptx_flow import Flow
from symm import ArgumentError, CompileError, EngineError, SymmError, _engine, _places, _symm
from symm.comm.kernels_exchange import exchange
from symm.comm.kernels_two_shot import two_shot
from test_comm_kernels import compiled as of_collectives
from test_comm_kernels import of_bytes

HERE = Path(__file__).parent
CLANG = Path(os.environ.get("LLVM_SYS_221_PREFIX", "/usr/lib/llvm-22")) / "bin/clang"
FLAGS = "--target=nvptx64-nvidia-cuda -march=sm_70 -Xclang -target-feature -Xclang +ptx60"
FLAGS += " -O1 -ffreestanding -emit-llvm -c"

TABLE, NUMBERS, FLAG, RANK = {"table": "*i64"}, {"p": "*fp32", "q": "*fp32"}, {"flag": "*i32"}, {"r": "i32"}
INTEGERS = {"p": "*i32", "q": "*i32"}
# The arguments of each kernel, its constants, and what it has the engine do.
KERNELS = {
    "store": (TABLE | {"p": "*fp32"} | RANK, {"BLOCK": 128}, {"p", "quiet"}),
    "load": (TABLE | NUMBERS | RANK, {"BLOCK": 128}, {"g"}),
    "scalars": (TABLE | INTEGERS | RANK, {}, {"p", "quiet", "g"}),
    "put": (TABLE | NUMBERS | RANK, {"BLOCK": 128}, {"putmem", "p", "quiet"}),
    "put_strided": (TABLE | INTEGERS | RANK | {"step": "i32"}, {"BLOCK": 128}, {"putmem", "p", "quiet"}),
    "get": (TABLE | NUMBERS | RANK, {"BLOCK": 32}, {"getmem", "g"}),
    "copy": (TABLE | NUMBERS | {"r": "i32", "to": "i32"}, {"BLOCK": 128}, {"g", "p", "quiet"}),
    "signal": (TABLE | FLAG | RANK, {}, {"swap", "add", "quiet"}),
    "put_signal": (TABLE | NUMBERS | FLAG | RANK, {"BLOCK": 128}, {"putmem", "p", "quiet", "swap"}),
    "each": (TABLE | INTEGERS, {"BLOCK": 8}, {"p", "quiet", "g", "add"}),
    "signal_each": (TABLE | FLAG, {"BLOCK": 8}, {"swap", "quiet"}),
    "atomics": (TABLE | INTEGERS | RANK, {"BLOCK": 32}, {"add", "fetch", "compare_swap", "quiet"}),
    "sums": (TABLE | {"p": "*bf16"} | RANK, {"BLOCK": 32}, {"fetch", "compare_swap", "quiet"}),
    "kinds": (TABLE | INTEGERS | RANK, {}, {"fetch", "compare_swap", "swap", "add", "quiet"}),
    "swap": (TABLE | INTEGERS | RANK, {}, {"compare_swap", "quiet"}),
    "packet": (TABLE | {"slots": "*i64"} | RANK, {"BLOCK": 32}, {"p", "quiet"}),
    "meet": (TABLE, {}, {"signal", "quiet"}),
    "put_signal_and_read": (
        TABLE | NUMBERS | FLAG | {"seen": "*fp32"} | RANK,
        {"BLOCK": 128},
        {"putmem", "p", "quiet", "swap"},
    ),
    "packet_and_read": (TABLE | {"slots": "*i64", "seen": "*i32"} | RANK, {"BLOCK": 32}, {"p", "quiet"}),
    "messages": (
        TABLE | INTEGERS | dict.fromkeys(("flag", "credit"), "*i64") | {"wrong": "*i32"}
        | dict.fromkeys(("r", "sender", "first", "count"), "i32"), {"BLOCK": 128}, {"putmem", "p", "quiet", "signal"},
    ),
    "put_blocks": (TABLE | INTEGERS | RANK | {"blocks": "i32"}, {"BLOCK": 8192}, {"putmem", "p", "quiet"}),
    "reach": (TABLE | {"q": "*i32"} | RANK, {}, set()),
    "asks_before": (TABLE | INTEGERS | RANK, {}, {"g"}),
    "to_each": (
        TABLE | INTEGERS | {"counts": "*i32"}, {"BLOCK": 8}, {"p", "quiet", "g", "add", "swap", "signal"},
    ),
}


@pytest.fixture(scope="session")
def device_library(tmp_path_factory):
    target = tmp_path_factory.mktemp("nvshmem") / "libnvshmem_device.bc"
    subprocess.run([CLANG, *FLAGS.split(), HERE / "stand_in/nvshmem_device.c", "-o", target], check=True)
    return target


@pytest.fixture
def engine(device_library, monkeypatch):
    """Kernels have NVSHMEM."""
    monkeypatch.setenv(_engine.BITCODE, str(device_library))
    monkeypatch.setattr(_engine.Current, "name", _engine.NAME)


def compiled(name, target="sm_90"):
    signature, constants, _ = KERNELS[name]
    return compile_for(target, getattr(far_kernels, name), signature, **constants)


def kernel_of(ptx):
    """A kernel's own instructions, without locations and labels' numbers."""
    body = ptx[ptx.index(".entry") :]
    lines = body[: body.index("\n}")].splitlines()
    return [line.strip() for line in lines if not line.lstrip().startswith((".loc", "//", "$L"))]


@pytest.mark.parametrize("name", KERNELS)
def test_far_peers_are_called_for(name, engine):
    start = time.process_time()
    ptx = machine_text(compiled(name))
    assert time.process_time() - start < 10
    called, expected = set(re.findall("// engine: ([a-z_]+)", ptx)), KERNELS[name][2]
    # LLVM may see that a block is contiguous, and drop the way by elements.
    assert expected - called <= ({"p"} if "putmem" in expected else set()) and called <= expected
    # The driver of the host finds the state by its name.
    assert bool(re.search(r"\.visible \.const.* nvshmemi_device_state_d", ptx)) == bool(KERNELS[name][2])


@pytest.mark.parametrize("name", KERNELS)
def test_near_peers_are_accessed_as_without_an_engine(name, engine, monkeypatch):
    with_engine = machine_text(compiled(name))
    monkeypatch.setattr(_engine.Current, "name", "")
    without = machine_text(compiled(name))
    access = r"(?:ld|st|atom|fence)\.[\w.]+"
    mine, theirs = (re.findall(access, "\n".join(kernel_of(text))) for text in (with_engine, without))
    for each in set(theirs) - {"ld.param.b32", "ld.param.b64"}:
        assert mine.count(each) >= theirs.count(each), each


@pytest.mark.parametrize("kernel", [exchange, two_shot])
def test_collectives_put_whole_pieces_between_domains(kernel, engine):
    """Each element would be a message of its own."""
    for far in (True, False):
        settings = {"SHAPE": "all", "OP": "sum", "ACC": tl.float32, "FAR": far, **of_bytes(4)}
        ptx = machine_text(of_collectives("sm_90", kernel, "fp32", **settings))
        assert ("// engine: putmem" in ptx) == far


@pytest.mark.parametrize("name", KERNELS)
def test_the_table_says_what_number_the_engine_has_for_a_rank(name, engine):
    """A team has other numbers."""
    calls = list(Flow(machine_text(compiled(name))).called_with())
    assert bool(calls) == bool(KERNELS[name][2])
    for call, sources in calls:
        # One of a block's numbers may come through memory that threads share.
        assert "table" in sources and sources <= {"table", "memory"}, call


@pytest.mark.parametrize("engine_of_world", [None, _engine.NAME])
def test_the_words_of_a_teams_table(engine_of_world):
    """The engine's numbers are the World's; the sign says that a rank is near."""
    reaches = [0, 1 - 2**63, 2 - 2**63, 3]
    world = mock.Mock(engine=engine_of_world, _reaches=reaches, **{"get_num_ranks.return_value": 4})
    world.get_rank.return_value = 2
    more = [0] * _symm.TABLE_REACH + [3, 2 - 2**63] if engine_of_world else []
    assert _places.table_of_team(world, 1, (3, 2), [300, 200]) == [1, 2, 300, 200, *more]
    assert _places.near(world, None) == ([False, True, True, False] if engine_of_world else [True] * 4)


@pytest.mark.parametrize("variable", [None, "NVSHMEM_IB_ENABLE_IBGDA", "NVSHMEM_GPUNETIO_ENABLE_GDAKI"])
def test_what_sends_from_the_gpu_is_there_where_it_is_asked_for(variable, engine, monkeypatch):
    """It is most of NVSHMEM's code; a kernel without it ends where it is needed."""
    told = dict.fromkeys(("NVSHMEM_IB_ENABLE_IBGDA", "NVSHMEM_GPUNETIO_ENABLE_GDAKI"), "0")
    for name, value in (told | ({variable: "1"} if variable else {})).items():
        monkeypatch.setenv(name, value)
    ptx = machine_text(compiled("store"))
    states = {f"nvshmemi_{name}_device_state_d" for name in ("ibgda", "gpunetio")}
    if variable:
        assert {"ibgda", "gpunetio"} <= set(re.findall("// engine: ([a-z_]+)", ptx))
        # The driver of the host finds the states by their names.
        assert all(re.search(rf"\.visible \.const.* {state}", ptx) for state in states)
    else:
        assert "engine: ibgda" not in ptx and "engine: gpunetio" not in ptx
        assert "__assertfail" in ptx


@pytest.mark.parametrize(
    ("name", "called", "line"),
    [
        ("loads_from_a_far_rank", "tl.load", "values = tl.load(theirs, mask=at < 20)"),
        ("adds_to_a_far_rank", "tl.atomic", "tl.atomic_add(st.as_remote(table, p, r), 1)"),
        ("stores_to_a_far_rank", "tl.store", "tl.store(st.as_remote(table, p, r), 1)"),
    ],
)
def test_an_access_where_a_rank_is_known_to_be_far(name, called, line, engine, monkeypatch):
    signature = TABLE | INTEGERS | RANK if name.startswith("loads") else TABLE | {"p": "*i32"} | RANK
    with pytest.raises(CompileError) as error:
        compile_for("sm_90", getattr(far_kernels, name), signature)
    said = f"{called}: S1: an access through as_remote of a rank that is far here, as is_near says (N4)"
    assert said in str(error.value) and line in str(error.value)
    # Without an engine no rank is far.
    monkeypatch.setattr(_engine.Current, "name", "")
    compile_for("sm_90", getattr(far_kernels, name), signature)


def test_without_an_engine_nothing_is_linked():
    made = compiled("signal")
    assert "nvshmem" not in machine_text(made)
    assert not hasattr(made.metadata, _engine.LINKED)


@pytest.mark.parametrize("name", [_engine.NAME, ""])
def test_the_page_compiles_with_the_engine_and_without_a_gpu(name, device_library, tmp_path):
    page = (HERE.parents[1] / "docs/nodes.md").read_text()
    [block] = page.split("```py\n")[1:]
    (tmp_path / "far.py").write_text(block.split("```")[0])
    environment = os.environ | {_engine.ENGINE: name, _engine.BITCODE: str(device_library)}
    environment.pop("TRITON_INTERPRET", None)
    run = [sys.executable, tmp_path / "far.py"]
    done = subprocess.run(run, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert ".target sm_90" in done.stdout and "atom.global.sys" in done.stdout, done.stdout
    assert ("engine: putmem" in done.stdout) == bool(name)
    wrong = subprocess.run(run, env=environment | {_engine.ENGINE: "nvshmen"}, capture_output=True, text=True)
    assert "EngineError: SYMM_ENGINE must be 'nvshmem', or unset, not 'nvshmen'" in wrong.stderr, wrong.stderr


def test_kernels_say_what_they_are_linked_with(engine):
    assert getattr(compiled("signal").metadata, _engine.LINKED) == _engine.NAME


def test_amd_gpus_have_no_engine(engine):
    with pytest.raises(CompileError, match="S1: needs the engine \"nvshmem\", which Triton kernels for .* do not have"):
        compiled("signal", "gfx942")


def test_a_device_library_that_is_none(tmp_path, monkeypatch):
    file = tmp_path / "device.bc"
    file.write_bytes(b"no bitcode")
    monkeypatch.setenv(_engine.BITCODE, str(file))
    what = r"this is no device library of NVSHMEM that LLVM 22 can read \(it is not bitcode.*\)"
    mend = f"name libnvshmem_device.bc of NVSHMEM 3.4 or later in {_engine.BITCODE}"
    with pytest.raises(EngineError, match=f"{file}: {what}: {mend}"):
        _engine.library(90)


def test_a_library_that_was_kept_and_is_damaged_is_made_again(engine):
    kept = Path(_engine.library(90))
    whole = kept.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"no bitcode", b""):
        kept.write_bytes(damaged)
        _engine._library.cache_clear()
        assert Path(_engine.library(90)) == kept and kept.read_bytes() == whole


def test_a_device_library_that_lacks_a_function(tmp_path, device_library, monkeypatch):
    text = (HERE / "stand_in/nvshmem_device.c").read_text()
    source = tmp_path / "old.c"
    source.write_text(text.replace("nvshmem_quiet(", "nvshmem_loud("))
    subprocess.run([CLANG, *FLAGS.split(), source, "-o", tmp_path / "old.bc"], check=True)
    with pytest.raises(ValueError, match="this device library of NVSHMEM has no 'nvshmem_quiet': it has to be"):
        _symm.far_library((tmp_path / "old.bc").read_bytes())


def test_a_device_library_that_is_not_there(monkeypatch):
    monkeypatch.setenv(_engine.BITCODE, "/nowhere/device.bc")
    with pytest.raises(EngineError, match="SYMM_NVSHMEM_BITCODE names /nowhere/device.bc, and there is no such file"):
        _engine.bitcodes()
    monkeypatch.delenv(_engine.BITCODE)
    monkeypatch.setattr(_engine, "WHEEL", "nvidia.nothing")
    with pytest.raises(EngineError, match="install nvidia-nvshmem-cu13"):
        _engine.bitcodes()


def test_the_file_for_a_gpu(tmp_path, monkeypatch):
    lib = tmp_path / "lib"
    lib.mkdir()
    for number in (75, 80, 90, 100):
        (lib / f"libnvshmem_device_sm_{number}.bc").touch()
    monkeypatch.delenv(_engine.BITCODE, raising=False)
    monkeypatch.setattr(_engine, "_folders", lambda: [lib])
    chosen = [Path(_engine.bitcode_for(number)).name for number in (75, 89, 90, 103)]
    assert chosen == [f"libnvshmem_device_sm_{number}.bc" for number in (75, 80, 90, 100)]
    with pytest.raises(EngineError, match="NVSHMEM has no device library for sm_70"):
        _engine.bitcode_for(70)


def test_a_host_library_that_cannot_be_loaded(monkeypatch):
    monkeypatch.setenv(_engine.HOST, "/nowhere/libnvshmem_host.so")
    _engine._host.cache_clear()
    with pytest.raises(EngineError, match="NVSHMEM's library /nowhere/libnvshmem_host.so cannot be loaded"):
        _engine.loaded(0)


@pytest.mark.parametrize("captured", [True, False])
def test_a_module_is_not_initialised_while_a_graph_is_captured(monkeypatch, captured):
    cuda = mock.Mock(is_current_stream_capturing=lambda: captured)
    host = mock.Mock(nvshmemx_cumodule_init=mock.Mock(return_value=7))
    monkeypatch.setattr(_engine, "torch", lambda: mock.Mock(cuda=cuda))
    monkeypatch.setattr(_engine, "_host", lambda: host)
    said = "while a graph is captured: launch the kernel once before" if captured else r"\(status 7\): was the engine"
    with pytest.raises(EngineError, match=said):
        _engine.loaded(0)
    assert host.nvshmemx_cumodule_init.called != captured


def test_an_engine_that_there_is_not():
    with pytest.raises(EngineError, match="there is no engine 'mpi': use 'nvshmem'"):
        _engine.use("mpi")


NO_DOMAIN = r"domain must be a number of ranks from 1 to 2\*\*63 - 1, not {}$"
REFUSED = [
    ({"domain": 0}, "cpu", ArgumentError, NO_DOMAIN.format("0")),
    ({"domain": True}, "cpu", ArgumentError, NO_DOMAIN.format("True")),
    ({"domain": "2"}, "cpu", ArgumentError, NO_DOMAIN.format("'2'")),
    ({"domain": 2}, "cuda", ArgumentError, "domain is for an engine: give engine='nvshmem', too"),
    ({"engine": "mpi"}, "cuda", ArgumentError, "engine must be 'nvshmem' or None, not 'mpi'"),
    ({"engine": _engine.NAME}, "cpu", EngineError, "no engine reaches ranks on the CPU: leave it out"),
    ({"engine": _engine.NAME}, "hip", EngineError, "NVSHMEM is for NVIDIA GPUs, and there is no engine for AMD's yet"),
]


@pytest.mark.parametrize(("what", "device", "error", "said"), REFUSED)
def test_an_engine_or_a_domain_that_cannot_be(what, device, error, said):
    with pytest.raises(error, match=f"symm.init: {said}"):
        _engine.asked(what.get("engine"), what.get("domain"), device)


LAUNCHED = {"RANK": "0", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "1"}


@pytest.mark.parametrize(
    ("variables", "device", "said"),
    [
        ({}, "cuda", "it reaches ranks that are processes, and no launcher .*: start the ranks with torchrun"),
        ({}, "cpu", "it reaches ranks on NVIDIA GPUs only"),
        (LAUNCHED, "cuda", "several hosts, could not meet: environment variable MASTER_ADDR is not set"),
    ],
)
def test_what_an_engine_needs_of_a_launcher(variables, device, said):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMI", "SLURM"))}
    environment = {name: value for name, value in environment.items() if name not in {*LAUNCHED, "MASTER_ADDR"}}
    environment |= variables
    with mock.patch.dict(os.environ, environment, clear=True), pytest.raises(SymmError, match=said):
        _symm.join_run(1 << 24, device, None, "test.py:1", (_engine.NAME, None))


def test_the_environment_says_what_arguments_do_not(monkeypatch):
    monkeypatch.delenv(_engine.ENGINE, raising=False)
    monkeypatch.setenv(_engine.DOMAIN, "2")
    assert _engine.asked(None, None, "cpu") == (None, 2)
    assert _engine.asked(None, 3, "cpu") == (None, 3)
    monkeypatch.setenv(_engine.DOMAIN, "all")
    for wrong in ("all", "0", "-1", "1.5", "²"):
        monkeypatch.setenv(_engine.DOMAIN, wrong)
        said = rf"symm.init: SYMM_DOMAIN must be a number of ranks from 1 to 2\*\*63 - 1, not '?{wrong}'?$"
        with pytest.raises(ArgumentError, match=said):
            _engine.asked(None, None, "cpu")
    monkeypatch.setenv(_engine.DOMAIN, "2")
    with pytest.raises(ArgumentError, match="SYMM_DOMAIN is for an engine: give engine=.*, or set SYMM_ENGINE="):
        _engine.asked(None, None, "cuda")
    monkeypatch.setenv(_engine.ENGINE, "mpi")
    with pytest.raises(ArgumentError, match="symm.init: SYMM_ENGINE must be 'nvshmem', or unset, not 'mpi'"):
        _engine.asked(None, 2, "cuda")
    monkeypatch.setenv(_engine.ENGINE, _engine.NAME)
    with pytest.raises(EngineError, match="no engine reaches ranks on the CPU: unset SYMM_ENGINE; domain=N"):
        _engine.asked(None, 2, "cpu")
    with pytest.raises(EngineError, match=r"there is no engine for AMD's yet \(SYMM_ENGINE is set\)"):
        _engine.asked(None, 2, "hip")
