"""Which values of a text's functions differ from thread to thread, and so on which branches threads part.

A part of divergence.py, whose header says what is taken for granted.
"""

import re

import control_flow

UNIFORM, WARP, THREAD = 0, 1, 2  # One value for the block, for each warp, for each thread.
REGISTER = re.compile(r"%[\w$]+(?:\.[xyz])?")
MASK = re.compile(r"(?:saveexec_b64\s+\S+,|^s_\w+\s+exec,(?: exec,)?)\s*(\S+)")
COLLECTED = re.compile(r"^s_or_b64\s+(\S+), \1, exec$")
SOURCES = [
    (re.compile(r"%(tid\.\w|laneid|lanemask_\w+|clock\w*|globaltimer\w*)"), THREAD),
    (re.compile(r"%warpid"), WARP),
]

WRITES_NOTHING = re.compile(
    r"(st|bra|bar|barrier|red|fence|membar|ret|exit|nanosleep|cp|call|mbarrier\.(init|inval))\b"
)


def parts(function, block):
    """Whether an AMD block switches off some lanes of a wave before it asks whether any is left."""
    masks = [MASK.search(each.text) for each in block.instructions]
    mask = next((mask for mask in reversed(masks) if mask), None)
    # Elsewhere, or after lanes have come back, it is a jump that is always or never taken; in a mask that is collected
    # all lanes may have come.
    return mask is not None and not mask[0].startswith("s_or_b64") and mask[1] not in function.collected


def callees(function, instruction, names):
    """Whom an instruction may call."""
    if re.match(r"call\b", instruction.opcode):
        found = [word for word in re.findall(r"[\w$]+", instruction.text) if word in names]
        return found[:1]
    return [function.called[id(instruction)]] if id(instruction) in function.called else []


def amd_calls(function, names):
    """Whom each call of an AMD function goes to: the address in its registers, followed down the text."""
    holds, called = {}, {}
    for instruction in (each for block in function.blocks for each in block.instructions):
        text = instruction.text
        if found := re.match(r"s_add_u32 s(\d+), s\d+, ([\w$]+)@(?:rel32|gotpcrel32)@lo", text):
            holds[found[1]] = found[2]
        elif found := re.match(r"s_(?:mov_b64|load_dwordx2) s\[(\d+):\d+\], s\[(\d+):\d+\]", text):
            holds[found[1]] = holds.get(found[2])
        elif found := re.match(r"s_mov_b32 s(\d+), s(\d+)", text):
            holds[found[1]] = holds.get(found[2])
        elif (found := re.match(r"s_setpc_b64 s\[(\d+):", text)) and holds.get(found[1]) in names:
            called[id(instruction)] = holds[found[1]]  # A tail call; else it returns.
        elif found := re.match(r"s_swappc_b64 \S+, s\[(\d+):", text):
            if holds.get(found[1]) not in names:
                raise ValueError(f"{function.name}: who is called by '{text}'?")
            called[id(instruction)] = holds[found[1]]
    return called


def split(instruction):
    """The text of what a PTX instruction writes and of what it reads."""
    operands = re.sub(r"^\S+\s*", "", instruction.text)
    if WRITES_NOTHING.match(instruction.opcode):
        return "", operands
    target, _, rest = operands[1:].partition("}") if operands.startswith("{") else operands.partition(",")
    return target, rest


class Values:
    """The functions of a text, and how far the values in them differ."""

    def __init__(self, text):
        self.functions = control_flow.functions(text)
        self.is_amd = ".amdgcn_target" in text
        self.names = set(self.functions)
        for function in self.functions.values():
            texts = [each.text for block in function.blocks for each in block.instructions]
            function.called = amd_calls(function, self.names)
            function.collected = {found[1] for found in map(COLLECTED.match, texts) if found}
            function.after, function.leaves = control_flow.post_dominators(function.blocks)
        self.levels = {name: {} for name in self.functions}
        self.memory = {}  # What parameters and results hold.
        if not self.is_amd:
            self.spread()

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
        if re.match(r"shfl\.sync\.idx\.\S+ [^,]+,[^,]+,\s*\d+\s*,", " ".join(instruction.text.split())):
            level = min(level, WARP)  # What one lane of the warp has.
        elif re.match(r"(atom|shfl|match|activemask|elect|mbarrier)\b", opcode):
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
            call = re.match(r"call\S*\s+(?:\((\w+)\),)?\s*[\w$]+,?\s*(?:\((.*?)\))?", instruction.text)
            result, arguments = call.groups()
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
                asked = block.branch.text if block.branch.opcode.startswith("brx") else ""
                level = self.level(function, block.branch.guard + asked)
            if level:
                yield number, level
