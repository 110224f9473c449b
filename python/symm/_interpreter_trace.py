"""Records what interpreted kernels do, for `symm.trace`: their programs, and each op with what it signals or waits for.

Times are the system's monotonic clock, which all processes of a machine share, in nanoseconds. Flags are places of
heaps: a rank, and bytes from its heap's start.
"""

import contextlib
import functools
import time

import numpy as np
from triton.runtime import interpreter
from triton.runtime.interpreter import interpreter_semantic

from . import _open
from ._host_call import calls

# The ops that are recorded, and what a timeline calls them.
NAMES = {
    "remote_load": "load", "remote_store": "store", "get": "get", "put": "put", "copy": "copy", "atomic_rmw": "atomic",
    "atomic_cas": "atomic_cas", "signal": "signal", "put_signal": "put_signal", "put_packet": "put_packet",
    "wait": "wait", "wait_packet": "wait_packet", "barrier": "barrier",
}  # fmt: skip
# An atomic of more elements than this is data, and no signal.
MOST_FLAGS = 64


class State:
    """The recorder of the trace that is being made, if one is."""

    recorder = None


class Recorder:
    """The programs and events of this rank."""

    def __init__(self, world, located, table):
        self.runs, self.located, self.table = _open.all_from(world), located, table
        self.programs, self.events, self.launches, self.about = [], [], [], {}
        self.is_looking, self.looked = False, None

    @contextlib.contextmanager
    def installed(self):
        """While kernels are recorded."""
        executor, builder = interpreter.GridExecutor, interpreter_semantic.builder
        launch = executor.__call__

        @functools.wraps(launch)
        def launched(this, *args, **keywords):
            self.launches.append(calls.name or this.fn.__name__)
            try:
                return launch(this, *args, **keywords)
            finally:
                self._end_program()
                self.launches.pop()

        def set_grid_idx(*place):
            type(builder).set_grid_idx(builder, *place)
            self._end_program()
            self.programs.append([self.launches[-1], list(place), time.monotonic_ns(), 0])

        executor.__call__, builder.set_grid_idx, State.recorder = launched, set_grid_idx, self
        try:
            yield
        finally:
            State.recorder = None
            executor.__call__ = launch
            del builder.set_grid_idx

    def _end_program(self):
        if self.programs and not self.programs[-1][-1]:
            self.programs[-1][-1] = time.monotonic_ns()

    def recorded(self, name, effect, remote, called):
        """An op's effect, which is recorded when it is over, or has failed."""
        if name not in NAMES or self.is_looking:
            return effect
        # A signal to a block of ranks is made of atomics.
        shown = "signal" if called == "signal" else NAMES[name]

        def wrapper(operands, attributes):
            begin, done = time.monotonic_ns(), None
            try:
                done = effect(operands, attributes)
                return done
            finally:
                event = self._add(shown, begin, self._peers(operands), _bytes(operands))
                if done is not None or name == "put_packet":
                    event["signals"] = self._signals(name, operands, attributes, done, remote)
                if name == "wait":
                    asked = [attributes["comparison"], operands["value"].data.item()]
                    event["wait"] = [self._places(operands["flag"].data), *asked]
                elif name == "wait_packet":
                    event["wait"] = [self._places(_where(operands, "slots")), "eq", operands["epoch"].data.item()]

        return wrapper

    def waited(self, waited, found, begin):
        """A wait for several flags, a `Waited`, is over: what it has found in each."""
        flags, mask = self.looked
        here = np.broadcast_to(True if mask is None else mask.data, flags.data.shape)
        event = self._add("wait_any" if waited.any else "wait_all", begin, [], 0)
        event["wait"] = [self._places(flags.data[here]), "found", found.data[here].tolist()]
        wanted = np.broadcast_to(waited.value.handle.data, flags.data.shape)[here].tolist()
        event["wanted"] = [waited.comparison, wanted[0] if len({*wanted}) == 1 else wanted]

    def _add(self, name, begin, peers, nbytes):
        end = time.monotonic_ns()
        _, file, line = self.located("").args
        event = {"name": name, "program": len(self.programs) - 1, "begin": begin, "end": end, "at": f"{file}:{line}"}
        event |= {"peers": peers, "bytes": nbytes, "signals": [], "wait": None}
        self.events.append(event)
        return event

    def _signals(self, name, operands, attributes, done, remote):
        """The flags that an op has written, each with what it was then."""
        if name in ("signal", "put_signal"):
            return [[*place, done] for place in self._places(remote(operands, "flag").data)]
        if name == "put_packet":
            [first, *_] = self._places(remote(operands, "slots").data) or [None]
            return [] if first is None else [[*first, operands["epoch"].data.item()]]
        if name != "atomic_rmw" or attributes["kind"] not in ("add", "xchg") or done.data.size > MOST_FLAGS:
            return []
        value = np.broadcast_to(operands["value"].data, done.data.shape)
        new = value if attributes["kind"] == "xchg" else done.data + value
        where = _where(operands, "ptr", remote(operands, "ptr"))
        here = np.broadcast_to(operands["mask"].data if "mask" in operands else True, new.shape)
        return [[*place, each] for place, each in zip(self._places(where), new[here].tolist(), strict=True)]

    def _peers(self, operands):
        """The numbers in the World of the ranks that an op goes to."""
        asked = [operands[name].data for name in ("rank", "from", "to") if name in operands]
        if not asked or "ctx" not in operands:
            return []
        _, _, *bases = self.table(operands)
        here = operands["mask"].data if "mask" in operands else True
        asked = [data[np.broadcast_to(here, data.shape)] if data.size > 1 else data for data in asked]
        numbers = {number for data in asked for number in data.flatten().tolist()}
        return sorted({self._place(bases[number])[0] for number in numbers if 0 <= number < len(bases)})

    def _places(self, addresses):
        return [place for place in map(self._place, np.asarray(addresses).flat) if place[0] >= 0]

    def _place(self, address):
        return list(_open.place_of(address, self.runs))


def _where(operands, name, pointers=None):
    """The addresses of pointers that are not masked."""
    data = (pointers or operands[name]).data
    return data[np.broadcast_to(operands["mask"].data, data.shape)] if "mask" in operands else data


def _bytes(operands):
    """The bytes of data that an op moves."""
    name = next((name for name in ("src", "ptr", "slots") if name in operands), None)
    if name is None:
        return 0
    width = 8 if name == "slots" else max(operands[name].get_element_ty().primitive_bitwidth // 8, 1)
    return int(np.size(_where(operands, name))) * width


def recorded(name, effect, remote, called):
    """An op's effect, recorded where a trace is made; `remote` translates pointers, and `called` is the user's call."""
    return effect if State.recorder is None else State.recorder.recorded(name, effect, remote, called)


def waited(waited, found, begin):
    """A wait for several flags is over: `wait_all` or `wait_any`."""
    if State.recorder is not None:
        State.recorder.waited(waited, found, begin)


def looking(flags, mask):
    """A context manager, for a look at flags: it is part of a wait, and no event."""
    return contextlib.nullcontext() if State.recorder is None else _look(State.recorder, flags, mask)


@contextlib.contextmanager
def _look(recorder, flags, mask):
    recorder.is_looking, recorder.looked = True, (flags.handle, None if mask is None else mask.handle)
    try:
        yield
    finally:
        recorder.is_looking = False

