"""What Triton's own loads, stores and atomics do besides, in interpreted kernels of a program with ranks.

They look whether another rank has failed, as the kernel may poll with them. With `SYMM_BOUNDS_CHECKS=1` a kernel reads
and writes the tensors that its pointers were made of, and no other memory. To Triton's interpreter a pointer is a
number; here it also knows the memory of the tensor that was the kernel's argument, and so does what is made of it. A
pointer that is made of an integer knows none, and is not checked.
"""

import functools
import inspect
import time

import numpy as np
from triton import language
from triton._C.libtriton import interpreter as memory
from triton.runtime import interpreter
from triton.runtime.interpreter import TensorHandle, _get_np_dtype

from . import _open, _switches
from .errors import BoundsError

# The attribute of a pointer with the first address of its tensor's memory and that after it.
MEMORY = "symm.memory"
# Bytes of a line of packets.
LINE = 16
SECONDS_BETWEEN_LOOKS = 0.05
# The accesses of Triton's interpreter: what a kernel calls them, and which arguments are the pointers and the mask.
ACCESSES = {
    "create_masked_load": ("tl.load", 0, 1),
    "create_masked_store": ("tl.store", 0, 2),
    "create_atomic_cas": ("tl.atomic_cas", 0, None),
    "create_atomic_rmw": ("tl.atomic", 1, 3),
}


class State:
    """The number of Triton stores and atomics so far."""

    written = 0


def install(located):
    """Wraps Triton's interpreter, once. `located` makes an error at the line of the kernel."""
    if getattr(install, "done", False):
        return
    install.done = True
    interpreter._patch_lang = _patching_once(interpreter._patch_lang)
    builder, checks = interpreter.InterpreterBuilder, are_bounds_checked()
    for name, (what, at, mask_at) in ACCESSES.items():
        setattr(builder, name, _watched(getattr(builder, name), located if checks else None, what, at, mask_at))
    if checks:
        interpreter._implicit_cvt = _knowing_tensors(interpreter._implicit_cvt)
        for name, make in inspect.getmembers(builder, inspect.isfunction):
            if name.startswith("create_") and name not in ACCESSES:
                setattr(builder, name, _knowing(make))


def _patching_once(patch):
    """Triton patches its language again at each call of a kernel's function, which is a third of the time it takes."""
    patched = set()

    @functools.wraps(patch)
    def wrapper(function):
        languages = {each for each in function.__globals__.values() if each is language or each is language.core}
        if languages and languages <= patched:
            return interpreter._LangPatchScope()
        scope = patch(function)
        if not patched:
            # The launch's own: at its end nothing is patched.
            restore = scope.restore
            scope.restore = lambda: (patched.clear(), restore())
        patched.update(languages)
        return scope

    return wrapper


@functools.cache
def are_bounds_checked():
    return _switches.is_on(_switches.BOUNDS)


def _watched(access, located, what, at, mask_at):
    @functools.wraps(access)
    def wrapper(self, *args):
        look_at_ranks()
        State.written += what != "tl.load"
        if located is not None:
            check(args[at], located, what, None if mask_at is None else args[mask_at])
        return access(self, *args)

    return wrapper


def look_at_ranks():
    """An error when another rank has failed, if nobody has looked for some time."""
    now = time.monotonic()
    if now - look_at_ranks.last > SECONDS_BETWEEN_LOOKS:
        look_at_ranks.last = now
        for world in _open.worlds:
            world.check()


look_at_ranks.last = 0.0


def _knowing_tensors(convert):
    """An argument of a kernel knows its tensor's memory."""

    @functools.wraps(convert)
    def wrapper(arg):
        value = convert(arg)
        tensor = getattr(arg, "base", arg) if isinstance(arg, interpreter.triton.runtime.jit.TensorWrapper) else arg
        if hasattr(tensor, "untyped_storage"):
            storage = tensor.untyped_storage()
            value.handle.attr[MEMORY] = storage.data_ptr(), storage.data_ptr() + storage.nbytes()
        return value

    return wrapper


def _knowing(make):
    """What is made of pointers into one tensor's memory points there."""

    @functools.wraps(make)
    def wrapper(self, *args, **keywords):
        made = make(self, *args, **keywords)
        if isinstance(made, TensorHandle) and made.dtype.scalar.is_ptr():
            pointers = [arg for arg in args if isinstance(arg, TensorHandle) and arg.dtype.scalar.is_ptr()]
            known = {arg.attr.get(MEMORY) for arg in pointers}
            if len(known) == 1 and None not in known:
                made.attr[MEMORY] = known.pop()
        return made

    return wrapper


def check_operands(name, operands, located):
    """An error where an op of ours would leave the memory of its pointers' tensor, on whatever rank."""
    for each in ("ptr", "src", "dst", "flag", "slots"):
        if each in operands and name != "as_remote":
            mask = None if each == "flag" else operands.get("mask")
            called = name.removeprefix("remote_").replace("atomic_rmw", "atomic")
            check(operands[each], located, f"symm {called}: {each}", mask, LINE if each == "slots" else None)


def moved(pointers, target):
    """Lets pointers to another rank's memory know the counterpart of their tensor's."""
    distances = np.unique(target.data - pointers.data)
    if MEMORY in pointers.attr and distances.size == 1:
        distance = int(distances.astype(np.int64).item())
        target.attr[MEMORY] = tuple(address + distance for address in pointers.attr[MEMORY])
    return target


def check(pointers, located, what, mask=None, width=None):
    """An error where pointers, each to `width` bytes, are not into the memory that they know."""
    if MEMORY not in pointers.attr:
        return
    start, end = pointers.attr[MEMORY]
    width = width or max(pointers.get_element_ty().primitive_bitwidth // 8, 1)
    offsets = pointers.data.astype(np.int64) - start
    outside = (offsets < 0) | (offsets + width > end - start)
    if mask is not None:
        outside &= np.broadcast_to(mask.data, outside.shape)
    if not outside.any():
        return
    first, size = int(offsets[outside].flat[0]), end - start
    place = f"{-first} bytes before its first" if first < 0 else f"at byte {first}"
    message = (
        f"{what}: {int(outside.sum())} of {outside.size} elements are outside of the tensor that the pointers are of: "
    )
    message += f"one is {place}, and the tensor has {size} bytes. Is a mask missing, or wrong?"
    raise located(message, BoundsError)


def everywhere(pointers):
    return np.ones(pointers.data.shape, dtype=bool)


def load(pointers, mask, other=None):
    element = pointers.get_element_ty()
    kind = _get_np_dtype(element)
    mask = everywhere(pointers) if mask is None else mask.data
    other = np.zeros(pointers.data.shape, dtype=kind) if other is None else other.data
    return TensorHandle(memory.load(pointers.data, mask, other, kind), element)


def store(pointers, value, mask):
    memory.store(pointers.data, value.data, everywhere(pointers) if mask is None else mask.data)
