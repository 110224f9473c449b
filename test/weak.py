"""Checks each variant of the weak litmus tests with symm-check: in some execution its outcome shows.

`%weak` of the lit suites. A variant is played once, each actor by one thread of a rank of its own, in all executions
that differ; a check of the program fails where the outcome shows. Prints a line for each variant, with the schedule
that shows it; fails where the report is another one, or the schedule does not show it again.
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
PLACES = ("x", "y", "z", "f", "g")
PROGRAM = """
!places = memref<1x1xi32>
!wide = memref<1x1xi64>
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
      %e = arith.constant 1 : i32
      %home = arith.constant 0 : i32
      %r1 = arith.constant 1 : i32
      %r2 = arith.constant 2 : i32
      %r3 = arith.constant 3 : i32
      %me = symm.rank %ctx
      %actor = arith.index_cast %me : i32 to index
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
    %zero = arith.constant 0 : i32
{allocs}
    %out = symm.alloc %ctx : !outcomes
    gpu.launch_func @kernels::@play blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
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
        ops = [op for who, _, each in steps if who == actor for op in each]
        cases += f"case {actor} {{\n" + litmus.indent("\n".join(ops), 2) + "  scf.yield\n}\n"
        wanted = table.outcome[actor]
        looks += f"%k{actor} = arith.constant {actor} : index\n%want{actor} = arith.constant {wanted} : i32\n"
        looks += f"%r{actor} = memref.load %outs[%k{actor}, %c0, %c0] : !outcomes\n"
        looks += f"%is{actor} = arith.cmpi ne, %r{actor}, %want{actor} : i32\n"
        looks += f"%differs{actor + 1} = arith.ori %differs{actor}, %is{actor} : i1\n"
    return PROGRAM.format(
        actors=table.actors,
        title=f"{table.name}, {title}",
        outcome=table.outcome,
        arguments=", ".join(f"%{place}: !places" for place in PLACES),
        given=", ".join(f"%{place} : !places" for place in PLACES),
        allocs=litmus.indent("\n".join(f"%{place} = symm.alloc %ctx : !places" for place in PLACES), 4).rstrip(),
        cases=litmus.indent(cases, 6).rstrip(),
        looks=litmus.indent(looks, 6).rstrip(),
    )


def check(options, table, title, steps, folder):
    """What symm-check says of a variant, in a line; and the whole of it, where that is not what it is to say."""
    path = Path(folder) / "variant.mlir"
    path.write_text(program(table, title, steps), encoding="utf-8")
    said, status = run(options, path, table, "--exhaustive")
    name = f"{table.path.name}, {title}"
    if table.name in NOT_SHOWN:
        line = f"{name}: nothing found"
        return line, None if status == 0 and said.startswith("symm-check: nothing found; ") else said
    shown = re.search(rf" error: failed-check\n.*: the outcome {table.outcome} shows\n", said)
    replay = re.search(r"^  again: --replay '(.*)'$", said, re.MULTILINE)
    if status != 1 or not shown or not replay or "; there are no others that differ" not in said:
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
        for path in sorted((ROOT / "test/litmus").glob("*_weak.litmus")):
            table = litmus.Table(path)
            for title, _, steps in table.variants:
                line, wrong = check(options, table, title, steps, folder)
                print(line if wrong is None else f"not what is expected: {line}\n{wrong}")
                failed += wrong is not None
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
