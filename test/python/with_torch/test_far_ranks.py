"""Every op between ranks of which some are far, which Triton's interpreter simulates. It needs torch itself."""

import pytest
from test_ranks import outputs, start

pytest.importorskip("torch", reason="needs torch: ./x python runs it in an environment that has it")


@pytest.mark.parametrize(("ranks", "domain"), [(2, 1), (4, 2), (4, 3), (2, None)])
def test_every_op_between_far_ranks(ranks, domain):
    told = {} if domain is None else {"SYMM_DOMAIN": str(domain)}
    for output, status in outputs(start("far.py", ranks, **told)):
        assert status == 0, output
