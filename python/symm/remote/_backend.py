"""Registers the device `remote` with torch: its name, its module `torch.remote`, and where its ops go."""

import os
import signal
import threading
import warnings

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.optim.optimizer import _foreach_supported_types as of_optimizers
from torch.utils._foreach_utils import _foreach_supported_types as of_gradients
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from .. import _symm
from . import _autocast, _workers
from ..errors import UnsupportedError
from ._attention import attention
from ._place import place
from ._run import plan_of, run
from ._special import route
from ._tensor import RemoteTensor, make

_process = os.getpid()
_routes = {}
# They count as long as they live.
_libraries = []
_thread = threading.local()


class _Hooks(torch._C._acc.PrivateUse1Hooks):
    def is_available(self):
        return True

    def is_built(self):
        return True

    def has_primary_context(self, index):
        return True


_kind = _symm.DeviceKind(torch._C._autograd.DeviceType.PrivateUse1)


class _Guard(torch._C._acc.DeviceGuard):
    type_ = _kind


class _Uninterrupted:
    """Delays Ctrl-C to the end: torch ends the process where Python is interrupted within its engine. A second Ctrl-C
    is not delayed.
    """

    def __enter__(self):
        self._before, self._kept = None, None
        if threading.current_thread() is threading.main_thread():
            self._before = signal.getsignal(signal.SIGINT)
        if callable(self._before):
            signal.signal(signal.SIGINT, self._keep)

    def _keep(self, number, frame):
        if self._kept:
            self._before(number, frame)
        self._kept = number, frame

    def __exit__(self, *_):
        if callable(self._before):
            signal.signal(signal.SIGINT, self._before)
        if self._kept:
            self._before(*self._kept)


class _Engine:
    """Torch's autograd engine, which raises what an op of a backward pass has raised: see `_symm.DeviceKind`."""

    def __init__(self, engine):
        self._engine = engine

    def __getattr__(self, name):
        return getattr(self._engine, name)

    def run_backward(self, *args, **kwargs):
        try:
            with _Uninterrupted():
                return self._engine.run_backward(*args, **kwargs)
        except SystemError:
            raised = _kind.take()
            if raised is None:
                raise
        raise raised


class _Module:
    """`torch.remote`, what torch.cuda is for CUDA."""

    def __init__(self):
        self.device = _Current

    def is_initialized(self):
        return True

    def is_available(self):
        return _workers.count() > 0

    # Torch asks for it before it saves the state of random numbers.
    _initialized = True

    def _is_in_bad_fork(self):
        # A forked process, such as a DataLoader's worker, has no links, and torch leaves its seeds alone.
        return os.getpid() != _process

    def device_count(self):
        return _workers.count()

    def current_device(self):
        return _workers.current()

    def set_device(self, device):
        _workers.set_current(_workers.find(_device(device)).index)

    def manual_seed_all(self, seed):
        _workers.seed_all(seed)

    def manual_seed(self, seed):
        _workers.find(torch.device("remote")).link.seed(seed)

    def get_rng_state(self, device="remote"):
        state = _workers.find(_device(device)).link.generator_state()
        return torch.frombuffer(bytearray(state), dtype=torch.uint8)

    def set_rng_state(self, state, device="remote"):
        _workers.find(_device(device)).link.set_generator_state(bytes(state.numpy()))

    def get_amp_supported_dtype(self):
        return [torch.bfloat16, torch.float16]

    def synchronize(self, device=None):
        """Waits until all workers, or one, have finished their work; raises what went wrong there."""
        for worker in _workers.alive() if device is None else [_workers.find(_device(device))]:
            worker.link.sync()


class _Current:
    """`with torch.remote.device(1):`, in which `remote` is `remote:1`."""

    def __init__(self, device):
        self.index = _workers.find(_device(device)).index

    def __enter__(self):
        self.before = _workers.current()
        _workers.set_current(self.index)

    def __exit__(self, *_):
        _workers.set_current(self.before)


def _device(device):
    return torch.device("remote", device) if isinstance(device, int) else torch.device(device)


def _other_way(cls, func, types, args, kwargs):
    """Any op; the dispatcher has not sent it itself."""
    if len(types) > 1 and not all(issubclass(kind, RemoteTensor) for kind in types):
        return NotImplemented
    return _dispatch(func, args, kwargs or {})


