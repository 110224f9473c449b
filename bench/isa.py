#!/usr/bin/env python3
"""Counts the instructions of the loops in bench/programs/isa_*.mlir: python3 bench/isa.py

Every program is compiled by symm-translate for sm_90, with the table of heap bases and with a strided heap, and for
gfx942. What is counted is the final text. A loop is what can branch back to its first block. Of the ways round it that
do the whole work the shortest is counted, which every iteration but the last takes: each instruction on it, the branch
included. Loops may have been unrolled, so there are instructions per 16 bytes stored beside those of the iteration. A
base load is a load of a heap's base from the context table: its address comes from the parameter that points there.

With --ptxas and --nvdisasm the same is counted in machine code, with registers and spills.

The exit status is 1 if a kernel of ours misses its target.
"""

import argparse
import dataclasses
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from loops import Instruction, iteration, split

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "bench" / "programs"
TYPES = {"f16": 2, "f32": 4, "i8": 1}
# As symm-run says it.
STRIDE = "symm.heap_stride = 1099511627776 : i64, symm.num_ranks = 8 : i32"
# The rank and the number of ranks, before the bases in the table.
HEADER_BYTES = 16
# Instructions an iteration may take: what Triton's code takes with the base hoisted and the alignment kept.
TARGET = 13


@dataclasses.dataclass
class Counts:
    """What a kernel's loop and the kernel take."""

    kernel: str
    iteration: int = 0
    stored: int = 0
    accesses: tuple = ()
    loop_base_loads: int = 0
    total: int = 0
    base_loads: int = 0
    registers: int | None = None
    spills: int | None = None

    @property
    def per_vector(self):
        """Instructions for 16 bytes stored."""
        return self.iteration * 16 / self.stored if self.stored else float("nan")

    @property
    def widths(self):
        """Accesses of an iteration, such as `2 × 128`."""
        return ", ".join(f"{self.accesses.count(bits)} × {bits}" for bits in sorted(set(self.accesses), reverse=True))


def program(name, element, strided):
    """The text of a program for elements of a type."""
    width = 16 // TYPES[element]
    text = (PROGRAMS / f"{name}.mlir").read_text()
    for alias, value in {
        "!scalar": element,
        "!vector": f"vector<{width}x{element}>",
        "!mask": f"vector<{width}xi1>",
        "!array": f"memref<?x{element}>",
        "#width": f"{width} : index",
        "#bytes": f"{TYPES[element]} : i64",
    }.items():
        text, count = re.subn(rf"^{alias} = .*$", f"{alias} = {value}", text, flags=re.MULTILINE)
        assert count == 1, f"{name}.mlir has no line for {alias}"
    return text.replace("gpu.container_module", f"gpu.container_module, {STRIDE}") if strided else text


