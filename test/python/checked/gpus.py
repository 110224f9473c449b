"""Programs that ask for a GPU's streams and graphs, under symm.check: torch itself, or what stands in for it."""

import types

import pytest
import symm
import torch

REAL = hasattr(torch, "__version__")
STREAMS = r"gpus.py:\d+: symm.check: rank 0, host: CUDA streams and graphs are not checked, because .* one after the"
NO_GPU = r"gpus.py:\d+: symm.check: rank 0, host: there is no GPU under the checker: make tensors on World.device, .*"


@pytest.fixture
def streams(monkeypatch):
    """Torch's classes where it has a GPU: they can be made."""
    if REAL:
        yield torch.cuda
        return
    kinds = {name: type(name, (), {}) for name in ("Stream", "CUDAGraph")}
    cuda = types.SimpleNamespace(is_available=lambda: True, **kinds)
    monkeypatch.setattr(torch, "cuda", cuda)
    yield cuda


@pytest.mark.parametrize("kind", ["Stream", "CUDAGraph"])
def test_streams_and_graphs_are_refused(streams, kind):
    def program(world):
        getattr(streams, kind)()

    before = getattr(streams, kind).__new__
    with pytest.raises(symm.UnsupportedError, match=STREAMS):
        symm.check(program, heap_size=1 << 24)
    assert getattr(streams, kind).__new__ is before


@pytest.mark.skipif(not REAL or torch.cuda.is_available(), reason="needs torch, and no GPU")
@pytest.mark.parametrize("of", ["tensor", "graph", "current", "synchronize"])
def test_what_torch_says_without_a_gpu(of):
    calls = {
        "tensor": (lambda: torch.zeros(3, device="cuda"), NO_GPU),
        "graph": (lambda: torch.cuda.graph(torch.cuda.CUDAGraph()).__enter__(), STREAMS),
        "current": (lambda: torch.cuda.current_stream(), NO_GPU),
        "synchronize": (lambda: torch.cuda.synchronize(), NO_GPU),
    }
    call, said = calls[of]
    with pytest.raises(symm.UnsupportedError, match=said):
        symm.check(lambda world: call() and None, heap_size=1 << 24)


def test_other_errors_stay():
    def program(world):
        raise RuntimeError("nothing about it")

    with pytest.raises(RuntimeError, match="nothing about it"):
        symm.check(program, heap_size=1 << 24)
