#!/usr/bin/env python3
"""What the device `remote` costs: a client's time for an op, a training step, and transfers, each beside its aim.

    ./x bench remote [--in-process] [--repeats N]

It needs torch. *op* is the time of the calling thread for an op that is sent and not waited for: an addition of two
small tensors, a multiplication by a number, a view, an op in place; *here* is an addition here. *step* is a training
step of a small transformer on a worker on the CPU, and here on the same CPU; then the processors' time of each process
for a step. *transfer* is 64 MiB to the worker and back, into new memory as always, and between two processes over a
plain Unix socket: into new memory, which is what a program that makes a tensor does, and into the same memory again.
What is compared takes turns; times are the shortest, and `--repeats` says of how many.
"""

import argparse
import os
import socket
import time
from pathlib import Path

import torch
from symm import remote

OPS = 500
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


def processor_time(pid):
    """Seconds that a process has had a processor."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def ops(device, repeats):
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

    found = best({name: many(op) for name, op in kinds.items()}, time.thread_time, repeats, torch.remote.synchronize)
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


def steps(device, pid, repeats):
    runs = {"worker": trainer(device), "here": trainer("cpu")}
    found = best(runs, time.perf_counter, repeats)
    for name, seconds in found.items():
        times = f", {seconds / found['here']:.2f} times   (at most {AIMS['step']})" if name == "worker" else ""
        print(f"step, {name:13} {seconds / STEPS * 1e3:6.1f} ms{times}")
    for name, run in runs.items():
        before = time.process_time(), processor_time(pid)
        for _ in range(repeats):
            run()
        client, worker = time.process_time() - before[0], processor_time(pid) - before[1]
        there = f" and the worker's {worker / STEPS / repeats * 1e3:.1f} ms" if name == "worker" else ""
        print(f"step, {name}: this process's time is {client / STEPS / repeats * 1e3:.1f} ms{there}")


def transfers(device, repeats):
    x = torch.ones(BYTES // 4)
    there, plain = x.to(device), Plain()

    def up():
        x.to(device)
        torch.remote.synchronize()

    runs = {"up": up, "down": there.cpu, "socket, new memory": plain.new, "socket, same memory": plain.same}
    found = best(runs, time.perf_counter, repeats)
    plain.close()
    for name, seconds in found.items():
        new, same = (found[f"socket, {which} memory"] / seconds for which in ("new", "same"))
        times = f", {new:.2f} and {same:.2f} times the sockets   (at least {AIMS['transfer']})"
        print(f"transfer, {name:19} {BYTES / seconds / 1e9:6.2f} GB/s{times if name in ('up', 'down') else ''}")


class Plain:
    """Another process that sends bytes over a plain socket when it is asked to."""

    def __init__(self):
        self.socket, other = socket.socketpair(socket.AF_UNIX)
        self.memory = torch.zeros(BYTES, dtype=torch.uint8)
        self.child = os.fork()
        if self.child == 0:
            self.socket.close()
            data = bytes(bytearray(b"1") * BYTES)
            while other.recv(1):
                other.sendall(data)
            os._exit(0)
        other.close()

    def new(self):
        self.receive(torch.empty(BYTES, dtype=torch.uint8))

    def same(self):
        self.receive(self.memory)

    def receive(self, memory):
        into, got = memoryview(memory.numpy()), 0
        self.socket.sendall(b"1")
        while got < BYTES:
            got += self.socket.recv_into(into[got:])

    def close(self):
        self.socket.close()
        os.waitpid(self.child, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--in-process", action="store_true", help="a worker in this process: no wire")
    parser.add_argument("--repeats", type=int, default=30, help="how often each is measured; steps a quarter of that")
    arguments = parser.parse_args()
    repeats = arguments.repeats
    with remote.launch(1, remote.InProcess() if arguments.in_process else None) as cluster:
        ops(cluster[0], repeats)
        steps(cluster[0], cluster._links[0].pid, max(1, repeats // 4))
        transfers(cluster[0], repeats)


if __name__ == "__main__":
    from output import until_reader_leaves

    until_reader_leaves(main)
