"""The memory of a transport's channels: rings, lines of packets, flags and cursors, and what is sent from memory."""

from .._memory import torch
from .._symm import PACKET_LINE_BYTES
from ..errors import StagingError
from ._geometry import RECORD_BYTES, Origin
from .kernels_channel import MAIL_BUFFERS
from .kernels_ring import CURSOR_KINDS, FLAG_KINDS, FLAG_NAMES, FLAG_WORDS, STAGED

# Words of 8 bytes of a program's packets, a line for each.
MAIL_WORDS = 512
SMALLEST_RING, LARGEST_RING = 2048, 1 << 20
FLAG_BYTES = 8 * FLAG_WORDS
RECORDS = 2
MAIL_BYTES_OF_A_BLOCK = MAIL_BUFFERS.value * MAIL_WORDS * PACKET_LINE_BYTES
FLAG_BYTES_OF_A_BLOCK = FLAG_KINDS * FLAG_WORDS * 8


class Memory:
    """The memory of all channels of a transport, at one place on each rank's heap."""

    def __init__(self, world, blocks, channels, staging, landing, stages=False):
        size = world.get_num_ranks()
        pairs = size * channels
        self.blocks, self.size, self.landing_bytes = blocks, size, landing
        self.mail_bytes, self.flag_bytes = blocks * MAIL_BYTES_OF_A_BLOCK, blocks * FLAG_BYTES_OF_A_BLOCK
        fixed = pairs * (self.mail_bytes + self.flag_bytes)
        ring = 1 << max((max(staging - fixed, 0) // (pairs * blocks)).bit_length() - 1, 0)
        self.ring = min(ring, LARGEST_RING)
        if self.ring < SMALLEST_RING:
            least = self.least(size, channels, blocks)
            what = f"{size} ranks, {channels} channels and {blocks} blocks"
            message = f"staging of {staging} bytes is too small for {what}: give it {least} bytes or more"
            raise StagingError(f"{message}, or take fewer blocks or channels")
        self.first_mail = pairs * blocks * self.ring
        self.first_flag = self.first_mail + pairs * self.mail_bytes
        self.first_recovery = self.first_flag + pairs * self.flag_bytes
        first_record = self.first_recovery + size * FLAG_WORDS * 8
        self.first_landing = first_record + RECORDS * RECORD_BYTES
        self.pairs, end = pairs, self.first_landing + size * landing
        # What the programs of a lane send from memory, and their counters of what has left it.
        self.first_stage = -(-end // FLAG_BYTES) * FLAG_BYTES
        self.staged_bytes = blocks * self.ring // STAGED.value
        self.stage_bytes = self.staged_bytes + blocks * FLAG_BYTES if stages else 0
        self.heap = world.zeros(self.first_stage + pairs * self.stage_bytes, dtype=torch().uint8)
        # Of the deadlines of calls, and of those of `recover`.
        self.records = self.heap[first_record : self.first_landing].view(torch().int64).view(RECORDS, -1)
        # What has been sent and taken is each rank's own business.
        self.cursors = torch().zeros(pairs * blocks * CURSOR_KINDS, dtype=torch().int64, device=world.device)

    @staticmethod
    def least(size, channels, blocks):
        """Bytes of the smallest staging."""
        return size * channels * blocks * (SMALLEST_RING + MAIL_BYTES_OF_A_BLOCK + FLAG_BYTES_OF_A_BLOCK)

    def pair(self, channel, rank):
        return channel * self.size + rank

    def rings(self, channel, rank):
        return self.heap.data_ptr() + self.pair(channel, rank) * self.blocks * self.ring

    def mail(self, channel, rank):
        return self.heap.data_ptr() + self.first_mail + self.pair(channel, rank) * self.mail_bytes

    def flags(self, channel, rank):
        return self.heap.data_ptr() + self.first_flag + self.pair(channel, rank) * self.flag_bytes

    def cursors_of(self, channel, rank):
        return self.cursors.data_ptr() + 8 * self.pair(channel, rank) * self.blocks * CURSOR_KINDS

    def stage(self, channel, rank):
        """Where messages to a rank lie until they have been sent; unused by a link that sends from registers."""
        return self.heap.data_ptr() + self.first_stage + self.pair(channel, rank) * self.stage_bytes

    def recovery_flags(self):
        return self.heap.data_ptr() + self.first_recovery

    def landing(self):
        return self.heap.data_ptr() + self.first_landing

    def reset(self):
        """Restores the initial state."""
        self.heap[self.first_mail : self.first_recovery].zero_()
        if self.stage_bytes:
            self.heap[self.first_stage :].view(self.pairs, -1)[:, self.staged_bytes :].zero_()
        self.cursors.zero_()

    def locate(self, offset):
        """What lies this many bytes after the beginning, of what waits wait for; None if it is nothing."""
        if self.first_mail <= offset < self.first_flag:
            pair, rest = divmod(offset - self.first_mail, self.mail_bytes)
            channel, source = divmod(pair, self.size)
            program, rest = divmod(rest, self.mail_bytes // self.blocks)
            buffer, line = divmod(rest // PACKET_LINE_BYTES, MAIL_WORDS)
            what = f"line {line} of block {program} in buffer {buffer} of channel {channel}"
            return Origin(program, source, what)
        if self.first_flag <= offset < self.first_recovery:
            pair, rest = divmod(offset - self.first_flag, self.flag_bytes)
            channel, source = divmod(pair, self.size)
            kind, program = divmod(rest // (FLAG_WORDS * 8), self.blocks)
            return Origin(program, source, f"{FLAG_NAMES[kind]} of block {program} of channel {channel}")
        if self.first_recovery <= offset < self.first_recovery + self.size * FLAG_WORDS * 8:
            return Origin(0, (offset - self.first_recovery) // (FLAG_WORDS * 8), "flag of block 0")
        if self.stage_bytes and self.first_stage <= offset < self.heap.numel():
            pair, rest = divmod(offset - self.first_stage, self.stage_bytes)
            channel, to = divmod(pair, self.size)
            program = (rest - self.staged_bytes) // FLAG_BYTES
            return Origin(program, to, f"SENT of block {program} of channel {channel}")
        return None
