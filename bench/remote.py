#!/usr/bin/env python3
"""What the device `remote` costs: a client's time for an op, a training step, and transfers, each beside its aim.

    ./x bench remote [--in-process]

It needs torch. *op* is the time of the calling thread for an op that is sent and not waited for: an addition of two small
tensors, a multiplication by a number, a view, an op in place; *here* is an addition here. *step* is a training step of a
small transformer on a worker on the CPU, and here on the same CPU. *transfer* is 64 MiB to the worker and back, and
between two processes over a plain Unix socket, into memory that has been used before. What is compared takes turns.
"""

import argparse
import os
import socket
import time

import torch
from symm import remote

OPS, REPEATS = 500, 30
STEPS = 5
BYTES = 64 << 20
AIMS = {"op": 15.0, "step": 1.3, "transfer": 0.7}


def best(runs, clock, repeats, settle=lambda: None):
    """The shortest of some runs of each, in seconds of a clock; they take turns."""
    times = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            begin = clock()
            run()
            times[name].append(clock() - begin)
            settle()
    return {name: min(found) for name, found in times.items()}


def ops(device):
    x, here = torch.ones(8, device=device), torch.ones(8)
    kinds = {
        "add": lambda: x + x,
        "times a number": lambda: x * 2.0,
        "view": lambda: x.view(2, 4),
        "in place": lambda: x.add_(0),
        "here": lambda: here + here,
    }

    def many(op):
        def run():
            for _ in range(OPS):
                op()

        return run

    found = best({name: many(op) for name, op in kinds.items()}, time.thread_time, REPEATS, torch.remote.synchronize)
    for name, seconds in found.items():
        aim = "" if name == "here" else f"   (at most {AIMS['op']:.0f})"
        print(f"op, {name:15} {seconds / OPS * 1e6:6.1f} us{aim}")


def trainer(device):
    """A function that trains for some steps."""
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(128, 4, 512, dropout=0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 2).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    x = torch.randn(16, 64, 128).to(device)

    def run():
        for _ in range(STEPS):
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
        float(next(model.parameters()).detach().sum())

    run()
    return run


def steps(device):
    found = best({"worker": trainer(device), "here": trainer("cpu")}, time.perf_counter, 8)
    for name, seconds in found.items():
        times = f", {seconds / found['here']:.2f} times   (at most {AIMS['step']})" if name == "worker" else ""
        print(f"step, {name:13} {seconds / STEPS * 1e3:6.1f} ms{times}")


def transfers(device):
    x = torch.ones(BYTES // 4)
    there, plain = x.to(device), Plain()

    def up():
        x.to(device)
        torch.remote.synchronize()

    found = best({"up": up, "down": there.cpu, "socket": plain.run}, time.perf_counter, REPEATS)
    plain.close()
    for name, seconds in found.items():
        times = "" if name == "socket" else f", {found['socket'] / seconds:.2f} times   (at least {AIMS['transfer']})"
        print(f"transfer, {name:9} {BYTES / seconds / 1e9:6.2f} GB/s{times}")


class Plain:
    """Another process that sends bytes over a plain socket when it is asked to."""

    def __init__(self):
        self.socket, other = socket.socketpair(socket.AF_UNIX)
        self.into = memoryview(bytearray(BYTES))
        self.child = os.fork()
        if self.child == 0:
            self.socket.close()
            data = bytes(bytearray(b"1") * BYTES)
            while other.recv(1):
                other.sendall(data)
            os._exit(0)
        other.close()

    def run(self):
        self.socket.sendall(b"1")
        got = 0
        while got < BYTES:
            got += self.socket.recv_into(self.into[got:])

    def close(self):
        self.socket.close()
        os.waitpid(self.child, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--in-process", action="store_true", help="a worker in this process: no wire")
    arguments = parser.parse_args()
    with remote.launch(1, remote.InProcess() if arguments.in_process else None) as cluster:
        ops(cluster[0])
        steps(cluster[0])
        transfers(cluster[0])


if __name__ == "__main__":
    main()
