"""Messages with hooks in Triton's interpreter on one to four ranks, with torch itself, not what stands in for it."""

import pytest
from test_ranks import outputs, start

torch = pytest.importorskip("torch", reason="needs torch: ./x python runs it in an environment that has it")

from symm.comm._launch import Launch, StreamOrder  # noqa: E402
from symm.errors import SymmError  # noqa: E402

CASES = [
    *(("sendrecv.py", ranks) for ranks in (1, 2, 3)), *(("sendrecv_use.py", ranks) for ranks in (1, 2, 4)),
    *(("sendrecv_stalled.py", ranks) for ranks in (1, 2, 3)), *(("sendrecv_deadline.py", ranks) for ranks in (1, 2)),
    *((program, ranks) for program in ("sendrecv_edges.py", "sendrecv_chunks.py") for ranks in (1, 2)),
    ("sendrecv_credits.py", 2), ("sendrecv_checked.py", 1), ("sendrecv_checked.py", 2),
    pytest.param("sendrecv_checked.py", 4, marks=pytest.mark.long),
]  # fmt: skip


@pytest.mark.parametrize(("program", "ranks"), CASES)
def test_program(program, ranks):
    for output, status in outputs(start(program, ranks, OMP_NUM_THREADS="1")):
        assert status == 0, output


@pytest.mark.parametrize(
    ("ranks", "domain"), [(2, 1), (4, 2), pytest.param(4, 1, marks=pytest.mark.long)]
)
def test_between_domains(ranks, domain):
    for output, status in outputs(start("sendrecv_network.py", ranks, str(domain), OMP_NUM_THREADS="1")):
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


class Unloadable:
    """A kernel that the driver does not load."""

    arg_names = ["a"]

    def warmup(self, *arguments, **options):
        raise RuntimeError("Triton Error [CUDA]: operation not permitted when stream is capturing")


@pytest.mark.parametrize("capturing", [True, False])
def test_a_kernel_that_is_not_loaded_in_a_capture_says_what_to_do(monkeypatch, capturing):
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: capturing)
    launch = Launch(Unloadable(), 1, 1, (torch.int64,), {})
    launch.launch = launch._first
    with pytest.raises(SymmError if capturing else RuntimeError) as raised:
        launch.launch(0, 16)
    assert ("make the same call once before the capture: Triton" in str(raised.value)) == capturing
