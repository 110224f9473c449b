"""Kernels without symm ops, of the kind that Triton's tutorials hold."""

import triton
import triton.language as tl


@triton.jit
def softmax(out, inp, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(inp + row * stride + at, mask=at < columns, other=-float("inf"))
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * stride + at, values / tl.sum(values, axis=0), mask=at < columns)


@triton.jit
def relu(x):
    return tl.where(x >= 0, x, 0)


@triton.jit
def matmul(a, b, c, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    columns = tl.cdiv(N, BN)
    m = (pid // columns * BM + tl.arange(0, BM)) % M
    n = (pid % columns * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    at_a = a + m[:, None] * sa + k[None, :]
    at_b = b + k[:, None] * sb + n[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        left = tl.load(at_a, mask=k[None, :] < K - step * BK, other=0.0)
        right = tl.load(at_b, mask=k[:, None] < K - step * BK, other=0.0)
        total = tl.dot(left, right, total)
        at_a += BK
        at_b += BK * sb
    tl.store(c + m[:, None] * sc + n[None, :], relu(total).to(tl.float16))


@triton.jit
def matmul_tma(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr):
    of_a = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    of_b = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    of_c = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for step in tl.range(0, tl.cdiv(K, BK), num_stages=3, warp_specialize=WS):
        total = tl.dot(of_a.load([m, step * BK]), of_b.load([n, step * BK]).T, total)
    of_c.store([m, n], total.to(tl.float16))


@triton.jit
def attention(q, k, v, out, count, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns, d = tl.arange(0, BN), tl.arange(0, D)
    query = tl.load(q + rows[:, None] * D + d[None, :])
    largest = tl.full([BM], float("-inf"), tl.float32)
    weight = tl.zeros([BM], tl.float32)
    total = tl.zeros([BM, D], tl.float32)
    for start in range(0, count, BN):
        key = tl.load(k + (start + columns)[None, :] * D + d[:, None])
        score = tl.dot(query, key) * scale
        new = tl.maximum(largest, tl.max(score, 1))
        p = tl.exp2(score - new[:, None])
        fade = tl.exp2(largest - new)
        weight = weight * fade + tl.sum(p, 1)
        value = tl.load(v + (start + columns)[:, None] * D + d[None, :])
        total = tl.dot(p.to(tl.float16), value, total * fade[:, None])
        largest = new
    tl.store(out + rows[:, None] * D + d[None, :], (total / weight[:, None]).to(tl.float16))


@triton.jit
def constants(out, flags, n, B: tl.constexpr):
    at = tl.arange(0, B)
    all_of_them, none = tl.full([B], True, tl.int1), tl.full([B], False, tl.int1)
    x = tl.load(out + at, mask=all_of_them, other=float("nan")) * -0.0 + 1e-30
    x += tl.full([B], -1.5, tl.bfloat16).to(tl.float32)
    x += (tl.full([B], -(2**63), tl.int64) + n).to(tl.float32) + tl.full([B], -7, tl.int8).to(tl.float32)
    x += tl.full([B], 1e300, tl.float64).to(tl.float32)
    tl.device_print('a "message" \\ with \t what is quoted', n)
    tl.store(out + at, x, mask=all_of_them & (at < n))
    tl.store(flags + at, (at < n) | none, mask=at < B)
