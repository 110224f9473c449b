"""Ctrl-C while rank 0 waits for rank 1, in CASE: it raises KeyboardInterrupt at once, and rank 1 is told."""

import os
import signal
import threading
import time
from pathlib import Path

import symm
import symm.triton as st
import torch
import triton

# Far less than what a wait takes without Ctrl-C, and more than a busy machine takes to start a thread.
SECONDS = 25
case, told = os.environ["CASE"], Path(os.environ["FOLDER"])
me = int(os.environ["RANK"])
pressed = []


@triton.jit
def meet(table):
    st.barrier(table)


def press():
    time.sleep(0.5)
    pressed.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)


def interrupted(function):
    threading.Thread(target=press).start()
    try:
        function()
    except KeyboardInterrupt:
        late = time.monotonic() - pressed[0]
        assert late < SECONDS, f"{late} s"
        return
    raise AssertionError("no KeyboardInterrupt")


def wait_for(name):
    while not (told / name).exists():
        time.sleep(0.01)


if case.startswith("init"):
    # The one that waits is rank 0 or rank 1.
    if me == int(case[-1]):
        interrupted(lambda: symm.init(heap_size=4 << 20))
        (told / "interrupted").touch()
    else:
        wait_for("interrupted")
    os._exit(0)

world = symm.init(heap_size=16 << 20)
context = world.get_device_context()
calls = {
    "zeros": lambda: world.zeros(3),
    "barrier": world.barrier,
    "device_barrier": world.device_barrier,
    "broadcast": lambda: world.broadcast(1, 1),
    "close": world.close,
    "kernel": lambda: meet[(1,)](context),
    # While another thread waits in a call, and does not end.
    "second": world.barrier,
}
if me == 0:
    if case == "second":
        threading.Thread(target=lambda: world.barrier(), daemon=True).start()
        time.sleep(0.2)
        start = time.monotonic()
        assert (world.get_rank(), world.get_num_ranks(), world.is_symmetric(context)) == (0, 2, False)
        world.check()
        assert time.monotonic() - start < SECONDS
    interrupted(calls[case])
    (told / "interrupted").touch()
    wait_for("told")
else:
    wait_for("interrupted")
    if case != "second":
        try:
            world.barrier()
        except symm.RankFailedError as error:
            assert "stopped, because rank 0 reported: " in str(error), error
            assert "rank 0 reported: interrupted" in str(error), error
        else:
            raise AssertionError("no RankFailedError")
    (told / "told").touch()
os._exit(0)
