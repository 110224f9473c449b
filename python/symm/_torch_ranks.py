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
    distributed.all_gather_object(everyone, (uuid.uuid4().hex, *_host()))
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


def ranks_of_torch(group):
    """The ranks of a group, or of a mesh with one dimension, of torch.distributed; None for anything else."""
    distributed = getattr(torch(), "distributed", None)
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    if hasattr(group, "mesh_dim_names") and hasattr(group, "get_group"):
        if group.ndim != 1:
            message = f"team: ranks must be a DeviceMesh of one dimension, not {group!r}: name one, as in mesh['tp']"
            raise ArgumentError(message)
        group = group.get_group()
    nobody = distributed.GroupMember.NON_GROUP_MEMBER
    if type(group) is type(nobody) and group == nobody:
        raise ArgumentError("team: this rank is not in that group of torch.distributed: ranks in no team call split")
    return distributed.get_process_group_ranks(group) if isinstance(group, distributed.ProcessGroup) else None


def _host():
    """What tells this host from others, and its name."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
    except OSError:
        boot = socket.gethostname()
    return boot, socket.gethostname()
