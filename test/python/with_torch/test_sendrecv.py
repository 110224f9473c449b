"""Messages with hooks in Triton's interpreter on one to four ranks, with torch itself, not what stands in for it."""

import pytest
from test_ranks import outputs, start

torch = pytest.importorskip("torch", reason="needs torch: ./x python runs it in an environment that has it")

from symm.comm._launch import StreamOrder  # noqa: E402

CASES = [
    *(("sendrecv.py", ranks) for ranks in (1, 2, 3)), *(("sendrecv_use.py", ranks) for ranks in (1, 2, 4)),
    *(("sendrecv_stalled.py", ranks) for ranks in (1, 2, 3)), *(("sendrecv_deadline.py", ranks) for ranks in (1, 2)),
    *((program, ranks) for program in ("sendrecv_edges.py", "sendrecv_chunks.py") for ranks in (1, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("program", "ranks"), CASES)
def test_program(program, ranks):
    for output, status in outputs(start(program, ranks, OMP_NUM_THREADS="1")):
        assert status == 0, output


class Stream:
    """A stream of a GPU that need not be there: it keeps what waits for what."""

    waits = []

    def __init__(self, number, device):
        self.number = number

    def wait_stream(self, other):
        Stream.waits.append((self.number, other.number))


def test_calls_after_a_capture_follow_those_before_it(monkeypatch):
    capturing = False
    monkeypatch.setattr(torch.cuda, "ExternalStream", Stream)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: capturing)
    monkeypatch.setattr(Stream, "waits", [])
    order = StreamOrder(torch.device("cuda", 0))
    order.follow(1)
    capturing = True
    order.follow(2)
    assert not Stream.waits
    capturing = False
    for stream in (3, 3, 1):
        order.follow(stream)
    assert Stream.waits == [(3, 1), (1, 3)]
