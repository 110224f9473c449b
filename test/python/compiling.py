"""Compiles kernels without a GPU."""

import re
from unittest import mock

import triton
from symm import _symm
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import ASTSource
from triton.experimental.gluon._runtime import GluonASTSource, GluonJITFunction

TARGETS = {
    "sm_90": GPUTarget("cuda", 90, 32),
    "sm_100": GPUTarget("cuda", 100, 32),
    "gfx942": GPUTarget("hip", "gfx942", 64),
}
# Triton's, as (3, 9).
VERSION = tuple(int(part) for part in triton.__version__.split(".")[:2])


def compile_for(target, kernel, signature, aligned=(), options=None, **constants):
    """A kernel compiled for one of TARGETS; pointers and integers in `aligned` are multiples of 16.

    `signature` is Triton's: {"p": "*fp16", "n": "i32"}, without the constants.
    """
    source = GluonASTSource if isinstance(kernel, GluonJITFunction) else ASTSource
    types = {name: signature.get(name, "constexpr") for name in kernel.arg_names}
    attributes = {(kernel.arg_names.index(name),): [["tt.divisibility", 16]] for name in aligned}
    return triton.compile(source(kernel, types, constants, attributes), target=TARGETS[target], options=options)


def machine_text(compiled):
    """What the GPU's assembler is given."""
    return compiled.asm["ptx"] if "ptx" in compiled.asm else compiled.asm["amdgcn"]


class Stop(Exception):
    """Compilation got as far as the test wants it to."""


def exported(kernel, signature, target="sm_90", **constants):
    """The text that symm's compiler is given for a kernel."""
    texts = []

    def stop(text, version, target):
        texts.append(text)
        raise Stop

    with mock.patch.object(_symm, "lower_triton", stop):
        try:
            compile_for(target, kernel, signature, **constants)
        except Stop:
            return texts[0]
    raise AssertionError("no symm op reached the compiler")


def carriers(text):
    """The symm ops in exported text, in their order: (carrier, operand types, result types) each."""
    named = dict(re.findall(r'sym_name = "(symm\.[^"]+)".*?\n.*?symm\.carrier = "([^"]+)"', text))
    call = r'"tt\.call"\([^)]*\) <\{callee = @(symm\.[\w.]+)\}> : \((.*)\) -> (.+) loc\('
    return [(named[callee], operands, results.strip()) for callee, operands, results in re.findall(call, text)]
