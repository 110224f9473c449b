"""The tests of the Python package: run by `./x test`, once for each version of Triton.

Kernels are compiled for GPUs that need not be there.
"""

import atexit
import os
import tempfile

import pytest

# Nothing comes from a cache, and the user's own stays as it is. Triton reads this when it is imported.
cache = tempfile.TemporaryDirectory(prefix="symm-test-", ignore_cleanup_errors=True)
atexit.register(cache.cleanup)
os.environ["TRITON_CACHE_DIR"] = cache.name
os.environ["TRITON_ALWAYS_COMPILE"] = "1"
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="every cell of the compile matrix, not a few of each kind")
    parser.addoption("--all-samples", action="store_true", help="all of torch's samples of its ops, not the first of each")
    parser.addoption("--bless", action="store_true", help="rewrite what is made in docs/how-it-works.md")


def pytest_configure(config):
    config.addinivalue_line("markers", "rare: a cell of the compile matrix that runs with --all only")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--all"):
        return
    rare = [item for item in items if item.get_closest_marker("rare")]
    if rare:
        config.hook.pytest_deselected(items=rare)
        items[:] = [item for item in items if not item.get_closest_marker("rare")]
