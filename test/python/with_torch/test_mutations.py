"""What torch.compile finds out of kernels with symm's ops: which of their arguments they write."""

import logging

import pytest
import symm.triton as st
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget

torch = pytest.importorskip("torch", reason="needs torch: ./x python runs it in an environment that has it")
wrap = pytest.importorskip("torch._higher_order_ops.triton_kernel_wrap", reason="needs torch itself")


class Driver:
    """As on a machine with a GPU."""

    def get_current_target(self):
        return GPUTarget("cuda", 90, 32)

    def get_active_torch_device(self):
        return torch.device("cpu")


@triton.jit
def kernel(table, a, b, flag, OP: tl.constexpr):
    ctx = st.DeviceContext(table)
    at = tl.arange(0, 64)
    if OP == "load":
        tl.store(b + at, ctx.load(a + at, 1))
    elif OP == "store":
        ctx.store(b + at, tl.load(a + at), 1, mask=at < 7)
    elif OP == "put":
        ctx.put(a + at, b + at, 1)
    elif OP == "get":
        ctx.get(b + at, a + at, 1)
    elif OP == "signal":
        ctx.wait(flag, 1)
        ctx.barrier()
        ctx.signal(flag, 2, 1)
    elif OP == "wait":
        while ctx.wait(flag, 1) < 3:
            helper(ctx, a, b)
    elif OP == "atomic_add":
        ctx.atomic_add(flag, 1, 1)
    elif OP == "put_signal":
        ctx.put_signal(a + at, b + at, flag, 1, 1)
    else:
        tl.store(ctx.as_remote(a, 1) + at, 1.0)


@triton.jit
def helper(ctx, a, b):
    ctx.copy(a, b, 0, 1)


# A wait whose result is used reads with an atomic. What is made of the table, too, may be written there.
CASES = {
    "load": ["b"], "store": ["b"], "put": ["b"], "get": ["a"], "signal": ["flag"], "wait": ["b", "flag"],
    "atomic_add": ["flag"], "put_signal": ["b", "flag"], "as_remote": ["table", "a"],
}  # fmt: skip


@pytest.mark.parametrize("op", CASES)
def test_what_a_kernel_writes(monkeypatch, caplog, op):
    monkeypatch.setattr(triton.runtime.driver, "_active", Driver())
    tensors = {"table": torch.zeros(4, dtype=torch.int64), "a": torch.zeros(64), "b": torch.zeros(64)}
    tensors["flag"] = torch.zeros(1, dtype=torch.int64)
    with caplog.at_level(logging.WARNING):
        written = wrap.identify_mutated_tensors(kernel, {**tensors, "OP": op}, {})
    assert written == CASES[op]
    assert not caplog.records
