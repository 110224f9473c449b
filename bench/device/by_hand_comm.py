"""All-reduces by hand, for bench/device/comm.py: the kernels of by_hand_comm.cu with the grids that are fastest."""

from pathlib import Path

# Bytes up to which a kernel is tried: packets take twice their bytes of the link.
MOST_PACKET_BYTES, MOST_LINE_BYTES = 16 << 20, 64 << 20
THREADS = (128, 256, 512, 1024)
# All blocks of a launch run at once, on any GPU with this many multiprocessors.
BLOCKS = (1, 2, 4, 8, 16, 32, 64, 128)
MOST_BLOCKS = BLOCKS[-1]
FLAG_BYTES = 128


class AllReduces:
    """On two ranks, of bfloat16. `slots` is heap memory for messages of this many bytes."""

    def __init__(self, world, largest):
        import cupy
        import torch

        self.cupy, self.torch, self.world = cupy, torch, world
        files = [Path(__file__).with_name(name) for name in ("by_hand.cu", "by_hand_comm.cu")]
        code = "\n".join(file.read_text(encoding="utf-8") for file in files)
        # As measure.py has them: nvrtc needs no headers for these.
        self.module = cupy.RawModule(code=code, options=("-std=c++17",))
        me, bases = world.get_rank(), world.get_heap_bases()
        # The lines of packets, twice; that many bytes hold all others.
        room = 4 * min(largest, MOST_PACKET_BYTES) + 4 * largest + MOST_BLOCKS * FLAG_BYTES
        self.slots = world.zeros(room, dtype=torch.uint8)
        self.delta = int(bases[1 - me]) - int(bases[me])
        self.epochs = torch.zeros(MOST_BLOCKS, dtype=torch.int32, device=world.device)

    def grids(self, name, nbytes):
        """The grids that are tried for a kernel: blocks and threads."""
        item, deep = {"packet": 8, "line": 15, "put_and_signal": 16}[name.rstrip("14")], 1 if name.endswith("1") else 4
        items = -(-nbytes // item)
        for threads in THREADS:
            wanted = -(-items // (threads * deep))
            if name == "put_and_signal":
                yield from ((blocks, threads) for blocks in BLOCKS if threads >= 512 and blocks <= 2 * wanted)
            elif wanted <= MOST_BLOCKS:
                yield wanted, threads
            elif threads >= 512:
                yield MOST_BLOCKS, threads

    def names(self, nbytes):
        found = ["put_and_signal"]
        if nbytes <= MOST_PACKET_BYTES:
            found += ["packet1", "packet4"]
        if nbytes <= MOST_LINE_BYTES:
            found += ["line1", "line4"]
        return found

    def action(self, name, grid, inp, out):
        """A call of a kernel, on torch's current stream. All ranks make new ones together: their slots are cleared."""
        self.torch.cuda.synchronize()
        self.world.barrier()
        self.slots.zero_()
        self.epochs.zero_()
        self.torch.cuda.synchronize()
        self.world.barrier()
        kernel, nbytes, mine = self.module.get_function(name), inp.nbytes, self.slots.data_ptr()
        unit = 16 if name == "put_and_signal" else 8
        lines = {"packet": -(-nbytes // 8), "line": -(-nbytes // 120) * 8}.get(name.rstrip("14"), -(-nbytes // 16))
        arguments = (inp.data_ptr(), out.data_ptr(), mine, mine + self.delta, self.epochs.data_ptr(),
                     self.cupy.uint64(nbytes // unit), self.cupy.uint64(lines))  # fmt: skip
        blocks, threads = grid

        def act():
            stream = self.cupy.cuda.ExternalStream(self.torch.cuda.current_stream().cuda_stream)
            with stream:
                kernel((blocks,), (threads,), arguments)

        return act

    def best(self, inp, out, measure, right):
        """What each kernel takes with each grid as `measure` has it, if its result is `right`; the fastest first."""
        found = []
        out.zero_()
        for name in self.names(inp.nbytes):
            for grid in dict.fromkeys(self.grids(name, inp.nbytes)):
                act = self.action(name, grid, inp, out)
                act()
                self.torch.cuda.synchronize()
                if right():
                    found.append((measure(act), name, grid))
        if not found:
            raise RuntimeError("no all-reduce by hand is right")
        return sorted(found)
