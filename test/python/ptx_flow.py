"""Where a register of PTX gets its value from."""

import re

REGISTER = re.compile(r"%(?!p\d)[a-z]+\d+")


class Flow:
    """The instructions of each function of a PTX text."""

    def __init__(self, ptx):
        self.made, self.given = {}, {}
        pieces = re.split(r"\n\.?(?:visible \.|weak \.)?(?:entry|func) ", re.sub(r"\s*//\s*--.*", "", ptx))[1:]
        self.bodies = {}
        for piece in pieces:
            head, brace, body = piece.partition("\n{")
            if brace:
                name = re.match(r"(?:\s*\(.*?\)\s*)?(\w+)", head)[1]
                self.bodies[name] = [line.strip() for line in body.split("\n}")[0].splitlines()]
        self.entry = next(iter(re.findall(r"\.entry (\w+)", ptx)))
        for name, lines in self.bodies.items():
            self._read(name, lines)

    def _read(self, function, lines):
        passed = {}
        for line in lines:
            if stored := re.match(r"st\.param\.\w+\s+\[param(\d+)\], (\S+);", line):
                passed[int(stored[1])] = stored[2]
            elif called := re.match(r"call\.uni (?:\(\w+\), )?(\w+), ", line):
                self.given.setdefault(called[1], []).append((function, passed))
                passed = {}
            elif made := re.match(r"(?:@\S+ )?([\w.:]+)\s+(\{.*?\}|[^\s,]+?)(?:\|\S+)?, (.*);", line):
                for to in REGISTER.findall(made[2]):
                    self.made.setdefault((function, to), []).append((made[1], made[3]))

    def sources(self, function, register, seen=None):
        """What a value comes from: arguments of the kernel by number, "table" for memory that argument 0 leads to,
        "memory" for other memory, and special registers. Predicates of selections do not count.
        """
        seen = set() if seen is None else seen
        if (function, register) in seen:
            return set()
        seen.add((function, register))
        found = set()
        for op, operands in self.made.get((function, register), []):
            found |= self._of(function, op, operands, seen)
        return found

    def _of(self, function, op, operands, seen):
        if parameter := re.search(r"\[(\w+)_param_(\d+)\]", operands):
            number = int(parameter[2])
            if function == self.entry:
                return {number}
            calls = self.given.get(function, [])
            return set().union(*(self.sources(caller, passed[number], seen) for caller, passed in calls))
        registers = REGISTER.findall(operands)
        if op.startswith("ld."):
            of = set().union(*(self.sources(function, each, set()) for each in registers))
            return {"table"} if "global" in op and 0 in of else {"memory"}
        special = set(re.findall(r"%(?:c?tid|n?tid|nctaid|laneid)\.?\w*", operands))
        return special.union(*(self.sources(function, each, seen) for each in registers))

    def called_with(self):
        """What the engine is called for, and where the number of the peer comes from."""
        for function, lines in self.bodies.items():
            for before, line in zip(lines, lines[1:], strict=False):
                if named := re.match(r"// pe: (\S+)", line):
                    yield before.removeprefix("// engine: "), self.sources(function, named[1])
