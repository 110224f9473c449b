"""Which kernel does a call, with how many programs: by the size of a message, in bytes."""

from typing import NamedTuple


class Choice(NamedTuple):
    """An algorithm with its grid: programs, and the bytes and warps of each."""

    algorithm: str
    programs: int
    block_bytes: int
    warps: int


# Up to so many bytes: the bytes of a program, and its warps.
BLOCKS = ((1 << 10, 1 << 10, 2), (4 << 10, 4 << 10, 8), (256 << 10, 8 << 10, 16), (1 << 20, 32 << 10, 32))
LARGEST_BLOCK, MOST_WARPS = 64 << 10, 32
# An all-reduce of more bytes is a sum of shards, and each of them sent to all.
ONE_SHOT_BYTES = 128 << 10
# Elements whose sums the registers of a program hold.
MOST_SUMMED = 32 << 10


def default(call, size, count, itemsize, geometry, reduces):
    """The choice for messages of `count` elements."""
    algorithm = "two shot" if call == "all_reduce" and size > 2 and count * itemsize > ONE_SHOT_BYTES else "exchange"
    if call == "all_reduce" and count * itemsize > 4 * ONE_SHOT_BYTES:
        algorithm = "two shot"
    message = -(-count // size) * itemsize if algorithm == "two shot" else count * itemsize
    found = ((block, warps) for most, block, warps in BLOCKS if message <= most)
    block, warps = next(found, (LARGEST_BLOCK, MOST_WARPS))
    block = min(block, geometry.slot_bytes)
    if reduces:
        block = min(block, MOST_SUMMED * itemsize)
    programs = max(1, min(geometry.programs, -(-message // block)))
    return Choice(algorithm, programs, block, min(warps, max(1, block // 512)))
