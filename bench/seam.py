#!/usr/bin/env python3
"""What symm adds to Triton's compile time, by parts: CPU time of many compilations, without a GPU.

    PYTHONPATH=python target/python/triton-3.9.0/bin/python bench/seam.py

`./x python` makes that environment and links the extension. *remote* has a remote load, a remote store and a signal,
*local* the same on local memory. *seam* is print, compiler and parse in one go; *carriers* are a part of the front end.
"""

import argparse
import functools
import sys
import time
from unittest import mock

import symm.triton as st
import triton
import triton.language as tl
from symm import _seam, _symm
from symm._carrier import Emitter
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget, Language
from triton.compiler.compiler import ASTSource, make_backend

TARGET = GPUTarget("cuda", 90, 32)


@triton.jit
def remote(table, p, q, flag, n, peer, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    mask = at < n
    values = st.load(table, p + at, peer, mask=mask)
    st.store(table, q + at, values + 1, peer, mask=mask)
    st.signal(table, flag, 1, peer)


@triton.jit
def local(table, p, q, flag, n, peer, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    mask = at < n
    values = tl.load(p + at, mask=mask)
    tl.store(q + at, values + 1, mask=mask)
    tl.atomic_xchg(flag, 1, sem="release", scope="sys")


SIGNATURE = {"table": "*i64", "p": "*fp16", "q": "*fp16", "flag": "*i32", "n": "i32", "peer": "i32", "B": "constexpr"}


def timed(function, *arguments):
    """Microseconds that a call had of a core, and what it returns."""
    start = time.thread_time_ns()
    result = function(*arguments)
    return (time.thread_time_ns() - start) / 1000, result


def front_end(kernel):
    """How long Triton's front end takes, and the carriers in it; the module that it makes, and how to compile it."""
    source = ASTSource(kernel, SIGNATURE, {"B": 1024}, {(name,): [["tt.divisibility", 16]] for name in range(5)})
    backend = make_backend(TARGET)
    options = backend.parse_options({})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    needs = (TARGET, options, backend.get_codegen_implementation(options), backend.get_module_map(), context)
    carriers, call = [], Emitter.call

    def emit(*arguments, **keywords):
        time_of_call, result = timed(functools.partial(call, *arguments, **keywords))
        carriers.append(time_of_call)
        return result

    with mock.patch.object(Emitter, "call", emit):
        time_of_ir, module = timed(source.make_ir, *needs)
    return time_of_ir, sum(carriers), module, backend, options, context


def once(kernel):
    """The parts of one compilation, by name."""
    parts = {}
    parts["front end"], parts["carriers"], module, backend, options, context = front_end(kernel)
    module.context = context
    stages = {}
    backend.add_stages(stages, options, Language.TRITON)
    if kernel is remote:
        parts["print"], text = timed(_seam.generic_text, module)
        parts["compiler"], (lowered, _) = timed(_symm.lower_triton, text, triton.__version__, "cuda:90")
        parts["parse"], _ = timed(_seam.parse, lowered, context)
        parts["seam"], module = timed(_seam.lower, module, TARGET, Language.TRITON)
    else:
        parts["seam"], _ = timed(module.get_int_attr, _seam.MARK)
    parts["Triton"], _ = timed(stages["ttir"], module, {})
    return parts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=300)
    runs = max(10, parser.parse_args().runs)
    samples = {kernel: [once(kernel) for _ in range(runs)] for kernel in (remote, local)}
    print(f"Triton {triton.__version__}, {runs} runs, microseconds: median (tenth percentile)")
    for kernel, parts in samples.items():
        # The first ones warm up.
        ordered = [(name, sorted(part[name] for part in parts[runs // 10 :])) for name in parts[0]]
        figures = (f"{name} {times[len(times) // 2]:.0f} ({times[len(times) // 10]:.0f})" for name, times in ordered)
        print(f"{kernel.fn.__name__:6}", *figures, sep="  ")


if __name__ == "__main__":
    from output import until_reader_leaves

    until_reader_leaves(main)
