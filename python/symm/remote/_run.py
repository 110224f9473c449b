"""An op on tensors of one worker: find out what comes of it, tell the worker, make the results' tensors.

What comes of an op is worked out once for each op and arguments' metadata. Where only the values can tell (nonzero), or
torch has no rule, the worker is asked, which waits for it.
"""

import itertools

import torch
from torch.utils._pytree import tree_leaves

from .. import _symm
from ..errors import UnsupportedError
from ._metadata import infer, meta, meta_of
from ._place import place
from ._tensor import RemoteTensor, adopt, parts, wrap

_ASK = object()
_LIMIT = 50_000
_MOST_RESULTS = 64
_plans = {}
_numbers = itertools.count()
aten = torch.ops.aten
# Torch's rules for these have other strides than what does them. Asked once for each metadata.
_WORKER_KNOWS = {aten._fft_c2c.default, aten._fft_r2c.default, aten._fft_c2r.default, aten.max_unpool2d.default}


class Plan:
    """What is known about an op before its arguments are."""

    __slots__ = ("by_type", "func", "name", "number", "worker_knows")

    def __init__(self, func):
        self.func = func
        self.number = next(_numbers)
        overload = "" if func._overloadname == "default" else f".{func._overloadname}"
        self.name = f"{func.namespace}::{func._opname}{overload}"
        # What an op on each element returns does not depend on its numbers, only on their types. Optimizers have others
        # in each step.
        self.by_type = torch.Tag.pointwise in func.tags or func._opname.startswith("_foreach_")
        self.worker_knows = func in _WORKER_KNOWS


def plan_of(func) -> Plan:
    """The op's plan, made once."""
    plan = _plans.get(func)
    if plan is None:
        plan = _plans[func] = Plan(func)
    return plan


def run(func, args, kwargs, worker=None, generator=None):
    """Runs an op on the worker of its tensors, or on the one that is given.

    Where the op takes a generator and is given None, `generator` is what the worker gets.
    """
    plan = plan_of(func)
    key, first = _symm.remote_key(plan.number, plan.by_type, args, kwargs)
    worker = worker or first or _worker_of_strided(args, kwargs)
    if worker is None:
        raise UnsupportedError(f"{plan.name}: an argument is not a strided tensor on a worker")
    # What cannot be sent is refused where the worker is asked.
    spec = _ASK if key is None else worker.cache.get(key)
    if spec is None:
        spec = _specify(plan, args, kwargs, worker)
        if len(worker.cache) > _LIMIT:
            worker.cache.clear()
        worker.cache[key] = spec
    worker.fresh = None
    if generator is not None:
        args, kwargs = _with_generator(func, args, kwargs, generator)
    if spec is _ASK:
        result = ask(plan, args, kwargs, worker)
        if plan.worker_knows:
            worker.cache[key] = _spec([result._meta], None, [], worker)
        return result
    handles = [None if like is None else _symm.Handle(worker) for like in spec.metas]
    worker.call(plan.name, args, kwargs, tuple(handle and handle.id for handle in handles), place())
    for where, like in spec.changed:
        tensor = _argument(args, kwargs, where)
        adopt(tensor, wrap(like, tensor._handle))
    new = [like and wrap(like, handle) for like, handle in zip(spec.metas, handles, strict=True)]
    return new[0] if spec.build is None else spec.build(new, args, kwargs)


def _worker_of_strided(args, kwargs):
    """The worker of the first tensor that has one, which says what is wrong with a tensor before it."""
    tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    if all(tensor.layout is torch.strided for tensor in tensors):
        return next((tensor._handle.worker for tensor in tensors if isinstance(tensor, RemoteTensor)), None)
    return None


def _spec(metas, build, changed, worker):
    is_plain = not changed and not any(like and (like.conj or like.neg) for like in metas)
    return _symm.Spec(metas, build, changed, [like and parts(like, worker) for like in metas] if is_plain else None)


def _with_generator(func, args, kwargs, generator):
    for position, argument in enumerate(func._schema.arguments):
        if argument.name == "generator" and position < len(args):
            return (*args[:position], generator, *args[position + 1 :]), kwargs
    return args, {**kwargs, "generator": generator}


def _specify(plan, args, kwargs, worker):
    func = plan.func
    if plan.worker_knows:
        return _ASK
    try:
        result, new_args, new_kwargs = infer(func, args, kwargs, worker.own_device, RemoteTensor)
    except Exception:
        # Wrong arguments, a result that depends on values, or no rule: the worker knows.
        return _ASK
    if result is None or not _has_tensors(func):
        return _ASK if not _writes(func) else _specification(func, None, (args, kwargs), (new_args, new_kwargs), worker)
    return _specification(func, result, (args, kwargs), (new_args, new_kwargs), worker)


def _has_tensors(func) -> bool:
    return any("Tensor" in str(value.type) for value in func._schema.returns)


def _writes(func) -> bool:
    return any(argument.alias_info is not None and argument.alias_info.is_write for argument in func._schema.arguments)


