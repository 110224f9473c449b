"""Calls of symm.comm without a time-out, that another rank does not make: the deadlock that is found names them.

The first argument says which call rank 0 makes, alone; the others are in a barrier.
"""

import math
import sys

import torch

import symm
from symm import errors
from symm.comm import Communicator, NodeTransport, all_to_all, recv, sendrecv

WORLD = symm.init(device="cpu")
COMM, LINK = Communicator(WORLD, timeout=math.inf), NodeTransport(WORLD, timeout=math.inf)
X, OUT = torch.ones(8), torch.ones(8)
COUNTS = torch.full((WORLD.get_num_ranks(),), 4)
LARGE = torch.ones(1 << 16)
CALLS = {
    "Communicator.all_reduce": lambda: COMM.all_reduce(X),
    "Communicator.broadcast": lambda: COMM.broadcast(X, 1),
    "Communicator.all_to_all_v": lambda: COMM.all_to_all_v(X, COUNTS, OUT),
    "Communicator.barrier": lambda: COMM.barrier(),
    "Communicator.recover": lambda: COMM.recover(),
    "recv": lambda: recv(LINK, X, 1),
    "sendrecv": lambda: sendrecv(LINK, LARGE, 1, torch.ones(1 << 16), 1),
    "all_to_all": lambda: all_to_all(LINK, X),
}

try:
    if WORLD.get_rank() == 0:
        CALLS[sys.argv[1]]()
    else:
        WORLD.barrier()
except errors.DeadlockError as error:
    line = next(n for n, text in enumerate(open(__file__), 1) if f'"{sys.argv[1]}": ' in text)
    said = str(error).splitlines()[1]
    assert said.startswith(f"  rank 0: symm.comm.{sys.argv[1]} at {__file__}:{line}: "), error
    assert "wait" in said or "barrier" in said, error
    print("found it")
