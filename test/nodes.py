"""Runs programs on ranks that OpenSHMEM reaches: far over TCP, near in shared memory, and in nodes of two ranks.

All programs of conformance, examples and litmus run: with `--long` in all modes, without it one mode after the other,
and a few, which together have every op, in two more. Then two ranks in network namespaces of their own, where this user
may make them. Skips where Open MPI is not installed.
"""

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

import litmus
import namespaces
import slurm

TEST = Path(__file__).parent
# Fails when its argument says so.
CHECK = "test/conformance/check.mlir"
SECONDS_PER_RUN = 120
# The numbers of a rank's part that two nodes send each other: more than all else that launchers and engines say.
WIDTH = 1 << 18

# Those of conformance that have no far peers by what they are: ordinary accesses of a peer's heap, which are faults
# there (N4), contexts from parts (S1), and programs whose checks have to fail.
NEAR_ONLY = {"as_remote", "ctx", "heap_base", "check"}
FEW = ["atomic_rmw", "atomic_rmw_float", "atomic_cas", "barrier", "copy", "packets", "put_signal"]
FEW += ["remote_load_mask", "remote_store_mask", "wait"]

# The transports that UCX may use, the ranks, and those of a node.
SHARED = "self,posix,sysv"
MODES = {
    "far-2": ("tcp,self", 2, None),
    "far-4": ("tcp,self", 4, None),
    "near-2": (SHARED, 2, None),
    "near-4": (SHARED, 4, None),
    "mixed-4": (SHARED + ",tcp", 4, 2),
}
FEW_MODES = ["far-2", "mixed-4"]

