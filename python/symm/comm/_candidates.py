"""What the tuner tries for a message: algorithms, and the programs, bytes and warps of each."""

import itertools

from ._geometry import LINES
from ._plan import DIRECT, TILED, Choice, usable

# Bytes and warps of a program of the algorithms that put and signal; 16 to 128 bytes a thread.
BLOCKS = ((1 << 10, 2), (4 << 10, 4), (8 << 10, 8), (8 << 10, 16), (16 << 10, 16), (32 << 10, 16), (32 << 10, 32),
          (64 << 10, 32))  # fmt: skip
# Words and warps of a program that sends packets.
PACKETS = ((64, 2), (128, 4), (256, 4), (256, 8), (512, 8), (512, 16), (1024, 16), (1024, 32))
PROGRAMS = (1, 2, 4, 8, 16, 32, 64, 128)
# Packets take twice their bytes of the link: more than this many are never the fastest.
MOST_PACKET_BYTES = 2 << 20
# Floats that show by themselves that they have come take as many as they are, and a thread's time for each 16.
MOST_FLOAT_BYTES = 16 << 20
# How many blocks go with one signal, or are sent before the first one is summed.
TILES = (1, 2, 4)
LEAST_TILE = 16 << 10
# A program with more blocks than this, one after the other, leaves too few programs to fill the link, unless there are
# no more of them and the blocks are large.
MOST_TURNS, LARGE = 16, 32 << 10


def candidates(call, size, count, itemsize, geometry, reduces):
    """Different choices for messages of `count` elements, each of which fits the communicator's memory."""
    message, found = count * itemsize, []
    if message <= MOST_PACKET_BYTES:
        sizes = [(words, warps) for words, warps in PACKETS if words <= LINES and (words == 64 or 4 * words < message)]
        found += [Choice("packets", 1, 8 * words, warps) for words, warps in sizes]
    if reduces and message <= MOST_FLOAT_BYTES:
        sizes = [(lines, warps) for lines, warps in PACKETS if lines == 64 or 8 * lines < message]
        found += [Choice("floats", 1, 16 * lines, warps, ahead) for lines, warps in sizes for ahead in TILES]
    names = ["exchange"]
    if call == "all_reduce":
        names += ["two shot", "direct all reduce"]
    elif call in DIRECT:
        names.append("direct")
    for name in names:
        part = -(-message // size) if name in ("two shot", "direct all reduce") else message
        for (block, warps), tiles in itertools.product(BLOCKS, TILES if name in TILED else (1,)):
            if part < block * tiles // 2 or (tiles > 1 and block < LEAST_TILE):
                continue
            turns = [-(-part // (block * tiles * programs)) for programs in PROGRAMS]
            grids = [programs for programs, each in zip(PROGRAMS, turns, strict=True) if each <= MOST_TURNS]
            if not grids and block >= LARGE:
                grids = [PROGRAMS[-1]]
            found += [Choice(name, programs, block, warps, tiles) for programs in grids]
    fit = (usable(choice, call, size, count, itemsize, geometry, reduces) for choice in found)
    return list(dict.fromkeys(choice for choice in fit if choice))
