"""What the ops for kernels take: the types of their arguments, and what these become."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from triton.language import core as tl

from ._operands import choice

if TYPE_CHECKING:
    from typing import TypeAlias

    from ._context import Ops

    Context: TypeAlias = Ops | tl.tensor
    # A number, or a scalar or block in the kernel; a tensor of pointers.
    Number: TypeAlias = float | tl.tensor
    Mask: TypeAlias = bool | tl.tensor | None
    Rank: TypeAlias = int | tl.tensor
    # One rank, or a block with one for each element.
    Ranks: TypeAlias = int | tl.tensor

LoadCache = Literal["", ".ca", ".cg", ".cv"]
EvictionPolicy = Literal["", "evict_first", "evict_last"]
StoreCache = Literal["", ".wb", ".cg", ".cs", ".wt"]
Order = Literal["relaxed", "acquire", "release", "acq_rel"]
SignalOrder = Literal["relaxed", "release"]
WaitOrder = Literal["relaxed", "acquire"]
FenceOrder = Literal["acquire", "release", "acq_rel"]
Scope = Literal["cta", "gpu", "sys"]
Group = Literal["thread", "warp", "block"]
Comparison = Literal["eq", "ne", "lt", "le", "gt", "ge"]
SignalKind = Literal["set", "add"]


def elements(pointer):
    """The type of what lies at a pointer or block of pointers."""
    element = pointer.type.scalar.element_ty
    return pointer.type.with_element_ty(element) if pointer.type.is_block() else element


def same_elements(emit, pointer, original):
    """Loaded booleans are stored as bytes."""
    return emit.semantic.cast(pointer, tl.int1) if original.type.scalar.element_ty == tl.int1 else pointer


def pair(emit, src, dst):
    """Source and destination of a copy: pointers to the same elements, of one shape."""
    src, dst = emit.pointer(src, "src"), emit.pointer(dst, "dst", written=True)
    source, target = src.type.scalar.element_ty, dst.type.scalar.element_ty
    if source != target:
        raise TypeError(f"src points to {source} and dst to {target}: a copy does not cast, use load and store")
    if src.type.is_block() or dst.type.is_block():
        given = list(dst.type.shape) if dst.type.is_block() else []
        src, dst = emit.together(src, dst, "src", "dst")
        if list(dst.type.shape) != given:
            if not given:
                raise TypeError("dst is one pointer, but src is a block: write dst + offsets")
            raise TypeError(f"dst has shape {given}, but the copy has {list(dst.type.shape)}")
    return src, dst


def flag_operands(emit, flag, value, written=False, scalar=True, name="value"):
    """A pointer to a flag, or a block of such, and the value that is compared with it or written there."""
    # Which become bytes.
    kind = getattr(getattr(flag, "type", None), "scalar", None)
    is_bool = getattr(kind, "element_ty", None) == tl.int1
    flag = emit.pointer(flag, "flag", written, scalar)
    element = flag.type.scalar.element_ty
    if not element.is_int() or element.primitive_bitwidth not in (32, 64):
        name = "bool" if is_bool else element
        raise TypeError(f"a flag is an int32, uint32, int64 or uint64, but this one is {name}")
    return flag, emit.exact(value, flag, name)


def load_cache(cache_modifier):
    """The attribute for how a load caches."""
    return {"cache": choice(cache_modifier, "cache_modifier", LoadCache)}


def order_of(sem, scope, orders=Order):
    """The attributes for order and scope."""
    return {"sem": choice(sem, "sem", orders), "scope": choice(scope, "scope", Scope)}


def group_of(group):
    """The attribute for who takes part."""
    return {"group": choice(group, "group", Group)}
