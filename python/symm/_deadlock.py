"""Finds out that ranks of runs on the CPU wait for each other forever, without waiting for a time-out.

Each rank says in its heaps whether it waits in a kernel, or is in a call where all ranks meet, and how often it has
looked in vain. When all ranks of a run wait, nobody writes, so that what one of them has not found by then does not
come: it is enough that each has looked once more since. A rank that is in a call where all ranks meet waits if another
one has come to fewer of them. It may wait in another run than the one that is looked at: then all ranks of that one
have to wait, too. A rank that polls in a loop of its own is not known to wait.
"""

import threading

from ._standing import key_of, on_the_cpu, standings
from ._symm import full_fence, on_look
from .errors import DeadlockError, RankFailedError

SAID = "deadlock: every rank waits, and nothing is left that could signal"


class Threads(threading.local):
    """What a thread is in, in which the runtime asks for a look now and then."""

    now = None


threads = Threads()
# Held while the list changes: the waits of this process's threads. Of several nothing is said: one may end another.
LOCK = threading.Lock()
waiting = []


class Wait:
    """One wait of this rank in a kernel: says so to the others, and looks at them. `place` is its file and line."""

    # The number of a call where all ranks meet, from 1.
    number = 0

    def __init__(self, world, text, place=(None, None)):
        self.world, self.text, self.place, self.before = world, text, place, None

    def __enter__(self):
        with LOCK:
            waiting.append(self)
            _show()
        return self

    def __exit__(self, kind, error, traceback):
        with LOCK:
            waiting.remove(self)
            _show()
        # Another rank has found what this one is a part of.
        if isinstance(error, RankFailedError) and (report := _found(self.world)):
            raise DeadlockError(report, *self.place) from None

    def looked(self):
        """What the rank waits for was not there. An error if it cannot come."""
        with LOCK:
            for world in on_the_cpu() if waiting == [self] else ():
                standing = world._standing()
                standing.where = key_of(self.world)
                standing.looks += 1
        full_fence()
        runs = _stuck(self.world)
        now = None if runs is None else [(each, each.state()) for world in runs for each in standings(world)]
        if now is None or self.before is None or len(now) != len(self.before):
            self.before = now
        elif any(then[:-1] != each[:-1] for (_, then), (_, each) in zip(self.before, now, strict=True)):
            self.before = now
        # Of two looks since then one has begun since then.
        elif all(not each.waits or each.stuck or each.looks - then >= 2 for each, (*_, then) in self.before):
            self._end(runs)

    def _end(self, runs):
        """Ends the runs, and says why."""
        report = _report(runs)
        if max(world.get_num_ranks() for world in runs) > 1:
            for world in runs:
                for each in standings(world):
                    each.stuck = 1
            for world in runs:
                world._rank.end(SAID)
        raise DeadlockError(report, *self.place)


class Meeting(Wait):
    """A call of this rank where all ranks meet."""

    def __enter__(self):
        standing = self.world._standing()
        standing.meetings += 1
        self.number = standing.meetings
        self.outer, threads.now = threads.now, self
        return super().__enter__()

    def __exit__(self, *error):
        threads.now = self.outer
        super().__exit__(*error)


class Leaving:
    """While this rank leaves a run: it does not wait for the others where they wait for it in another run."""

    def __enter__(self):
        self.outer, threads.now = threads.now, self

    def __exit__(self, *_):
        threads.now = self.outer

    def looked(self):
        """Whether another rank waits in another run."""
        for world in on_the_cpu():
            key, me = key_of(world), world.get_rank()
            others = (each for rank, each in enumerate(standings(world)) if rank != me)
            if any((each.waits or each.meets) and each.where == key for each in others):
                return True
        return False


def _show():
    """Says what this process waits for, in all of its runs."""
    for world in on_the_cpu():
        standing = world._standing()
        if len(waiting) == 1:
            [wait] = waiting
            standing.begin(wait.text, key_of(wait.world), wait.number)
        else:
            standing.end()


def _stuck(home):
    """The runs whose ranks all wait: one, and those in which its ranks wait. None where a rank does not."""
    runs, known = [home], {key_of(world): world for world in on_the_cpu()}
    for run in runs:
        for each in standings(run):
            if each.left:
                continue
            where = known.get(each.where) if each.where and (each.waits or each.meets) else None
            if where is None:
                return None
            if each.meets and each.number <= min(other.meetings for other in standings(where)):
                return None
            if where not in runs:
                runs.append(where)
    return runs


def _found(home):
    """What another rank has found, if it has."""
    return _report([home]) if home.is_open() and any(each.stuck for each in standings(home)) else ""


def _report(runs):
    known, said = set(), []
    for run in runs:
        for rank, each in enumerate(standings(run)):
            if each.process not in known or run is runs[0]:
                said.append(f"\n  rank {rank}{'' if run is runs[0] else ' of another World'}: {each.text}")
        known |= {each.process for each in standings(run)}
    return SAID + "".join(said)


def _look():
    """What the runtime asks while a call of this thread waits: whether it is to wait no longer where it may."""
    return threads.now is not None and bool(threads.now.looked())


on_look(_look)
