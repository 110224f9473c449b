"""Triton's interpreter under the checker: its launches and accesses."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import os

import numpy as np
from triton.runtime import interpreter
from triton.runtime.interpreter import GridExecutor, InterpretedFunction, InterpreterBuilder, TensorHandle

from .. import _host_call, _interpreter, _open
from .._streams import Streams
from . import _effects, _gpus, _heaps, _program, _tuned

ORDERS = {"RELAXED": "relaxed", "ACQUIRE": "acquire", "RELEASE": "release", "ACQUIRE_RELEASE": "acq_rel"}
SCOPES = {"CTA": "cta", "GPU": "gpu", "SYSTEM": "sys"}
# What the interpreter of every version has, and that of newer ones.
ACCESSES = ("create_masked_load", "create_masked_store", "create_atomic_rmw", "create_atomic_cas")
NEWER = ("create_atomic_load", "create_atomic_store", "create_atomic_poll")


@contextlib.contextmanager
def checked():
    """Within it, tasks of the checker run: their kernels, ops and Worlds are the checker's."""
    changes, scopes = [], {}
    rewritten = dict(InterpretedFunction.rewritten_fn)

    def change(where, name, value):
        changes.append((where, name, getattr(where, name)))
        setattr(where, name, value)

    for name in (*ACCESSES, *NEWER):
        if hasattr(InterpreterBuilder, name):
            change(InterpreterBuilder, name, _either(globals()[name], getattr(InterpreterBuilder, name)))
    change(GridExecutor, "__call__", _either(launch, GridExecutor.__call__))
    change(interpreter, "_patch_lang", _patching_once(interpreter._patch_lang, scopes))
    change(_interpreter, "Effects", _effects.Checked)
    change(_interpreter.Interpreter, "until", _effects.until)
    change(_interpreter, "in_kernel", _in_kernel(_interpreter.in_kernel))
    change(_open, "join", _joining(_open.join))
    change(Streams, "_copy", _either(_effects.host_copy, Streams._copy))
    change(os, "_exit", _leaving(os._exit))
    for kind, refusing in _gpus.refusing(lambda: _program.task() is not None):
        change(kind, "__new__", refusing)
    options = interpreter.interpreter_builder.options
    # Overflows are asserted, too, where they are not left out.
    asserting = dataclasses.replace(options, debug=True, sanitize_overflow=False)
    change(interpreter.interpreter_builder, "options", asserting)
    try:
        with _tuned.tuned_by_each():
            yield
    finally:
        for where, name, value in reversed(changes):
            setattr(where, name, value)
        for _, scope in reversed(scopes.values()):
            scope.restore()
        InterpretedFunction.rewritten_fn.clear()
        InterpretedFunction.rewritten_fn.update(rewritten)


def _leaving(theirs):
    """`os._exit` of a rank ends that rank: its process is all ranks', and the checker's."""
    process = os.getpid()

    def leave(status):
        if _program.task() is None or os.getpid() != process:
            theirs(status)
        raise SystemExit(status)

    return leave


def _either(ours, theirs):
    """A method that is ours in tasks, and else what it was."""
    return lambda self, *args, **kwargs: (theirs if _program.task() is None else ours)(self, *args, **kwargs)


def _joining(theirs):
    def join(heap_size, driver, timeout, place, reached_by):
        task = _program.task()
        if task is None or driver != "cpu":
            return theirs(heap_size, driver, timeout, place, reached_by)
        return task.execution.runs.join(task, heap_size)

    return join


def _in_kernel(theirs):
    return lambda: theirs() if _program.task() is None else _program.task().kernel is not None


class _Kept:
    """Triton's language stays patched until the end: other tasks are in the middle of their kernels."""

    def restore(self):
        pass


def _patching_once(patch, scopes):
    def patch_once(fn):
        if id(fn.__globals__) not in scopes:
            scopes[id(fn.__globals__)] = fn.__globals__, patch(fn)
        return _Kept()

    return patch_once


def launch(executor, *args, **kwargs):
    """A kernel is launched: each of its programs is a task."""
    task, fn = _program.task(), executor.fn
    for value in (*args, *kwargs.values()):
        if isinstance(rank := getattr(value, "_rank", None), _heaps.Rank):
            rank.check()
            if hasattr(value, "members"):
                task.execution.runs.meets(task.rank, value.get_rank(), value.bases)
    names = inspect.getfullargspec(fn)
    kwargs = {name: value for name, value in kwargs.items() if name in (*names.args, *names.kwonlyargs)}
    hosts, host_kwargs = executor._init_args_hst(args, kwargs)
    for hook in executor.pre_run_hooks:
        hook(*hosts, **host_kwargs)
    interpreter._patch_lang(fn)
    given = inspect.getcallargs(fn, *hosts, **host_kwargs)
    converted = {
        name: value if name in executor.constexprs else interpreter._implicit_cvt(value)
        for name, value in given.items()
    }
    grid = executor.grid(converted) if callable(executor.grid) else executor.grid
    grid = (*grid, *(1,) * (3 - len(grid)))
    width, height, depth = grid
    numbers = [(x, y, z) for z in range(depth) for y in range(height) for x in range(width)]
    run = task.execution
    first, place = run.launch(task.rank, len(numbers)), task.place()
    # The package's own, not a kernel of the user's that is called so.
    is_own = fn.__module__ == "symm._host_kernels"
    name = fn.__name__
    if is_own:
        name = _heaps.TEAM_BARRIER if name == "team_barrier" else _host_call.calls.name or f"World.{name}"
    for task_number, number in enumerate(numbers, first):
        run.waiting[task_number] = task.rank, name, _body(fn, converted), (number, grid), place
    task.regions += _heaps.private(task, _tensors(task, given))
    task.ask(("launch", first, len(numbers)), ("join", first, len(numbers)))
    executor._restore_args_dev(args, hosts, kwargs, host_kwargs)


def _body(fn, args):
    return lambda _: fn(**args)


def _tensors(task, given):
    """The tensors among arguments that are not on a heap: their names, addresses, sizes and elements' bytes."""
    heaps = [(base, run.size) for run in task.execution.runs for base in run.bases]
    found = {}

    def look(name, value):
        if isinstance(value, (tuple, list)):
            for each in value:
                look(name, each)
        elif hasattr(value, "base"):
            look(name, value.base)
        elif hasattr(value, "untyped_storage"):
            storage = value.untyped_storage()
            address, size = storage.data_ptr(), storage.nbytes()
            if size and not any(base <= address < base + extent for base, extent in heaps):
                found.setdefault((address, size), (name, value.element_size()))

    for name, value in given.items():
        look(name, value)
    return [(name, *piece, width) for piece, (name, width) in found.items()]


def create_masked_load(self, ptrs, mask, other, *policy, **named):
    volatile = named.get("is_volatile", policy[-1] if policy else False)
    return _effects.load(ptrs, mask, other, volatile)


def create_masked_store(self, ptrs, value, mask, *policy):
    _effects.store(ptrs, value, mask)


def _order(sem, scope):
    return ORDERS[sem.name], SCOPES[scope.name]


def create_atomic_rmw(self, kind, ptr, value, mask, sem, scope):
    return _effects.atomic(kind.name.lower(), ptr, value, mask, *_order(sem, scope))


def create_atomic_cas(self, ptr, expected, desired, sem, scope):
    return _effects.cas(ptr, expected, desired, *_order(sem, scope))


def create_atomic_load(self, ptr, mask, sem, scope):
    found = _effects.ask("load", *_effects.block(ptr, mask), *_order(sem, scope))
    return TensorHandle(_effects.array(found, ptr), ptr.get_element_ty())


def create_atomic_store(self, ptr, value, mask, sem, scope):
    values = np.broadcast_to(value.data, ptr.data.shape)
    _effects.ask("store", *_effects.block(ptr, mask), values.tobytes(), *_order(sem, scope))


def create_atomic_poll(self, ptr, expected, timeout_ns, sem, scope):
    """A wait that does not give up."""
    for index in np.ndindex(ptr.data.shape):
        place = TensorHandle(np.asarray(ptr.data[index]), ptr.dtype)
        value = np.broadcast_to(expected.data, ptr.data.shape)[index]
        wanted = int(value.astype(f"u{value.itemsize}"))
        _effects.ask("wait", *_effects.block(place), wanted, *_order(sem, scope), "eq", True)
    return TensorHandle(np.ones(ptr.data.shape, np.bool_), interpreter.tl.int1)


