#!/usr/bin/env python3
"""Prints the program of a litmus test, made from its table: `python3 test/litmus.py test/litmus/mp.litmus`.

test/litmus/README.md says how a table is read. What is the same in all programs is test/litmus/template.mlir, in which
`@NAME@` stands for a part that is made here.
"""

import argparse
import re
import sys
from pathlib import Path

TEMPLATE = Path(__file__).parent / "litmus" / "template.mlir"
CLAUSES = r"((?: (?:volatile|sem \w+|group \w+|timeout \w+))*)"
PLACE = "[%inst, %i]"
WIDE = {"f64"}
# Row by row: what a table says, and the op. {1:t} is the type of the place that the first word names, {1:e} its
# elements', {1:b} that of the piece of a place.
OPS = [
    (r"out (\d) (\w+)", "symm.remote_store %ctx, %out[%c{1}, %inst, %i], %{2}, %home : !outcomes, i32"),
    (rf"store (\w+) (\w+) @(\w+){CLAUSES}", "symm.remote_store %ctx, %{1}{place}, %{2}, %{3}{4} : {1:t}, {1:e}"),
    (rf"(\w+) = load (\w+) @(\w+){CLAUSES}", "%{1} = symm.remote_load %ctx, %{2}{place}, %{3}{4} : {2:t} -> {2:e}"),
    (
        rf"(\w+) = (add|xchg) (\w+) (\w+) @(\w+){CLAUSES}",
        "%{1} = symm.atomic_rmw {2} %ctx, %{3}{place}, %{4}, %{5}{6} : {3:t}, {3:e}",
    ),
    (
        rf"(\w+) = cas (\w+) (\w+) (\w+) @(\w+){CLAUSES}",
        "%{1} = symm.atomic_cas %ctx, %{2}{place}, %{3}, %{4}, %{5}{6} : {2:t}, {2:e}",
    ),
    (
        rf"signal (set|add) (\w+) (\w+) @(\w+){CLAUSES}",
        "symm.signal {1} %ctx, %{2}{place}, %{3}, %{4}{5} : {2:t}, {2:e}",
    ),
    (rf"wait (\w+) (eq|ge) (\w+){CLAUSES}", "symm.wait %ctx, %{1}{place} {2} %{3}{4} : {1:t}, {1:e}"),
    (
        rf"(\w+) = wait (\w+) (eq|ge) (\w+){CLAUSES}",
        "%{1} = symm.wait %ctx, %{2}{place} {3} %{4}{5} : {2:t}, {2:e} -> i1",
    ),
    # What was waited for in vain counts as old.
    (r"(\w+) = new (\w+)", "%{1} = arith.select %{2}, %e, %e_old : i32"),
    (rf"fence{CLAUSES}", "symm.fence{1}"),
    (rf"barrier{CLAUSES}", "symm.barrier %ctx{1}"),
    (r"write (\w+) (\w+)", "memref.store %{2}, %{1}{place} : {1:t}"),
    (r"(\w+) = read (\w+)", "%{1} = memref.load %{2}{place} : {2:t}"),
    (r"(\w+) = row (\w+)", "%{1} = memref.subview %{2}[%inst, 0] [1, 64] [1, 1] : {2:t} to !row"),
    (r"(\w+) = word (\w+)", "%{1} = memref.subview %{2}{place} [1, 1] [1, 1] : {2:t} to !word"),
    (r"get (\w+) (\w+) @(\w+)", "symm.get %ctx, %{1}, %{2}, %{3} : {1:b}, {2:b}"),
    (
        rf"put_signal set (\w+) (\w+) (\w+) (\w+) @(\w+){CLAUSES}",
        "symm.put_signal set %ctx, %{1}, %{2}, %{3}{place}, %{4}, %{5}{6} : {1:b}, {2:b}, {3:t}, {3:e}",
    ),
]


class Word(str):
    """A word of a table; as a name of memory it has types."""

    def __format__(self, kind):
        types = {
            "t": "!wide" if self in WIDE else "!places",
            "e": "i64" if self in WIDE else "i32",
            "b": "!row" if self.startswith("row") else "!word",
        }
        return types[kind] if kind else str(self).replace("timeout ", "timeout %")


class LitmusTest:
    """The head, the name, the forbidden outcome (bit k: r<k> is new), and the variants of a test."""

    def __init__(self, path):
        text = path.read_text(encoding="utf-8")
        head, *variants = re.split(r"^variant ", text, flags=re.MULTILINE)
        self.path = path
        self.head = "".join(line for line in head.splitlines(keepends=True) if line.startswith("//"))
        found = re.search(r"^(\w+)( weak)?: ([01]+)$", head, re.MULTILINE) or self.fail("no line 'NAME: OUTCOME'")
        self.name, self.is_weak, self.outcome = found[1], bool(found[2]), found[3]
        self.variants = [self.variant(*each.rstrip().split("\n")) for each in variants]

    def fail(self, reason):
        sys.exit(f"{self.path}: {reason}")

    def variant(self, title, *lines):
        title, _, threads = title.partition(" | ")
        steps = []
        for line in lines:
            who = re.fullmatch(r"  (\d)( last| all)?: (.*)", line) or self.fail(f"not a line of an actor: '{line}'")
            steps.append((int(who[1]), (who[2] or " first").strip(), [self.op(each) for each in who[3].split("; ")]))
        return title, (threads or "64 threads").removesuffix(" threads"), steps

    def op(self, text):
        for row, op in OPS:
            if match := re.fullmatch(row, text):
                return op.format("", *(Word(group) for group in match.groups()), place=PLACE)
        return self.fail(f"not an op of litmus tests: '{text}'")

    @property
    def actors(self):
        return len(self.outcome)

    @property
    def counts(self):
        return f"memref<{2 ** self.actors}xi64>"


