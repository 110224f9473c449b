"""What ranks give to collectives, and what they are to get."""

import torch

FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2]
INTEGERS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool]
# What the last rounding may be off by, relative to the largest of the summands.
ROUNDING = {torch.float64: 1e-14, torch.float32: 1e-6, torch.float16: 1e-3, torch.bfloat16: 8e-3,
            torch.float8_e4m3fn: 7e-2, torch.float8_e5m2: 0.13}  # fmt: skip


def values(rank, call, count, dtype):
    """What a rank gives to a call: small numbers, so that products of integers wrap now and then only."""
    generator = torch.Generator("cpu").manual_seed(1000 * call + rank)
    if dtype.is_floating_point:
        return (torch.rand(count, generator=generator, device="cpu") * 4 - 2).to(dtype)
    return torch.randint(0, 2 if dtype == torch.bool else 100, (count,), generator=generator, device="cpu").to(dtype)


def expected(tensors, op):
    """What an operation gives, exactly."""
    if not tensors[0].dtype.is_floating_point:
        exact = torch.stack([each.to(torch.int64) for each in tensors])
    else:
        exact = torch.stack([each.to(torch.float64) for each in tensors])
    if tensors[0].dtype == torch.bool:
        op = {"sum": "max", "prod": "min"}.get(op, op)
    return {
        "sum": lambda: exact.sum(0), "avg": lambda: exact.mean(0), "min": lambda: exact.amin(0),
        "max": lambda: exact.amax(0), "prod": lambda: exact.prod(0),
    }[op]()  # fmt: skip


def check(got, exact, what):
    dtype = got.dtype
    if dtype.is_floating_point:
        bound = ROUNDING[dtype] * max(1.0, exact.abs().max().item()) if exact.numel() else 0
        worst = (got.to(torch.float64) - exact).abs().max().item() if exact.numel() else 0
        assert worst <= bound, (what, worst, bound)
    else:
        assert torch.equal(got, exact.to(dtype)), what