# What does not end by itself. Rank 1 waits, and rank 0 works on its own memory: ranks that poll an engine can keep the
# processor from whoever is to kill one of them.
FOREVER = """
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @wait_or_work(%ctx: !symm.ctx, %flag: memref<1xi64>) kernel {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %many = arith.constant 1000000000000 : i64
      %rank_1 = arith.constant 1 : i32
      %me = symm.rank %ctx
      %waits = arith.cmpi eq, %me, %rank_1 : i32
      scf.if %waits {
        symm.wait %ctx, %flag[%c0] eq %one : memref<1xi64>, i64
      } else {
        scf.for %i = %zero to %many step %one : i64 {
          %seen = memref.atomic_rmw maxs %i, %flag[%c0] : (i64, memref<1xi64>) -> i64
        }
      }
      gpu.return
    }
  }
  func.func @main(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %flag = symm.alloc %ctx : memref<1xi64>
    gpu.launch_func @kernels::@wait_or_work blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %flag : memref<1xi64>)
    return
  }
}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, help="the folder of symm-run")
    parser.add_argument("--long", action="store_true", help="all programs in all modes")
    parser.add_argument("--modes", nargs="+", choices=MODES, help="all programs in these modes, and nothing else")
    options = parser.parse_args()
    if not shutil.which("oshrun"):
        print("no oshrun, so nothing runs across nodes here (on Debian: apt-get install openmpi-bin)")
        return
    symm_run = str(Path(options.bin) / "symm-run")
    with tempfile.TemporaryDirectory() as scratch:
        modes = options.modes or MODES
        runs = [(mode, *program) for mode in modes for program in programs(scratch, mode)]
        if not options.long and not options.modes:
            runs = in_turn(runs) + [(mode, *program) for mode in FEW_MODES for program in few(scratch)]
        failures = list(run_all(symm_run, runs))
    checks = {} if options.modes else CHECKS
    failures += [name for name, check in checks.items() if not check(symm_run)]
    for name in failures:
        print(f"failed: {name}")
    sys.exit(1 if failures else 0)


def run_all(symm_run, runs):
    """The names of the runs that fail."""
    passed = 0
    for mode, program, arguments in runs:
        result = start(symm_run, mode, [str(program), "--timeout", str(SECONDS_PER_RUN / 2), *arguments])
        if result.returncode == 0:
            passed += 1
        else:
            print(f"{mode} {program}: exit status {result.returncode}\n{result.stdout}", flush=True)
            yield f"nodes/{mode}/{program.name}"
    print(f"{passed} passed", flush=True)


def in_turn(runs):
    """Of the runs of each program one: the next mode for the next program."""
    of_program = {}
    for run in runs:
        of_program.setdefault(run[1].name, []).append(run)
    return [each[index % len(each)] for index, each in enumerate(of_program.values())]


def few(scratch):
    """Programs that together have every op."""
    passing = litmus.write(TEST / "litmus/mp.litmus", scratch)
    return [(TEST / f"conformance/{name}.mlir", []) for name in FEW] + [(passing, [])]


def programs(scratch, mode):
    """All programs of a mode, each with its arguments."""
    conformance = TEST / "conformance"
    all_near = mode.startswith("near")
    named = sorted(conformance.glob("*.mlir"))
    leave_out = {"check", "ctx"} if all_near else NEAR_ONLY
    found = [(path, []) for path in named if path.stem not in leave_out]
    found += [(litmus.write(path, scratch), []) for path in sorted((TEST / "litmus").glob("*.litmus"))]
    examples = TEST.parent / "examples"
    heat = ["--input", f"image={examples}/data/heat.npy", "--output", f"result={scratch}/heat.npy"]
    special = {"heat": heat, "sharded_matmul": ["--arg", "m=13", "--arg", "k=29", "--arg", "n=17"]}
    return found + [(path, special.get(path.stem, [])) for path in sorted(examples.glob("*.mlir"))]


def command(symm_run, mode, arguments):
    transports, ranks, domain = MODES[mode]
    env = {"UCX_TLS": transports, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    # Ranks share the cores; a launcher of one host needs no way to others.
    env |= {"OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_plm": "isolated", "RUST_BACKTRACE": "0"}
    line = ["oshrun", "-n", str(ranks), symm_run, "--engine", "openshmem", *arguments]
    line += ["--domain", str(domain)] if domain else []
    return {"args": line, "env": os.environ | env, "stdin": subprocess.DEVNULL, "text": True}


def start(symm_run, mode, arguments):
    """What came of a run, with everything that it said."""
    return finish(command(symm_run, mode, arguments))


def finish(how, meanwhile=lambda process: None, seconds=SECONDS_PER_RUN):
    """What came of a run, within a time whatever the launcher does: Open MPI's may wait forever for a rank that ended
    while it was starting."""
    with tempfile.TemporaryFile("w+") as said:
        # Not a pipe, which stays open for as long as any process of the run is left.
        process = subprocess.Popen(**how, stdout=said, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            meanwhile(process)
            process.wait(timeout=seconds)
            late = ""
        except subprocess.TimeoutExpired:
            late = f"\nkilled after {seconds} s"
        for each in processes_of_session(process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        process.wait()
        said.seek(0)
        return subprocess.CompletedProcess(process.args, process.returncode, said.read() + late)


def processes_of_session(session):
    """The processes that a run has started, also those that are in process groups of their own, as ranks are."""
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if int((path / "stat").read_text().rsplit(")", 1)[1].split()[3]) == session:
                yield int(path.name)


def says(result, *texts):
    """Whether a run has failed and said so."""
    missing = [text for text in texts if text not in result.stdout]
    if result.returncode != 0 and not missing:
        return True
    print(f"{result.args}: exit status {result.returncode}, does not say {missing}:\n{result.stdout}", flush=True)
    return False


def a_fault_ends_all(symm_run):
    """An ordinary access of a far peer's heap is a fault (N4), and says whose block it was."""
    result = start(symm_run, "far-2", [str(TEST / "conformance/as_remote.mlir"), "--timeout", "60"])
    return says(result, "of @kernels::write: touched heap+0x", ", which is far (N4): its heap is not mapped")


def a_checked_fault_names_the_rank(symm_run):
    """With checks such an access is reported before it happens; those of symm's ops are right."""
    conformance, checked = TEST / "conformance", ["--check-bounds", "--timeout", "60"]
    right = [start(symm_run, "far-2", [str(conformance / f"{name}.mlir"), *checked]) for name in FEW]
    for result in (result for result in right if result.returncode):
        print(f"{result.args}: exit status {result.returncode}\n{result.stdout}", flush=True)
        return False
    result = start(symm_run, "far-2", [str(conformance / "as_remote.mlir"), *checked])
    return says(result, "an access through symm.as_remote of rank ", "which is far (N4)", "as_remote.mlir:")


