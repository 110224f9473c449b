"""The control flow of PTX and AMD assembly: functions, blocks, branches and where their arms rejoin.

Written for divergence.py, and apart from machine_code.py, which prints sequences: neither is checked by itself.
"""

import re
from dataclasses import dataclass, field


@dataclass
class Instruction:
    opcode: str
    text: str
    guard: str = ""  # The predicate, `%p1` or `!%p1`.


@dataclass
class Block:
    instructions: list = field(default_factory=list)
    successors: list = field(default_factory=list)
    branch: Instruction | None = None  # The conditional branch at its end.


@dataclass
class Function:
    name: str
    is_kernel: bool
    blocks: list


def functions(text):
    """Every function with a body, by its name."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    found = amd_functions(text) if ".amdgcn_target" in text else ptx_functions(text)
    return {function.name: function for function in found}


def ptx_functions(text):
    text = re.sub(r"//.*", "", text)
    for header in re.finditer(r"^(.*?)\.(entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)\s*", text, re.MULTILINE):
        rest = text[header.end() :]
        # Parameters, then directives such as .maxntid; a declaration ends with a semicolon.
        opening = re.match(r"(?:\([^)]*\))?[^;{]*\{", rest)
        if opening:
            body = rest[opening.end() : closing_brace(rest, opening.end())]
            yield Function(header[3], header[2] == "entry", graph(ptx_instructions(body), ptx_flow))


def closing_brace(text, start):
    depth = 1
    for brace in re.finditer(r"[{}]", text[start:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return start + brace.start()
    raise ValueError("a function does not end")


# The labels that an indirect branch may go to.
TABLE = re.compile(r"([$\w]+):\s*\.branchtargets\s+([^;]*);")


def ptx_instructions(body):
    """Labels as text, and instructions. A brace that opens a scope belongs to no operand."""
    body = re.sub(r"(^|[;{}])\s*\{", r"\1", body, flags=re.MULTILINE)
    tables = {name: " ".join(labels.replace(",", " ").split()) for name, labels in TABLE.findall(body)}
    body = TABLE.sub("", body)
    body = re.sub(r"(brx\.idx\S*\s+[^,\s]+),\s*([$\w]+)", lambda jump: f"{jump[1]} {tables[jump[2]]}", body)
    for statement in re.split(r"[;\n]", body):
        statement = statement.strip()
        if statement.startswith("}"):
            statement = statement[1:].strip()
        while label := re.match(r"([$\w]+):(?!:)", statement):
            yield label[1]
            statement = statement[label.end() :].strip()
        if not statement or statement.startswith("."):
            continue
        guard = re.match(r"@(!?%?[\w$]+)\s+", statement)
        statement = statement[guard.end() :] if guard else statement
        yield Instruction(statement.split()[0], statement, guard[1] if guard else "")


def ptx_flow(instruction):
    """Where an instruction goes: its targets if it is a branch, and whether the next one may follow."""
    if re.match(r"(ret|exit|trap)\b", instruction.opcode):
        return [], bool(instruction.guard)
    if re.match(r"bra\b", instruction.opcode):
        return instruction.text.split()[-1:], bool(instruction.guard)
    if re.match(r"brx\b", instruction.opcode):
        return instruction.text.split()[2:], bool(instruction.guard)
    return [], True


def amd_functions(text):
    kernels = set(re.findall(r"^\s*\.amdhsa_kernel (\S+)", text, re.MULTILINE))
    for name, body in re.findall(r"^([\w$.]+):[^\n]*\n(.*?)^\.Lfunc_end\d+:", text, re.MULTILINE | re.DOTALL):
        yield Function(name, name in kernels, graph(amd_instructions(body), amd_flow))


def amd_instructions(body):
    for line in body.splitlines():
        if "; wave barrier" in line:
            yield Instruction("wave_barrier", "wave_barrier")
        line = re.sub(r"(;|//).*", "", line).strip()
        if label := re.fullmatch(r"(\.L\w+):", line):
            yield label[1]
        elif line and not line.startswith("."):
            yield Instruction(line.split()[0], line)


def amd_flow(instruction):
    if re.match(r"s_(endpgm|setpc_b64|trap)", instruction.opcode):
        return [], False
    if re.match(r"s_c?branch", instruction.opcode):
        return instruction.text.split()[-1:], instruction.opcode != "s_branch"
    return [], True


def graph(items, flow):
    """The blocks, the first one the entry; without those that only lead to a trap."""
    blocks, labels, targets, falls = [Block()], {}, {}, {}
    for item in items:
        if isinstance(item, str):
            if blocks[-1].instructions or len(blocks) - 1 in falls:
                blocks.append(Block())
            labels[item] = len(blocks) - 1
            continue
        if len(blocks) - 1 in falls:
            blocks.append(Block())
        blocks[-1].instructions.append(item)
        found, goes_on = flow(item)
        if found or not goes_on or item.guard and re.match(r"ret|exit|trap", item.opcode):
            number = len(blocks) - 1
            targets[number], falls[number] = found, goes_on
            blocks[-1].branch = item if goes_on or len(found) > 1 else None
    for number, block in enumerate(blocks):
        block.successors.extend(dict.fromkeys(labels[label] for label in targets.get(number, [])))
        if falls.get(number, True) and number + 1 < len(blocks):
            block.successors.append(number + 1)
    return without_traps(blocks)


def ends_in_trap(block):
    return any(re.match(r"(s_)?trap", each.opcode) and not each.guard for each in block.instructions)


def without_traps(blocks):
    """Cuts the ways into blocks from which nothing but a trap is reached: no thread rejoins after it."""
    dead = {number for number, block in enumerate(blocks) if ends_in_trap(block)}
    while more := {
        number
        for number, block in enumerate(blocks)
        if number not in dead and block.successors and set(block.successors) <= dead
    }:
        dead |= more
    for block in blocks:
        block.successors = [successor for successor in block.successors if successor not in dead]
        if len(block.successors) < 2 and block.branch and not re.match(r"ret|exit", block.branch.opcode):
            block.branch = None
    return blocks


EXIT = -1


def post_dominators(blocks):
    """For every block the ones that every way from it to the end goes through, itself included."""
    leaves = {n: set(block.successors) or {EXIT} for n, block in enumerate(blocks)}
    for number, block in enumerate(blocks):
        if block.branch and re.match(r"ret|exit", block.branch.opcode):
            leaves[number].add(EXIT)
    # A loop that does not end is taken to end with its last block.
    while endless := leaves.keys() - reaching(EXIT, leaves):
        leaves[max(endless)].add(EXIT)
    everything = {EXIT, *range(len(blocks))}
    after = {number: set(everything) for number in range(len(blocks))}
    after[EXIT] = {EXIT}
    changed = True
    while changed:
        changed = False
        for number in reversed(range(len(blocks))):
            new = {number} | set.intersection(*(after[successor] for successor in leaves[number]))
            if new != after[number]:
                after[number], changed = new, True
    return after, leaves


def reaching(end, leaves):
    """The blocks from which one is reached."""
    found = {end}
    while more := {number for number, each in leaves.items() if number not in found and each & found}:
        found |= more
    return found


def region(number, after, leaves):
    """The blocks that a branch leads to before its arms rejoin, and where they do."""
    strict = after[number] - {number}
    join = next(each for each in strict if after[each] == strict)
    seen, todo = set(), [each for each in leaves[number] if each != join]
    while todo:
        block = todo.pop()
        if block not in seen and block != EXIT:
            seen.add(block)
            todo.extend(each for each in leaves[block] if each != join)
    return seen, join


def within(start, inside, leaves):
    """The blocks of a region that are reached from one of them."""
    seen, todo = set(), [start]
    while todo:
        block = todo.pop()
        if block in inside and block not in seen:
            seen.add(block)
            todo.extend(leaves[block])
    return seen


def without(number, arm, leaves):
    """The blocks that are reached from the first one on other ways than from a block to one of its arms."""
    seen, todo = set(), [0]
    while todo:
        block = todo.pop()
        if block not in seen and block != EXIT:
            seen.add(block)
            todo.extend(each for each in leaves[block] if (block, each) != (number, arm))
    return seen
