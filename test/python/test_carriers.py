"""What each op becomes in Triton's IR: the op's name, its operands and attributes, and their types."""

import re

import pytest
import symm.gluon as sg
import symm.triton as st
import triton
import triton.language as tl
from compiling import carriers, exported
from symm import _seam
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

SIGNATURE = {"table": "*i64", "p": "*fp32", "q": "*fp32", "flag": "*u32", "peer": "i64"}


@triton.jit
def data(table, p, q, flag, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    at = tl.arange(0, B)
    inside = at < 100
    st.as_remote(ctx, p, peer)
    st.load(ctx, p + at, peer)
    st.load(ctx, p + at, peer, mask=inside, other=0, cache_modifier=".cg", volatile=True)
    st.load(table, p, 1)
    st.store(ctx, p + at, 1, peer, mask=inside, cache_modifier=".wt")
    st.get(ctx, p + at, q + at, peer, inside)
    st.put(ctx, p + at, q + at, peer, cache_modifier=".ca")
    st.copy(ctx, p, q, 0, peer)


def test_data():
    block, pointers = "tensor<128xf32>", "tensor<128x!tt.ptr<f32>>"
    assert carriers(exported(data, SIGNATURE, B=128)) == [
        ("as_remote(ctx, ptr, rank)", "!tt.ptr<i64>, !tt.ptr<f32>, i32", "!tt.ptr<f32>"),
        ("remote_load(ctx, ptr, rank)", f"!tt.ptr<i64>, {pointers}, i32", block),
        (
            "remote_load(ctx, ptr, rank, mask, other) {cache = cg, volatile = true}",
            f"!tt.ptr<i64>, {pointers}, i32, tensor<128xi1>, {block}",
            block,
        ),
        ("remote_load(ctx, ptr, rank)", "!tt.ptr<i64>, !tt.ptr<f32>, i32", "f32"),
        (
            "remote_store(ctx, value, ptr, rank, mask) {cache = wt}",
            f"!tt.ptr<i64>, {block}, {pointers}, i32, tensor<128xi1>",
            "()",
        ),
        ("get(ctx, src, dst, rank, mask)", f"!tt.ptr<i64>, {pointers}, {pointers}, i32, tensor<128xi1>", "()"),
        ("put(ctx, src, dst, rank) {cache = ca}", f"!tt.ptr<i64>, {pointers}, {pointers}, i32", "()"),
        ("copy(ctx, src, from, dst, to)", "!tt.ptr<i64>, !tt.ptr<f32>, i32, !tt.ptr<f32>, i32", "()"),
    ]


def test_torch_is_shown_what_an_op_writes(monkeypatch):
    """With every version of Triton; what torch makes of it: with_torch/test_mutations.py."""
    assert '"tt.store"' not in exported(data, SIGNATURE, B=128)
    monkeypatch.setattr(_seam, "ANALYSIS", triton.compiler.compiler.__name__)
    functions = re.split(r'(?="tt.func")', exported(data, SIGNATURE, B=128))
    named = sorted(re.search(r'symm.carrier = "(\w+)', text)[1] for text in functions if '"tt.store"' in text)
    assert named == ["copy", "get", "put", "remote_store"]


@triton.jit
def order(table, p, q, flag, peer):
    ctx = st.DeviceContext(table)
    ctx.signal(flag, 1, peer)
    ctx.signal(flag, 1, peer, op="add", sem="relaxed", scope="gpu", group="thread")
    ctx.wait(flag, 1)
    ctx.wait(flag.to(tl.pointer_type(tl.int64)), ctx.num_ranks(), "eq", sem="relaxed", group="warp")
    ctx.put_signal(p, q, flag, 7, peer)
    ctx.fence()
    ctx.fence("release", scope="sys")
    ctx.barrier()


def test_order():
    words = "!tt.ptr<i64>, !tt.ptr<i32>, i32"
    assert carriers(exported(order, SIGNATURE)) == [
        ("signal(ctx, flag, value, rank) {kind = set, group = block}", f"{words}, i32", "()"),
        (
            "signal(ctx, flag, value, rank) {kind = add, sem = relaxed, scope = gpu, group = thread}",
            f"{words}, i32",
            "()",
        ),
        ("wait(ctx, flag, value) {comparison = ge, unsigned = true, group = block}", words, "()"),
        ("num_ranks(ctx)", "!tt.ptr<i64>", "i32"),
        (
            "wait(ctx, flag, value) {comparison = eq, sem = relaxed, group = warp}",
            "!tt.ptr<i64>, !tt.ptr<i64>, i64",
            "()",
        ),
        (
            "put_signal(ctx, src, dst, flag, value, rank) {kind = set, group = block}",
            "!tt.ptr<i64>, !tt.ptr<f32>, !tt.ptr<f32>, !tt.ptr<i32>, i32, i32",
            "()",
        ),
        ("fence() {group = block}", "", "()"),
        ("fence() {sem = release, scope = sys, group = block}", "", "()"),
        ("barrier(ctx) {group = block}", "!tt.ptr<i64>", "()"),
    ]


@triton.jit
def update(table, p, peer, OP: tl.constexpr, SEM: tl.constexpr, SCOPE: tl.constexpr):
    OP(table, p, 1, peer, sem=SEM, scope=SCOPE)


@triton.jit
def swap(table, p, peer):
    st.atomic_cas(table, p, 1, 2, peer, sem="acquire")


@pytest.mark.parametrize(
    ("element", "op", "carrier"),
    [
        ("i32", "add", "atomic_rmw(ctx, ptr, value, rank) {kind = add}"),
        ("fp16", "add", "atomic_rmw(ctx, ptr, value, rank) {kind = fadd}"),
        ("u64", "sub", "atomic_rmw(ctx, ptr, value, rank) {kind = sub}"),
        ("fp64", "sub", "atomic_rmw(ctx, ptr, value, rank) {kind = fadd}"),
        ("i64", "and", "atomic_rmw(ctx, ptr, value, rank) {kind = and}"),
        ("i32", "or", "atomic_rmw(ctx, ptr, value, rank) {kind = or}"),
        ("u32", "xor", "atomic_rmw(ctx, ptr, value, rank) {kind = xor}"),
        ("i32", "min", "atomic_rmw(ctx, ptr, value, rank) {kind = min, sem = relaxed}"),
        ("u32", "min", "atomic_rmw(ctx, ptr, value, rank) {kind = umin, sem = relaxed}"),
        ("u64", "max", "atomic_rmw(ctx, ptr, value, rank) {kind = umax, scope = gpu}"),
        ("fp32", "xchg", "atomic_rmw(ctx, ptr, value, rank) {kind = xchg}"),
        ("i64", "cas", "atomic_cas(ctx, ptr, expected, desired, rank) {sem = acquire}"),
    ],
)
def test_atomics(element, op, carrier):
    signature = {"table": "*i64", "p": f"*{element}", "peer": "i32"}
    if op == "cas":
        text = exported(swap, signature)
    else:
        options = {"SEM": "relaxed" if op == "min" else None, "SCOPE": "gpu" if op == "max" else None}
        text = exported(update, signature, OP=getattr(st, f"atomic_{op}"), **options)
    [(found, operands, result)] = carriers(text)
    assert found == carrier
    kind = element.replace("fp", "f").replace("u", "i")
    values = [kind, kind] if op == "cas" else [kind]
    assert operands == ", ".join(["!tt.ptr<i64>", f"!tt.ptr<{kind}>", *values, "i32"])
    assert result == kind


@triton.jit
def casts(table, p, half, flags, flag, peer, B: tl.constexpr):
    at = tl.arange(0, B)
    st.store(table, p + at, tl.load(half), peer)
    st.store(table, half + at, tl.load(p + at), peer)
    st.store(table, flags, st.load(table, flags, peer), peer)
    st.signal(table, flag, tl.program_id(0), peer.to(tl.uint8))


def test_values_become_what_the_pointer_points_to():
    signature = {"table": "*i64", "p": "*fp32", "half": "*fp16", "flags": "*i1", "flag": "*i64", "peer": "u64"}
    found = [operands for _, operands, _ in carriers(exported(casts, signature, B=16))]
    assert found == [
        "!tt.ptr<i64>, tensor<16xf32>, tensor<16x!tt.ptr<f32>>, i32",
        "!tt.ptr<i64>, tensor<16xf16>, tensor<16x!tt.ptr<f16>>, i32",
        "!tt.ptr<i64>, !tt.ptr<i8>, i32",
        "!tt.ptr<i64>, i8, !tt.ptr<i8>, i32",
        "!tt.ptr<i64>, !tt.ptr<i64>, i64, i32",
    ]


@gluon.jit
def gluon_data(table, p, peer):
    ctx = sg.DeviceContext(table)
    at = gl.arange(0, 512, layout=gl.BlockedLayout([4], [32], [4], [0]))
    x = ctx.load(p + at, peer, mask=at < 100, other=0)
    sg.store(ctx, p + at, x + 1, peer)
    ctx.wait(table, 1)


def test_layouts_stay_in_gluon():
    found = carriers(exported(gluon_data, {"table": "*i64", "p": "*fp32", "peer": "i32"}))
    block, pointers, mask = (f"tensor<512x{kind}, #blocked>" for kind in ("f32", "!tt.ptr<f32>", "i1"))
    assert found[0][0] == "remote_load(ctx, ptr, rank, mask, other)"
    assert found[0][1:] == (f"!tt.ptr<i64>, {pointers}, i32, {mask}, {block}", block)
    assert found[1] == ("remote_store(ctx, value, ptr, rank)", f"!tt.ptr<i64>, {block}, {pointers}, i32", "()")
    assert found[2][0] == "wait(ctx, flag, value) {comparison = ge, group = block}"


@triton.jit
def inner(ctx, p):
    return ctx.load(p, 1) + st.load(ctx.table, p, 2)


@triton.jit
def nested(table, p, peer):
    ctx = st.DeviceContext(table)
    for _ in range(3):
        tl.store(p, inner(ctx, p))


def test_jit_functions_take_a_context_and_are_inlined():
    text = exported(nested, {"table": "*i64", "p": "*fp32", "peer": "i32"})
    assert [carrier for carrier, _, _ in carriers(text)] == ["remote_load(ctx, ptr, rank)"] * 2
    # The kernel and one carrier: alike ops share theirs.
    assert text.count('"tt.func"') == 2
    assert "test_carriers.py" in text
