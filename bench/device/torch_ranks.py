"""Ranks with torch on the GPUs of a host: their processes, and what calls take in CUDA graphs."""

import os
import socket
import statistics
import subprocess
import sys
import tempfile
import uuid
import zipfile


def start(program, ranks, wheel, device):
    """Runs a program on each rank with this process's arguments, and the modules of a wheel, if there is one; returns
    the worst exit status.
    """
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        path = os.environ.get("PYTHONPATH")
        if wheel:
            zipfile.ZipFile(wheel).extractall(folder)
            path = os.pathsep.join(filter(None, [folder, path]))
        environment = {
            **os.environ, "PYTHONPATH": path or "", "WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(free.getsockname()[1]), "TORCHELASTIC_RUN_ID": uuid.uuid4().hex,
            # Multicast is not measured, and not every host allows it.
            "NCCL_NVLS_ENABLE": "0",
        }  # fmt: skip
        free.close()
        if device == "cpu":
            environment["TRITON_INTERPRET"] = "1"
        command = [sys.executable, "-B", program, *sys.argv[1:]]
        processes = [
            subprocess.Popen(command, env={**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)})
            for rank in range(ranks)
        ]
        return max(abs(process.wait()) for process in processes)


def captured(action, times, warm=3):
    """`times` actions as a CUDA graph: what replays it."""
    import torch

    for _ in range(warm):
        action()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(times):
            action()
    return graph.replay


def microseconds(action, times, rounds, world):
    """An action's time in a graph of `times`: the median over the rounds, of the slowest rank."""
    import torch

    replay = captured(action, times)
    replay()
    taken = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        world.barrier()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        replay()
        end.record()
        end.synchronize()
        taken.append(1e3 * begin.elapsed_time(end) / times)
    return max(world.broadcast(statistics.median(taken), rank) for rank in range(world.get_num_ranks()))
