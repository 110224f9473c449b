"""A rank whose GPU waits for one that has ended, in CASE: to wait for that GPU as torch does would never return."""

import os
import threading
import types

import symm
import torch

world = symm.init(heap_size=4 << 20)
world.barrier()
assert world.get_rank() == 0, "rank 1 ends here"
world.device = types.SimpleNamespace(type="cuda", index=0)
torch.cuda.synchronize = lambda *_: threading.Event().wait()
stream = types.SimpleNamespace(synchronize=torch.cuda.synchronize)
torch.cuda.current_stream = lambda *_: stream


class OnGpu(torch.Tensor):
    """What torch copies to the host when the GPU has done what comes before."""

    device = world.device
    cpu = torch.cuda.synchronize


calls = {"barrier": world.barrier, "stream": lambda: world.barrier(stream), "close": world.close}
calls["broadcast"] = lambda: world.broadcast(OnGpu.__new__(OnGpu))
try:
    calls[os.environ["CASE"]]()
except symm.RankFailedError as error:
    print(error, flush=True)
os._exit(0)
