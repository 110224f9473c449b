"""The ops that carry a message, as a value that is bound where a kernel calls `send` and `recv`.

A kernel gets a `Seam` as a constant, so that each call site has its own: one kernel may send within the node and to
other nodes. A seam of your own has functions with these arguments, of which `ctx` is a context, as all ops take it:

- `put(ctx, dst, value, rank, mask)` stores a block at `dst` of `rank`,
- `get(ctx, src, rank, mask)` loads one,
- `signal(ctx, flag, value, rank)` sets a flag of `rank` after all that was put before,
- `wait(ctx, flag, value)` waits until my flag is at least `value`; what was put before it is seen then.
"""

from typing import Any, NamedTuple

import triton
import triton.language as tl

from .. import triton as st
from .._carrier import op


class Seam(NamedTuple):
    """The four ops of a link, functions with `@triton.jit`."""

    put: Any
    get: Any
    signal: Any
    wait: Any


@triton.jit
def node_put(ctx, dst, value, rank, mask):
    st.store(ctx, dst, value, rank, mask)


@triton.jit
def node_get(ctx, src, rank, mask):
    return st.load(ctx, src, rank, mask)


@triton.jit
def node_signal(ctx, flag, value, rank):
    st.signal(ctx, flag, value, rank)


@triton.jit
def node_wait(ctx, flag, value):
    st.wait(ctx, flag, value)


@triton.jit
def node_wait_packet(ctx, lines, epoch, SHAPE: tl.constexpr, DTYPE: tl.constexpr, mask, LAYOUT: tl.constexpr):
    return st.wait_packet(ctx, lines, epoch, SHAPE, DTYPE, mask, LAYOUT)


NODE = Seam(node_put, node_get, node_signal, node_wait)


@op
def between_nodes(emit, ctx):
    """Refuses to be compiled: there is no transport between nodes yet."""
    message = "a channel between nodes is not available: NetworkTransport is a reserved name. Use NodeTransport, or in "
    raise NotImplementedError(message + "a MeshTransport only peers of the own domain")


@triton.jit
def network_put(ctx, dst, value, rank, mask):
    between_nodes(ctx)


@triton.jit
def network_get(ctx, src, rank, mask):
    between_nodes(ctx)


@triton.jit
def network_signal(ctx, flag, value, rank):
    between_nodes(ctx)


@triton.jit
def network_wait(ctx, flag, value):
    between_nodes(ctx)


NETWORK = Seam(network_put, network_get, network_signal, network_wait)
