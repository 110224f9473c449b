"""What Iris says of the machine."""

import os

from .._memory import torch


def is_simulation_env() -> bool:
    """Whether `IRIS_SIMULATION` is "1", "true" or "yes": Iris' simulators. It changes nothing here."""
    return os.environ.get("IRIS_SIMULATION", "").strip().lower() in ("1", "true", "yes")


def get_device_id_for_rank(local_rank: int) -> int:
    """The number of the GPU of a rank on this host: ranks share GPUs where there are fewer; 0 without GPUs."""
    cuda = torch().cuda
    return local_rank % cuda.device_count() if cuda.is_available() else 0
