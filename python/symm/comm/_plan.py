"""Which kernel does a call, with how many programs: by the size of a message, in bytes."""

from typing import NamedTuple


class Choice(NamedTuple):
    """An algorithm with its grid: programs, and the bytes and warps of each."""

    algorithm: str
    programs: int
    block_bytes: int
    warps: int


# Messages of up to so many bytes are packets, as long as the programs have lines for them; a program has a thread for
# each word, up to so many.
PACKET_BYTES = {2: 256 << 10}
USUAL_PACKET_BYTES = 128 << 10
WORDS = ((128, 128), (8192, 256), (16384, 512))
MOST_WORDS = 1024
# Up to so many bytes: the bytes of a program, and its warps.
BLOCKS = ((1 << 10, 1 << 10, 2), (4 << 10, 4 << 10, 8), (256 << 10, 8 << 10, 16), (1 << 20, 32 << 10, 32))
LARGEST_BLOCK, MOST_WARPS = 64 << 10, 32
# An all-reduce of more bytes is a sum of shards, each of them sent to all; of two ranks, it pays later.
ONE_SHOT_BYTES = {2: 512 << 10}
USUAL_ONE_SHOT_BYTES = 128 << 10
# Messages of more bytes go from tensor to tensor where these are on the heap, in blocks of so many bytes.
DIRECT_BYTES, DIRECT_BLOCK = 1 << 20, 32 << 10
# What can: a rank that has nothing to send or to take waits for the others, too.
DIRECT = ("all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "scatter")
# Elements whose sums the registers of a program hold.
MOST_SUMMED = 32 << 10


def default(call, size, count, itemsize, geometry, reduces):
    """The choice for messages of `count` elements."""
    message, algorithm = count * itemsize, "exchange"
    if message <= min(PACKET_BYTES.get(size, USUAL_PACKET_BYTES), geometry.programs * MOST_WORDS * 8):
        words = -(-message // 8)
        block = next((each for most, each in WORDS if words <= most), MOST_WORDS)
        while -(-words // block) > geometry.programs:
            block *= 2
        return Choice("packets", -(-words // block), block * 8, block // 32)
    if call == "all_reduce" and message > ONE_SHOT_BYTES.get(size, USUAL_ONE_SHOT_BYTES):
        message, algorithm = -(-count // size) * itemsize, "two shot"
    found = ((block, warps) for most, block, warps in BLOCKS if message <= most)
    block, warps = next(found, (LARGEST_BLOCK, MOST_WARPS))
    if call in DIRECT and count * itemsize > DIRECT_BYTES:
        block, algorithm = DIRECT_BLOCK, "direct all reduce" if algorithm == "two shot" else "direct"
    block = min(block, geometry.slot_bytes)
    if reduces:
        block = min(block, MOST_SUMMED * itemsize)
    programs = max(1, min(geometry.programs, -(-message // block)))
    return Choice(algorithm, programs, block, min(warps, max(1, block // 512)))
