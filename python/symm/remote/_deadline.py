"""How long the program waits for a worker."""

import math

from ..errors import ArgumentError
from . import _workers


class deadline:  # noqa: N801: it is used as a statement, as torch.no_grad is
    """Sets the longest wait for a worker, in seconds: `with deadline(5): …`, or `deadline(5)` from here on.

    A longer wait raises `symm.errors.DeadlineError`, which names the worker and the op that it is busy with. The link
    stays usable, and late answers are ignored. The default is 600 s. It applies to all devices of this process, future
    ones included; workers of `InProcess` have none, because their ops run in the program's own thread.
    """

    def __init__(self, seconds: float):
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds < math.inf:
            raise ArgumentError(f"deadline({seconds!r}): give a number of seconds, more than 0")
        self._before = _workers.deadline
        _workers.set_deadline(float(seconds))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        _workers.set_deadline(self._before)
