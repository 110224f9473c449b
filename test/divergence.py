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
five or more, or compared with a multiple of 32, is the same for a warp, which holds for blocks of one dimension.
Barriers with a name other than 0 or a count are left alone where whole warps part. On AMD branches are divergent where
LLVM says so (`s_cbranch_execz`, `s_cbranch_execnz`), but for a mask in which it collects the lanes that come by several
ways, which may be all. There, functions that are called are not looked at, nor any without optimisation: what they are
given and what they keep is in lanes' registers, shared or not. Only regions of one wave are. Where warps part, arms
whose counts differ in step with a value that they share count as different; where threads part, a barrier that both
arms lead to counts as one. A way to a trap does not count. Stores and releases are told apart by the predicates they
stand under, not by addresses, and inside one function.
"""

import argparse
import os
import re
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import assemble  # noqa: E402
import control_flow  # noqa: E402
import litmus  # noqa: E402
from parting import THREAD, Values, callees  # noqa: E402

MOST_COUNTS = 64
KINDS = ("block", "warp", "named")


def barrier(instruction):
    """`block`, `warp` or `named` for a barrier; None for all else."""
    text = instruction.text
    if re.match(r"(bar|barrier)(\.cta)?\.(sync|red|arrive)", instruction.opcode):
        return "block" if re.fullmatch(r"[\w.]+\s+0", text) else "named"
    if instruction.opcode == "bar.warp.sync":
        return "warp" if re.search(r"\s(-1|0xffffffff|4294967295)$", text) else None
    return {"s_barrier": "block", "wave_barrier": "warp"}.get(instruction.opcode)


class Analysis(Values):
    """What a text's functions do, and what is wrong about it."""

    def __init__(self, text):
        super().__init__(text)
        self.counted = {}

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
        """The same from the start of one block to the start of another."""
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
        if self.is_amd and not function.is_kernel:
            return
        for number, level in self.branches(function):
            inside, join = control_flow.region(number, function.after, function.leaves)
            branch = function.blocks[number].branch
            where = f"after '{(branch.guard + ' ' + branch.text).strip()}'"
            if level == THREAD:
                arms = [control_flow.within(arm, inside, function.leaves) for arm in function.leaves[number]]
                for block in sorted(inside):
                    # A barrier that all arms lead to is met by the threads that a shared value leads there.
                    apart = any(block not in arm for arm in arms)
                    if apart and any(self.met(function, function.blocks[block], KINDS)):
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
            block = function.blocks[number]
            if level != THREAD or self.is_amd or not block.branch.guard:
                continue
            inside, join = control_flow.region(number, function.after, function.leaves)
            taken, fallen = (block.successors + [join, join])[:2]
            predicate, negated = block.branch.guard.lstrip("!"), block.branch.guard.startswith("!")
            for arm, holds in [(taken, not negated), (fallen, negated)]:
                # What is reached another way too, as a loop is from before it, does not stand under the predicate.
                others = control_flow.without(number, arm, function.leaves)
                for each in control_flow.within(arm, inside, function.leaves) - others:
                    found[each].add((predicate, holds))
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

    def faults(self, of_orders=True):
        for name, function in self.functions.items():
            for fault in [*self.divergence(function), *(sorted(self.orders(function)) if of_orders else [])]:
                yield f"{name}: {fault}"

    def counts(self):
        """Barriers, fences and accesses with an order of every function, by their opcodes."""
        ordered = re.compile(r"(bar|barrier|fence|membar|s_barrier|wave_barrier|buffer_(wbl2|inv))\b|.*\.(acq|rel)")
        for name, function in self.functions.items():
            each = (instruction.opcode for block in function.blocks for instruction in block.instructions)
            yield name, Counter(opcode for opcode in each if ordered.match(opcode))

    def repeats(self, function):
        """Whether a loop of a function, or of what it calls, holds a barrier."""
        for number, block in enumerate(function.blocks):
            inside, todo = set(), [each for each in function.leaves[number]]
            while todo:
                each = todo.pop()
                if each not in inside and each != control_flow.EXIT:
                    inside.add(each)
                    todo.extend(function.leaves[each])
            if number in inside and any(self.met(function, block, KINDS)):
                return True
            for instruction in block.instructions:
                if any(self.repeats(self.functions[callee]) for callee in callees(function, instruction, self.names)):
                    return True
        return False

    def barriers(self):
        """The numbers of barriers on the ways through every kernel."""
        for name, function in sorted(self.functions.items()):
            if function.is_kernel:
                yield name, sorted(self.ways(function, KINDS))


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
    parser.add_argument("--same", action="store_true", help="check barriers alone, and that every level meets as many")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as scratch:
        follow(options, scratch)


def follow(options, scratch):
    paths = options.programs
    files = [file for path in paths for file in (litmus.programs(path, scratch) if path.is_dir() else [path])]
    files = [file for file in files if file.suffix != ".mlir" or "gpu.module" in file.read_text(encoding="utf-8")]
    levels = options.levels or ["2"]
    jobs = [(file, chip, level) for file in files for chip in options.chip or [None] for level in levels]

    plain = {}  # For each program and chip: what is met at the first level, where no barrier is in a loop.

    def compare(file, chip, level, analysis):
        known = plain.get((file, chip))
        if known is None:
            unrolled = (name for name, function in analysis.functions.items() if analysis.repeats(function))
            plain[file, chip] = dict(analysis.barriers()), set(unrolled)
            return
        for name, met in analysis.barriers():
            if name not in known[1] and not set(met) <= set(known[0][name]):
                yield f"{file}, {chip}, -O{level}: {name}: a thread meets {met} barriers, not {known[0][name]}"

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
        found = [] if analysis.is_amd and level == "0" else analysis.faults(not options.same)
        faults = [f"{file}, {chip}, -O{level}: {fault}" for fault in found]
        faults += compare(file, chip, level, analysis) if options.same else []
        return faults, len(analysis.functions)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        groups = [jobs[at : at + len(levels)] for at in range(0, len(jobs), len(levels))]
        results = [each for found in pool.map(lambda group: [job(*each) for each in group], groups) for each in found]
    faults = [fault for found, _ in results for fault in found]
    print(f"{len(files)} programs, {sum(count for _, count in results)} functions, {len(faults)} faults")
    if faults or not any(count for _, count in results):
        sys.exit("\n".join(faults) or "nothing to check")


if __name__ == "__main__":
    main()
