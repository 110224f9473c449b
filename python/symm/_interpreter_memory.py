"""What Triton's own loads, stores and atomics do in addition, in interpreted kernels of a program with ranks.

They look whether another rank has failed, as the kernel may poll with them. With bounds checks a kernel reads and
writes the tensors that its pointers were made of, and no other memory. To Triton's interpreter a pointer is a number;
while such a kernel runs it also knows the memory of the tensor that was the kernel's argument, and so does what is made
of it. A pointer that is made of an integer knows none, and is not checked.
"""

import functools
import inspect
import threading
import time

import numpy as np
from triton import language
from triton._C.libtriton import interpreter as memory
from triton.runtime import interpreter
from triton.runtime.interpreter import TensorHandle, _get_np_dtype, interpreter_semantic

from . import _open, _switches, _symm
from ._interpreter_deadline import kernel_name
from .errors import ArgumentError, BoundsError

# The attribute of pointers with the first address of their tensor's memory and that after it; where they are of several
# tensors, both are arrays of the pointers' shape.
MEMORY = "symm.memory"
# The attribute of pointers that a descriptor or a block pointer has made.
SHAPED = "symm.shaped"
# What a pointer knows that was made of an integer: all memory.
ANYWHERE = 0, 2**63 - 1
SECONDS_BETWEEN_LOOKS = 0.05
# The accesses of Triton's interpreter: what a kernel calls them, and which arguments are the pointers and the mask.
ACCESSES = {
    "create_masked_load": ("tl.load", 0, 1),
    "create_masked_store": ("tl.store", 0, 2),
    "create_atomic_cas": ("tl.atomic_cas", 0, None),
    "create_atomic_rmw": ("tl.atomic", 1, 3),
}
# What makes pointers of a tensor's shape; newer versions have no block pointers.
SHAPES = "TensorDescHandle", "BlockPointerHandle"
# What its atomics take.
ATOMICS = {"create_atomic_cas": ("ptr", "expected", "desired"), "create_atomic_rmw": ("kind", "ptr", "value", "mask")}


class State:
    """The number of Triton stores so far."""

    written = 0


class Checking(threading.local):
    """Whether the kernel that this thread interprets keeps to its tensors."""

    is_on = False


class Knowing:
    """While kernels that are checked run, in whatever threads: pointers know their tensors."""

    lock, kernels, before = threading.Lock(), 0, {}


checking = Checking()


def install(located, polled):
    """Wraps Triton's interpreter, once. `located` makes an error at the line of the kernel; `polled` hears what atomics
    of Triton have found.
    """
    if getattr(install, "done", False):
        return
    install.done = True
    # A wrong value is an error at once.
    _switches.are_right()
    interpreter._patch_lang = _patching_once(interpreter._patch_lang)
    builder = interpreter.InterpreterBuilder
    for name, (what, at, mask_at) in ACCESSES.items():
        setattr(builder, name, _watched(getattr(builder, name), located, what, at, mask_at))
    for name in ATOMICS:
        setattr(builder, name, _polling(getattr(builder, name), polled, located, ATOMICS[name]))
    interpreter.InterpretedFunction.__call__ = _in_a_kernel(interpreter.InterpretedFunction.__call__)
    interpreter.InterpretedFunction.run = _checked(interpreter.InterpretedFunction.run)


def _in_a_kernel(call):
    """A call of a function by a kernel. What is called with arguments that only the host has is launched wrongly."""

    @functools.wraps(call)
    def wrapper(kernel, *args, **keywords):
        if any(hasattr(each, "data_ptr") for each in (*args, *keywords.values())):
            name = kernel.fn.__name__
            raise ArgumentError(f"kernel {name} is launched without a grid: write {name}[(1,)](…), or another grid")
        return call(kernel, *args, **keywords)

    return wrapper


def _checked(run):
    """A launch of a kernel that keeps to its tensors, if that is asked for."""

    @functools.wraps(run)
    def wrapper(kernel, *args, **keywords):
        _switches.refuse_of_launch(keywords, kernel.arg_names)
        _switches.are_right()
        before, checking.is_on = checking.is_on, _switches.are_bounds_checked(kernel)
        try:
            if not checking.is_on:
                return run(kernel, *args, **keywords)
            _know()
            try:
                return run(kernel, *args, **keywords)
            finally:
                _know_no_more()
        finally:
            checking.is_on = before

    return wrapper


