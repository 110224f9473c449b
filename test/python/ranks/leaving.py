"""Rank 1 goes without a word; rank 0 ends as if all was well, with two runs open."""

import atexit
import os
import sys

import symm

atexit.register(sys.stdout.write, "the last words\n")
first, second = symm.init(heap_size=4 << 20), symm.init(heap_size=4 << 20)
first.barrier()
if first.get_rank() == 1:
    os._exit(0)
