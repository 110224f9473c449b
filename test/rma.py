"""Checks the cases of rma.txt with symm-check: those that race have to be reported, and the others not.

`%rma` of the lit suites. The cases are those of RMARaceBench for OpenSHMEM, written anew with the dialect's ops: a
heading is the folder and number of the case there, whether it races, and how many threads a rank has; then come the
lines of the actors, each a rank, or a rank and one of its threads. `--show NAME` prints the program of a case.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = Path(__file__).with_suffix(".txt")
BOX, STRIDED, WORD = "memref<4xi32>", "memref<2xi32, strided<[2]>>", "memref<1xi32>"
ATOMIC = "symm.atomic_rmw {kind} %ctx, %{1}[%c0], %{value}, %r{2} sem relaxed : " + f"{BOX}, i32"
# Row by row: what the table says, and the ops; {n} is the line's number in the program.
OPS = [
    (r"read (\w)", f"%v{{n}} = memref.load %{{1}}[%c0] : {BOX}\nmemref.store %v{{n}}, %got[%thread] : {BOX}"),
    (r"write (\w)", f"memref.store %new{{n}}, %{{1}}[%c0] : {BOX}"),
    (r"end (\w)", f"memref.store %new{{n}}, %{{1}}[%c3] : {BOX}"),
    (
        r"load (\w) @(\d)",
        f"%v{{n}} = symm.remote_load %ctx, %{{1}}[%c0], %r{{2}} : {BOX} -> i32\n"
        f"memref.store %v{{n}}, %got[%thread] : {BOX}",
    ),
    (r"store (\w) @(\d)", f"symm.remote_store %ctx, %{{1}}[%c0], %new{{n}}, %r{{2}} : {BOX}, i32"),
    (r"(put|get) (\w) (\w) @(\d)", f"symm.{{1}} %ctx, %{{2}}, %{{3}}, %r{{4}} : {BOX}, {BOX}"),
    (
        r"i(put|get) (\w) (\w) @(\d)",
        f"%from{{n}} = memref.subview %{{2}}[0] [2] [2] : {BOX} to {STRIDED}\n"
        f"%to{{n}} = memref.subview %{{3}}[0] [2] [2] : {BOX} to {STRIDED}\n"
        f"symm.{{1}} %ctx, %from{{n}}, %to{{n}}, %r{{4}} : {STRIDED}, {STRIDED}",
    ),
    (
        r"put_signal (\w) (\w) (\w) @(\d)",
        f"symm.put_signal set %ctx, %{{1}}, %{{2}}, %{{3}}[%c0], %one, %r{{4}} : {BOX}, {BOX}, {WORD}, i32",
    ),
    (r"fetch (\w) @(\d)", f"%v{{n}} = {ATOMIC}", {"kind": "add", "value": "zero"}),
    (r"add (\w) @(\d)", f"%v{{n}} = {ATOMIC}", {"kind": "add", "value": "one"}),
    (r"set (\w) @(\d)", f"%v{{n}} = {ATOMIC}", {"kind": "xchg", "value": "new{n}"}),
    (r"cas (\w) @(\d)", f"%v{{n}} = symm.atomic_cas %ctx, %{{1}}[%c0], %zero, %one, %r{{2}} sem relaxed : {BOX}, i32"),
    (
        r"wide (\w) @(\d)",
        f"%i{{n}} = memref.extract_aligned_pointer_as_index %{{1}} : {BOX} -> index\n"
        "%w{n} = arith.index_cast %i{n} : index to i64\n%p{n} = llvm.inttoptr %w{n} : i64 to !llvm.ptr\n"
        "%v{n} = symm.atomic_rmw add %ctx, %p{n}, %wide, %r{2} sem relaxed : !llvm.ptr, i64",
    ),
    (r"signal (\w) @(\d)( sem \w+)?", f"symm.signal set %ctx, %{{1}}[%c0], %one, %r{{2}}{{3}} : {WORD}, i32"),
    (r"wait (\w)( sem \w+)?", f"symm.wait %ctx, %{{1}}[%c0] eq %one{{2}} : {WORD}, i32"),
    (r"fence (\w+)", "symm.fence sem {1}"),
    (r"barrier", "symm.barrier %ctx group block"),
    (r"meet", "gpu.barrier"),
    (
        r"lock",
        "scf.while : () -> () {{\n"
        f"  %was{{n}} = symm.atomic_cas %ctx, %f[%c0], %zero, %one, %r0 : {WORD}, i32\n"
        "  %busy{n} = arith.cmpi ne, %was{n}, %zero : i32\n  scf.condition(%busy{n})\n}} do {{\n  scf.yield\n}}",
    ),
    (r"unlock", f"symm.signal set %ctx, %f[%c0], %zero, %r0 : {WORD}, i32"),
    (r"deep read (\w)", f"func.call @deep(%{{1}}, %got) : ({BOX}, {BOX}) -> ()"),
    (r"deep write (\w)", f"func.call @change(%{{1}}, %got) : ({BOX}, {BOX}) -> ()"),
    (
        r"other read (\w)",
        f"%o{{n}} = func.call @same(%{{1}}) : ({BOX}) -> {BOX}\n%v{{n}} = memref.load %o{{n}}[%c0] : {BOX}\n"
        f"memref.store %v{{n}}, %got[%thread] : {BOX}",
    ),
    (
        r"alias read (\w)",
        f"%a{{n}} = memref.subview %{{1}}[0] [2] [1] : {BOX} to memref<2xi32>\n"
        f"%v{{n}} = memref.load %a{{n}}[%c0] : memref<2xi32>\nmemref.store %v{{n}}, %got[%thread] : {BOX}",
    ),
]
PROGRAM = """
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @race(%ctx: !symm.ctx, %x: {box}, %y: {box}, %z: {box}, %f: {word}, %g: {word}, %got: {box}) kernel {{
{constants}
      %me = symm.rank %ctx
      %thread = gpu.thread_id x
      %rank = arith.index_cast %me : i32 to index
      %first = arith.muli %rank, %c4 : index
      %actor = arith.addi %first, %thread : index
      scf.index_switch %actor
{actors}
      default {{
      }}
      gpu.return
    }}
    func.func private @deep(%x: {box}, %got: {box}) {{
      func.call @deeper(%x, %got) : ({box}, {box}) -> ()
      return
    }}
    func.func private @deeper(%x: {box}, %got: {box}) {{
      %c0 = arith.constant 0 : index
      %v = memref.load %x[%c0] : {box}
      memref.store %v, %got[%c0] : {box}
      return
    }}
    func.func private @change(%x: {box}, %got: {box}) {{
      %c0 = arith.constant 0 : index
      %new = arith.constant 7 : i32
      memref.store %new, %x[%c0] : {box}
      return
    }}
    func.func private @same(%x: {box}) -> {box} {{
      return %x : {box}
    }}
  }}
  func.func @main(%ctx: !symm.ctx) {{
    %c1 = arith.constant 1 : index
    %threads = arith.constant {threads} : index
    %x = symm.alloc %ctx : {box}
    %y = symm.alloc %ctx : {box}
    %z = symm.alloc %ctx : {box}
    %f = symm.alloc %ctx : {word}
    %g = symm.alloc %ctx : {word}
    %got = symm.alloc %ctx : {box}
    gpu.launch_func @kernels::@race blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
      args(%ctx : !symm.ctx, %x : {box}, %y : {box}, %z : {box}, %f : {word}, %g : {word}, %got : {box})
    return
  }}
}}
"""


def cases():
    """The name of each case, whether it races, the threads of a rank, and its actors' lines."""
    blocks = re.split(r"^(?=\w+ \d)", TABLE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    for block in blocks:
        title, *lines = [line for line in block.splitlines() if line and not line.startswith("//")]
        name, verdict, *threads = title.split(": ")[0].split(" | ")
        yield name, verdict == "yes", int(threads[0].split()[0]) if threads else 1, lines


def program(threads, lines):
    """The text of a case."""
    actors, count = {}, 0
    for line in lines:
        who, ops = re.fullmatch(r"  (\d(?:\.\d)?): (.*)", line).groups()
        rank, _, thread = who.partition(".")
        for op in ops.split("; "):
            actors.setdefault(4 * int(rank) + int(thread or 0), []).append(op_of(op, count))
            count += 1
    text = "\n".join(f"case {at} {{\n" + "\n".join(ops) + "\nscf.yield\n}" for at, ops in actors.items())
    index = [f"%c{n} = arith.constant {n} : index" for n in (0, 3, 4)]
    values = [("zero", 0), ("one", 1), *((f"r{n}", n) for n in range(3)), *((f"new{n}", n + 2) for n in range(count))]
    words = [f"%{name} = arith.constant {value} : i32" for name, value in values]
    constants = "\n".join([*index, *words, "%wide = arith.constant 1 : i64"])
    return PROGRAM.format(box=BOX, word=WORD, constants=constants, actors=text, threads=threads)


def op_of(text, number):
    for row, op, *names in OPS:
        if match := re.fullmatch(row, text):
            more = {name: value.format(n=number) for name, value in (names[0] if names else {}).items()}
            return op.format("", *(group or "" for group in match.groups()), n=number, **more)
    return sys.exit(f"{TABLE.name}: not an op: '{text}'")


def check(options, case, folder):
    """Whether a case is reported."""
    name, _, threads, lines = case
    path = Path(folder) / (name.replace(" ", "-") + ".mlir")
    path.write_text(program(threads, lines), encoding="utf-8")
    ranks = 1 + max(int(line.strip()[0]) for line in lines)
    command = [options.bin / "symm-check", path, "--ranks", max(ranks, 2), "--as-written", "--schedules", "5"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode > 1:
        sys.exit(f"{name}: {done.stdout}{done.stderr}")
    return done.returncode == 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=Path, default=ROOT / "target/release")
    parser.add_argument("--show", help="print the program of this case")
    options = parser.parse_args()

    known = list(cases())
    for name, _, threads, lines in known:
        if name == options.show:
            print(program(threads, lines))
            return 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(max_workers=2) as pool:
        reported = list(pool.map(lambda case: check(options, case, folder), known))
    table = {}
    for (name, races, *_), is_reported in zip(known, reported, strict=True):
        outcome = ("missed" if races else "right") if not is_reported else ("found" if races else "false alarm")
        table.setdefault(name.split()[0], Counter())[outcome] += 1
        if races != is_reported:
            print(f"{name}: {outcome}")
    for folder, counts in table.items():
        print(f"{folder}: {counts['found']} found, {counts['missed']} missed, {counts['right']} right, "
              f"{counts['false alarm']} false alarms")
    wrong = sum(races != is_reported for (_, races, *_), is_reported in zip(known, reported, strict=True))
    print(f"{len(known) - wrong} of {len(known)} cases are right")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