def _know():
    with Knowing.lock:
        Knowing.kernels += 1
        if Knowing.kernels > 1:
            return
        builder = interpreter.InterpreterBuilder
        Knowing.before = {(interpreter, "_implicit_cvt"): interpreter._implicit_cvt}
        for name, make in inspect.getmembers(builder, inspect.isfunction):
            if name.startswith("create_") and name not in ACCESSES:
                Knowing.before[builder, name] = make
        for name in SHAPES:
            if hasattr(interpreter, name):
                handle = getattr(interpreter, name)
                Knowing.before[handle, "materialize_pointers"] = handle.materialize_pointers
        know = {interpreter: _knowing_tensors, builder: _knowing}
        for (place, name), function in Knowing.before.items():
            setattr(place, name, know.get(place, _knowing_base)(function))


def _know_no_more():
    with Knowing.lock:
        Knowing.kernels -= 1
        if Knowing.kernels == 0:
            for (place, name), function in Knowing.before.items():
                setattr(place, name, function)


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


def _watched(access, located, what, at, mask_at):
    @functools.wraps(access)
    def wrapper(self, *args, **keywords):
        look_at_ranks()
        State.written += what == "tl.store"
        if checking.is_on:
            check(args[at], located, what, None if mask_at is None else args[mask_at])
        return access(self, *args, **keywords)

    return wrapper


def _polling(access, polled, located, names):
    @functools.wraps(access)
    def wrapper(self, *args):
        found = access(self, *args)
        given = zip(names, args, strict=False)
        polled({name: arg for name, arg in given if isinstance(arg, TensorHandle)}, found, located)
        return found

    return wrapper


def look_at_ranks():
    """An error when another rank has failed; checked only now and then."""
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
    """What is made of pointers points into the memory of each one's tensor."""

    @functools.wraps(make)
    def wrapper(self, *args, **keywords):
        made = make(self, *args, **keywords)
        for index, each in enumerate(made if isinstance(made, tuple) else [made]):
            if _are_pointers(each):
                _know_of(each, make, (self, *args), keywords, index)
        return made

    return wrapper


def _knowing_base(make):
    """The pointers of a descriptor or a block pointer point into the memory of what it was made of."""

    @functools.wraps(make)
    def wrapper(self, *args, **keywords):
        made, mask = make(self, *args, **keywords)
        if MEMORY in self.base.attr:
            made.attr |= {MEMORY: self.base.attr[MEMORY], SHAPED: True}
        return made, mask

    return wrapper


def _are_pointers(value):
    return isinstance(value, TensorHandle) and value.dtype.scalar.is_ptr()


def _know_of(made, make, args, keywords, index):
    """Lets a result of an op, of this index, know the memory that its elements come from."""
    known = [arg.attr.get(MEMORY) for arg in args if _are_pointers(arg)]
    if all(each is None for each in known):
        return
    if all(each is not None and isinstance(each[0], int) and each == known[0] for each in known):
        made.attr[MEMORY] = known[0]
    elif make.__name__ == "create_addptr":
        made.attr[MEMORY] = tuple(np.broadcast_to(ends, made.data.shape) for ends in known[0])
    else:
        # The op moves the ends of the memory as it moves the pointers.
        ends = []
        for which in (0, 1):
            moved = make(*(_end_of(arg, which) if _are_pointers(arg) else arg for arg in args), **keywords)
            ends.append((moved[index] if isinstance(moved, tuple) else moved).data)
        made.attr[MEMORY] = tuple(ends)


def _end_of(pointers, which):
    """The ends of the memory that each of some pointers knows, in place of the pointers."""
    end = pointers.attr.get(MEMORY, ANYWHERE)[which]
    return TensorHandle(np.array(np.broadcast_to(np.asarray(end, np.uint64), pointers.data.shape)), pointers.dtype)


