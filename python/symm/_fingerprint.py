"""What Triton's cache of compiled kernels has to know of symm: another compiler makes other code."""

import functools
import hashlib
import struct
from pathlib import Path

from . import _symm

PT_NOTE, NT_GNU_BUILD_ID = 4, 3
OPS = ("_ops.py", "_arguments.py", "_flags.py", "_floats.py", "_packets.py", "_signals.py")
IRIS = ("iris/_ops.py", "iris/_context.py")


@functools.cache
def fingerprint():
    digest = hashlib.sha256(_build_id(_symm.__file__) or Path(_symm.__file__).read_bytes())
    for name in (*OPS, *IRIS, "_operands.py", "_carrier.py", "_seam.py", "_engine.py"):
        digest.update((Path(__file__).parent / name).read_bytes())
    return f"symm-{_symm.__version__}-{digest.hexdigest()[:16]}"


def _build_id(file):
    """The hash that the linker has made of a library, for which 30 MB need not be read; None if it has made none."""
    with open(file, "rb") as library:
        header = library.read(64)
        [start], (size, count) = struct.unpack_from("<Q", header, 32), struct.unpack_from("<HH", header, 54)
        library.seek(start)
        segments = library.read(size * count)
        for at in range(0, len(segments), size):
            kind, offset, length = struct.unpack_from("<I4xQ16xQ", segments, at)
            if kind == PT_NOTE:
                library.seek(offset)
                if (found := _note(library.read(length), NT_GNU_BUILD_ID)) is not None:
                    return found
    return None


def _note(notes, wanted):
    """The content of the GNU note of a kind."""
    at = 0
    while at < len(notes):
        name, length, kind = struct.unpack_from("<III", notes, at)
        start = at + 12 + -(-name // 4) * 4
        if kind == wanted and notes[at + 12 : at + 12 + name] == b"GNU\0":
            return notes[start : start + length]
        at = start + -(-length // 4) * 4
    return None
