"""Counts the barriers of every group op between two branches on the thread's number: what `%convergence` stands for.

Each op stands in a kernel, in a function that LLVM may inline and in one that it may not, for a block and for a warp,
after a store by 16 threads and before another one. The programs are made from the table below and compiled for every
chip at every level of optimisation, by symm-translate and as a user does it who takes symm-opt's output to LLVM.
However they are compiled, a thread meets as many barriers as the table says, or as without optimisation, the text holds
no more of them, and none is where threads have parted (divergence.py).
"""

import re
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import assemble  # noqa: E402
import divergence  # noqa: E402
import parting  # noqa: E402

CHIPS = ["sm_90", "sm_100", "gfx942"]
LEVELS = ["0", "1", "2", "3"]

DATA = "memref<1024xi64>, memref<1024xi64>"
FLAG = "memref<64xi64>, i64"
# The op, and how many barriers it has; None where that is another test's business.
OPS = {
    "signal": (f"symm.signal set %ctx, %flag[%c0], %v, %peer group GROUP : {FLAG}", 1),
    "signal_relaxed": (f"symm.signal add %ctx, %flag[%c0], %v, %peer sem relaxed group GROUP : {FLAG}", 1),
    "wait": (f"symm.wait %ctx, %flag[%c0] ge %v group GROUP : {FLAG}", 1),
    "wait_timeout": (f"%seen = symm.wait %ctx, %flag[%c0] ge %v timeout %v group GROUP : {FLAG} -> i1", 2),
    "fence_release": ("symm.fence sem release group GROUP", 1),
    "fence_acquire": ("symm.fence sem acquire group GROUP", 1),
    "fence": ("symm.fence group GROUP", 2),
    "barrier": ("symm.barrier %ctx group GROUP", 2),
    "get": (f"symm.get %ctx, %from, %data, %peer group GROUP : {DATA}", None),
    "put": (f"symm.put %ctx, %from, %data, %peer group GROUP : {DATA}", None),
    "copy": (f"symm.copy %ctx, %from at %me, %data at %peer group GROUP : {DATA}", None),
    "put_signal": (f"symm.put_signal add %ctx, %from, %data, %flag[%c0], %v, %peer group GROUP : {DATA}, {FLAG}", None),
}
ENGINE = {
    f"{name}_engine": (OPS[name][0].replace("group GROUP", "group block engine bulk"), None)
    for name in ["get", "put", "copy", "put_signal"]
}
# A handwritten barrier, as text.
ASSEMBLY = {"sm": "bar.sync 0;", "gfx": "s_barrier"}

PARAMETERS = (
    "%ctx: !symm.ctx, %flag: memref<64xi64>, %from: memref<1024xi64>, %data: memref<1024xi64>, %v: i64, %peer: i32"
)
ARGUMENTS = "%ctx, %flag, %from, %data, %v, %peer"
TYPES = "!symm.ctx, memref<64xi64>, memref<1024xi64>, memref<1024xi64>, i64, i32"
STORE = "scf.if %first { symm.remote_store %ctx, %data[%t], %v, %peer : memref<1024xi64>, i64 }"
KEPT = 'attributes {no_inline, passthrough = ["noinline"]} '

KERNEL = """gpu.func @NAME(PARAMETERS) kernel {
  %t = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %me = symm.rank %ctx
  %first = arith.cmpi ult, %t, %c16 : index
  STORE
  BODY
  STORE
  gpu.return
}
"""
FUNCTION = """func.func private @f_NAME(PARAMETERS) ATTRIBUTES{
  %c0 = arith.constant 0 : index
  %me = symm.rank %ctx
  BODY
  return
}
"""


def kernel(name, op, place):
    """The text of one kernel, with the op in itself or in a function."""
    body, function = op, ""
    if place != "here":
        attributes = KEPT if place == "call" else ""
        function = FUNCTION.replace("BODY", op).replace("ATTRIBUTES", attributes)
        body = f"func.call @f_NAME({ARGUMENTS}) : ({TYPES}) -> ()"
    text = function + KERNEL.replace("BODY", body)
    return text.replace("PARAMETERS", PARAMETERS).replace("STORE", STORE).replace("NAME", name)


def program(chip):
    """One program with every kernel, and how many barriers each is to have."""
    texts, expected = [], {}
    is_nvidia = chip.startswith("sm_")
    text = ASSEMBLY["sm" if is_nvidia else "gfx"]
    own = {"assembly": (f'llvm.inline_asm has_side_effects "{text}", "~{{memory}}" : () -> ()', 2)}
    ops = OPS | own | (ENGINE if is_nvidia else {})
    for place in ["here", "inlined", "call"]:
        for name, (op, count) in ops.items():
            for group in ["block", "warp"] if "GROUP" in op else ["block"]:
                key = f"{name}_{group}_{place}"
                # Two engines or barriers in a row, as a program has them.
                lines = op.replace("GROUP", group) if "GROUP" in op else f"{op}\n  {op}"
                texts.append(kernel(key, lines, place))
                expected[key] = count
    head = "module attributes {gpu.container_module} {\ngpu.module @kernels {\n"
    return head + "".join(texts) + "}\n}\n", expected