def check_operands(name, operands, located, named):
    """An error where one of symm's ops would leave the memory of its pointers' tensor, on any rank; `named` says what
    users call an operand.
    """
    for each in ("ptr", "src", "dst", "flag", "slots"):
        if each in operands and name != "as_remote":
            mask = None if each == "flag" else operands.get("mask")
            width = _symm.PACKET_LINE_BYTES if each == "slots" else None
            check(operands[each], located, named(each), mask, width)


def moved(pointers, target):
    """Lets pointers to other ranks' memory know the counterparts of their tensors'."""
    if MEMORY in pointers.attr:
        distances = target.data - pointers.data
        first, ends = distances.flat[:1].astype(np.int64), pointers.attr[MEMORY]
        if isinstance(ends[0], int) and (distances == distances.flat[0]).all():
            target.attr[MEMORY] = tuple(end + int(first.item()) for end in ends)
        else:
            known = np.asarray(ends[0], np.uint64) != ANYWHERE[0]
            target.attr[MEMORY] = tuple(np.asarray(end, np.uint64) + distances * known for end in ends)
    return target


def check(pointers, located, what, mask=None, width=None):
    """An error where pointers, each to `width` bytes, are not into the memory that they know."""
    if MEMORY not in pointers.attr:
        return
    starts, ends = (np.broadcast_to(end, pointers.data.shape).astype(np.int64) for end in pointers.attr[MEMORY])
    width = width or max(pointers.get_element_ty().primitive_bitwidth // 8, 1)
    addresses = pointers.data.astype(np.int64)
    outside = (addresses < starts) | (addresses + width > ends)
    if mask is not None:
        outside &= np.broadcast_to(mask.data, outside.shape)
    if not outside.any():
        return
    worst = np.argmin(np.where(outside, addresses - starts, np.iinfo(np.int64).max))
    start, end, address = (int(each.flat[worst]) for each in (starts, ends, addresses))
    first, size = address - start, end - start
    place = f"{-first} bytes before its first" if first < 0 else f"at byte {first}"
    whole = "the tensor that the pointers are of" if np.unique(starts[outside]).size == 1 else "their tensors"
    message = f"{what}: {int(outside.sum())} of {outside.size} elements are outside of {whole}: "
    kernel, program = kernel_name(), tuple(int(number) for number in interpreter_semantic.builder.grid_idx)
    rank, tensor = _whose(start, size)
    of_rank, made = "" if rank is None else f"rank {rank}, ", "" if tensor is None else f", {tensor},"
    doubt = "Is the shape wrong that it was made with?" if SHAPED in pointers.attr else "Is a mask missing, or wrong?"
    message += f"one is {place}, and the tensor{made} has {size} bytes. {doubt}"
    message += f" (kernel {kernel}: {of_rank}program {program})"
    raise located(message, lambda *place: BoundsError(*place, kernel, rank, program, tensor, first))


def _whose(start, size):
    """The rank that this process is in the World on whose heap an address is, and what tensor begins there; None for
    what is not known.
    """
    for world in _open.worlds:
        offset = next((start - base for base in world.bases if 0 <= start - base < world.heap_size), None)
        if offset is not None:
            return world.get_rank(), world.tensor_at(offset, size)
    return (_open.worlds[0].get_rank() if len(_open.worlds) == 1 else None), None


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


def check_lines(pointers):
    size = _symm.PACKET_LINE_BYTES
    if (pointers.data % size).any():
        raise ValueError(f"slots must be aligned to {size} bytes: each line has {size}")


def from_packets(data, pointers, kind):
    """A block of the data of packets, from 8 bytes each."""
    element = kind.scalar
    dtype = np.dtype(_get_np_dtype(element))
    words = np.frombuffer(data, np.uint64).astype(f"u{dtype.itemsize}").view(dtype)
    return TensorHandle(words.reshape(pointers.data.shape), element)


def integer(value):
    return TensorHandle(np.array([value], dtype=np.int32), language.int32)


def bits(handle):
    return int(handle.data.astype(f"u{handle.data.itemsize}").item())


def contiguous(array):
    return np.ascontiguousarray(array).tobytes()


def like(value, pointers, data):
    """A block of the pointers' shape and the value's type, from bytes."""
    return TensorHandle(np.frombuffer(data, value.data.dtype).reshape(pointers.data.shape), value.dtype)
