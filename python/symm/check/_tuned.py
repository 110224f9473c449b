"""`triton.autotune` under the checker: what a kernel has been tuned to is known to one rank, in one execution.

An `Autotuner` keeps in itself what it launches and what it has chosen, and all ranks share it here.
"""

from __future__ import annotations

import contextlib
import functools
import math

from triton.runtime.autotuner import Autotuner

from . import _program

# What an Autotuner has from the beginning, and what it has once it has run.
FIRST = {"nargs": lambda: None, "cache": dict, "restore_copies": dict}
LATER = "best_config", "configs_timings", "bench_time"


class Own:
    """An attribute that each task has a value of its own of."""

    def __init__(self, name):
        self.name = name

    def __get__(self, tuner, owner=None):
        values = _values(tuner)
        if self.name not in values:
            if self.name not in FIRST:
                raise AttributeError(self.name)
            values[self.name] = FIRST[self.name]()
        return values[self.name]

    def __set__(self, tuner, value):
        _values(tuner)[self.name] = value
        if self.name in FIRST:
            # A tuner that a task makes may be used after the check.
            vars(tuner).setdefault(self.name, FIRST[self.name]())


def _values(tuner):
    task = _program.task()
    return vars(tuner) if task is None else task.tuned.setdefault(tuner, {})


@contextlib.contextmanager
def tuned_by_each():
    """Within it, tasks tune by themselves: each config runs as its benchmark says, and the first one is taken."""
    bench = Autotuner._bench

    @functools.wraps(bench)
    def first(tuner, *args, **keywords):
        times = bench(tuner, *args, **keywords)
        # Times would be others in each execution, which has to do the same again.
        return times if _program.task() is None else [time if math.isinf(time) else 0.0 for time in times]

    Autotuner._bench = first
    for name in (*FIRST, *LATER):
        setattr(Autotuner, name, Own(name))
    try:
        yield
    finally:
        Autotuner._bench = bench
        for name in (*FIRST, *LATER):
            delattr(Autotuner, name)
