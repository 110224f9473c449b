"""Checks each variant of the litmus tests with symm-check: the outcome of a weak one shows in some execution, and in
right ones nothing is found.

`%check-litmus` of the lit suites. A variant is played once, each actor by a rank of its own, in all executions that
differ: a weak one by one thread, a right one by two, of a block of this many. A check of the program fails where the
outcome shows. Prints a line for each variant, of weak ones with the schedule that shows it; fails where the report is
another one, or the schedule does not show it again.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import litmus

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 300
# In load buffering reads take effect after the writes that stand after them. Of a compiled program the checker reads
# where the read stands; checker/tests/litmus.rs has these outcomes.
NOT_SHOWN = ("LB",)
PLACES = {"x": "!places", "y": "!places", "z": "!places", "f": "!places", "g": "!places", "f64": "!wide"}
ALL = "; there are no others that differ"
PROGRAM = """
!places = memref<1x64xi32>
!wide = memref<1x64xi64>
!row = memref<64xi32, strided<[1], offset: ?>>
!word = memref<1xi32, strided<[1], offset: ?>>
!outcomes = memref<{actors}x1x1xi32>

module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @play(%ctx: !symm.ctx, {arguments}, %out: !outcomes) kernel {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %inst = arith.constant 0 : index
      %i = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %e_old = arith.constant 0 : i32
      %e = arith.constant 1 : i32
      %e_wide = arith.constant 1 : i64
      %one = arith.constant 1 : i32
      %one_wide = arith.constant 1 : i64
      %brief = arith.constant 2000 : i64
      %r1 = arith.constant 1 : i32
      %r2 = arith.constant 2 : i32
      %r3 = arith.constant 3 : i32
      %thread = gpu.thread_id x
      %threads = gpu.block_dim x
      %end = arith.subi %threads, %c1 : index
      %is_first = arith.cmpi eq, %thread, %c0 : index
      %is_last = arith.cmpi eq, %thread, %end : index
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %next = arith.addi %me, %one : i32
      %right = arith.remui %next, %n : i32
      %home = arith.addi {home}, %e_old : i32
      %actor = arith.index_cast {actor} : i32 to index
      scf.index_switch %actor
{cases}
      default {{
      }}
      gpu.return
    }}
  }}

  func.func @main(%ctx: !symm.ctx) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %threads = arith.constant {threads} : index
    %zero = arith.constant 0 : i32
{allocs}
    %out = symm.alloc %ctx : !outcomes
    gpu.launch_func @kernels::@play blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
      args(%ctx : !symm.ctx, {given}, %out : !outcomes)
    symm.barrier_all %ctx
    %me = symm.rank %ctx
    %is_home = arith.cmpi eq, %me, %zero : i32
    scf.if %is_home {{
      %outs = memref.alloc() : !outcomes
      gpu.memcpy %outs, %out : !outcomes, !outcomes
      %other = arith.constant false
{looks}
      symm.check %differs{actors}, "{title}: the outcome {outcome} shows"
      memref.dealloc %outs : !outcomes
    }}
    return
  }}
}}
"""


def program(table, title, steps):
    """One variant, played once."""
    cases, looks = "", "%differs0 = arith.constant false\n"
    for actor in range(table.actors):
        played = ""
        for _, who, ops in (step for step in steps if step[0] == actor):
            text = "\n".join(ops)
            played += text + "\n" if who == "all" else f"scf.if %is_{who} {{\n" + litmus.indent(text, 2) + "}\n"
        cases += f"case {actor} {{\n" + litmus.indent(played, 2) + "  scf.yield\n}\n"
        wanted = table.outcome[actor]
        looks += f"%k{actor} = arith.constant {actor} : index\n%want{actor} = arith.constant {wanted} : i32\n"
        looks += f"%r{actor} = memref.load %outs[%k{actor}, %c0, %c0] : !outcomes\n"
        looks += f"%is{actor} = arith.cmpi ne, %r{actor}, %want{actor} : i32\n"
        looks += f"%differs{actor + 1} = arith.ori %differs{actor}, %is{actor} : i1\n"
    is_everyone = "symm.barrier" in cases
    return PROGRAM.format(
        actors=table.actors,
        title=f"{table.name}, {title}",
        outcome=table.outcome,
        threads=1 if table.is_weak else 2,
        # All ranks come to a barrier: each is the first actor, and its own home.
        home="%me" if is_everyone else "%e_old",
        actor="%e_old" if is_everyone else "%me",
        arguments=", ".join(f"%{place}: {of}" for place, of in PLACES.items()),
        given=", ".join(f"%{place} : {of}" for place, of in PLACES.items()),
        allocs="\n".join(f"    %{place} = symm.alloc %ctx : {of}" for place, of in PLACES.items()),
        cases=litmus.indent(cases, 6).rstrip(),
        looks=litmus.indent(looks, 6).rstrip(),
    )


def check(options, table, title, steps, folder):
    """What symm-check says of a variant, in a line; and the whole of it, where that is not what it is to say."""
    path = Path(folder) / "variant.mlir"
    path.write_text(program(table, title, steps), encoding="utf-8")
    said, status = run(options, path, table, "--exhaustive")
    name = f"{table.path.name}, {title}"
    if table.name in NOT_SHOWN or not table.is_weak:
        is_so = status == 0 and said.startswith("symm-check: nothing found; ") and ALL in said
        return f"{name}: nothing found", None if is_so else said
    shown = re.search(rf" error: failed-check\n.*: the outcome {table.outcome} shows\n", said)
    replay = re.search(r"^  again: .* --replay '(.*)'$", said, re.MULTILINE)
    if status != 1 or not shown or not replay or ALL not in said:
        return name, said
    again, status = run(options, path, table, "--replay", replay[1])
    return f"{name}: {table.outcome} shows, {replay[1]}", None if status == 1 and shown[0] in again else again


def run(options, path, table, *how):
    command = [options.bin / "symm-check", path, "--as-written", "--ranks", str(table.actors), *how]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    return done.stdout + done.stderr, done.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=Path, default=ROOT / "target/release")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted((ROOT / "test/litmus").glob("*.litmus")):
            table = litmus.LitmusTest(path)
            for title, _, steps in table.variants:
                line, wrong = check(options, table, title, steps, folder)
                print(line if wrong is None else f"not what is expected: {line}\n{wrong}")
                failed += wrong is not None
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
