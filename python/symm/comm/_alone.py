"""What a communicator does with torch's own copies: of one rank, and into an `out` that is not one piece of memory.

As a kernel's do, they leave autograd alone: a parameter gets new values, and nothing has gradients.
"""

from .._memory import torch


def copy(source, target):
    """Copies the elements of one tensor in their order into another."""
    with torch().inference_mode():
        target.copy_(source.view(target.shape))


def move_rows(source, counts, out, room):
    """Copies as many rows as `counts`, one number on the device, says, and `room` at most."""
    with torch().inference_mode():
        # As bytes: torch chooses between elements of some types only.
        given, taken = (each[:room].view(room, -1).view(torch().uint8) for each in (source, out))
        here = torch().arange(room, device=counts.device)[:, None] < counts
        taken.copy_(torch().where(here, given, taken))
