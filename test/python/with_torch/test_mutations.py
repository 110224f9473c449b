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
    elif OP == "store_signal":
        ctx.store_signal(b + at, tl.load(a + at), flag, 1, 1)
    elif OP == "signal_all":
        ctx.signal_all(flag, 1, op="add")
    elif OP == "wait_all":
        ctx.wait_all(flag + at % 1, 1)
    elif OP == "test":
        tl.store(b, ctx.test(flag, 1).to(tl.float32))
    elif OP == "atomic_cas":
        ctx.atomic_cas(flag, 0, 1, 1)
    elif OP == "put_packet":
        ctx.put_packet(flag, tl.load(a + at), 1, 1)
    elif OP == "wait_packet":
        tl.store(b + at, ctx.wait_packet(flag, 1, 64, tl.float32))
    elif OP == "try_packet":
        value, is_there = ctx.try_packet(flag, 1, 64, tl.float32)
        tl.store(b + at, value, mask=is_there)
    elif OP == "put_floats":
        ctx.put_floats(flag, tl.load(a + at), 1)
    elif OP == "wait_floats":
        tl.store(b + at, ctx.wait_floats(flag, 64))
    elif OP == "clear_floats":
        ctx.clear_floats(flag, 64)
    else:
        tl.store(ctx.as_remote(a, 1) + at, 1.0)


@triton.jit
def helper(ctx, a, b):
    ctx.copy(a, b, 0, 1)


# A wait whose result is used reads with an atomic. What is made of the table, too, may be written there.
CASES = {
    "load": ["b"], "store": ["b"], "put": ["b"], "get": ["a"], "signal": ["flag"], "wait": ["b", "flag"],
    "atomic_add": ["flag"], "put_signal": ["b", "flag"], "as_remote": ["table", "a"],
    "store_signal": ["b", "flag"], "signal_all": ["flag"], "wait_all": ["flag"], "test": ["b", "flag"],
    "atomic_cas": ["flag"], "put_packet": ["flag"], "wait_packet": ["b"], "try_packet": ["b"], "put_floats": ["flag"],
    "wait_floats": ["b"], "clear_floats": ["flag"],
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