def indent(text, by):
    return "".join(" " * by + line + "\n" for line in text.splitlines())


def ranks(table):
    """The actors' ranks; that of actor 0 is `home`."""
    lines = []
    for actor in range(1, table.actors):
        lines += [f"%n{actor} = arith.constant {actor} : i32", f"%h{actor} = arith.addi %home, %n{actor} : i32"]
        lines += [f"%r{actor} = arith.remui %h{actor}, %n : i32"]
    return "\n".join(lines)


def gates(table):
    """Each actor tells all others that it is there."""
    text = ""
    for actor in range(table.actors):
        to = f"%r{actor}" if actor else "%home"
        text += f"%is_{actor} = arith.cmpi ne, %actor, %c{actor} : index\nscf.if %is_{actor} {{\n"
        text += f"  symm.signal add %ctx, %gate[%c{actor}, %inst], %one, {to} group block : memref<4x64xi32>, i32\n}}\n"
    return text


def cases(table):
    text = ""
    for number, (title, _, steps) in enumerate(table.variants):
        text += f"// {title}\ncase {number} {{\n  scf.index_switch %actor\n"
        for actor in range(table.actors):
            text += f"  case {actor} {{\n"
            for _, who, ops in (step for step in steps if step[0] == actor):
                if who == "all":
                    text += indent("\n".join(ops), 4)
                else:
                    text += f"    scf.if %is_{who} {{\n" + indent("\n".join(ops), 6) + "    }\n"
            text += "    scf.yield\n  }\n"
        text += "  default {\n  }\n  scf.yield\n}\n"
    return text


def runs(table):
    """Plays each variant, prints what it has counted, and checks it."""
    kind = "weak" if table.is_weak else "forbidden"
    outcome = sum(1 << k for k, bit in enumerate(table.outcome) if bit == "1")
    text = f"%outcome = arith.constant {outcome} : index\n"
    for k, (title, threads, _) in enumerate(table.variants):
        name = f"{table.name}: {title}"
        text += f"""%v{k} = arith.constant {k} : index
%threads{k} = arith.constant {threads} : index
%h{k}:3 = func.call @try(%ctx, %v{k}, %threads{k}, %rounds, %instances, %stress)
  : (!symm.ctx, index, index, i64, i64, i64) -> ({table.counts}, i64, i64)
%f{k} = memref.load %h{k}#0[%outcome] : {table.counts}
scf.if %tells {{
  symm.print "{name}: {{}} of {{}} {kind}"(%f{k}, %h{k}#1) : i64, i64
}}
%known{k} = arith.cmpi eq, %h{k}#2, %none : i64
symm.check %known{k}, "{name}: {{}} values are neither new nor old"(%h{k}#2) : i64
"""
        if not table.is_weak:
            text += f"%ok{k} = arith.cmpi eq, %f{k}, %none : i64\n"
            text += f'symm.check %ok{k}, "{name}: forbidden outcome seen {{}} times"(%f{k}) : i64\n'
        text += f"memref.dealloc %h{k}#0 : {table.counts}\n"
    return text


def histogram(table):
    """Prints how often each outcome was, eight a line: `10: 7` says that r0 was new and r1 old seven times."""
    text = ""
    outcomes = range(2**table.actors)
    for k in outcomes:
        text += f"%k{k} = arith.constant {k} : index\n%n{k} = memref.load %counts[%k{k}] : {table.counts}\n"
    for some in (outcomes[at : at + 8] for at in range(0, len(outcomes), 8)):
        shown = ", ".join(f"{''.join(str(k >> bit & 1) for bit in range(table.actors))}: {{}}" for k in some)
        text += f'symm.print "{shown}"({", ".join(f"%n{k}" for k in some)}) : {", ".join("i64" for _ in some)}\n'
    return text


def program(path):
    """The program of a table, as text."""
    table = LitmusTest(path)
    parts = {
        "HEAD": table.head,
        "ACTORS": str(table.actors),
        "OTHERS": str(table.actors - 1),
        "OUTCOMES": str(2**table.actors),
        "COUNTS": table.counts,
        "RANKS": ranks(table),
        "GATES": gates(table),
        "CASES": cases(table),
        "RUNS": runs(table),
        "HISTOGRAM": histogram(table),
    }
    lines = []
    for line in TEMPLATE.read_text(encoding="utf-8").splitlines():
        if whole := re.fullmatch(r"( *)@([A-Z]+)@", line):
            lines.append(indent(parts[whole[2]], len(whole[1])))
        else:
            lines.append(re.sub(r"@([A-Z]+)@", lambda name: parts[name[1]], line) + "\n")
    return "".join(lines)


def write(path, folder):
    """Writes the program of a table into a folder, and returns its path."""
    made = Path(folder) / f"{path.stem}.mlir"
    made.write_text(program(path), encoding="utf-8")
    return made


def programs(folder, scratch):
    """The programs of a folder, sorted. Those of tables are written into the folder `scratch`."""
    tables = sorted(folder.glob("*.litmus"))
    written = [program for program in folder.glob("*.mlir") if program.name != TEMPLATE.name]
    return sorted([*(write(table, scratch) for table in tables), *written], key=lambda program: program.stem)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path)
    print(program(parser.parse_args().table), end="")
