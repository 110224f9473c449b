"""One rank sends, call after call, and the others come late: nothing is overwritten before they have taken it."""

import time

import symm
import torch
from symm.comm import Communicator, _plan

CALLS = 12
WORLD = symm.init(heap_size=64 << 20)
ME, RANKS = WORLD.get_rank(), WORLD.get_num_ranks()
for packets in (False, True):
    _plan.USUAL_PACKET_BYTES, _plan.PACKET_BYTES = (1 << 20 if packets else 0), {}
    comm = Communicator(WORLD, blocks=2, staging=4 << 20)
    for call in ("broadcast", "reduce", "gather", "scatter"):
        sent = [torch.arange(60 * RANKS, dtype=torch.int32) + 1000 * number for number in range(CALLS)]
        results = []
        late = (ME > 0) == (call in ("broadcast", "scatter"))
        if late and RANKS > 1:
            time.sleep(0.4)
        for number in range(CALLS):
            data = sent[number].clone()
            if call == "scatter":
                out = torch.zeros(60, dtype=torch.int32)
                results.append(comm.scatter(data if ME == 0 else None, 0, out=out))
            else:
                data = torch.zeros_like(data) if call == "broadcast" and ME else data
                results.append(getattr(comm, call)(data, 0))
        for number, got in enumerate(results):
            wanted = {"broadcast": sent[number], "reduce": sent[number] * RANKS, "gather": sent[number].repeat(RANKS),
                      "scatter": sent[number][60 * ME : 60 * ME + 60]}[call]  # fmt: skip
            if got is not None:
                assert torch.equal(got, wanted), (packets, call, number)
WORLD.close()