def by_a_user(path, chip):
    """What MLIR's own tools make of symm-opt's output."""
    vendor = "nvvm" if chip.startswith("sm_") else "rocdl"
    target = f"chip={chip} O=3" + (" features=+ptx86" if vendor == "nvvm" else "")
    lowered = path.with_suffix(f".{chip}.lowered")
    lowered.write_text(assemble.run(["symm-opt", str(path), f"--symm-{vendor}=chip={chip}"]), encoding="utf-8")
    steps = [f"--{vendor}-attach-target={target}", "--gpu-module-to-binary=format=isa"]
    binary = assemble.run(["mlir-opt", str(lowered), *steps])
    text = re.search(r'assembly = "((?:[^"\\]|\\.)*)"', binary)[1]
    return re.sub(r"\\([0-9A-F]{2})", lambda code: chr(int(code[1], 16)), text)


def in_text(analysis, function):
    """How many barriers a function's text holds, with those of what it calls."""
    total = 0
    for block in function.blocks:
        for instruction in block.instructions:
            total += divergence.barrier(instruction) in divergence.KINDS
            for callee in parting.callees(function, instruction, analysis.names):
                total += in_text(analysis, analysis.functions[callee])
    return total


def counts(text):
    """For each kernel how many barriers a thread may meet, and how many there are; and what is wrong at once."""
    analysis = divergence.Analysis(text)
    kernels = {name: function for name, function in analysis.functions.items() if function.is_kernel}
    found = {name: (analysis.ways(each, divergence.KINDS), in_text(analysis, each)) for name, each in kernels.items()}
    return found, list(analysis.faults())


def in_ir(path, chip, level):
    """The same for the barriers of AMD's waves, which are not instructions: in LLVM IR."""
    text = assemble.run(["symm-translate", str(path), "--to", "llvm", "--chip", chip, f"-O{level}"])
    functions = dict(re.findall(r"^define [^\n]*@(\w+)\([^\n]*\n(.*?)^}", text, re.MULTILINE | re.DOTALL))

    def count(name):
        called = re.findall(r"\bcall [^@\n]*@(\w+)\(", functions[name])
        return functions[name].count("@llvm.amdgcn.wave.barrier(") + sum(count(f) for f in called if f in functions)

    return {name: count(name) for name in functions}


def check(chip, folder):
    """What is wrong with the code for a chip."""
    return list(complaints(chip, folder))


def complaints(chip, folder):
    text, expected = program(chip)
    path = Path(folder) / f"{chip}.mlir"
    path.write_text(text, encoding="utf-8")
    texts = {f"-O{level}": assemble.translate(path, chip, f"-O{level}") for level in LEVELS}
    texts["symm-opt, mlir-opt"] = by_a_user(path, chip)
    plain, _ = counts(texts["-O0"])
    if chip.startswith("gfx"):
        plain_ir = in_ir(path, chip, "0")
        waves = {name: count for name, count in expected.items() if "_warp_" in name}
        waves = {name: plain_ir[name] if count is None else count for name, count in waves.items()}
        expected = {name: 0 if name in waves else count for name, count in expected.items()}
        for level in LEVELS:
            found = in_ir(path, chip, level)
            yield from (
                f"{chip}, -O{level}: {name}: {found[name]} barriers of a wave, not {count}"
                for name, count in waves.items()
                if found[name] != count
            )
    for how, assembly in texts.items():
        found, faults = counts(assembly)
        yield from (f"{chip}, {how}: {fault}" for fault in faults)
        for name, count in expected.items():
            met, held = found[name]
            wanted = {count} if count is not None else plain[name][0]
            if not met or not met <= wanted or len(wanted) == 1 and met != wanted:
                yield f"{chip}, {how}: {name}: a thread meets {sorted(met)} barriers, not {sorted(wanted)}"
            if held > (plain[name][1] if count is None else count):
                yield f"{chip}, {how}: {name}: {held} barriers in the text, without optimisation {plain[name][1]}"


def main():
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor() as pool:
        wrong = sum(pool.map(check, CHIPS, [folder] * len(CHIPS)), [])
    print(f"{sum(len(program(chip)[1]) for chip in CHIPS)} kernels, {len(wrong)} faults")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