def a_time_out_shows_all_ranks(symm_run):
    """What each rank does is in the report of the first one whose time is over."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as program:
        program.write(FOREVER)
        program.flush()
        result = start(symm_run, "far-2", [program.name, "--timeout", "2"])
    report = re.search(r"^symm-run: rank \d: not finished after 2s.*\n((  .*\n)+)", result.stdout, re.M)
    lines = [
        "  rank 0: launch of @kernels::wait_or_work",
        "  rank 0, block (0,0,0) of @kernels::wait_or_work: running for",
        "  rank 1: launch of @kernels::wait_or_work",
        "  rank 1, block (0,0,0) of @kernels::wait_or_work: wait at",
    ]
    result.stdout += "" if report else "\nno rank says in one piece what all do"
    return says(result, *lines) and report is not None and all(line in report[1] for line in lines)


def a_check_that_fails(symm_run):
    """One rank's failed check is the run's."""
    result = start(symm_run, "far-2", [str(TEST.parent / CHECK), "--arg", "wrong=1", "--timeout", "60"])
    return says(result, "check")


def wrong_starts_are_refused(symm_run):
    """What a user may get wrong is one sentence."""
    program, other = (str(TEST / f"conformance/{name}.mlir") for name in ("copy", "barrier"))
    plain = command(symm_run, "near-2", [program])["args"]
    unreadable = command(symm_run, "near-2", ["nowhere.mlir"])["args"][3:]
    too_small = "a heap of 67108864 bytes in the engine's memory: it has less: make the heap smaller, or {} larger"
    small = "SHMEM_SYMMETRIC_SIZE", "SMA_SYMMETRIC_SIZE", "SHMEM_SYMMETRIC_HEAP_SIZE"
    alone, more = plain[3:], [":", "-n", "1"]
    # One that would meet the others as processes do.
    without = [alone[0], program]
    of_other = command(symm_run, "near-2", [other])["args"][3:]
    cases = [
        (alone, {}, "no launcher has started this process as a rank; start the ranks with `oshrun -n RANKS symm-run"),
        (plain, {"SYMM_OPENSHMEM_LIBRARY": "nowhere.so"}, "rank 1: the engine openshmem cannot be used: nowhere.so"),
        (plain, {"SYMM_OPENSHMEM_LIBRARY": "nowhere.so"}, "(nowhere.so: cannot open shared object file: No such file"),
        # As if it were not set: the program is what is wrong.
        (plain + ["--arg", "nothing=1"], {"SYMM_OPENSHMEM_LIBRARY": ""}, "rank 1: --arg nothing: the program takes no"),
        (plain, {"SYMM_OPENSHMEM_LIBRARY": "libm.so.6"}, "libm.so.6 has no shmem_init_thread: it has to be OpenSHMEM"),
        (plain + ["--heap-size", "999999999999"], {}, "ask for smaller ones (--heap-size)"),
        (plain + ["--domain", "1", *more, *alone, "--domain", "2"], {}, "--domain is 2 on rank 2 and 1 on rank 0"),
        (plain + more + of_other, {}, "ranks 2 and 0 do not belong to one run"),
        (plain + more + without, {}, "--engine is not given on rank 2 and openshmem on rank 0"),
        (plain + more + unreadable, {}, "rank 2 could not join the run: nowhere.mlir: No such file or directory"),
        *[(plain, {name: "1M"}, too_small.format(name)) for name in small],
        (plain, {small[0]: "1G", small[2]: "1M"}, too_small.format(small[2])),
        (plain[:3] + without + more + alone, {}, "--engine is openshmem on rank 2 and not given on rank 0"),
    ]
    how = command(symm_run, "near-2", [program])
    return all([says(finish(how | {"args": args, "env": how["env"] | env}), text) for args, env, text in cases])


def mpirun_starts_ranks(symm_run):
    """Open MPI's other launcher does as oshrun does."""
    how = command(symm_run, "near-2", [str(TEST.parent / "examples/ring_all_reduce.mlir"), "--timeout", "60"])
    how["args"][0] = "mpirun"
    result = finish(how)
    if result.returncode:
        print(f"{result.args}: exit status {result.returncode}\n{result.stdout}", flush=True)
    return result.returncode == 0


def srun_starts_ranks(symm_run):
    """Slurm's launcher too, without an engine and with one: a run that is right ends as one, and one that is not
    does not."""
    with slurm.cluster() as environment:
        if environment is None:
            return True
        ring, check = (str(TEST.parent / program) for program in ("examples/ring_all_reduce.mlir", CHECK))
        pmix, far = ["srun", "--mpi=pmix", "--overcommit"], ["--engine", "openshmem"]
        runs = [
            (["srun", "--overcommit", "-n", "2"], [ring], "self,tcp"),
            ([*pmix, "-n", "2"], [ring, *far], "self,tcp"),
            ([*pmix, "-n", "4"], [ring, *far, "--domain", "2"], MODES["mixed-4"][0]),
        ]
        for launcher, arguments, transports in runs * 2:
            env = environment | {"UCX_TLS": transports}
            how = {"args": [*launcher, symm_run, *arguments, "--timeout", "60"], "env": env, "text": True}
            result = finish(how | {"stdin": subprocess.DEVNULL})
            if result.returncode:
                print(f"{result.args}: exit status {result.returncode}\n{result.stdout}", flush=True)
                return False
        print("srun: ranks start, and end", flush=True)
        wrong = [*pmix, "-n", "2", symm_run, check, "--arg", "wrong=1", *far]
        apart = ["srun", "--mpi=none", "-n", "2", symm_run, ring, *far]
        texts = {"check": wrong, "srun has started this process without PMIx; start the ranks with `srun": apart}
        return all([says(finish(how | {"args": args}), text) for text, args in texts.items()])


