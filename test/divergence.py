"""Checks in final PTX and AMD assembly that threads of a group which part rejoin before the group's next barrier.

    // RUN: %divergence %s --chip sm_90 --chip gfx942

It knows nothing of the compiler: it reads the text, builds the control flow graph, finds out which values differ from
thread to thread, and looks at what lies between a branch on such a value and where its arms rejoin. What it reports:

- a barrier of a warp or a block, or a call of what holds one, after threads of one warp have parted (`bar.sync` and
  `bar.warp.sync` are for whole warps, and `s_barrier` counts a wave once for every time that it gets there);
- a barrier of a block that the warps of a block meet at different counts (PTX);
- a release by one thread of a group without a barrier since another thread's store (PTX);
- a bulk copy without a `fence.proxy.async` since a store of the generic proxy (PTX).

`--counts` prints barriers, fences and accesses with an order instead, and `--barriers` how many barriers a thread may
meet on a way through each kernel: no two levels of optimisation may differ.

Limits. A load from one address gives all threads one value, also of local memory; a thread's number shifted right by
five or more, or compared with a multiple of 32, is the same for a warp, which holds for blocks of one dimension. Barriers
with a name other than 0 or a count are left alone where whole warps part. On AMD branches are divergent where LLVM says
so (`s_cbranch_execz`, `s_cbranch_execnz`), but for a mask in which it collects the lanes that come by several ways, which
may be all; only regions of one wave are looked at. Arms whose counts differ in
step with a value that they share count as different. A way to a trap is none. Stores and releases are told apart by the
predicates they stand under, not by addresses, and inside one function.
"""

import argparse
import os
import re
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import assemble  # noqa: E402
import control_flow  # noqa: E402

UNIFORM, WARP, THREAD = 0, 1, 2  # One value for the block, for each warp, for each thread.
MOST_COUNTS = 64
REGISTER = re.compile(r"%[\w$]+(?:\.[xyz])?")
MASK = re.compile(r"(?:saveexec_b64\s+\S+,|^s_\w+\s+exec,(?: exec,)?)\s*(\S+)")
COLLECTED = re.compile(r"^s_or_b64\s+(\S+), \1, exec$")
SOURCES = [
    (re.compile(r"%(tid\.\w|laneid|lanemask_\w+|clock\w*|globaltimer\w*)"), THREAD),
    (re.compile(r"%warpid"), WARP),
]


def barrier(instruction):
    """`block`, `warp` or `named` for a barrier; None for all else."""
    text = instruction.text
    if re.match(r"(bar|barrier)(\.cta)?\.(sync|red|arrive)", instruction.opcode):
        return "block" if re.fullmatch(r"[\w.]+\s+0", text) else "named"
    if instruction.opcode == "bar.warp.sync":
        return "warp" if re.search(r"\s(-1|0xffffffff|4294967295)$", text) else None
    return {"s_barrier": "block", "wave_barrier": "warp"}.get(instruction.opcode)


def parts(function, block):
    """Whether an AMD block switches off some lanes of a wave before it asks whether any is left."""
    masks = [MASK.search(each.text) for each in block.instructions]
    mask = next((mask for mask in reversed(masks) if mask), None)
    # Elsewhere it is a jump that is never taken, or all lanes have come by ways that LLVM counts in a mask.
    return mask is not None and mask[1] not in function.collected


def callees(function, instruction, names):
    """Whom an instruction may call."""
    if re.match(r"call\b", instruction.opcode):
        found = [word for word in re.findall(r"[\w$]+", instruction.text) if word in names]
        return found[:1]
    if instruction.opcode == "s_swappc_b64":
        return sorted(function.referenced & names)
    return []


def split(instruction):
    """The text of what a PTX instruction writes and of what it reads."""
    operands = re.sub(r"^\S+\s*", "", instruction.text)
    if re.match(r"(st|bra|bar|barrier|red|fence|membar|ret|exit|nanosleep|cp|call|mbarrier\.(init|inval))\b", instruction.opcode):
        return "", operands
    target, _, rest = operands[1:].partition("}") if operands.startswith("{") else operands.partition(",")
    return target, rest


