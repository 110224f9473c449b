"""Imported before anything that needs Triton, this says so where it is not installed."""

import importlib.util

from .errors import MissingDependencyError

if importlib.util.find_spec("triton") is None:
    raise MissingDependencyError("symm.triton and symm.gluon need Triton, which is not installed: pip install triton")
