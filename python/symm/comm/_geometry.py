"""Where the slots, flags and steps of a communicator lie, and how large they are."""

from .._memory import torch
from ..errors import StagingError

# As in kernels_parts.py.
BUFFERS, FLAG_WORDS = 4, 16
# Each kind of kernel has flags, steps and slots of its own: in some a rank sends that has received nothing.
LANES = {"all": 0, "gathered": 1, "rooted": 2}
SMALLEST_SLOT = 1024


class Geometry:
    """The memory of a communicator of `size` ranks: it lies at one place on the heap of each."""

    def __init__(self, size, programs, staging):
        self.size, self.programs = size, programs
        slots = len(LANES) * BUFFERS * size * programs
        self.slot_bytes = 1 << max((staging // slots).bit_length() - 1, 0)
        if self.slot_bytes < SMALLEST_SLOT:
            least = slots * SMALLEST_SLOT
            message = f"staging of {staging} bytes is too small for {size} ranks and {programs} blocks"
            raise StagingError(f"{message}: give it {least} bytes or more, or take fewer blocks")
        self.lane_bytes = BUFFERS * size * programs * self.slot_bytes
        self.flag_bytes = 8 * FLAG_WORDS * size * programs
        self.bytes = len(LANES) * (self.lane_bytes + self.flag_bytes)

    def place(self, memory):
        """Takes memory of the heap, zeroed."""
        self.memory = memory
        # The steps that a program has done are its own rank's business.
        self.counted = torch().zeros(len(LANES) * self.programs, dtype=torch().int64, device=memory.device)

    def slots(self, lane):
        return self.memory.data_ptr() + LANES[lane] * self.lane_bytes

    def flags(self, lane):
        return self.memory.data_ptr() + len(LANES) * self.lane_bytes + LANES[lane] * self.flag_bytes

    def steps(self, lane):
        return self.counted.data_ptr() + 8 * LANES[lane] * self.programs