def a_killed_rank_ends_all(symm_run):
    """A rank that is killed ends the others, and is named; SIGTERM kills it, too, and it says what all wait for."""
    signals = {signal.SIGKILL: ("9 (Killed)",), signal.SIGTERM: ("15 (Terminated)", *waits(1))}
    ended = [ends_by(symm_run, number, "symm rank 1") for number in signals]
    texts = [("process rank 1 ", f"exited on signal {name}", *lines) for name, *lines in signals.values()]
    return all(is_soon and says(result, *said) for (result, is_soon), said in zip(ended, texts, strict=True))


def ctrl_c_says_what_ranks_wait_for(symm_run):
    """A launcher that is interrupted gives its ranks a second before it kills them, here more: others use the cores."""
    with mock.patch.dict(os.environ, OMPI_MCA_odls_base_sigkill_timeout="3"):
        result, is_soon = ends_by(symm_run, signal.SIGINT, None)
    return says(result, "interrupted\n", *waits()[1:]) and is_soon


def waits(rank=0):
    """What a rank says that has been told to end."""
    block = "block (0,0,0) of @kernels::wait_or_work"
    blocks = [f"rank 0, {block}: running for", f"rank 1, {block}: wait at"]
    return [f"symm-run: rank {rank}: interrupted\n", *blocks]


def ends_by(symm_run, number, thread):
    """What came of a run by a signal to the rank of a thread, or to the launcher, and whether it ended long before its
    time was over.
    """
    begun = 0

    def send(process):
        nonlocal begun
        both = {"symm rank 0", "symm rank 1"}
        while process.poll() is None and not both <= (found := ranks_that_run(process.pid)).keys():
            time.sleep(0.05)
        # Until their blocks run, too.
        time.sleep(0.5)
        if process.poll() is None:
            os.kill(found.get(thread, process.pid), number)
        begun = time.monotonic()

    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as program:
        program.write(FOREVER)
        program.flush()
        result = finish(command(symm_run, "far-2", [program.name, "--timeout", "60"]), send)
    # Far below what the program itself may take.
    return result, time.monotonic() - begun < 30


def ranks_that_run(session):
    """The processes of a run's ranks by the names of the threads that run their programs, once these have begun."""
    found = {}
    for process in processes_of_session(session):
        for name in Path(f"/proc/{process}/task").glob("*/comm"):
            with contextlib.suppress(OSError):
                found[name.read_text().strip()] = process
    return found


def ranks_in_two_namespaces(symm_run):
    """What the ranks of two nodes send crosses the cable between them."""
    with namespaces.two_nodes() as nodes:
        if not nodes:
            return True
        program = str(TEST.parent / "examples/ring_all_reduce.mlir")
        how = command(symm_run, "far-2", [program, "--arg", f"width={WIDTH}", "--timeout", "60"])
        how["args"] = nodes.oshrun() + how["args"][1:]
        how["env"]["UCX_NET_DEVICES"] = namespaces.CABLE
        del how["env"]["OMPI_MCA_plm"]
        before = nodes.received()
        result = finish(how)
        crossed = nodes.received() - before
    print(f"two namespaces: {crossed} bytes crossed", flush=True)
    if result.returncode == 0 and crossed > 4 * WIDTH:
        return True
    print(f"two namespaces: exit status {result.returncode}\n{result.stdout}", flush=True)
    return False


CHECKS = {
    "nodes/a_fault_ends_all": a_fault_ends_all,
    "nodes/a_checked_fault_names_the_rank": a_checked_fault_names_the_rank,
    "nodes/a_time_out_shows_all_ranks": a_time_out_shows_all_ranks,
    "nodes/a_check_that_fails": a_check_that_fails,
    "nodes/wrong_starts_are_refused": wrong_starts_are_refused,
    "nodes/mpirun_starts_ranks": mpirun_starts_ranks,
    "nodes/srun_starts_ranks": srun_starts_ranks,
    "nodes/a_killed_rank_ends_all": a_killed_rank_ends_all,
    "nodes/ctrl_c_says_what_ranks_wait_for": ctrl_c_says_what_ranks_wait_for,
    "nodes/ranks_in_two_namespaces": ranks_in_two_namespaces,
}

if __name__ == "__main__":
    main()
