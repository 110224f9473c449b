"""Collectives in Triton's interpreter on one to four ranks. They need torch itself, not what stands in for it."""

import pytest
from test_ranks import outputs, start

pytest.importorskip("torch", reason="needs torch: ./x python runs it in an environment that has it")


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("program", ["comm_collectives.py", "comm_large.py", "comm_use.py"])
def test_program(program, ranks):
    for output, status in outputs(start(program, ranks)):
        assert status == 0, output
