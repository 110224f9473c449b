"""What interpreted kernels wait for, in words, for all ranks to see: `_deadlock` finds those that wait forever."""

from ._deadlock import Wait
from ._interpreter_deadline import place_text
from ._timeouts import COMPARISONS, barrier_text

FLAGS_SHOWN = 16


class Alone:
    """A wait that no other rank can know of: the context belongs to no World on the CPU."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def looked(self):
        pass


def waiting(world, located, what):
    """A context manager, for the time that this rank waits in a kernel; `what` says for what. It gives a Wait."""
    world = getattr(world, "world", world)  # A team's.
    if world is None or world.device.type != "cpu" or not world.is_open():
        return Alone()
    text, place = place_text(located)
    return Wait(world, f"{text}: {what}", place)


def flag_text(world, address, comparison, element, value, seen):
    """What a wait for a flag waits for."""
    if world is not None:
        text = barrier_text(world, address - world.bases[world.get_rank()], value, seen)
        if text is not None:
            return f"wait for {text}"
    flag = _flag(world, address, f"a flag of {element}")
    return f"wait for {flag} to be {COMPARISONS[comparison]} {value}: it is {seen}"


def flags_text(world, found, is_any, waited):
    """What a wait for several flags, or for one of them, waits for, and what those are that it does not leave out;
    `waited` is the address of the first that is missing, the type of its element, the comparison and the value.
    """
    address, element, comparison, value = waited
    values, several = found.reshape(-1), "one of several flags" if is_any else "several flags"
    more = ", …" if values.size > FLAGS_SHOWN else ""
    said = f"they are {', '.join(map(str, values[:FLAGS_SHOWN]))}{more}"
    first = _flag(world, address, f"a flag of {element}")
    return f"wait for {several}, first for {first} to be {COMPARISONS[comparison]} {value}: {said}"


def packet_text(world, address, epoch, seen):
    """What a wait for packets waits for; the first line that is missing is at an address."""
    return f"wait_packet: epoch {epoch} at {_flag(world, address, 'a line')}: its epoch is {seen}"


def floats_text(world, address):
    """What a wait for floats waits for, likewise."""
    return f"wait_floats: floats at {_flag(world, address, 'a line')}: they have not come"


def _flag(world, address, element):
    world = getattr(world, "world", world)
    if world is None:
        return f"{element} at {address:#x}"
    return world.flag_at(address - world.bases[world.get_rank()])
