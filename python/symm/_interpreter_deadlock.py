"""Finds out that interpreted kernels wait for each other for ever, without waiting for a time-out.

Each rank says in its heap whether it waits in a kernel, for what, and how often it has looked in vain. When all ranks
of a run wait, nobody writes, so that what one of them has not found by then does not come: it is enough that each has
looked once more since. A rank that is in a call where all ranks meet waits too, if another one has come to fewer of
them and waits in a kernel. A rank that polls in a loop of its own is not known to wait.
"""

from triton.runtime.interpreter import interpreter_semantic

from . import _symm
from ._interpreter_deadline import kernel_name
from ._open import Standing
from ._timeouts import COMPARISONS
from .errors import DeadlockError

FLAGS_SHOWN = 16


class Watch:
    """One wait of this rank: says so to the others, and looks at them."""

    def __init__(self, world, located, what):
        self.world, self.located, self.asked = world, located, what
        self.standings = [Standing.of(base) for base in world.bases]
        self.mine = self.standings[world.get_rank()]
        self.before = None

    def __enter__(self):
        _, file, line = self.located("").args
        program = tuple(interpreter_semantic.builder.grid_idx)
        self.mine.begin(f"program {program}, {file}:{line}: kernel {kernel_name()}: {self.asked}")
        return self

    def __exit__(self, *_):
        self.mine.end()

    def looked(self):
        """What the kernel waits for was not there. An error if it cannot come."""
        self.mine.looks += 1
        _symm.full_fence()
        now = [each.state() for each in self.standings]
        if not self._all_wait():
            self.before = None
        elif self.before is None or any(then[:-1] != each[:-1] for then, each in zip(self.before, now, strict=True)):
            self.before = now
        # Of two looks since then one has begun since then.
        elif all(
            not each.waits or each.looks - then[-1] >= 2 for then, each in zip(self.before, self.standings, strict=True)
        ):
            raise self.located(self._report(), DeadlockError)

    def _all_wait(self):
        fewest = min((each.meetings for each in self.standings if each.waits), default=0)
        return all(each.waits or (each.meets and each.meetings > fewest) for each in self.standings)

    def _report(self):
        ranks = [f"\n  rank {rank}: {each.text}" for rank, each in enumerate(self.standings)]
        return "deadlock: every rank waits, and nothing is left that could signal" + "".join(ranks)


class Alone:
    """A wait that no other rank can know of: the context belongs to no World on the CPU."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def looked(self):
        pass


def waiting(world, located, what):
    """A context manager, for the time that this rank waits in a kernel; `what` says for what. It gives a Watch."""
    world = getattr(world, "world", world)  # A team's.
    on_the_cpu = world is not None and world.device.type == "cpu" and world.is_open()
    return Watch(world, located, what) if on_the_cpu else Alone()


def flag_text(world, address, comparison, element, value, seen):
    """What a wait for a flag waits for."""
    flag = _flag(world, address, f"a flag of {element}")
    return f"wait for {flag} to be {COMPARISONS[comparison]} {value}: it is {seen}"


def flags_text(world, found, waited):
    """What a wait for several flags waits for; `waited` is the address of the first that is missing, the type of its
    element, the comparison and the value.
    """
    address, element, comparison, value = waited
    values = found.handle.data.reshape(-1)
    more = ", …" if values.size > FLAGS_SHOWN else ""
    said = f"they are {', '.join(map(str, values[:FLAGS_SHOWN]))}{more}"
    first = _flag(world, address, f"a flag of {element}")
    return f"wait for several flags, first for {first} to be {COMPARISONS[comparison]} {value}: {said}"


def packet_text(world, address, epoch, seen):
    """What a wait for packets waits for; the first line that is missing is at an address."""
    return f"wait_packet: epoch {epoch} at {_flag(world, address, 'a line')}: it is of {seen}"


def floats_text(world, address):
    """What a wait for floats waits for, likewise."""
    return f"wait_floats: floats at {_flag(world, address, 'a line')}: they have not come"


def _flag(world, address, element):
    world = getattr(world, "world", world)
    if world is None:
        return f"{element} at {address:#x}"
    return world.flag_at(address - world.bases[world.get_rank()])
