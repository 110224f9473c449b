#!/usr/bin/env python3
"""What the device `remote` costs: a client's time for an op, a training step, and transfers.

    PYTHONPATH=python python bench/remote.py [--in-process]

It needs torch. *op* is the time of the calling thread for an op that is sent and not waited for: an addition of two small
tensors, a multiplication by a number, a view, an op in place. *step* is a training step of a small transformer on a
worker on the CPU, and here on the same CPU. *transfer* is 64 MiB to the worker and back, and over a plain Unix socket.
"""

import argparse
import socket
import threading
import time

import torch
from symm import remote

OPS, REPEATS = 2000, 9
STEPS = 20
BYTES = 64 << 20


def best(run, clock, repeats=REPEATS, settle=lambda: None):
    """The shortest of some runs, in seconds of a clock."""
    times = []
    for _ in range(repeats):
        begin = clock()
        run()
        times.append(clock() - begin)
        settle()
    return min(times)


def ops(device):
    x = torch.ones(8, device=device)
    kinds = {"add": lambda: x + x, "times a number": lambda: x * 2.0, "view": lambda: x.view(2, 4), "in place": lambda: x.add_(0)}
    for name, op in kinds.items():

        def many(op=op):
            for _ in range(OPS):
                op()

        many()
        seconds = best(many, time.thread_time, settle=torch.remote.synchronize)
        print(f"op, {name:15} {seconds / OPS * 1e6:6.1f} us")


def step(device):
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
    return best(run, time.perf_counter, 3) / STEPS


def transfers(device):
    x = torch.empty(BYTES // 4)
    there = x.to(device)

    def up():
        x.to(device)
        torch.remote.synchronize()

    for name, run in (("up", up), ("down", there.cpu), ("socket", plain_socket)):
        print(f"transfer, {name:9} {BYTES / best(run, time.perf_counter, 5) / 1e9:6.2f} GB/s")


def plain_socket():
    one, other = socket.socketpair(socket.AF_UNIX)
    data, into = bytearray(BYTES), memoryview(bytearray(BYTES))
    sender = threading.Thread(target=one.sendall, args=(data,))
    sender.start()
    got = 0
    while got < BYTES:
        got += other.recv_into(into[got:])
    sender.join()
    one.close()
    other.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--in-process", action="store_true", help="a worker in this process: no wire")
    arguments = parser.parse_args()
    with remote.launch(1, remote.InProcess() if arguments.in_process else None) as cluster:
        ops(cluster[0])
        far, near = step(cluster[0]), step("cpu")
        print(f"step, worker       {far * 1e3:6.1f} ms\nstep, here         {near * 1e3:6.1f} ms, {far / near:.2f} times")
        transfers(cluster[0])


if __name__ == "__main__":
    main()
