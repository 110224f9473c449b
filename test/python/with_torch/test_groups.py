"""Teams of the groups and meshes of torch.distributed."""

import pytest
from test_ranks import outputs, start

pytest.importorskip("torch", reason="needs torch: ./x python runs it in an environment that has it")


@pytest.mark.parametrize("ranks", [2, 4])
def test_teams_of_groups_and_meshes(ranks, tmp_path):
    for output, status in outputs(start("groups.py", ranks, STORE=str(tmp_path / "store"))):
        assert status == 0, output
