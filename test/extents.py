"""Runs what `symm-pipeline-remote` computes before a loop, and the loop: what `%extents` stands for.

Loops are made from the table below, with offsets that wrap around, masks, carried values and arrays that overlap. For
random arguments this script computes the condition on which the staged loop is taken, as the text says, and goes
through the plain loop to see which bytes it loads and stores. Where the condition holds they have none in common; and
each loop is staged for some arguments, and for some not.
"""

import random
import re
import subprocess
import sys

ROUNDS = 200
LANES = 8
BLOCK = f"tensor<{LANES}x"
# What a loop computes: `%at` and `%to`, the offsets of its load and of its store, and masks. `i32` and `i64` arguments
# are %a to %d and %w; %k is carried, `next` what it becomes.
LOOPS = {
    "rows": dict(body=["%r = splat %i", "%at = add %r range", "%to = add %r range"]),
    "product": dict(body=["%j = muli %i %a", "%r = splat %j", "%at = add %r range", "%to = add %at splat:%b"]),
    "backwards": dict(body=["%j = subi %a %i", "%r = splat %j", "%at = add %r range", "%to = sub splat:%b %r"]),
    "tensors": dict(body=["%at = add range range", "%r = splat %i", "%to = add %r range"]),
    "masked_load": dict(body=["%r = splat %i", "%at = add %r range", "%to = add %at range"], mask="slt", load=True),
    "masked_store": dict(body=["%r = splat %i", "%at = add %r range", "%to = add %r range"], mask="slt", store=True),
    "masked_both": dict(body=["%r = splat %i", "%at = add %r range", "%to = add %r range"],
                        mask="slt", load=True, store=True),
    "masked_up_to": dict(body=["%r = splat %i", "%at = add %r range", "%to = add %r range"],
                         mask="sle", load=True, store=True),
    "quotient": dict(body=["%j = divsi %i %a", "%r = splat %j", "%at = add %r range", "%to = add %r splat:%b"]),
    "remainder": dict(body=["%j = remsi %i %a", "%r = splat %j", "%at = add %r range", "%to = add %r splat:%b"]),
    "carried": dict(body=["%r = splat %k", "%at = add %r range", "%u = splat %i", "%to = add %u range"], next="%k %a"),
    "chosen": dict(
        body=["%j = minsi %i %a", "%m = maxsi %j %b", "%r = splat %j", "%u = splat %m",
              "%at = add %r range", "%to = add %u range"]
    ),
    "far": dict(body=["%e = ext %i", "%f = addi64 %e %w", "%r = splat64 %f", "%at = as64 %r", "%u = splat64 %e",
                      "%to = as64 %u"], wide=True),
    "wide": dict(body=["%e = ext %i", "%f = muli64 %e %w", "%r = splat64 %f", "%at = as64 %r",
                       "%to = as64 %r"], wide=True),
}  # fmt: skip


def statement(text, counter):
    """A line of a table as lines of MLIR."""
    target, _, name, *operands = text.split()
    lines = []
    for index, operand in enumerate(operands):
        if operand == "range":
            operands[index] = "%range"
        elif operand.startswith("splat:"):
            counter.append(None)
            operands[index] = f"%s{len(counter)}"
            lines.append(f'%s{len(counter)} = "tt.splat"({operand[6:]}) : (i32) -> {BLOCK}i32>')
    joined = ", ".join(operands)
    if name in ("splat", "splat64"):
        bits = "i64" if name == "splat64" else "i32"
        lines.append(f'{target} = "tt.splat"({joined}) : ({bits}) -> {BLOCK}{bits}>')
    elif name == "ext":
        lines.append(f"{target} = arith.extsi {joined} : i32 to i64")
    elif name == "as64":
        lines.append(f"{target} = arith.addi {joined}, %wide_range : {BLOCK}i64>")
    elif name in ("add", "sub"):
        lines.append(f"{target} = arith.{name}i {joined} : {BLOCK}i32>")
    else:
        lines.append(f"{target} = arith.{name.removesuffix('64')} {joined} : {'i64' if name.endswith('64') else 'i32'}")
    return lines


