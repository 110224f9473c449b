"""Where the slots, flags and steps of a communicator lie, and how large they are."""

from typing import NamedTuple

from .._memory import torch
from .._symm import DEADLINE_RECORD, PACKET_LINE_BYTES
from ..errors import StagingError

# As in kernels_parts.py.
BUFFERS, FLAG_WORDS = 4, 16
# Each kind of kernel has flags, steps and slots of its own: in some a rank sends that has received nothing.
LANES = {"all": 0, "gathered": 1, "rooted": 2}
# So do the kernels of packets; a program has this many for each rank.
PACKET_LANES = {"packets": 3, "rooted packets": 4, "floats": 5}
PACKET_BUFFERS, LINES = 2, 1024
# How many buffers the lines of floats have, if there is room: a call uses half of them. Between more ranks than two,
# sums of what takes more than a program's lines are faster in shards.
FLOAT_BUFFERS = {2: (16, 8, 4, 2)}
USUAL_FLOAT_BUFFERS = (2,)
SMALLEST_SLOT = 1024
# In front of the numbers of the members, there is the record of a deadline: once for the calls, once for `recover`.
RECORD_BYTES = 8 * DEADLINE_RECORD["words"]
USES = {"calls": 0, "recover": 1}
# How many blocks a call may take, and what slots of 64 KiB and lines for as many take of the heap, for each rank, with
# two buffers of floats. Who gives no number of blocks gets the first whose slots find room.
USUAL = {128: 108 << 20, 64: 56 << 20, 32: 27 << 20}
FEWEST = min(USUAL)
# The share of the heap that a communicator takes at most, unless its maker says how much.
SHARE = 4


class Origin(NamedTuple):
    """Whose data a flag or line is for: a program, and a rank of the communicator."""

    program: int
    source: int
    what: str
    # Whether it counts calls, or has nothing but floats.
    is_numbered: bool = True


def geometry_for(size, heap_size, most_blocks, blocks=None, staging=None):
    """The memory of a communicator of `size` ranks, of which a GPU runs `most_blocks` blocks at once (None: any)."""
    room = heap_size // SHARE if staging is None else staging
    if blocks is None:
        most = most_blocks or FEWEST
        fits = (each for each, bytes_each in USUAL.items() if each <= most and bytes_each * size <= room)
        blocks = next(fits, FEWEST)
    if most_blocks is not None:
        blocks = min(blocks, most_blocks)
    if staging is not None:
        return Geometry(size, blocks, staging)
    bytes_each = next((each for most, each in reversed(USUAL.items()) if blocks <= most), max(USUAL.values()))
    staging = min(bytes_each * size, room)
    return Geometry(size, blocks, staging, min(more_floats(size, blocks), room - staging))


