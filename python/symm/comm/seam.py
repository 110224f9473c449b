"""The ops that carry a message, as a value that is bound where a kernel calls `send` and `recv`.

A kernel gets a `Seam` as a constant, so that each call site has its own: one kernel may send within the node and to
other nodes. A seam of your own has functions with these arguments, of which `ctx` is a context, as all ops take it:

- `put(ctx, dst, value, rank, mask)` stores a block at `dst` of `rank`,
- `get(ctx, src, rank, mask)` loads one,
- `signal(ctx, flag, value, rank)` sets a flag of `rank` after all that was put before,
- `wait(ctx, flag, value)` waits until my flag is at least `value`; what was put before it is seen then.

A link may send from memory, as networks do, and not from registers. Its seam has two more, and its lanes have staging:

- `copy(ctx, src, dst, rank, mask)` copies a block of mine, which the whole program has written, to `dst` of `rank`,
- `sent(ctx, flag, value, rank)`, after copies and their signal, sets a flag of mine to `value` once all that was copied
  to `rank` so far has left its source: at once, or later where copies are not waited for.
"""

from typing import Any, NamedTuple

import triton
import triton.language as tl

from .. import triton as st


class Seam(NamedTuple):
    """The ops of a link, functions with `@triton.jit`: four, or six of one that sends from memory."""

    put: Any
    get: Any
    signal: Any
    wait: Any
    copy: Any = None
    sent: Any = None


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


@triton.jit
def network_copy(ctx, src, dst, rank, mask):
    st.put(ctx, src, dst, rank, mask)


@triton.jit
def network_sent(ctx, flag, value, rank):
    # A put is done when its source may be used again.
    tl.store(flag, value)


NETWORK = Seam(node_put, node_get, node_signal, node_wait, network_copy, network_sent)
