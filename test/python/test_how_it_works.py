"""docs/how-it-works.md shows what the compiler makes: each stage of its kernel is made again, and compared."""

import importlib.util
import os
import re
import subprocess
from pathlib import Path
from unittest import mock

import pytest
from compiling import VERSION, compile_for, machine_text
from symm import _seam, _symm

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/how-it-works.md"
SIGNATURE = {"table": "*i64", "ready": "*i32", "p": "*fp16", "q": "*fp16", "peer": "i32"}
MEND = "mend it: ./x python test/python/test_how_it_works.py --bless"


def kernel(page, folder):
    """The kernel on the page."""
    file = folder / "pull.py"
    file.write_text(re.search(r"```python\n(.*?)```", page, re.S)[1])
    spec = importlib.util.spec_from_file_location("pull", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.pull


def symm_opt(text, passes):
    """A module in generic form after some of our passes."""
    options = [f"--pass-pipeline=builtin.module({','.join(passes)})", "--mlir-use-nameloc-as-prefix", "-"]
    command = [os.environ["SYMM_OPT"], "--allow-unregistered-dialect", *options]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def passes():
    """The passes of the pipeline symm-triton, in their order."""
    page = (ROOT / "docs/generated/passes.md").read_text()
    return re.search(r"^## `--symm-triton`.*?```text\n(.*?)\n```", page, re.M | re.S)[1].splitlines()


def stages(pull):
    """What is to stand on the page, by the names there."""
    seen = {}
    lower, lower_triton = _seam.lower, _symm.lower_triton

    def watch(module, *arguments):
        seen["carriers"] = module.str()
        lowered, *more = lower(module, *arguments)
        seen["lowered"] = lowered.str()
        return (lowered, *more)

    def read(text, *arguments):
        # What the compiler takes off first.
        seen["text"] = re.sub(r'(?:llvm\.data_layout = "!"|symm\.carriers = 1 : i32)(?:, )?', "", text)
        return lower_triton(text, *arguments)

    with mock.patch.object(_seam, "lower", watch), mock.patch.object(_symm, "lower_triton", read):
        compiled = compile_for("sm_90", pull, SIGNATURE, ["table", "ready", "p", "q"], {"num_warps": 4}, BLOCK=1024)
    first, *others, last = passes()
    assert (first, last.split("{")[0]) == ("symm-raise-carriers", "symm-lower-to-triton")
    text = seen.pop("text")
    seen |= {"raised": symm_opt(text, [first]), "passes": symm_opt(text, [first, *others])}
    return {**{name: readable(ir) for name, ir in seen.items()}, "ptx": instructions(machine_text(compiled))}


def readable(ir):
    """IR without locations, and without what says nothing here."""
    ir = re.sub(r' loc\((?:#loc\d*|"[^"]*"(?:\(#loc\d*\)|:\d+:\d+)?)\)|^#loc.*\n', "", ir, flags=re.M)
    ir = re.sub(r" \{tt\.divisibility = 16 : i32\}| attributes \{noinline = false\}", "", ir)
    ir = re.sub(r"<\{arg_attrs = .*?\], function_type", "<{function_type", ir)
    return ir.strip()


def instructions(ptx):
    """The labels and instructions of PTX."""
    lines = (line.split("//")[0].rstrip() for line in ptx[ptx.index("{") + 1 : ptx.index("\n}")].splitlines())
    return "\n".join(line for line in lines if re.match(r"\s+[^.\s]|\$L__BB", line)).expandtabs(8)


@pytest.mark.skipif(VERSION != (3, 9), reason="the page is made with Triton 3.9")
@pytest.mark.skipif("SYMM_OPT" not in os.environ, reason="SYMM_OPT does not name symm-opt: ./x python builds it")
def test_page_is_fresh(tmp_path, request):
    page = PAGE.read_text()
    made = stages(kernel(page, tmp_path))

    def block(match):
        return f"{match[1]}{made.pop(match[2])}\n```"

    fresh = re.sub(r"(<!-- made: (\w+) -->\n```\w*\n).*?```", block, page, flags=re.S)
    assert not made, f"{PAGE.name} does not show {', '.join(made)}"
    if request.config.getoption("--bless"):
        PAGE.write_text(fresh)
    assert PAGE.read_text() == fresh, f"docs/how-it-works.md is stale; {MEND}"
