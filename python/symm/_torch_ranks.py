"""The ranks of torch.distributed, for programs that have started it without torchrun."""

import contextlib
import os
import socket
import uuid
from pathlib import Path

from ._memory import torch
from .errors import ArgumentError, BootstrapError


@contextlib.contextmanager
def as_torch_has_joined():
    """Has symm join as the ranks that torch.distributed knows, if the program has started it."""
    distributed = getattr(torch(), "distributed", None)
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        yield
        return
    rank, count = distributed.get_rank(), distributed.get_world_size()
    if torch().cuda.is_available():
        # NCCL sends from the current device.
        torch().cuda.set_device(rank % torch().cuda.device_count())
    everyone = [None] * count
    try:
        distributed.all_gather_object(everyone, (uuid.uuid4().hex, *_host()))
    except (RuntimeError, ValueError) as error:
        message = f"symm.init: torch.distributed, of whose {count} ranks this is {rank}, does not reach the others: "
        raise BootstrapError(f"{message}one has failed, or has destroyed its process group: {error}") from error
    elsewhere = [other for other, (_, boot, _) in enumerate(everyone) if boot != everyone[rank][1]]
    if elsewhere:
        there, here = everyone[elsewhere[0]][2], everyone[rank][2]
        message = f"rank {elsewhere[0]} of torch.distributed is on another host ({there}) than rank {rank} ({here})"
        raise BootstrapError(f"{message}: ranks reach each other through shared memory, so start all on one host")
    joined = {"RANK": rank, "WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count, "TORCHELASTIC_RUN_ID": everyone[0][0]}
    before = {name: os.environ.get(name) for name in joined}
    os.environ.update({name: str(value) for name, value in joined.items()})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def ranks_of_torch(group, world):
    """The ranks of a group, or of a mesh with one dimension, of torch.distributed; None for anything else.

    They are those of a World: its ranks have the same numbers there.
    """
    distributed = getattr(torch(), "distributed", None)
    if distributed is None or not distributed.is_available():
        return None
    is_mesh = hasattr(group, "mesh_dim_names") and hasattr(group, "get_group")
    if not distributed.is_initialized():
        if is_mesh or isinstance(group, distributed.ProcessGroup):
            given = "mesh" if is_mesh else "group"
            raise ArgumentError(f"team: torch.distributed, which this {given} is of, has been destroyed: give ranks")
        return None
    if is_mesh:
        if group.ndim != 1:
            message = f"team: ranks must be a DeviceMesh of one dimension, not {group!r}: name one, as in mesh['tp']"
            raise ArgumentError(message)
        group = group.get_group()
    nobody = distributed.GroupMember.NON_GROUP_MEMBER
    if type(group) is type(nobody) and group == nobody:
        raise ArgumentError("team: this rank is not in that group of torch.distributed: ranks in no team call split")
    if not isinstance(group, distributed.ProcessGroup):
        return None
    there, here = (distributed.get_rank(), distributed.get_world_size()), (world.get_rank(), world.get_num_ranks())
    if there != here:
        mine = f"{here[0]} of {here[1]} in the World"
        who = f"this is rank {there[0]} of {there[1]} in torch.distributed, and rank {mine}"
        raise ArgumentError(f"team: {who}: give ranks, or call symm.init after init_process_group")
    try:
        return distributed.get_process_group_ranks(group)
    except (KeyError, RuntimeError, ValueError) as error:
        message = "team: this group of torch.distributed has been destroyed: give one that is in use, or ranks"
        raise ArgumentError(message) from error


def _host():
    """What tells this host from others, and its name."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
    except OSError:
        boot = socket.gethostname()
    return boot, socket.gethostname()
