"""Starts in ways that fail: HEAP_SIZE, DEVICE, and what ends the import of MISSING."""

import os
import sys

import symm

if missing := os.environ.get("MISSING"):
    sys.modules[missing] = None
world = symm.init(int(os.environ.get("HEAP_SIZE", 16 << 20)), os.environ.get("DEVICE"), timeout=20)
world.close()
world.zeros(1)
