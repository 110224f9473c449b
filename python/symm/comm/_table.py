"""Tables of tuned choices: which algorithm with which grid was fastest on a device, as `symm.comm.tune` writes them.

A table is a JSON file: {"device": NAME, "rows": [ROW, …]}, where a row is for a number of ranks, a collective,
a size of elements (0 where nothing is summed) and a size of messages in bytes, and has the fields of a `Choice`.
"""

import functools
import hashlib
import json
import math
import os
from pathlib import Path

from ..errors import ArgumentError, MismatchError
from ._plan import Choice

#: The file of a user's own table.
VARIABLE = "SYMM_COMM_TABLE"
FIELDS = {"ranks": int, "call": str, "element_bytes": int, "bytes": int, "algorithm": str, "programs": int,
          "block_bytes": int, "warps": int, "tiles": int}  # fmt: skip
ALGORITHMS = ("packets", "floats", "exchange", "two shot", "direct", "direct all reduce")
#: A row is for messages of up to this factor more or less than its size, the last one for all larger ones; for others
#: the model decides. Of two rows of one size the first is used where it fits: floats, and what is the fastest without.
REACH = 4.0


class TunedTable:
    """Rows by what they are for: {(ranks, call, element bytes): [(bytes, choice), …]}, smallest messages first."""

    def __init__(self, rows=(), text=b""):
        self.rows, self.others, self.digest = {}, {}, hashlib.sha256(text).hexdigest()
        for row in sorted(rows, key=lambda row: (row["bytes"], row["algorithm"] != "floats")):
            choice = Choice(*(row[name] for name in Choice._fields))
            self.rows.setdefault((row["ranks"], row["call"], row["element_bytes"]), []).append((row["bytes"], choice))
        for (size, call, element_bytes), found in self.rows.items():
            # Elements of a size that has not been tuned.
            self.others.setdefault((size, call, bool(element_bytes)), found)

    def near(self, size, call, element_bytes, message):
        """The choices of the rows in reach of a message of this many bytes, the nearest first."""
        found = self.rows.get((size, call, element_bytes)) or self.others.get((size, call, bool(element_bytes)))
        if not found or not message:
            return []
        reached = [(at, choice) for at, choice in found
                   if at / message <= REACH and (message / at <= REACH or at == found[-1][0])]  # fmt: skip
        return [choice for _, choice in sorted(reached, key=lambda row: abs(math.log(row[0] / message)))]


def read(path):
    """A table from a file; raises an ArgumentError that says what is wrong with it."""
    try:
        text = Path(path).read_bytes()
        rows = json.loads(text)["rows"]
        for row in rows:
            for name, kind in FIELDS.items():
                if not isinstance(row[name], kind) or (kind is int and row[name] < (name == "bytes")):
                    raise ValueError(f"{name} is {row[name]!r} in {row}")
            if row["algorithm"] not in ALGORITHMS:
                raise ValueError(f"there is no algorithm {row['algorithm']!r}: there are {', '.join(ALGORITHMS)}")
            for name in ("programs", "block_bytes", "warps", "tiles"):
                if row[name] < 1 or (name != "programs" and row[name] & (row[name] - 1)):
                    raise ValueError(f"{name} is {row[name]} in {row}: it must be a power of two")
            if row["warps"] > 32:
                raise ValueError(f"warps is {row['warps']} in {row}: a block has 32 at most")
    except (OSError, KeyError, TypeError, ValueError) as error:
        message = f"{path} is not a table of collectives ({type(error).__name__}: {error})"
        raise ArgumentError(f"{message}: write one with `python -m symm.comm.tune`") from error
    return TunedTable(rows, text)


def file_of(device_name):
    """The name of the table of a kind of device: "NVIDIA H200" has nvidia-h200.json."""
    words = "".join(letter if letter.isalnum() else " " for letter in device_name.lower()).split()
    return "-".join(words) + ".json"


#: Devices without a table of their own that take another's: of the same chip, with the same links.
SIBLINGS = {"NVIDIA H100 80GB HBM3": "NVIDIA H200"}


@functools.cache
def shipped(device_name):
    """The table that comes with symm for a device, or one without rows."""
    path = Path(__file__).parent / "tables" / file_of(SIBLINGS.get(device_name, device_name))
    return read(path) if path.is_file() else TunedTable()


def compare(world, table, domain, check, reach):
    """Raises a MismatchError on all ranks if their tables, domains or debug modes differ: they would choose different
    algorithms, or some would compare calls that the others do not tell them of. Returns each rank's `reach`.
    """
    told = [world.broadcast((table.digest, domain, check, reach), rank) for rank in range(world.get_num_ranks())]
    settings = ("table of collectives", f"the same {VARIABLE}"), ("domain", "the same one"), ("check", "the same one")
    for which, (what, mend) in enumerate(settings):
        others = ", ".join(str(rank) for rank, each in enumerate(told) if each[which] != told[0][which])
        if others:
            raise MismatchError(f"ranks {others} have another {what} than rank 0: give all {mend}")
    return [each[-1] for each in told]


def table_for(device):
    """The user's own table if SYMM_COMM_TABLE names one, or what comes with symm for the device."""
    if path := os.environ.get(VARIABLE):
        return read(path)
    if device.type == "cpu":
        return TunedTable()
    from .._memory import torch

    return shipped(torch().cuda.get_device_name(device))
