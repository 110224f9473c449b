"""The tests of the Python package: run by `./x test`, once for each version of Triton.

Kernels are compiled for GPUs that need not be there.
"""

import atexit
import collections
import os
import signal
import tempfile

import pytest

# Nothing comes from a cache, and the user's own stays as it is. Triton reads this when it is imported.
cache = tempfile.TemporaryDirectory(prefix="symm-test-", ignore_cleanup_errors=True)
atexit.register(cache.cleanup)
os.environ["TRITON_CACHE_DIR"] = cache.name
os.environ["TRITON_ALWAYS_COMPILE"] = "1"
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
# A shell's background jobs ignore Ctrl-C, and what they start inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="every cell of the compile matrix, not one of each kind")
    parser.addoption(
        "--cover", action="store_true", help="of the compile matrix what ./x test runs: every two ways together"
    )
    parser.addoption(
        "--long", action="store_true", help="also what takes minutes: torch's samples of its ops, torch.compile"
    )
    parser.addoption("--bless", action="store_true", help="rewrite what is made in docs/how-it-works.md")


def pytest_configure(config):
    config.addinivalue_line("markers", "in_turn: with --cover, some cases with one Triton version, some with another")
    config.addinivalue_line("markers", "long: takes minutes, and runs with --long only")
    config.addinivalue_line("markers", "covering: a cell of the compile matrix that runs with --cover and --all")
    config.addinivalue_line("markers", "rare: a cell of the compile matrix that runs with --all only")


def pytest_collection_modifyitems(config, items):
    options = {"rare": ("--all",), "covering": ("--all", "--cover"), "long": ("--long",)}
    left_out = {marker for marker, wanted in options.items() if not any(map(config.getoption, wanted))}
    kept, dropped, seen = [], [], collections.Counter()
    import triton

    turn = int(triton.__version__.split(".")[1]) % 2 if config.getoption("--cover") else None
    for item in items:
        out = any(map(item.get_closest_marker, left_out))
        if turn is not None and item.get_closest_marker("in_turn"):
            # Of two cases in turn one each, of four the outer ones and the inner ones (Thue and Morse): no version has
            # all cases of one value of the last parameter.
            of = item.function if hasattr(item, "callspec") else item.path
            out |= seen[of].bit_count() % 2 != turn
            seen[of] += 1
        (dropped if out else kept).append(item)
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept
