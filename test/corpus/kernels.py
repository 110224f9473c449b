"""The kernels of an installed package, and what they are compiled with: guessed from their names and their use."""

import ast
import importlib
import pathlib
import re
import sys
import types

import triton.language as tl
from stand_ins import ANYTHING
from triton.runtime.autotuner import Autotuner, Heuristics
from triton.runtime.jit import JITFunction

INTEGERS = re.compile(
    r"(^|_)(idx|ids?|ind|index|indices|cu_seqlens?|seqlens?|lens?|labels?|targets?|table|counts?|counter)(_|$)"
)
FLOATS = re.compile(
    r"(^|_)(eps|epsilon|scale|alpha|beta|gamma|prob|p|lr|momentum|softcap|smoothing|softcapping|decay|norm)(_|$)"
)
FLAGS = re.compile(
    r"^(IS|HAS|USE|STORE|SAVE|RETURN|COMPUTE|DO|APPLY|REVERSE|CAUSAL|OUTPUT|TRANS|ALLOW|ENABLE)", re.IGNORECASE
)
TYPES = re.compile(r"dtype|_type$", re.IGNORECASE)
MEMORY = {"load", "store", "make_block_ptr", "make_tensor_descriptor"}
# Tried in this order, until one compiles: the pointers' elements, constants that are numbers, constants that are flags.
GUESSES = [
    ("fp32", 64, True),
    ("fp32", 64, False),
    ("fp32", 128, False),
    ("bf16", 64, True),
    ("bf16", 16, False),
    ("fp32", 1, False),
]


class Kernel:
    """A kernel with what its decorators say about it."""

    def __init__(self, function):
        self.constants, self.heuristics, self.options = {}, {}, {}
        while not isinstance(function, JITFunction):
            if isinstance(function, Autotuner) and function.configs:
                config = function.configs[0]
                self.constants |= config.kwargs
                self.options = {"num_warps": config.num_warps, "num_stages": config.num_stages}
            elif isinstance(function, Heuristics):
                self.heuristics |= function.values or {}
            function = function.fn
        self.function = function
        self.name = f"{function.fn.__module__}.{function.fn.__name__}"

    def guesses(self):
        """What it may be compiled with, one after the other: types, constants, options."""
        pointers = pointers_of(self.function)
        for element, number, flag in GUESSES:
            types, constants = {}, {}
            for parameter in self.function.params:
                if parameter.is_constexpr:
                    constants[parameter.name] = self._constant(parameter, number, flag)
                else:
                    types[parameter.name] = type_of(parameter, parameter.name in pointers, element)
            arguments = {name: ANYTHING if kind[0] == "*" else 128 for name, kind in types.items()} | constants
            for name, heuristic in self.heuristics.items():
                constants[name] = arguments[name] = evaluated(heuristic, arguments, flag)
                types.pop(name, None)
            yield types, constants, self.options

    def _constant(self, parameter, number, flag):
        name = parameter.name
        if name in self.constants:
            return self.constants[name]
        if parameter.has_default and parameter.default is not None:
            return getattr(parameter.default, "value", parameter.default)
        if name in ("num_warps", "num_stages"):
            return 4
        if TYPES.search(name):
            return tl.float32
        if FLAGS.search(name) or "bool" in str(parameter.annotation):
            return flag
        return 0.5 if FLOATS.search(name.lower()) else number


def evaluated(heuristic, arguments, flag):
    """The value that a heuristic gives for these arguments, or the guess if it does not take them."""
    try:
        value = heuristic(arguments)
    except Exception:
        return flag
    return flag if value is ANYTHING else value


def type_of(parameter, pointer, element):
    """Triton's name for the type of a parameter."""
    name = parameter.name.lower()
    if pointer:
        return "*i32" if INTEGERS.search(name.removesuffix("_ptr").removesuffix("_pointer")) else f"*{element}"
    if isinstance(parameter.default, float) or FLOATS.search(name):
        return "fp32"
    return parameter.annotation_type or "i32"


def pointers_of(function, depth=0):
    """The names of the parameters that are pointers: memory is accessed from them, here or in what is called."""
    tree = function.parse()
    names = set(function.arg_names)
    sources, found = {}, {name for name in names if re.search(r"(^|_)(ptrs?|pointer)$", name.lower())}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            sources.setdefault(node.targets[0].id, set()).add(leftmost(node.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            found |= {name for name in addressed(node, function, depth) if name}
    while more := {source for name in found for source in sources.get(name, ())} - found - {None}:
        found |= more
    return found & names


def addressed(call, function, depth):
    """The variables that a call takes addresses from."""
    callee = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if callee in MEMORY or callee.startswith("atomic_"):
        return {
            leftmost(operand)
            for operand in call.args[:1] + [k.value for k in call.keywords if k.arg in ("base", "pointer")]
        }
    called = function.__globals__.get(callee)
    if not isinstance(called, JITFunction) or depth > 3:
        return set()
    inner = pointers_of(called, depth + 1)
    passed = dict(zip(called.arg_names, call.args, strict=False)) | {k.arg: k.value for k in call.keywords}
    return {leftmost(value) for name, value in passed.items() if name in inner}


def leftmost(node):
    """The variable that a sum begins with: the pointer of an address."""
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.BinOp):
            node = node.left
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value
        else:
            return None
    return node.id


def kernels_of(folder):
    """The kernels of a package, and how many modules could not be imported."""
    found, refused = {}, 0
    for file in sorted(pathlib.Path(folder).rglob("*.py")):
        if not re.search(r"@(triton\.)?jit\b", file.read_text(errors="replace")):
            continue
        name = ".".join(file.relative_to(folder).with_suffix("").parts)
        module = imported(name.removesuffix(".__init__"), folder)
        if module is None:
            refused += 1
            continue
        for value in list(vars(module).values()):
            kernel = kernel_in(value)
            if kernel and kernel.function.fn.__module__ == module.__name__:
                found[kernel.name] = kernel
    called = {f"{f.fn.__module__}.{f.fn.__name__}" for kernel in found.values() for f in called_by(kernel.function)}
    return [kernel for name, kernel in sorted(found.items()) if name not in called], refused


def imported(name, folder):
    """A module of a package; packages around it whose own code fails are left empty. None where it fails itself."""
    for _ in range(2):
        try:
            return importlib.import_module(name)
        except (Exception, SystemExit):
            parents = name.split(".")[:-1]
            for end in range(1, len(parents) + 1):
                empty = types.ModuleType(".".join(parents[:end]))
                empty.__path__ = [str(pathlib.Path(folder, *parents[:end]))]
                sys.modules.setdefault(empty.__name__, empty)
    return None


def called_by(function):
    names = {
        node.func.id
        for node in ast.walk(function.parse())
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    return [value for name in names if isinstance(value := function.__globals__.get(name), JITFunction)]


def kernel_in(value):
    """The kernel that a variable holds, in whatever it is wrapped."""
    inner = value
    for _ in range(8):
        if isinstance(inner, JITFunction):
            return Kernel(value)
        inner = vars(inner).get("fn") if hasattr(inner, "__dict__") else None
    return None
