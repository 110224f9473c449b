"""Ranks that torch.multiprocessing spawns and torch.distributed numbers: nothing else says who they are."""

import os
import socket

import symm
import torch


def work(rank, ranks, port):
    where = f"tcp://127.0.0.1:{port}"
    torch.distributed.init_process_group("gloo", init_method=where, rank=rank, world_size=ranks)
    variables = dict(os.environ)
    world = symm.init(heap_size=4 << 20)
    assert dict(os.environ) == variables
    assert (world.get_rank(), world.get_num_ranks()) == (rank, ranks)
    tensor = world.full((2,), rank)
    world.barrier()
    neighbour = (rank + 1) % ranks
    assert world.as_remote(tensor, neighbour).tolist() == [neighbour] * 2
    world.barrier()
    world.close()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    ranks = int(os.environ.pop("WORLD_SIZE"))
    del os.environ["RANK"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.multiprocessing.spawn(work, (ranks, port), nprocs=ranks)