class Analysis:
    """What a text's functions do, and what is wrong about it."""

    def __init__(self, text):
        self.functions = control_flow.functions(text)
        self.is_amd = ".amdgcn_target" in text
        self.names = set(self.functions)
        for function in self.functions.values():
            texts = [each.text for block in function.blocks for each in block.instructions]
            function.referenced = set(re.findall(r"([\w$]+)@(?:rel32|gotpcrel32)@lo", "\n".join(texts)))
            function.collected = {found[1] for found in map(COLLECTED.match, texts) if found}
            function.after, function.leaves = control_flow.post_dominators(function.blocks)
        self.levels = {name: {} for name in self.functions}
        self.memory = {}  # What parameters and results hold.
        if not self.is_amd:
            self.spread()
        self.counted = {}

    # Which values differ.

    def spread(self):
        """Follows values through all functions until nothing changes."""
        self.changed = True
        while self.changed:
            self.changed = False
            for function in self.functions.values():
                for block in function.blocks:
                    for instruction in block.instructions:
                        self.run(function, instruction)
                self.join(function)

    def raise_level(self, table, key, level):
        if level > table.get(key, UNIFORM):
            table[key], self.changed = level, True

    def level(self, function, text):
        levels = self.levels[function.name]
        found = [levels.get(register, UNIFORM) for register in REGISTER.findall(text)]
        found += [level for pattern, level in SOURCES if pattern.search(text)]
        return max(found, default=UNIFORM)

    def run(self, function, instruction):
        """What one PTX instruction makes of its operands."""
        opcode, levels = instruction.opcode, self.levels[function.name]
        guard = self.level(function, instruction.guard)
        if match := re.match(r"st\.param\S*\s+\[(\w+)[^\]]*\],(.*)", instruction.text):
            # A callee's parameter is filled in by the call that follows.
            self.raise_level(self.memory, (function.name, match[1]), self.level(function, match[2]))
            if match[1].startswith("func_retval"):
                self.raise_level(self.memory, ("result", function.name), self.level(function, match[2]))
            return
        if re.match(r"call\b", opcode):
            self.pass_on(function, instruction)
            return
        if match := re.match(r"ld\.param\S*\s+(.+),\s*\[(\w+)", instruction.text):
            level = max(self.memory.get(("parameter", match[2]), 0), self.memory.get((function.name, match[2]), 0))
            for register in REGISTER.findall(match[1]):
                self.raise_level(levels, register, max(level, guard))
            return
        target, operands = split(instruction)
        level = self.level(function, operands)
        if re.match(r"(atom|shfl|match|activemask|elect|mbarrier)\b", opcode):
            level = THREAD
        elif re.match(r"vote\b", opcode):
            level = min(level, WARP)
        elif level == THREAD and re.match(r"(shr|setp)\b", opcode):
            level = self.of_warp(opcode, operands)
        for register in REGISTER.findall(target):
            self.raise_level(levels, register, max(level, guard))

    @staticmethod
    def of_warp(opcode, operands):
        last = operands.split(",")[-1].strip()
        number = int(last) if re.fullmatch(r"-?\d+", last) else None
        if opcode.startswith("shr"):
            return WARP if number is not None and number >= 5 else THREAD
        # `x < 32 n` and `x > 32 n - 1` part no warp; `x == n` does.
        edge = {"lt": 0, "ge": 0, "gt": 1, "le": 1}.get(opcode.split(".")[1][:2])
        whole = edge is not None and number is not None and (number + edge) % 32 == 0
        return WARP if whole else THREAD

    def pass_on(self, function, instruction):
        for callee in callees(function, instruction, self.names):
            result, arguments = re.match(r"call\S*\s+(?:\((\w+)\),)?\s*[\w$]+,?\s*(?:\((.*?)\))?", instruction.text).groups()
            for index, argument in enumerate(re.findall(r"\w+", arguments or "")):
                level = self.memory.get((function.name, argument), UNIFORM)
                self.raise_level(self.memory, ("parameter", f"{callee}_param_{index}"), level)
            if result:
                level = self.memory.get(("result", callee), UNIFORM)
                self.raise_level(self.memory, (function.name, result), level)

    def join(self, function):
        """What is written in an arm and read after the arms rejoin depends on the branch."""
        written, read = {}, {}
        for number, block in enumerate(function.blocks):
            for instruction in block.instructions:
                target, operands = split(instruction)
                for register in REGISTER.findall(target):
                    written.setdefault(register, set()).add(number)
                for register in REGISTER.findall(operands + instruction.guard):
                    read.setdefault(register, set()).add(number)
        for number, level in self.branches(function):
            inside, _ = control_flow.region(number, function.after, function.leaves)
            for register, blocks in written.items():
                if blocks & inside and read.get(register, set()) - inside:
                    self.raise_level(self.levels[function.name], register, level)

    def branches(self, function):
        """The blocks that end with a branch on which threads part, and how far."""
        for number, block in enumerate(function.blocks):
            if not block.branch:
                continue
            if self.is_amd:
                level = THREAD if "exec" in block.branch.opcode and parts(function, block) else UNIFORM
            else:
                level = self.level(function, block.branch.guard)
            if level:
                yield number, level

    # What lies between.

    def met(self, function, block, kinds):
        """How many barriers a block's threads may meet, as a set."""
        total = {0}
        for instruction in block.instructions:
            counts = {1} if barrier(instruction) in kinds else {0}
            for callee in callees(function, instruction, self.names):
                counts = self.ways(self.functions[callee], kinds)
            total = {first + second for first in total for second in counts}
        return total

    def ways(self, function, kinds):
        """How many barriers a thread may meet on a way through a function; a loop is gone through once or not."""
        key = (function.name, kinds)
        if key not in self.counted:
            self.counted[key] = {0}  # A recursion's inner calls.
            self.counted[key] = self.between(function, 0, control_flow.EXIT, kinds)
        return self.counted[key]

    def between(self, function, start, end, kinds):
        """Likewise from the start of one block to the start of another."""
        met = {}

        def visit(number, path):
            if number in (end, control_flow.EXIT):
                return {0}
            if number in path:
                return set()  # Round a loop.
            if number not in met:
                here = self.met(function, function.blocks[number], kinds)
                rest = set().union(*(visit(each, path | {number}) for each in function.leaves[number]))
                met[number] = set(sorted(a + b for a in here for b in rest)[:MOST_COUNTS])
            return met[number]

        return visit(start, frozenset())

    def divergence(self, function):
        """Barriers in the arms of a branch on which threads part."""
        for number, level in self.branches(function):
            inside, join = control_flow.region(number, function.after, function.leaves)
            branch = function.blocks[number].branch
            where = f"after '{(branch.guard + ' ' + branch.text).strip()}'"
            if level == THREAD:
                kinds = ("block", "warp", "named")
                for block in sorted(inside):
                    if any(self.met(function, function.blocks[block], kinds)):
                        yield f"threads of a warp meet a barrier apart, {where}"
                        break
                continue
            arms = [self.between(function, arm, join, ("block",)) for arm in sorted(function.leaves[number])]
            loop = number in inside and any(any(self.met(function, function.blocks[n], ("block",))) for n in inside)
            if loop or any(arm != arms[0] for arm in arms):
                yield f"the warps of a block meet different numbers of barriers, {where}"
        for block in function.blocks:
            for instruction in block.instructions:
                guarded = instruction.guard and self.level(function, instruction.guard)
                if barrier(instruction) and guarded:
                    yield f"a barrier under a predicate that differs: '{instruction.text}'"

    def guards(self, function):
        """For each block the predicates on which threads of a warp have parted on the way to it."""
        found = {number: set() for number in range(len(function.blocks))}
        for number, level in self.branches(function):
            if level != THREAD or self.is_amd:
                continue
            block = function.blocks[number]
            inside, join = control_flow.region(number, function.after, function.leaves)
            taken, fallen = (block.successors + [join, join])[:2]
            predicate, negated = block.branch.guard.lstrip("!"), block.branch.guard.startswith("!")
            for arm, holds in [(taken, not negated), (fallen, negated)]:
                reached, todo = set(), [arm]
                while todo:
                    each = todo.pop()
                    if each in inside and each not in reached:
                        reached.add(each)
                        todo.extend(function.leaves[each])
                for each in reached:
                    found[each].add((predicate, holds))
        for number, each in found.items():
            # Reached on both arms: inside a loop, or not told apart.
            found[number] = {(name, holds) for name, holds in each if (name, not holds) not in each}
        return found

    def flow(self, function, change):
        """Forward over all ways: `change(facts, block, instruction)` gives the facts after an instruction."""
        before, todo = {0: frozenset()}, [0]
        while todo:
            number = todo.pop()
            facts = before[number]
            for instruction in function.blocks[number].instructions:
                facts = change(facts, number, instruction)
            for successor in function.leaves[number]:
                known = before.get(successor)
                if known is None or not facts <= known:
                    before[successor] = facts | (known or frozenset())
                    if successor != control_flow.EXIT:
                        todo.append(successor)

    def orders(self, function):
        """Releases by one thread of a group, and bulk copies, that miss what others or the thread itself stored."""
        if self.is_amd:
            return set()
        guards, found = self.guards(function), set()

        def is_store(instruction):
            return re.match(r"st\.(?!param|local|shared|\w*\.?(relaxed|release))", instruction.opcode)

        def release(facts, number, instruction):
            if barrier(instruction) or callees(function, instruction, self.names):
                return frozenset()
            if is_store(instruction):
                return facts | {frozenset(guards[number])}
            releases = re.match(r"(st|atom|red|fence)\.(release|sc)\.(sys|gpu)", instruction.opcode)
            if releases and any(stored < guards[number] for stored in facts):
                found.add(f"'{instruction.text}' releases for others without a barrier since they stored")
            return facts

        def proxies(facts, _, instruction):
            if instruction.opcode.startswith("fence.proxy.async"):
                return frozenset()
            if is_store(instruction):
                return frozenset({"stored"})
            if re.match(r"cp\.async\.bulk\.\S*(global|shared)", instruction.opcode) and facts:
                found.add(f"'{instruction.opcode}' without a fence.proxy.async since a store")
            return facts

        self.flow(function, release)
        self.flow(function, proxies)
        return found

    def faults(self):
        for name, function in self.functions.items():
            for fault in [*self.divergence(function), *sorted(self.orders(function))]:
                yield f"{name}: {fault}"

    def counts(self):
        """Barriers, fences and accesses with an order of every function, by their opcodes."""
        ordered = re.compile(r"(bar|barrier|fence|membar|s_barrier|wave_barrier|buffer_(wbl2|inv))\b|.*\.(acq|rel)")
        for name, function in self.functions.items():
            each = (instruction.opcode for block in function.blocks for instruction in block.instructions)
            yield name, Counter(opcode for opcode in each if ordered.match(opcode))

    def barriers(self):
        """The numbers of barriers on the ways through every kernel."""
        for name, function in sorted(self.functions.items()):
            if function.is_kernel:
                yield name, sorted(self.ways(function, ("block", "warp", "named")))


