"""Ops with a context of parts: the heap bases, and this rank's number as a number of the launch.

What a kernel sends first need not wait until the number has been loaded from the context table.
"""

from .. import _packets
from .._carrier import op
from .._operands import Bases


@op
def put_packet_from(emit, heap_bases, rank_here, slots, value, epoch, rank, mask=None):
    """`put_packet` of the rank `rank_here`."""
    _packets.put_packet.__wrapped__(emit, Bases(heap_bases, rank_here), slots, value, epoch, rank, mask)