def geometry_in(world, size, parts, most_blocks, blocks=None, staging=None):
    """The same on a World's heap, of which a communicator has so many parts. If nobody has given the staging, the error
    says what heap it takes, and has its `heap_size`.
    """
    try:
        return geometry_for(size, world.heap_size // parts, most_blocks, blocks, staging)
    except StagingError as error:
        if staging is not None:
            raise
        needed = SHARE * parts * error.least
        message = f"a heap of {world.heap_size} bytes is too small for a communicator of {size} ranks: give symm.init a"
        made = StagingError(f"{message} heap_size of {needed} bytes or more, or Communicator staging={error.least}")
        made.heap_size = needed
        raise made from None


def more_floats(size, blocks):
    """Bytes of all buffers of floats but two."""
    return (FLOAT_BUFFERS.get(size, USUAL_FLOAT_BUFFERS)[0] - PACKET_BUFFERS) * _buffer_bytes(size, blocks)


def _buffer_bytes(size, programs):
    """Bytes of one buffer of lines."""
    return size * programs * LINES * PACKET_LINE_BYTES


class Geometry:
    """The memory of a communicator of `size` ranks: it lies at one place on the heap of each.

    It takes `staging` bytes at most, and as many more `for_floats`.
    """

    def __init__(self, size, programs, staging, for_floats=0):
        self.size, self.programs = size, programs
        slots = len(LANES) * BUFFERS * size * programs
        self.packet_bytes = PACKET_BUFFERS * _buffer_bytes(size, programs)
        packets = (len(PACKET_LANES) - 1) * self.packet_bytes
        self.slot_bytes = 1 << max((max(staging - packets, 0) // slots).bit_length() - 1, 0)
        if self.slot_bytes < SMALLEST_SLOT:
            least = slots * SMALLEST_SLOT + packets
            message = f"staging of {staging} bytes is too small for {size} ranks and {programs} blocks"
            error = StagingError(f"{message}: give it {least} bytes or more, or take fewer blocks")
            error.least = least
            raise error
        self.lane_bytes = BUFFERS * size * programs * self.slot_bytes
        # Floats have as many lines as take nothing from the slots.
        left = (staging + for_floats - len(LANES) * self.lane_bytes - packets) // _buffer_bytes(size, programs)
        wanted = FLOAT_BUFFERS.get(size, USUAL_FLOAT_BUFFERS)
        self.float_buffers = next((buffers for buffers in wanted if buffers <= left), 0)
        packets += self.float_buffers * _buffer_bytes(size, programs)
        self.flag_bytes = 8 * FLAG_WORDS * size * programs
        self.first_packet = len(LANES) * self.lane_bytes
        self.first_flag = self.first_packet + packets
        self.first_recovery = self.first_flag + (len(LANES) + len(PACKET_LANES)) * self.flag_bytes
        self.first_record = self.first_recovery + 8 * FLAG_WORDS * size
        self.record_bytes = RECORD_BYTES + -(-4 * size // RECORD_BYTES) * RECORD_BYTES
        self.bytes = self.first_record + len(USES) * self.record_bytes

    def place(self, memory):
        """Takes memory of the heap, zeroed."""
        self.memory = memory
        # The steps that a program has done are its own rank's business.
        lanes = len(LANES) + len(PACKET_LANES)
        self.counted = torch().zeros(lanes * self.programs, dtype=torch().int64, device=memory.device)
        self._clear_floats()

    def _clear_floats(self):
        """Sets all bits of the lines of floats, as `clear_floats` does."""
        first = self.first_packet + (PACKET_LANES["floats"] - len(LANES)) * self.packet_bytes
        self.memory[first : self.first_flag].fill_(0xFF)

    def reset(self):
        """Restores the initial state."""
        self.memory[self.first_packet : self.first_recovery].zero_()
        self.counted.zero_()
        self._clear_floats()

    def record(self, use):
        """The record of the deadlines of calls or of `recover`, and after it the numbers of the members."""
        first = self.first_record + USES[use] * self.record_bytes
        record = self.memory[first : first + RECORD_BYTES].view(torch().int64)
        return record, self.memory[first + RECORD_BYTES :][: 4 * self.size].view(torch().int32)

    def recovery_flags(self):
        return self.memory.data_ptr() + self.first_recovery

    def locate(self, offset):
        """What lies this many bytes after the beginning, of what waits wait for; None if it is nothing."""
        if self.first_packet <= offset < self.first_flag:
            # Floats are last, and may have more buffers.
            lane = min((offset - self.first_packet) // self.packet_bytes + len(LANES), PACKET_LANES["floats"])
            first = self.first_packet + (lane - len(LANES)) * self.packet_bytes
            each, line = divmod((offset - first) // PACKET_LINE_BYTES, LINES)
            each, program = divmod(each, self.programs)
            buffer, source = divmod(each, self.size)
            what = f"line {line} of block {program} in buffer {buffer}"
            return Origin(program, source, what, lane != PACKET_LANES["floats"])
        if self.first_flag <= offset < self.first_record:
            number = (offset - self.first_flag) // (8 * FLAG_WORDS)
            program, source = divmod(number % (self.programs * self.size), self.size)
            return Origin(program, source, f"flag of block {program}")
        return None

    def slots(self, lane):
        first = self.memory.data_ptr()
        if lane in LANES:
            return first + LANES[lane] * self.lane_bytes
        return first + self.first_packet + (PACKET_LANES[lane] - len(LANES)) * self.packet_bytes

    def flags(self, lane):
        return self.memory.data_ptr() + self.first_flag + _number(lane) * self.flag_bytes

    def steps(self, lane):
        return self.counted.data_ptr() + 8 * _number(lane) * self.programs


def _number(lane):
    return LANES[lane] if lane in LANES else PACKET_LANES[lane]
