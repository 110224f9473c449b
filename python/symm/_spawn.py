"""What providers that start `symm-worker` have in common: its options, its environment, its first words."""

import os
import select
import subprocess
import time
import uuid

from .errors import ArgumentError, BootstrapError

# What can be a limit on memory.
SIZES = "a number of bytes from 1 to 2**62"
# How long workers may take to start, in seconds.
START = 60.0
# How long they may take to end before they are killed, in seconds.
END = 5.0


def options(device, modules, allow_code, memory_limit):
    """The options of `symm-worker` that a program gives, but for its device."""
    if device not in ("cpu", "cuda"):
        raise ArgumentError(f"device {device!r}: workers are on 'cpu' or 'cuda'")
    words = [word for module in modules for word in ("--module", module)]
    words += ["--allow-code"] if allow_code else []
    if memory_limit is None:
        return words
    if isinstance(memory_limit, bool) or not isinstance(memory_limit, int) or not is_size(memory_limit):
        raise ArgumentError(f"memory_limit must be {SIZES}, not {memory_limit!r}")
    return [*words, "--memory-limit", str(memory_limit)]


def is_size(count):
    """Whether so many bytes can be a limit on memory."""
    return 0 < count <= 1 << 62


def arguments(listen, device, fd, options):
    """The arguments of a worker that ends when its descriptor `fd` is at its end."""
    return ["--listen", listen, "--device", device, "--parent-fd", str(fd), *options]


def worlds(count, environment):
    """The environment of each rank of a new world on one host."""
    world = {"WORLD_SIZE": str(count), "LOCAL_WORLD_SIZE": str(count), "TORCHELASTIC_RUN_ID": uuid.uuid4().hex}
    return [{"RANK": str(rank), "LOCAL_RANK": str(rank), **world, **environment} for rank in range(count)]


def address(worker, rank, end):
    """The address that a worker prints when it listens; waits until `end`."""
    text = b""
    while not text.endswith(b"\n"):
        left = end - time.monotonic()
        if not select.select([worker.stdout], [], [], max(0.0, left))[0]:
            raise BootstrapError(f"worker {rank} did not listen in time: give its provider a longer deadline")
        part = os.read(worker.stdout.fileno(), 4096)
        if not part:
            raise BootstrapError(f"worker {rank} has ended with status {worker.wait()}: its own messages say why")
        text += part
    return text.decode().split()[-1]


def end(process, within=END):
    """Waits for a process that is to end, and kills it if it does not. Returns whether it ended by itself."""
    try:
        process.wait(within)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return False
    finally:
        process.stdout.close()
    return True
