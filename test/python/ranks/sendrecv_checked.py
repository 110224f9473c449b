"""The debug mode of messages on all kinds of links: what is right goes on, what differs is told to the receiver."""

import symm
import torch
from raising import raises
from symm import errors
from symm.comm import MeshTransport, NetworkTransport, NodeTransport, all_to_all, recv, send, sendrecv

WORLD = symm.init(heap_size=64 << 20)
ME, RANKS = WORLD.get_rank(), WORLD.get_num_ranks()
torch.set_default_device(WORLD.device)
AFTER, BEFORE = (ME + 1) % RANKS, (ME - 1) % RANKS
SETTINGS = {"blocks": 2, "channels": 2, "staging": (512 << 10) * RANKS, "landing": 4096, "check": True}


def right(link, counts=(0, 3, 9000)):
    """All forms, and ranks that send before they receive."""
    for count in counts:
        out = torch.zeros(count)
        if RANKS > 1:
            send(link, torch.full((count,), float(ME)), AFTER)
            assert recv(link, out, BEFORE).tolist() == [BEFORE] * count
        assert sendrecv(link, torch.full((count,), ME + 0.5), AFTER, out, BEFORE).tolist() == [BEFORE + 0.5] * count
        assert sendrecv(link, torch.full((count,), 7), ME, torch.ones(count).long(), ME).tolist() == [7] * count
        parts = torch.full((RANKS, count), float(ME))
        assert all_to_all(link, parts, channel=1)[:, :1].flatten().tolist() == list(range(RANKS)) * bool(count)
    assert all_to_all(link, torch.full((RANKS, 5), ME), zero_copy=True)[:, 0].tolist() == list(range(RANKS))
    # The elements that travel are compared.
    sendrecv(link, torch.ones(8), AFTER, torch.zeros(8).half(), BEFORE, wire=torch.bfloat16)


def differs(link, text, mine, others, **keywords):
    """Rank 0 sends to rank 1, which expects another message; then all recover."""
    if ME == 0:
        send(link, mine, 1, **keywords)
    elif ME == 1:
        for _ in range(2):
            # Later calls, too.
            raises(errors.CallMismatchError, text, recv, link, others, 0)
    WORLD.barrier()
    link.recover()
    right(link, (3,))


def wrong(link):
    words = "rank 0 sends a message of 12 bytes of torch.float32, channel 0, blocks 2"
    three = torch.ones(3)
    said = f"recv: ranks call different things:\n  {words}\n  rank 1 receives a message of 16 bytes of torch.float32"
    differs(link, said, three, torch.ones(4))
    differs(link, "rank 1 receives a message of 12 bytes of torch.int32", three, three.int())
    differs(link, "rank 1 receives a message of 0 bytes of torch.float32", three, torch.ones(0))
    differs(link, "rank 0 sends a message of 12 bytes of torch.float32 in 3 rows", three, three, rows=3)
    differs(link, "channel 0, blocks 1", three, three, blocks=1)
    parts = torch.ones(RANKS, 3 + (ME == 0))
    if ME == 0:
        raises(errors.CallMismatchError, "rank 1 sends a part of 12 bytes", all_to_all, link, parts)
    else:
        raises(errors.CallMismatchError, "rank 0 sends a part of 16 bytes", all_to_all, link, parts)
    WORLD.barrier()
    link.recover()


LINKS = [NodeTransport(WORLD, **SETTINGS), NetworkTransport(WORLD, **SETTINGS)]
MESH = MeshTransport(NodeTransport(WORLD, **SETTINGS), NetworkTransport(WORLD, **SETTINGS), max(RANKS // 2, 1))
for link in (*LINKS, MESH):
    right(link)
    if RANKS > 1:
        wrong(link)
        right(link, (3,))
said = "sendrecv: a rank that sends to itself receives as many bytes as it sends: 3 elements of torch.float32, and 4"
raises(errors.ArgumentError, said, sendrecv, LINKS[0], torch.ones(3), ME, torch.ones(4), ME)
raises(errors.ArgumentError, "check must be True, False or None, not 1", NodeTransport, WORLD, check=1)
PLAIN = NetworkTransport(WORLD, **SETTINGS | {"check": False})
raises(errors.ArgumentError, "differ in check", MeshTransport, LINKS[0], PLAIN, 1)
for link in (*LINKS, MESH.intra, MESH.inter, PLAIN):
    link.close()
raises(errors.ClosedError, "has been closed", send, LINKS[0], torch.ones(1), AFTER)
WORLD.close()
