"""Which kernel does a call, with how many programs: by the size of a message, in bytes."""

import sys
from typing import NamedTuple

from .._symm import PACKET_LINE_BYTES
from ._geometry import LINES


class Choice(NamedTuple):
    """An algorithm with its grid: programs, the bytes and warps of a block, and how many blocks go with one signal.

    Of floats, `tiles` is how many blocks a program sends before it sums the first one.
    """

    algorithm: str
    programs: int
    block_bytes: int
    warps: int
    tiles: int = 1


# Messages of up to this many bytes are packets, as long as the programs have lines for them; a program has a thread for
# each word, up to this many.
PACKET_BYTES = {2: 512 << 10}
USUAL_PACKET_BYTES = 128 << 10
WORDS = ((128, 128), (8192, 256))
LARGE_WORDS, MOST_WORDS = 512, 1024
# Up to this many bytes: the bytes of a block, and its warps.
BLOCKS = ((1 << 10, 1 << 10, 2), (256 << 10, 4 << 10, 4), (512 << 10, 8 << 10, 16), (1 << 20, 16 << 10, 16))
LARGEST_BLOCK, MOST_WARPS = 32 << 10, 32
# With more bytes, this many blocks go with one signal.
TILES_BYTES, LARGE_TILES = 8 << 20, 2
# An all-reduce of more bytes is a sum of shards, each of them sent to all; of two ranks, it pays later.
ONE_SHOT_BYTES = {2: 8 << 20}
USUAL_ONE_SHOT_BYTES = 128 << 10
# Messages of more bytes go from tensor to tensor where these are on the heap, in blocks of this many bytes.
DIRECT_BYTES, DIRECT_BLOCK = 4 << 20, 32 << 10
# A broadcast of more bytes to more than two ranks is a scatter and an all-gather: the root sends each byte once. Parts
# begin at multiples of this many bytes.
PARTED_BROADCAST_BYTES, PART_ALIGN = 2 << 20, 16
# What can: a rank that has nothing to send or to take waits for the others, too.
DIRECT = ("all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "scatter")
# What may put several blocks with one signal.
TILED = ("exchange", "two shot")
# What floats that show by themselves that they have come can do, and the most bytes of an element.
SUMS_OF_FLOATS, FLOAT_BYTES = ("all_reduce", "reduce_scatter"), 4
# Elements whose sums the registers of a program hold.
MOST_SUMMED = 32 << 10


def default(call, size, count, itemsize, geometry, reduces, far=False):
    """The choice for messages of `count` elements; if some ranks are `far`, what only puts, signals and waits."""
    message, algorithm = count * itemsize, "exchange"
    if not far and message <= min(PACKET_BYTES.get(size, USUAL_PACKET_BYTES), geometry.programs * MOST_WORDS * 8):
        words = -(-message // 8)
        block = next((each for most, each in WORDS if words <= most), LARGE_WORDS)
        while -(-words // block) > geometry.programs:
            block *= 2
        return Choice("packets", -(-words // block), block * 8, block // 32)
    if call == "all_reduce" and message > ONE_SHOT_BYTES.get(size, USUAL_ONE_SHOT_BYTES):
        message, algorithm = -(-count // size) * itemsize, "two shot"
    found = ((block, warps) for most, block, warps in BLOCKS if message <= most)
    block, warps = next(found, (LARGEST_BLOCK, MOST_WARPS))
    tiles = LARGE_TILES if message > TILES_BYTES else 1
    if not far and call in DIRECT and count * itemsize > DIRECT_BYTES:
        block, algorithm = DIRECT_BLOCK, "direct all reduce" if call == "all_reduce" else "direct"
    choice = Choice(algorithm, geometry.programs, block, warps, tiles)
    return usable(choice, call, size, count, itemsize, geometry, reduces)


def usable(choice, call, size, count, itemsize, geometry, reduces):
    """A choice as it fits the memory of a communicator and a message; None if it does not fit."""
    message = count * itemsize
    algorithm, programs, block, warps, tiles = choice
    if algorithm == "packets":
        words = -(-message // 8)
        block = min(block, LINES * 8)
        programs = -(-words // (block // 8))
        return Choice(algorithm, programs, block, warps) if programs <= geometry.programs else None
    if algorithm == "floats":
        # All of a line is data.
        most = LINES * PACKET_LINE_BYTES
        block = max(PACKET_LINE_BYTES, min(block, most))
        # In as few turns as there are buffers for.
        while block < most and -(-message // (geometry.programs * block)) > geometry.float_buffers // 2:
            block *= 2
        programs = max(1, min(geometry.programs, -(-message // block)))
        turns = max(1, -(-message // (programs * block)))
        if not takes_floats(call, itemsize, geometry) or not reduces or turns > geometry.float_buffers // 2:
            return None
        # No thread stores a line that another one stores, too.
        warps = min(warps, max(1, block // (PACKET_LINE_BYTES * threads_of_a_warp())))
        return Choice(algorithm, programs, block, warps, min(tiles, 1 << turns.bit_length() - 1))
    if algorithm.endswith(("two shot", "all reduce")):
        if call != "all_reduce":
            return None
        message = -(-count // size) * itemsize
    if algorithm.startswith("direct") and call not in DIRECT:
        return None
    if algorithm == "direct" and call == "all_reduce":
        return None
    block = min(block, geometry.slot_bytes, MOST_SUMMED * itemsize if reduces else block)
    tiles = max(1, min(tiles, geometry.slot_bytes // block)) if algorithm in TILED else 1
    programs = max(1, min(programs, geometry.programs, -(-message // (block * tiles))))
    return Choice(algorithm, programs, block, min(warps, max(1, block // 512)), tiles)


def threads_of_a_warp():
    torch = sys.modules.get("torch")
    return 64 if getattr(getattr(torch, "version", None), "hip", None) else 32


def takes_floats(call, itemsize, geometry):
    """Whether sums of floats of this many bytes may show by themselves that they have come."""
    return geometry.float_buffers > 0 and call in SUMS_OF_FLOATS and itemsize <= FLOAT_BYTES


def choose(table, call, size, count, itemsize, geometry, reduces, far=False, are_floats=False):
    """The table's choice for messages of `count` elements: the nearest that fits; where it has none, the model's.

    Tables are of ranks that are near. Where it has floats, other elements go as packets.
    """
    near = () if far else table.near(size, call, itemsize if reduces else 0, count * itemsize)
    takes = are_floats and takes_floats(call, itemsize, geometry)
    for found in near:
        if found.algorithm == "floats" and not takes:
            found = found._replace(algorithm="packets")
        if found := usable(found, call, size, count, itemsize, geometry, reduces):
            return found
    return default(call, size, count, itemsize, geometry, reduces, far)