def program(name, body, mask=None, load=False, store=False, next=None, wide=False):
    """A function with one loop."""
    counter, pointers, bits = [], f"{BLOCK}!tt.ptr<f16>>", "i64" if wide else "i32"
    lines = [line for each in body for line in statement(each, counter)]
    if mask:
        lines.append(f'%limits = "tt.splat"(%c) : (i32) -> {BLOCK}i32>')
        lines.append(f"%mask = arith.cmpi {mask}, %at, %limits : {BLOCK}i32>")
    for pointer, start, offset in [("%from", "%ps", "%at"), ("%dest", "%qs", "%to")]:
        lines.append(f'{pointer} = "tt.addptr"({start}, {offset}) : ({pointers}, {BLOCK}{bits}>) -> {pointers}')
    guard = f" mask %mask : {BLOCK}i1>" if load else ""
    lines.append(f"%v = symm.remote_load %ctx, %from, %peer{guard} : {pointers} -> {BLOCK}f16>")
    guard, types = (", %mask", f", {BLOCK}i1>") if store else ("", "")
    lines.append(f'"tt.store"(%dest, %v{guard}) : ({pointers}, {BLOCK}f16>{types}) -> ()')
    head, end = "scf.for %i = %lo to %hi step %step : i32 {", []
    if next:
        head = "%last = scf.for %i = %lo to %hi step %step iter_args(%k = %b) -> (i32) : i32 {"
        end = [f"%n = arith.addi {', '.join(next.split())} : i32", "scf.yield %n : i32"]
    arguments = [("table", "!tt.ptr<i64>"), ("p", "!tt.ptr<f16>"), ("q", "!tt.ptr<f16>"), ("w", "i64")]
    arguments += [(each, "i32") for each in ("peer", "lo", "hi", "step", "a", "b", "c")]
    types = ", ".join(ty for _, ty in arguments)
    return "\n".join(
        [
            f'"tt.func"() <{{function_type = ({types}) -> (), sym_name = "{name}"}}> ({{',
            "^bb0(" + ", ".join(f"%{each}: {ty}" for each, ty in arguments) + "):",
            "%ctx = symm.ctx %table : !tt.ptr<i64>",
            f'%ps = "tt.splat"(%p) : (!tt.ptr<f16>) -> {pointers}',
            f'%qs = "tt.splat"(%q) : (!tt.ptr<f16>) -> {pointers}',
            f'%range = "tt.make_range"() {{start = 0 : i32, end = {LANES} : i32}} : () -> {BLOCK}i32>',
            f"%wide_range = arith.extsi %range : {BLOCK}i32> to {BLOCK}i64>",
            head, *lines, *end, "}", '"tt.return"() : () -> ()', "}) : () -> ()",
        ]
    )  # fmt: skip


def wrapped(value, ty):
    bits = next(width for width in (1, 32, 64) if re.search(rf"\bi{width}\b", ty.replace("x", " ")))
    if bits == 1:
        return value & 1
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def quotient(one, other):
    return abs(one) // abs(other) * (1 if (one < 0) == (other < 0) else -1)


ARITHMETIC = {
    "addi": lambda a, b: a + b, "subi": lambda a, b: a - b, "muli": lambda a, b: a * b, "minsi": min, "maxsi": max,
    "divsi": quotient, "remsi": lambda a, b: a - b * quotient(a, b), "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
}  # fmt: skip
COMPARED = {
    "slt": lambda a, b: a < b, "sle": lambda a, b: a <= b, "sgt": lambda a, b: a > b, "sge": lambda a, b: a >= b,
}  # fmt: skip


def lanes(value):
    return value if isinstance(value, list) else [value] * LANES


def elementwise(function, ty, *operands):
    if "tensor" in ty:
        return [wrapped(int(function(*each)), ty) for each in zip(*map(lanes, operands))]
    return wrapped(int(function(*operands)), ty)


class Run:
    """One run of a function: its values, and the bytes that it loads and stores."""

    def __init__(self, values):
        self.values, self.loaded, self.stored = values, set(), set()

    def touch(self, bytes_, pointers, mask, distance=0):
        on = lanes(self.values[mask]) if mask else [1] * LANES
        for address, lane in zip(self.values[pointers], on):
            if lane:
                bytes_.update((address + distance + byte) % 2**64 for byte in (0, 1))

    def step(self, line):
        """Runs a line that is neither loop nor branch."""
        names, values = re.findall(r"%[\w-]+", line), self.values
        if found := re.match(r"(%[\w-]+) = arith\.constant (-?\w+)", line):
            values[found[1]] = {"true": 1, "false": 0}.get(found[2]) if found[2] in ("true", "false") else int(found[2])
        elif found := re.match(r"(%\w+) = arith\.cmpi (\w+), (%\S+), (%\S+) : (.*)", line):
            ty = "tensor i1" if "tensor" in found[5] else "i1"
            values[found[1]] = elementwise(COMPARED[found[2]], ty, values[found[3]], values[found[4]])
        elif found := re.match(r"(%\w+) = arith\.extsi (%\S+)", line):
            values[found[1]] = values[found[2]]
        elif found := re.match(r"(%\w+) = arith\.(\w+) (%\S+), (%\S+) : (.*)", line):
            values[found[1]] = elementwise(ARITHMETIC[found[2]], found[5], values[found[3]], values[found[4]])
        elif '"tt.make_range"' in line:
            values[names[0]] = list(range(LANES))
        elif '"tt.splat"' in line:
            values[names[0]] = lanes(values[names[1]])
        elif '"tt.ptr_to_int"' in line:
            values[names[0]] = values[names[1]]
        elif '"tt.addptr"' in line:
            values[names[0]] = [at + 2 * by for at, by in zip(values[names[1]], values[names[2]])]
        elif '"tt.store"' in line:
            self.touch(self.stored, names[0], names[2] if len(names) > 2 else None)
        elif "symm.remote_load" in line:
            mask, delta = re.search(r"mask (%\w+)", line), re.search(r"via (%\w+)", line)
            self.touch(self.loaded, names[2], mask and mask[1], values[delta[1]])
        elif "symm.heap_delta" in line:
            values[names[0]] = values["distance"]
        else:
            assert "symm.ctx" in line or "symm.rank" in line, line

    def loop(self, lines):
        """Runs a loop, given from its first line on."""
        head = re.search(r"scf\.for (%\w+) = (%\w+) to (%\w+) step (%\w+)(?: iter_args\((%\w+) = (%\w+)\))?", lines[0])
        counter, low, high, step, carried, first = head.groups()
        if carried:
            self.values[carried] = self.values[first]
        for at in range(self.values[low], self.values[high], self.values[step]):
            self.values[counter] = at
            for line in lines[1:]:
                if line.startswith("}"):
                    break
                if line.startswith("scf.yield"):
                    self.values[carried] = self.values[line.split()[1]]
                else:
                    self.step(line)


