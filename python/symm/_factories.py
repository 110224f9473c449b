"""Functions that make tensors on the heap, as torch's do elsewhere."""

from __future__ import annotations

import gc
import weakref
import zlib
from typing import TYPE_CHECKING, Any

from . import _bounds
from ._device import place
from ._memory import Memory, integer_of, text_of, torch
from .errors import ArgumentError, HeapExhaustedError

if TYPE_CHECKING:
    from torch import Tensor
    from torch import device as Device

# What torch raises where it does not take an argument.
REFUSALS = (TypeError, ValueError, RuntimeError, OverflowError)
# Characters of what a call is called, for other ranks to compare.
LONGEST_CALL = 120


def refusal(error, function, arguments, keywords):
    """Why torch's function refuses what the user has given. Torch lists each way to call it, with keywords of ours."""
    dtype = keywords.get("dtype")
    if isinstance(dtype, str):
        return f"dtype must be a dtype of torch, such as torch.float32, not {dtype!r}"
    if "invalid combination of arguments" not in (text := str(error)):
        return text.partition("\n")[0]
    given = [*map(text_of, arguments), *(f"{key}={text_of(value)}" for key, value in keywords.items())]
    return f"torch.{function} does not take ({', '.join(given)})"


class Factories:
    """The functions of a World that make tensors."""

    # A World's.
    _rank: Any
    device: Device
    # Whose functions the user calls, for messages.
    called = "World"

    def empty(self, *size: Any, **keywords: Any) -> Tensor:
        """`torch.empty`; the memory is zero."""
        return self._shaped("empty", self._model("empty", size, keywords), keywords)

    def empty_like(self, tensor: Tensor, **keywords: Any) -> Tensor:
        """`torch.empty_like`; the tensor need not be on the heap, and the memory is zero."""
        return self._shaped("empty_like", self._model("empty_like", (tensor,), keywords), keywords)

    def tensor(self, data: Any, **keywords: Any) -> Tensor:
        """`torch.tensor`: numbers, or lists of them. Their shape and dtype are the same on all ranks."""
        return self._filled("tensor", (data,), keywords)

    def zeros(self, *size: Any, **keywords: Any) -> Tensor:
        """`torch.zeros`."""
        return self._shaped("zeros", self._model("zeros", size, keywords), keywords)

    def ones(self, *size: Any, **keywords: Any) -> Tensor:
        """`torch.ones`."""
        return self._shaped("ones", self._model("ones", size, keywords), keywords, lambda tensor: tensor.fill_(1))

    def full(self, size: Any, fill_value: Any, **keywords: Any) -> Tensor:
        """`torch.full`."""
        shaped = self._model("full", (size, fill_value), keywords)
        return self._shaped("full", shaped, keywords, lambda tensor: tensor.fill_(fill_value))

    def zeros_like(self, tensor: Tensor, **keywords: Any) -> Tensor:
        """`torch.zeros_like`; the tensor need not be on the heap."""
        return self._shaped("zeros_like", self._model("zeros_like", (tensor,), keywords), keywords)

    def arange(self, *range: Any, **keywords: Any) -> Tensor:
        """`torch.arange`."""
        return self._filled("arange", range, keywords)

    def linspace(self, *range: Any, **keywords: Any) -> Tensor:
        """`torch.linspace`."""
        return self._filled("linspace", range, keywords)

    def rand(self, *size: Any, **keywords: Any) -> Tensor:
        """`torch.rand`."""
        return self._filled("rand", size, keywords)

    def randn(self, *size: Any, **keywords: Any) -> Tensor:
        """`torch.randn`."""
        return self._filled("randn", size, keywords)

    def randint(self, *arguments: Any, **keywords: Any) -> Tensor:
        """`torch.randint`."""
        return self._filled("randint", arguments, keywords)

    def uniform(self, size: Any, low: float = 0.0, high: float = 1.0, **keywords: Any) -> Tensor:
        """Uniform random numbers in [`low`, `high`)."""
        shaped = self._model("empty", (size,), keywords, "uniform")
        try:
            can_draw = shaped.dtype.is_floating_point and bool(low <= high)
        except REFUSALS:
            can_draw = False
        if not can_draw:
            ends = f"from {text_of(low)} to {text_of(high)}"
            raise ArgumentError(f"{self.called}.uniform draws floats from low to high, not {shaped.dtype} {ends}")
        return self._shaped("uniform", shaped, keywords, lambda tensor: tensor.uniform_(low, high))

    def _shaped(self, name, model, keywords, fill=None):
        """A tensor like a model, which has no memory; `name` is the function that makes it."""
        count, shape, strides = max(model.numel(), 1), tuple(model.shape), tuple(model.stride())
        call = f"{f'World.{name}' if self.compares_functions else 'a tensor'}: {model.dtype}, {shape}"
        if not model.is_contiguous():
            call += f", strides {strides}"
        if len(call) > LONGEST_CALL:
            call = f"{call[: LONGEST_CALL - 20]}… ({zlib.crc32(call.encode()):08x})"
        memory = self._allocate(count * model.element_size(), call, model.element_size())
        tensor = memory.tensor(self.device, model.dtype, shape, strides)
        try:
            if fill is not None:
                fill(tensor)
            return tensor.requires_grad_(keywords.get("requires_grad", False))
        except REFUSALS as error:
            raise ArgumentError(f"a tensor on the heap: {error}") from None

    def _model(self, name, arguments, keywords, call=None):
        """A tensor like the one that torch's function makes, without memory."""
        return self._made(name, arguments, {**keywords, "device": "meta", "requires_grad": False}, keywords, call)

    def _made(self, function, arguments, used, keywords, call=None):
        """What torch's function makes of the keywords used instead of the user's; `call` is what the user calls."""
        name = f"{self.called}.{call or function}"
        if keywords.get("out") is not None:
            raise ArgumentError(f"{name} makes a new tensor on the heap: leave out `out`")
        if keywords.get("layout") not in (None, getattr(torch(), "strided", None)):
            raise ArgumentError(f"{name}: tensors on the heap are strided, not {keywords['layout']}: leave out layout")
        try:
            wanted = torch().device(keywords.get("device") or self.device)
            made = getattr(torch(), function)(*arguments, **used)
        except REFUSALS as error:
            raise ArgumentError(f"{name}: {refusal(error, function, arguments, keywords)}") from None
        if getattr(made, "layout", None) != getattr(torch(), "strided", None):
            raise ArgumentError(f"{name}: tensors on the heap are strided, and this one would be {made.layout}")
        if wanted.type != self.device.type or (wanted.type != "cpu" and wanted.index not in (None, self.device.index)):
            raise ArgumentError(f"{name}: the symmetric heap is on {self.device}, not on {wanted}: leave out device")
        return made

    def _filled(self, name, arguments, keywords):
        """What a torch function makes, on the heap."""
        local = {**keywords, "device": self.device, "requires_grad": False}
        values = self._made(name, arguments, local, keywords)
        return self._shaped(name, values, keywords, lambda tensor: tensor.copy_(values))

    def _allocate(self, size, call, itemsize=1):
        here = place()
        try:
            with self._meeting(call, here):
                address = self._rank.alloc(size, call, here)
        except HeapExhaustedError:
            # All ranks are here: allocations fail on all alike.
            if not self._free_dropped(here):
                raise
            with self._meeting(call, here):
                address = self._rank.alloc(size, call, here)
        self._made_at[address - self._mine] = size, itemsize, call, here
        _bounds.tell(self)
        memory = Memory(address, size, self._rank.hold())
        weakref.finalize(memory, self._dropped.add, address).atexit = False
        return memory

    def flag_at(self, offset: int) -> str:
        """What lies this many bytes from the start of the heap, for messages: an element of a tensor,
        where one is there.
        """
        offset = integer_of(offset, "flag_at: offset")
        for start, (size, itemsize, call, here) in tuple(self._made_at.items()):
            if start <= offset < start + size:
                return f"element {(offset - start) // itemsize} of {call} (made at {here})"
        return f"heap+{offset:#x}" if 0 <= offset < self.heap_size else "memory outside of the heap"

    def tensor_at(self, offset: int, size: int) -> str:
        """What begins at an offset and has this many bytes, for messages: a tensor, or the heap."""
        offset, size = integer_of(offset, "tensor_at: offset"), integer_of(size, "tensor_at: size")
        made = self._made_at.get(offset)
        return f"{made[2]} (made at {made[3]})" if made is not None and made[0] == size else "the heap"

    def _free_dropped(self, here):
        """Frees memory that no rank has a tensor on any more; returns whether there was any."""
        gc.collect()
        self._synchronize()
        mine = sorted(address - self._mine for address in tuple(self._dropped))
        shared = set.intersection(*(set(self.broadcast(mine, rank)) for rank in range(self.get_num_ranks())))
        for offset in sorted(shared):
            with self._meeting("the release of tensors", here):
                self._rank.free(self._mine + offset, here)
            self._dropped.discard(self._mine + offset)
            self._made_at.pop(offset, None)
        return bool(shared)
