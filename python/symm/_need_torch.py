"""Importing this fails with what to install where torch is missing."""

try:
    import torch as torch
except ImportError as error:
    from .errors import MissingDependencyError

    raise MissingDependencyError("symm.remote needs torch: pip install torch") from error