def arguments(choose):
    """Random arguments: small, or such that products and sums wrap around; the loop has few iterations."""

    def number():
        return choose.choice([choose.randint(-40, 40), choose.randint(-40, 40), choose.randint(-(2**31), 2**31 - 1)])

    low, step = number(), choose.choice([1, 1, 3, 8, 2**29])
    high = min(low + step * choose.randint(0, 6) - choose.randint(0, 2), 2**31 - 1)
    near = choose.randint(-60, 60)
    base, distance = 2**45, choose.choice([0, 0, 2 * choose.randint(-40, 40), 2**21, 2**60])
    apart = choose.choice([2 * near, 2 * near, near, 2**34])
    wide = choose.choice([choose.randint(-20, 20), 2**62 + choose.randint(-20, 20), -(2**63) // 3])
    a, b, c = number(), number(), number()
    corner = choose.randrange(8)
    if corner == 0:  # What a mask lets through ends where the store begins.
        c = low + choose.randint(0, 12)
        apart = distance + 2 * (c - low)
    elif corner == 1:  # A product of 64 bits is back at zero in the last iteration.
        low, step, high, wide, apart = 0, 32, 129, 2**57, -(2**63)
    elif corner == 2:  # The loop goes past the largest address.
        wide = 2**62 - 2**44 + choose.randint(-12, 2)
        apart, distance = 2 * (wide + choose.randint(0, 12)), 0
        low, step, high = 0, 1, 6
    arguments = [0, base, base + apart + choose.choice([0, distance]), wide, 1, low, high, step, a, b, c]
    if corner <= 2:
        arguments[2] = base + apart
    return [wrapped(each, "i64") for each in arguments], distance


def check(name, text, choose):
    """What is wrong with the condition of a loop, and how often it held."""
    lines = [line.strip() for line in text.splitlines()]
    entry = next(line for line in lines if line.startswith("^bb0("))
    names = re.findall(r"(%\w+):", entry)
    branch = next((at for at, line in enumerate(lines) if "scf.if" in line), None)
    if branch is None:
        return [f"{name}: is not staged"], 0
    condition = re.search(r"scf\.if (%\w+)", lines[branch])[1]
    plain = next(at for at in range(branch, len(lines)) if lines[at] == "} else {")
    wrong, staged = [], 0
    for _ in range(ROUNDS):
        given, distance = arguments(choose)
        run = Run(dict(zip(names, given), distance=distance))
        for line in lines[lines.index(entry) + 1 : branch]:
            run.step(line)
        if not run.values[condition]:
            continue
        staged += 1
        run.loop(lines[plain + 1 :])
        if run.loaded & run.stored:
            wrong.append(f"{name}: is staged where it stores what it loads: {dict(zip(names, given))}, {distance}")
    return wrong[:1], staged


def main():
    choose, wrong = random.Random(11), []
    for name, loop in LOOPS.items():
        passes = ["--allow-unregistered-dialect", "--symm-hoist-translation", "--symm-pipeline-remote"]
        done = subprocess.run(
            ["symm-opt", "-", *passes], input=program(name, **loop), capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(done.stderr)
        found, staged = check(name, done.stdout, choose)
        if not found and not 0 < staged < ROUNDS:
            found = [f"{name}: is staged {staged} times of {ROUNDS}"]
        wrong += found
        print(f"{name}: staged {staged} times of {ROUNDS}")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
