"""Interpreted kernels in functions that torch.compile compiles."""

import pytest
from test_ranks import outputs, start

pytest.importorskip("torch", reason="needs torch: ./x python runs it in an environment that has it")


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_compiled_function_launches_a_kernel(ranks):
    for output, status in outputs(start("compiled.py", ranks)):
        assert status == 0, output