def _specification(func, result, before, after, worker):
    schema = func._schema
    results = () if result is None else (result,) if len(schema.returns) == 1 else tuple(result)
    metas, makers = [], []
    for returned, value in zip(schema.returns, results, strict=True):
        if returned.alias_info is not None and returned.alias_info.is_write:
            where = _written(schema, returned)
            count = len(value) if isinstance(value, (list, tuple)) else 1
            metas.extend([None] * count)
            makers.append(lambda new, args, kwargs, where=where: _argument(args, kwargs, where))
        elif isinstance(value, (list, tuple)):
            start = len(metas)
            metas.extend(_describe(func, part) for part in value)
            makers.append(lambda new, args, kwargs, start=start, end=len(metas): new[start:end])
        elif isinstance(value, torch.Tensor) or "Tensor" in str(returned.type):
            metas.append(_describe(func, value))
            makers.append(lambda new, args, kwargs, at=len(metas) - 1: new[at])
        elif isinstance(value, (int, float, bool)):
            makers.append(lambda new, args, kwargs, value=value: value)
        else:
            return _ASK
    if any(like is _ASK for like in metas):
        return _ASK
    if len(makers) == 1 and len(metas) == 1 and metas[0] is not None and not isinstance(results[0], (list, tuple)):
        build = None
    elif len(makers) == 1:
        build = makers[0]
    elif not makers:
        build = lambda new, args, kwargs: None  # noqa: E731
    else:
        build = lambda new, args, kwargs: tuple(make(new, args, kwargs) for make in makers)  # noqa: E731
    return _spec(metas, build, _changed(schema, *before, *after), worker)


def _describe(func, value):
    if value is None:
        return None
    if not isinstance(value, torch.Tensor):
        return _ASK
    if value.layout is not torch.strided:
        raise UnsupportedError(f"{func}: a result has the layout {value.layout}: tensors on workers are strided")
    try:
        return meta_of(value) if all(type(size) is int for size in value.shape) else _ASK
    except RuntimeError:
        return _ASK


def _written(schema, returned):
    """Where the argument is that the op returns: its position, or its name if only that is allowed."""
    for position, argument in enumerate(schema.arguments):
        info = argument.alias_info
        if info is not None and info.is_write and info.before_set == returned.alias_info.before_set:
            return argument.name if argument.kwarg_only else (position, argument.name)
    raise AssertionError(f"{schema.name}: no argument is what it returns")


def _argument(args, kwargs, where):
    if isinstance(where, str):
        return kwargs[where]
    position, name = where
    return args[position] if position < len(args) else kwargs[name]


def _changed(schema, args, kwargs, new_args, new_kwargs):
    changed = []
    for position, argument in enumerate(schema.arguments):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        where = argument.name if argument.kwarg_only else (position, argument.name)
        try:
            before, after = _argument(args, kwargs or {}, where), _argument(new_args, new_kwargs, where)
        except KeyError:
            continue
        if isinstance(before, RemoteTensor) and isinstance(after, torch.Tensor):
            like = meta_of(after)
            if like is not before._meta:
                changed.append((where, like))
    return changed


def ask(plan, args, kwargs, worker):
    """Runs an op and waits for what came of it."""
    func, kwargs = plan.func, kwargs or {}
    written = [
        _argument(args, kwargs, _written(func._schema, returned))
        for returned in func._schema.returns
        if returned.alias_info is not None and returned.alias_info.is_write
    ]
    handles = [] if written else [_symm.Handle(worker) for _ in range(_MOST_RESULTS)]
    ids = [None] * len(tree_leaves(written)) if written else [handle.id for handle in handles]
    result = worker.link.ask(plan.name, args, kwargs, ids, place())
    _refresh(func, args, kwargs)
    if written:
        return written[0] if len(written) == 1 else tuple(written)
    return received(result, worker, {handle.id: handle for handle in handles})


def _refresh(func, args, kwargs):
    """Reads the metadata of what an op has written."""
    for position, argument in enumerate(func._schema.arguments):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        value = kwargs.get(argument.name) if argument.kwarg_only or position >= len(args) else args[position]
        for tensor in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(tensor, RemoteTensor):
                like = _like(tensor._link.meta(tensor._id))
                if like is not tensor._meta:
                    adopt(tensor, wrap(like, tensor._handle))


def _like(described):
    return meta(tuple(described.shape), tuple(described.strides), described.offset, described.dtype)


def received(value, worker, handles=None):
    """A result with tensors in the places of their descriptions. `handles` are those that there are for them."""
    if hasattr(value, "offset"):
        handle = handles[value.id] if handles is not None else _symm.Handle(worker, value.id)
        return wrap(_like(value), handle)
    if isinstance(value, (list, tuple)):
        return type(value)(received(part, worker, handles) for part in value)
    if isinstance(value, dict):
        return {name: received(part, worker, handles) for name, part in value.items()}
    return value
