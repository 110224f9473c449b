"""Messages with hooks in Triton's interpreter on one to four ranks, with torch itself, not what stands in for it."""

import pytest
from test_ranks import outputs, start

pytest.importorskip("torch", reason="needs torch: ./x python runs it in an environment that has it")

CASES = [
    *(("sendrecv.py", ranks) for ranks in (1, 2, 3)), *(("sendrecv_use.py", ranks) for ranks in (1, 2, 4)),
    *(("sendrecv_stalled.py", ranks) for ranks in (1, 2, 3)), *(("sendrecv_deadline.py", ranks) for ranks in (1, 2)),
    *(("sendrecv_edges.py", ranks) for ranks in (1, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("program", "ranks"), CASES)
def test_program(program, ranks):
    for output, status in outputs(start(program, ranks, OMP_NUM_THREADS="1")):
        assert status == 0, output