def text_of(path, chip, level):
    if path.suffix != ".mlir":
        return path.read_text(encoding="utf-8")
    return assemble.translate(path, chip, f"-O{level}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=Path, nargs="+", help="programs, folders of them, or assembly")
    parser.add_argument("--chip", action="append")
    parser.add_argument("-O", dest="levels", action="append", help="levels of optimisation; 2 without")
    parser.add_argument("--counts", action="store_true", help="print what orders instead")
    parser.add_argument("--barriers", action="store_true", help="print how many barriers are met instead")
    options = parser.parse_args()

    files = [file for path in options.programs for file in (sorted(path.glob("*.mlir")) if path.is_dir() else [path])]
    files = [file for file in files if file.suffix != ".mlir" or "gpu.module" in file.read_text(encoding="utf-8")]
    jobs = [(f, chip, level) for f in files for chip in options.chip or [None] for level in options.levels or ["2"]]

    def job(file, chip, level):
        try:
            analysis = Analysis(text_of(file, chip, level))
        except assemble.Refused as refusal:
            return [f"{file}, {chip}, -O{level}: {refusal}"], 0
        if options.counts or options.barriers:
            rows = analysis.counts() if options.counts else analysis.barriers()
            for name, row in rows:
                shown = dict(sorted(row.items())) if options.counts else " ".join(map(str, row))
                print(f"{file.name} {chip} -O{level} {name}: {shown}")
        return [f"{file}, {chip}, -O{level}: {fault}" for fault in analysis.faults()], len(analysis.functions)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda each: job(*each), jobs))
    faults = [fault for found, _ in results for fault in found]
    print(f"{len(files)} programs, {sum(count for _, count in results)} functions, {len(faults)} faults")
    if faults or not any(count for _, count in results):
        sys.exit("\n".join(faults) or "nothing to check")


if __name__ == "__main__":
    main()
