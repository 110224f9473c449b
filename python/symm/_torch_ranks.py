"""The ranks of torch.distributed, for programs that have started it without torchrun."""

import contextlib
import os
import socket
import sys
import uuid
import warnings
from pathlib import Path

from ._device import caller
from ._memory import text_of, torch
from .errors import ArgumentError, BootstrapError, SymmWarning


# What launchers tell a process of its rank by.
LAUNCHED = ("RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")


class Joined:
    """The rank and the number of ranks of torch.distributed when symm has last joined as them."""

    last = 0, 1


def as_torch_has_joined(engine):
    """Has symm join as the ranks that torch.distributed knows, if the program has started it; `engine` as symm.init."""
    distributed = getattr(torch(), "distributed", None)
    if distributed is None or not distributed.is_available():
        return contextlib.nullcontext()
    if not distributed.is_initialized():
        _tell_of_ranks_that_were()
        return contextlib.nullcontext()
    return _as_ranks_of(distributed, engine)


@contextlib.contextmanager
def _as_ranks_of(distributed, engine):
    rank, count = Joined.last = distributed.get_rank(), distributed.get_world_size()
    if torch().cuda.is_available():
        # NCCL sends from the current device.
        torch().cuda.set_device(rank % torch().cuda.device_count())
    everyone = [None] * count
    try:
        place = _where_to_meet(distributed) if engine else None
        distributed.all_gather_object(everyone, (uuid.uuid4().hex, *_host(), place))
    except (RuntimeError, ValueError) as error:
        message = f"symm.init: torch.distributed, of whose {count} ranks this is {rank}, does not reach the others: "
        raise BootstrapError(f"{message}one has failed, or has destroyed its process group: {error}") from error
    _, host, name, _ = everyone[rank]
    elsewhere = [other for other, (_, theirs, _, _) in enumerate(everyone) if theirs != host]
    without = [other for other, (*_, place) in enumerate(everyone) if place is None]
    if elsewhere and 0 < len(without) < count:
        said = f"ranks {', '.join(map(str, without))} of torch.distributed have no engine, and the others have one"
        raise BootstrapError(f"symm.init: {said}: give the same on all ranks")
    if elsewhere and engine is None:
        there = everyone[elsewhere[0]][2]
        message = f"rank {elsewhere[0]} of torch.distributed is on another host ({there}) than rank {rank} ({name}): "
        message += "without an engine ranks reach each other through shared memory, so start all on one host"
        raise BootstrapError(f"{message}, or on NVIDIA GPUs give engine='nvshmem'")
    run, _, _, place = everyone[0]
    joined = {"RANK": rank, "WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count - len(elsewhere), "TORCHELASTIC_RUN_ID": run}
    if elsewhere:
        joined |= dict(zip(("MASTER_ADDR", "SYMM_PORT"), place, strict=True))
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


def _tell_of_ranks_that_were():
    """Has no process become a World of one rank only because it has destroyed its process group."""
    if any(name in os.environ for name in LAUNCHED):
        return
    rank, count = Joined.last
    again = "call symm.init before destroy_process_group, or init_process_group again"
    if count > 1:
        message = f"symm.init: this was rank {rank} of {count} in torch.distributed, which has been destroyed, and "
        message += f"nothing else tells its rank: {again}"
        raise BootstrapError(f"{message}. For a World of this process alone, set RANK=0 and WORLD_SIZE=1")
    # What init_process_group leaves behind; it keeps nothing else.
    if getattr(sys.excepthook, "__name__", "") == "_distributed_excepthook":
        message = "symm.init: torch.distributed was initialized in this process and has been destroyed, so this World "
        warnings.warn_explicit(f"{message}has one rank. If there are others, {again}", SymmWarning, *caller())


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
            raise ArgumentError(f"team: this {given}'s torch.distributed has been destroyed: give ranks")
        return None
    if is_mesh:
        if group.ndim != 1:
            message = f"team: ranks must be a DeviceMesh of one dimension, not {text_of(group)}"
            raise ArgumentError(f"{message}: name one, as in mesh['tp']")
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
    """What tells this host from others, and its name. A container with a network of its own is one, too."""
    try:
        host = Path("/proc/sys/kernel/random/boot_id").read_text(), os.stat("/proc/self/ns/net").st_ino
    except OSError:
        host = socket.gethostname(), 0
    return host, socket.gethostname()


def _where_to_meet(distributed):
    """This host's address for the others and a port for rank 0 to listen at: the one that users name, or a free one."""
    port = os.environ.get("SYMM_PORT")
    if not port:
        with socket.create_server(("", 0)) as free:
            port = free.getsockname()[1]
    return os.environ.get("MASTER_ADDR") or _host_of_store(distributed) or socket.getfqdn(), port


def _host_of_store(distributed):
    """The host through which the ranks of torch.distributed have met, or "" where that was no host's port."""
    # torch has no public name for it.
    store = getattr(getattr(distributed, "distributed_c10d", None), "_get_default_store", lambda: None)()
    while hasattr(store, "underlying_store"):
        store = store.underlying_store
    return getattr(store, "host", "")