_symm.remote_configure(RemoteTensor)
_dispatcher = _symm.Dispatcher(make, place, _other_way)


def _dispatch(func, args, kwargs):
    if not getattr(_thread, "is_ready", False):
        # Autograd has threads for as many devices as the guard counts, and torch's guard for Python counts one. Without
        # them the backward pass runs in the thread that asks for it, which also keeps the order of the ops.
        torch._C._set_multithreading_enabled(False)
        _thread.is_ready = True
    own = _routes.get(func)
    if own is None:
        own = _routes[func] = route(func)
        if own is run and not _workers.synchronous:
            plan = plan_of(func)
            _dispatcher.add(func, plan.name, plan.number, plan.by_type)
    return own(func, args, kwargs)


def _of_device(func, *args, **kwargs):
    return _dispatch(func, args, kwargs)


def _restore(storage, location):
    if location.partition(":")[0] == "remote":
        raise NotImplementedError(
            f"memory is not loaded to {location}: load with map_location='cpu', then use .to('{location}')"
        )


def _copy_(target, source, non_blocking=False):
    return _dispatch(torch.ops.aten.copy_.default, (target, source, non_blocking), {})


def _local_scalar_dense(tensor):
    return _dispatch(torch.ops.aten._local_scalar_dense.default, (tensor,), {})


def _ctc_loss(scores, targets, scores_lengths, targets_lengths, *rest):
    """With the lengths as numbers: they may be here, and a worker with a GPU wants them on its CPU."""
    return torch.ops.aten.ctc_loss.IntList(scores, targets, scores_lengths.tolist(), targets_lengths.tolist(), *rest)


def _keep_guard() -> None:
    """Makes torch create its stand-in for CUDA's guard, which all fake modes use, in a thread that does not end.

    It goes with the thread that has made it, and without CUDA the next fake mode of another thread then crashes.
    """
    made = threading.Event()

    def keep():
        mode = FakeTensorMode()
        try:
            mode.__enter__()
        finally:
            made.set()
        threading.Event().wait()

    threading.Thread(target=keep, name="symm-guard", daemon=True).start()
    made.wait()


def register() -> None:
    """Makes torch know the device, once in a process."""
    if _libraries:
        return
    if torch.cuda.is_initialized():
        warnings.warn(
            "from here on, backward passes of tensors on a GPU of this process fail within torch: it has autograd for"
            " one kind of accelerator in a process, and symm.remote's device is one",
            stacklevel=3,
        )
    taken = torch._C._get_privateuse1_backend_name()
    if taken != "privateuseone":
        raise UnsupportedError(
            f"torch has room for one device of other packages, and {taken!r} has taken it in this process"
        )
    _keep_guard()
    _setup_privateuseone_for_python_backend("remote", _Module(), _Hooks(), _Guard())
    RemoteTensor.__torch_dispatch__ = classmethod(_dispatcher)
    for supported in (of_optimizers, of_gradients):
        supported.append(RemoteTensor)
    # Otherwise Module.to would give each use of a tied parameter one of its own.
    torch.__future__.set_swap_module_params_on_conversion(True)
    torch.serialization.register_package(5, lambda storage: None, _restore)
    every = torch.library.Library("_", "IMPL")
    every.fallback(_symm.Untraced(_of_device), "PrivateUse1")
    # torch.tensor copies, and reads numbers, below the tensors' own dispatch, where a fallback is not for them.
    own = torch.library.Library("aten", "IMPL")
    own.impl("copy_", _symm.Untraced(_copy_), "PrivateUse1")
    own.impl("_local_scalar_dense", _symm.Untraced(_local_scalar_dense), "PrivateUse1")
    if not torch.cuda.is_available():
        # Torch wants memory of the device's own for DataLoader(pin_memory=True), and there is none to pin it for.
        own.impl("_pin_memory", lambda tensor, device=None: tensor, "CPU")
    for key in ("PrivateUse1", "AutogradPrivateUse1"):
        own.impl("ctc_loss.Tensor", _ctc_loss, key)
        own.impl("scaled_dot_product_attention", _symm.Untraced(attention), key)
    torch.autograd.Variable._execution_engine = _Engine(torch.autograd.Variable._execution_engine)
    _libraries.extend([every, own, *_autocast.register()])
