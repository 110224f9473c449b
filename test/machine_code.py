"""Reads PTX and AMD assembly: which kernels there are, and what each does with memory, in order.

A sequence is the kernel's memory accesses, fences, barriers and waits, without operands and address arithmetic.
`loop[…]` is what may run more than once, `if[…]` what may not run at all.
"""

import re
from dataclasses import dataclass, field

PTX = re.compile(r"(?!ld\.param)(ld|st|atom|red|fence|membar|bar|barrier|nanosleep|cp|mbarrier|trap|call)\b")
AMD = re.compile(r"(global|flat|buffer|ds|scratch)_\w+|s_(barrier|sleep|memrealtime|trap|waitcnt)\b")
# What an AMD memory instruction says after its operands.
AMD_BITS = ["sc0", "sc1", "nt", "glc", "slc"]


@dataclass
class Block:
    """A stretch of instructions without branches: what it does, and where it goes. What only some lanes of it do,
    without a branch, is in brackets of its own."""

    texts: list = field(default_factory=list)
    successors: list = field(default_factory=list)


def kernels(text):
    """The name and the lines of each kernel."""
    if ".amdgcn_target" in text:
        pattern = r"^(\w+):\n(.*?)^\t\.section"
        names = set(re.findall(r"^\t\.amdhsa_kernel (\w+)", text, re.MULTILINE))
    else:
        pattern = r"^\.visible \.entry (\w+)\(.*?^\{\n(.*?)^\}"
        names = None
    found = re.findall(pattern, text, re.MULTILINE | re.DOTALL)
    return {name: body.splitlines() for name, body in found if names is None or name in names}


def is_amd(lines):
    return any(line.strip() == "s_endpgm" for line in lines)


def instructions(lines):
    """Each instruction as (label it bears or None, predicated, opcode, whole text)."""
    label = None
    for line in lines:
        line = re.sub(r"(;|//).*", "", line).strip()
        if target := re.fullmatch(r"([$.]L\w+):", line):
            if label is not None:
                yield label, False, "nop", "nop"  # An empty block bears the label.
            label = target[1]
        elif line and not line.startswith("."):
            predicated = line.startswith("@")
            text = re.sub(r"^@!?%p\d+\s+", "", line)
            yield label, predicated, text.split()[0], text
            label = None


def shown(opcode, text, also):
    """How an instruction appears in a sequence; None if it doesn't."""
    if also and re.match(also, opcode):
        return opcode
    if "%globaltimer" in text:
        return "globaltimer"
    if opcode == "s_waitcnt":
        return " ".join(re.findall(r"vmcnt\(\d+\)", text)) or None
    if AMD.match(opcode):
        return " ".join([opcode] + [bit for bit in AMD_BITS if re.search(rf"\b{bit}\b", text)])
    if opcode.startswith("s_") or opcode.startswith("v_"):
        return None
    return opcode if PTX.match(opcode) else None


def graph(lines, also):
    """The kernel's blocks, in the order of the text."""
    blocks, labels, targets, falls = [Block()], {}, {}, {}
    for label, predicated, opcode, text in instructions(lines):
        if label is not None:
            if blocks[-1].texts or len(blocks) - 1 in targets or label:
                falls.setdefault(len(blocks) - 1, True)
                blocks.append(Block())
            labels[label] = len(blocks) - 1
        block, number = blocks[-1], len(blocks) - 1
        branch = re.match(r"(bra|s_branch|s_cbranch_\w+)\b", opcode)
        if branch:
            if opcode == "s_cbranch_execz" and "if[" in block.texts:
                # The way round what the mask switches off.
                block.texts.remove("if[")
            targets[number] = text.split()[-1]
            falls[number] = predicated or opcode.startswith("s_cbranch")
            blocks.append(Block())
        elif opcode in ("ret", "s_endpgm", "exit"):
            falls[number] = predicated
            blocks.append(Block())
        elif opcode == "s_and_saveexec_b64":
            block.texts.append("if[")
        elif re.match(r"s_or_b64\s+exec,", text) and block.texts.count("if[") > block.texts.count("]"):
            block.texts.append("]")
        elif what := shown(opcode, text, also):
            block.texts += ["if[", what, "]"] if predicated else [what]
    for number, block in enumerate(blocks):
        block.texts += ["]"] * (block.texts.count("if[") - block.texts.count("]"))
        if number in targets:
            block.successors.append(labels[targets[number]])
        if falls.get(number, True) and number + 1 < len(blocks):
            block.successors.append(number + 1)
    return blocks


def reachable(blocks, start, without=None):
    seen, todo = set(), [start]
    while todo:
        number = todo.pop()
        for successor in blocks[number].successors:
            if successor not in seen and successor != without:
                seen.add(successor)
                todo.append(successor)
    return seen


def sequence(lines, also=None):
    """What a kernel does with memory, and the instructions that match `also`, as one line."""
    blocks = graph(lines, also)
    after = [reachable(blocks, number) for number in range(len(blocks))]
    live = after[0] | {0}
    exits = {number for number in live if not blocks[number].successors}

    def skippable(number):
        return number != 0 and bool(exits & reachable(blocks, 0, without=number) - {number})

    # Blocks in an order in which each comes after those that lead to it, loops in one piece.
    parts, placed = [], set()
    while rest := live - placed:
        ready = [n for n in rest if not any(n in after[m] and m not in after[n] for m in rest)]
        first = min(ready)
        loop = sorted(m for m in after[first] if first in after[m])
        members = loop or [first]
        texts = [text for n in members for text in blocks[n].texts]
        if texts:
            texts = ["loop[", *texts, "]"] if loop else texts
            parts.append((texts, all(skippable(n) for n in members)))
        placed.update(members)
    words = []
    for texts, conditional in parts:
        if conditional and words and words[-1] == "]?":
            words[-1:] = [*texts, "]?"]
        else:
            words += ["if[", *texts, "]?"] if conditional else texts
    words = " ".join("]" if word == "]?" else word for word in words)
    return tidy(words)


def tidy(words):
    """Drops what is empty."""
    before = None
    while words != before:
        before, words = words, re.sub(r"(?:if|loop)\[ \]\s*", "", words).strip()
    return words


def faults(lines):
    """What no kernel may hold, whatever it does."""
    found = []
    if is_amd(lines):
        pending = None
        for _, _, opcode, text in instructions(lines):
            if opcode == "s_waitcnt" and "vmcnt(0)" in text:
                pending = None
            elif pending and re.match(r"(global|flat|buffer)_|s_(barrier|endpgm|c?branch)", opcode):
                found.append(f"{pending} is not waited for before {opcode}")
                pending = None
            if opcode == "buffer_wbl2":
                pending = text
    else:
        for _, _, opcode, text in instructions(lines):
            if re.match(r"(atom|red)\b", opcode) and not re.match(
                r"(atom|red)\.(relaxed|acquire|release|acq_rel)\.(cta|cluster|gpu|sys)\.", opcode
            ):
                found.append(f"'{text}' says no order or scope, which means relaxed.gpu")
            if opcode.startswith("membar"):
                found.append(f"'{text}' says no order")
    return found
