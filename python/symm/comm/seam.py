"""The ops that carry a message, as a value that is bound where a kernel calls `send` and `recv`.

A kernel gets a `Seam` as a constant, so that each call site has its own: one kernel may send within the node and to
other nodes. A seam of your own has functions with these arguments:

- `put(table, dst, value, rank, mask)` stores a block at `dst` of `rank`,
- `get(table, src, rank, mask)` loads one,
- `signal(table, flag, value, rank)` sets a flag of `rank` after all that was put before,
- `wait(table, flag, value)` waits until my flag is at least `value`; what was put before it is seen then.
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
def node_put(table, dst, value, rank, mask):
    st.store(table, dst, value, rank, mask)


@triton.jit
def node_get(table, src, rank, mask):
    return st.load(table, src, rank, mask)


@triton.jit
def node_signal(table, flag, value, rank):
    st.signal(table, flag, value, rank)


# All waits within the node are these two: a deadline goes in here.


@triton.jit
def node_wait(table, flag, value):
    st.wait(table, flag, value)


@triton.jit
def node_wait_packet(table, lines, epoch, SHAPE: tl.constexpr, DTYPE: tl.constexpr, mask, LAYOUT: tl.constexpr):
    return st.wait_packet(table, lines, epoch, SHAPE, DTYPE, mask, LAYOUT)


NODE = Seam(node_put, node_get, node_signal, node_wait)


@op
def between_nodes(emit, table):
    """Refuses to be compiled: there is no transport between nodes yet."""
    message = "a channel between nodes is not available: NetworkTransport is a reserved name. Use NodeTransport, or in "
    raise NotImplementedError(message + "a MeshTransport only peers of the own domain")


@triton.jit
def network_put(table, dst, value, rank, mask):
    between_nodes(table)


@triton.jit
def network_get(table, src, rank, mask):
    between_nodes(table)


@triton.jit
def network_signal(table, flag, value, rank):
    between_nodes(table)


@triton.jit
def network_wait(table, flag, value):
    between_nodes(table)


NETWORK = Seam(network_put, network_get, network_signal, network_wait)
