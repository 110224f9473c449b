"""Starts in ways that fail: HEAP_SIZE, DEVICE, TIMEOUT, and what ends the import of MISSING."""

import os
import sys

import symm

if missing := os.environ.get("MISSING"):
    sys.modules[missing] = None
heap_size, timeout = int(os.environ.get("HEAP_SIZE", 16 << 20)), float(os.environ.get("TIMEOUT", 20))
world = symm.init(heap_size, os.environ.get("DEVICE"), timeout)
world.close()
world.zeros(1)
