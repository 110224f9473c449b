"""Teams of groups and meshes of torch.distributed, which the program has initialized."""

import os

import pytest
import symm
import symm.triton as st
import torch
import torch.distributed as dist
import triton
from torch.distributed.device_mesh import init_device_mesh

rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", init_method=f"file://{os.environ['STORE']}", rank=rank, world_size=ranks)
world = symm.init(heap_size=32 << 20, timeout=60)
assert (world.get_rank(), world.get_num_ranks()) == (rank, ranks)
mesh = init_device_mesh("cpu", (ranks // 2, 2), mesh_dim_names=("dp", "tp"))
data = world.zeros(1, dtype=torch.int32)


@triton.jit
def tell(team, data):
    ctx = st.DeviceContext(team)
    ctx.store(data, ctx.rank() + 10, (ctx.rank() + 1) % ctx.num_ranks())


for name in ("dp", "tp"):
    group = mesh[name].get_group()
    members = tuple(dist.get_process_group_ranks(group))
    for given in (mesh[name], group):
        team = world.team(given)
        assert team.get_members() == members and team.get_rank() == mesh.get_local_rank(name), team
    team.barrier()
    tell[(1,)](team, data)
    team.barrier()
    assert data.item() == (team.get_rank() - 1) % len(members) + 10
    world.barrier()
# Of a team, by the numbers of torch.distributed; all of its ranks are in the team.
backwards = world.team(range(ranks - 1, -1, -1))
assert backwards.team(mesh["tp"]).get_members() == tuple(dist.get_process_group_ranks(mesh["tp"].get_group()))
with pytest.raises(symm.ArgumentError, match=r"team: ranks must be a DeviceMesh of one dimension, .* mesh\['tp'\]"):
    world.team(mesh)
for given, kind in ((mesh["tp"], "DeviceMesh"), (group, "ProcessGroup")):
    said = f"symm.init: heap_size must be a number of bytes, such as 1 << 30, not a {kind}: symm.init.. takes all ranks"
    with pytest.raises(symm.ArgumentError, match=said):
        symm.init(given)
first = dist.new_group([0])
said = "this rank is not in that group"
said = said if rank else f"team: rank 1 gave a list that cannot be a team: team: {said}"
with pytest.raises(symm.ArgumentError, match=said):
    world.team(first)
everyone, tp = dist.new_group(list(range(ranks))), mesh["tp"]
dist.destroy_process_group(everyone)
with pytest.raises(symm.ArgumentError, match="team: this group of torch.distributed has been destroyed: give one that"):
    world.team(everyone)
world.barrier()
dist.destroy_process_group()
for given, what in ((tp, "mesh"), (group, "group")):
    said = f"team: this {what}'s torch.distributed has been destroyed"
    with pytest.raises(symm.ArgumentError, match=said):
        world.team(given)
world.barrier()
# Where the ranks have other numbers in torch.distributed, a group of it says nothing of the World's.
backwards = ranks - 1 - rank
dist.init_process_group("gloo", init_method=f"file://{os.environ['STORE']}2", rank=backwards, world_size=ranks)
said = f"team: this is rank {backwards} of {ranks} in torch.distributed, and rank {rank} of {ranks} in the World"
with pytest.raises(symm.ArgumentError, match=said):
    world.team(dist.group.WORLD)
world.barrier()


def closed(*arguments):
    raise RuntimeError("Connection closed by peer")


# As where another rank has destroyed its process group.
dist.all_gather_object = closed
said = f"symm.init: torch.distributed, of whose {ranks} ranks this is {backwards}, does not reach the others: one has "
with pytest.raises(symm.BootstrapError, match=said):
    symm.init(heap_size=8 << 20, timeout=60)
world.barrier()
dist.destroy_process_group()