def translate(options, name, element, strided, form, chip):
    """The final text of a program."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as source:
        source.write(program(name, element, strided))
        source.flush()
        command = [options.translate, source.name, "--to", form, "--chip", chip, "-O", str(options.level)]
        result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"isa.py: {name}.mlir with {element} does not compile:\n{result.stderr}")
    return result.stdout


# --- PTX, AMD assembly and SASS, as lists of instructions and labels -------------------------------------------------


def kernels_of_ptx(text):
    """Name -> items of every entry; an item is a label or an instruction."""
    for name, body in re.findall(r"\.entry (\w+)\(.*?\)\s*(?:\.\w+[^{]*)?\{(.*?)^\}", text, re.DOTALL | re.MULTILINE):
        has_table = name.startswith(("symm", "iris"))
        items, derived = [], {}
        for line in body.splitlines():
            line = line.split("//")[0].strip()
            if label := re.fullmatch(r"([$\w]+):", line):
                items.append(label[1])
            elif line.endswith(";") and not line.startswith("."):
                items.append(ptx_instruction(line, name if has_table else None, derived))
        yield name, items


def ptx_instruction(line, kernel, derived):
    """An instruction of PTX. `derived` says of the registers that point into the table whether to its start."""
    plain = re.sub(r"^@!?%p\d+\s+", "", line)
    if branch := re.match(r"bra(?:\.uni)?\s+([$\w]+);", plain):
        return Instruction(line, branch[1], plain != line)
    if plain.startswith(("ret", "exit", "trap")):
        return Instruction(line, None, False)
    if access := re.match(r"(ld|st)((?:\.\w+)*)\s+(.*);", plain):
        kind, suffixes, operands = access[1], access[2], access[3]
        if ".param" in suffixes:
            if kernel and f"{kernel}_param_0]" in operands:
                derived[operands.split(",")[0].strip()] = True
            return Instruction(line)
        count = int((re.search(r"\.v(\d)", suffixes) or [0, 1])[1])
        bits = count * int(re.search(r"\.[bfsu](\d+)", suffixes)[1])
        address, offset = re.search(r"\[(%\w+)(?:\+(-?\d+))?\]", operands).groups()
        if kind == "ld" and address in derived:
            is_header = kernel.startswith("symm") and derived[address] and int(offset or 0) < HEADER_BYTES
            return Instruction(line, is_base_load=not is_header)
        return Instruction(line, bits=bits, is_store=kind == "st")
    result, *sources = re.findall(r"%\w+", plain.split(None, 1)[1]) or [None]
    if of_table := derived.keys() & set(sources):
        derived[result] = plain.startswith("cvta") and all(derived[source] for source in of_table)
    return Instruction(line)


AMD_WIDTHS = {"dwordx4": 128, "dwordx3": 96, "dwordx2": 64, "dword": 32, "short": 16, "ushort": 16, "byte": 8,
              "ubyte": 8, "sbyte": 8, "sshort": 16}


def kernels_of_amdgcn(text):
    """Name -> items of every kernel."""
    for name, body in re.findall(r"^([a-z]\w*):\n(.*?)^\s*\.amdhsa_kernel \1$", text, re.DOTALL | re.MULTILINE):
        items = []
        for line in body.splitlines():
            line = line.split(";")[0].strip()
            if label := re.fullmatch(r"([.\w]+):", line):
                items.append(label[1])
            elif line.startswith("."):
                continue
            elif line:
                items.append(amd_instruction(line))
        yield name, items


def amd_instruction(line):
    """An instruction of an AMD GPU."""
    if branch := re.match(r"s_(c?)branch\w*\s+([.\w]+)", line):
        return Instruction(line, branch[2], branch[1] == "c")
    if line.startswith("s_endpgm"):
        return Instruction(line, None, False)
    if access := re.match(r"(?:global|flat)_(load|store)_(\w+)", line):
        width = next(AMD_WIDTHS[part] for part in access[2].split("_") if part in AMD_WIDTHS)
        return Instruction(line, bits=width, is_store=access[1] == "store")
    return Instruction(line)


def kernels_of_sass(text):
    """Name -> items of every kernel in what nvdisasm prints."""
    for name, body in re.findall(r"^\.text\.(\w+):\n(.*?)(?=^\.text\.|\Z)", text, re.DOTALL | re.MULTILINE):
        items = []
        for line in body.splitlines():
            if label := re.fullmatch(r"\s*(\.L_x_\d+):\s*", line):
                items.append(label[1])
            elif code := re.match(r"\s*/\*[0-9a-f]+\*/\s+(.*?);", line):
                items.append(sass_instruction(code[1].strip()))
        # After the code are a jump to itself and padding.
        end = next((at for at in range(len(items) - 1) if isinstance(items[at], str)
                    and getattr(items[at + 1], "target", None) == items[at]), len(items))
        yield name, items[:end]


def sass_instruction(text):
    """An instruction of machine code."""
    plain = re.sub(r"^@!?U?P\w+\s+", "", text)
    if branch := re.match(r"BRA.*`\((\.L_x_\d+)\)", plain):
        return Instruction(text, branch[1], plain != text)
    if plain.startswith("EXIT"):
        return Instruction(text, None, plain != text)
    if access := re.match(r"(LDG|STG|LD|ST)\.E(\S*)", plain):
        width = re.search(r"\.(128|64|U8|S8|U16|S16)\b", access[2])
        bits = int(re.sub(r"[US]", "", width[1])) if width else 32
        return Instruction(text, bits=bits, is_store=access[1].startswith("ST"))
    return Instruction(text)


def count(kernel, items):
    """The counts of a kernel."""
    blocks, successors = split(items)
    loop = iteration(blocks, successors)
    instructions = [item for item in items if not isinstance(item, str)]
    return Counts(
        kernel,
        iteration=len(loop),
        stored=sum(item.bits for item in loop if item.is_store) // 8,
        accesses=tuple(item.bits for item in loop if item.bits),
        loop_base_loads=sum(item.is_base_load for item in loop),
        total=len(instructions),
        base_loads=sum(item.is_base_load for item in instructions),
    )


# --- Reports ----------------------------------------------------------------------------------------------------------


def machine_code(options, ptx):
    """Counts in machine code, with registers and spills."""
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = f"{folder}/kernels.ptx", f"{folder}/kernels.cubin"
        pathlib.Path(source).write_text(ptx)
        command = [options.ptxas, "-v", "-arch=sm_90", source, "-o", cubin]
        assembler = subprocess.run(command, capture_output=True, text=True)
        if assembler.returncode != 0:
            sys.exit(f"isa.py: ptxas refuses the PTX:\n{assembler.stderr}")
        sass = subprocess.run([options.nvdisasm, cubin], capture_output=True, text=True, check=True).stdout
    reports = re.findall(r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores, (\d+) bytes spill loads.*?"
                         r"Used (\d+) registers", assembler.stderr, re.DOTALL)
    used = {name: (int(registers), int(stores) + int(loads)) for name, stores, loads, registers in reports}
    for name, items in kernels_of_sass(sass):
        counts = count(name, items)
        counts.registers, counts.spills = used[name]
        yield counts


def show(title, rows, columns):
    """A table in Markdown."""
    print(f"\n### {title}\n")
    print("| " + " | ".join(columns) + " |")
    print("|---" + "|---:" * (len(columns) - 1) + "|")
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")


def ptx_rows(counts):
    """The rows of a table about PTX."""
    for c in counts:
        yield (c.kernel, c.iteration, f"{c.per_vector:g}", c.widths, c.loop_base_loads, c.total, c.base_loads)


def misses(element, strided, counts):
    """What the kernels of ours miss of their targets."""
    by_name = {c.kernel: c for c in counts}
    for c in counts:
        if not c.kernel.startswith("symm"):
            continue
        direct = by_name[c.kernel.replace("symm", "direct")]
        heap = "strided" if strided else "table"
        where = f"{element}, {heap}, @{c.kernel}"
        if c.per_vector > TARGET or c.per_vector > direct.per_vector:
            yield f"{where}: {c.per_vector:g} instructions for 16 bytes, {direct.per_vector:g} with a direct pointer"
        if c.loop_base_loads or (strided and c.base_loads):
            yield f"{where}: loads {c.loop_base_loads} bases in the loop, {c.base_loads} in all"
        if set(c.accesses) != {128}:
            yield f"{where}: accesses of {c.widths} bits"


def main():
    """Counts, prints, and says what misses its target."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    built = shutil.which("symm-translate") or str(ROOT / "target/release/symm-translate")
    parser.add_argument("--translate", default=built, help="symm-translate")
    parser.add_argument("--ptxas", help="NVIDIA's assembler, for machine code")
    parser.add_argument("--nvdisasm", help="NVIDIA's disassembler, for machine code")
    parser.add_argument("-O", dest="level", type=int, default=2, help="how much LLVM optimises")
    parser.add_argument("--types", default=",".join(TYPES), help="element types")
    parser.add_argument("--json", help="where to write the raw counts")
    options = parser.parse_args()

    missed, raw = [], []
    columns = ("kernel", "iteration", "per 16 bytes", "accesses, bits", "base loads in it", "kernel", "base loads")
    for name in ("isa_store", "isa_load"):
        for element in options.types.split(","):
            for strided in (False, True):
                ptx = translate(options, name, element, strided, "ptx", "sm_90")
                counts = [count(*kernel) for kernel in kernels_of_ptx(ptx)]
                raw += [dict(dataclasses.asdict(c), program=name, type=element, strided=strided) for c in counts]
                missed += [f"{name}: {text}" for text in misses(element, strided, counts)]
                heap = "strided heap" if strided else "table"
                ours = [c for c in counts if not strided or c.kernel.startswith("symm")]
                show(f"{name}, {element}, {heap}: PTX for sm_90", ptx_rows(ours), columns)
                if options.ptxas and options.nvdisasm and not strided:
                    rows = [(c.kernel, c.iteration, f"{c.per_vector:g}", c.widths, c.total, c.registers, c.spills)
                            for c in machine_code(options, ptx)]
                    show(f"{name}, {element}, {heap}: machine code for sm_90", rows,
                         columns[:4] + ("kernel", "registers", "spills"))
            amd = translate(options, name, element, False, "amdgcn", "gfx942")
            rows = [(c.kernel, c.iteration, f"{c.per_vector:g}", c.widths, c.total)
                    for c in (count(*kernel) for kernel in kernels_of_amdgcn(amd))]
            show(f"{name}, {element}, table: gfx942", rows, columns[:4] + ("kernel",))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(raw, indent=1))
    print()
    for text in missed:
        print(f"MISSED {text}")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    from output import until_reader_leaves

    until_reader_leaves(main)
