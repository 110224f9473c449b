"""Signals, waits, fences and barriers: order, scope, who takes part, and that nothing moves across a wait."""

import inspect
import re
import warnings

import pytest
import symm
import symm.gluon as sg
import symm.triton as st
import triton
import triton.language as tl
from compiling import compile_for, machine_text
from matrix import ways
from triton import knobs
from triton.experimental import gluon


def order(table, p, q, flag, peer, CONTEXT: tl.constexpr, OP: tl.constexpr, KIND: tl.constexpr, GROUP: tl.constexpr):
    ctx = CONTEXT(table)
    if OP == "signal":
        ctx.signal(flag, 1, peer, op=KIND, group=GROUP)
    elif OP == "wait":
        ctx.wait(flag, peer, compare=KIND, group=GROUP)
    elif OP == "put_signal":
        ctx.put_signal(p, q, flag, 1, peer, op=KIND, group=GROUP)
    elif OP == "fence":
        ctx.fence(sem=KIND, group=GROUP)
    else:
        ctx.barrier(group=GROUP)


KERNELS = {"triton": (triton.jit(order), st.DeviceContext), "gluon": (gluon.jit(order), sg.DeviceContext)}
KINDS = {
    "signal": ("set", "add"),
    "wait": ("eq", "ne", "lt", "le", "gt", "ge"),
    "put_signal": ("set", "add"),
    "fence": (None, "acquire", "release"),
    "barrier": (None,),
}
ELEMENTS = ("i32", "u32", "i64", "u64")
GROUPS = ("thread", "warp", "block")


def cells():
    for target in ("sm_90", "gfx942"):
        for number, (op, kind) in enumerate((op, kind) for op, kinds in KINDS.items() for kind in kinds):
            for way, marks in ways(number, tuple(KERNELS), ELEMENTS, GROUPS):
                yield pytest.param(target, op, kind, *way, marks=marks)


def order_text(target, op, kind, front_end="triton", element="i64", group="block"):
    signature = {"table": "*i64", "p": "*fp32", "q": "*fp32", "flag": f"*{element}", "peer": "i32"}
    kernel, context = KERNELS[front_end]
    return machine_text(compile_for(target, kernel, signature, CONTEXT=context, OP=op, KIND=kind, GROUP=group))


@pytest.mark.in_turn
@pytest.mark.parametrize(("target", "op", "kind", "front_end", "element", "group"), [*cells()])
def test_order(target, op, kind, front_end, element, group):
    text = order_text(target, op, kind, front_end, element, group)
    releases = op in ("signal", "put_signal", "barrier") or (op == "fence" and kind != "acquire")
    acquires = op in ("wait", "barrier") or (op == "fence" and kind != "release")
    if target == "gfx942":
        assert ("buffer_wbl2 sc0 sc1" in text) == releases, text
        assert ("buffer_inv sc0 sc1" in text) == acquires, text
        return
    scopes = re.findall(r"\b(?:atom|red|ld|st|fence|membar)\.\S*?(?<!:)\b(cta|cluster|gpu|sys)\b", text)
    # A barrier counts its epochs in a word of its own program.
    assert set(scopes) - ({"gpu"} if op == "barrier" else set()) == {"sys"}, text
    if op in ("signal", "put_signal"):
        [update] = re.findall(r"\b(?:atom|red)\.\S*", text)
        assert ("exch" if kind == "set" else "add") in update and "release" in update, text
        assert text.index("bar.sync") < text.index(update), text
    if op == "put_signal":
        assert text.index("st.global.b32") < text.index("bar.sync"), text
    if op == "wait":
        polls = re.findall(r"\bld\.(relaxed|acquire)\.sys\S*", text)
        # The first polls acquire; then they are relaxed (O5), and one load acquires in the end.
        assert "relaxed" in polls and polls.count("acquire") == 2, text
        assert "nanosleep" in text and text.rindex("bar.sync") > text.rindex("ld.acquire.sys"), text
        compared = set(re.findall(rf"\bsetp\.(?:{kind}|eq|ne|lt|le|gt|ge)\.([su]){element[1:]}", text))
        if kind not in ("eq", "ne"):
            assert ("u" if element.startswith("u") else "s") in compared, text
    if op == "fence":
        assert "fence.acq_rel.sys" in text and "bar.sync" in text, text


@triton.jit
def narrow(table, p, flag, peer):
    st.signal(table, flag, 1, peer, scope="gpu")
    tl.store(p, st.atomic_add(table, flag, 1, peer, scope="cta"))


def test_narrow_scopes_are_widened_with_a_warning():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        text = machine_text(compile_for("sm_90", narrow, dict(table="*i64", p="*i64", flag="*i64", peer="i32")))
    assert not re.search(r"\batom\.\S*\.(gpu|cta)\b", text)
    found = [warning for warning in caught if warning.category is symm.SymmWarning]
    lines, first = inspect.getsourcelines(narrow.fn)
    assert [(each.filename, each.lineno) for each in found] == [(__file__, first + 2), (__file__, first + 3)], found
    assert "scope" in str(found[0].message)


@triton.jit
def product_of_arrivals(table, a, b, c, flags, K, peer, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    ctx = st.DeviceContext(table)
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    at_a, at_b = a + m[:, None] * K + k[None, :], b + k[:, None] * BN + n[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for step in tl.range(0, K, BK, num_stages=3):
        ctx.wait(flags + step // BK, 1)
        total = tl.dot(tl.load(at_a), tl.load(at_b), total)
        at_a += BK
        at_b += BK * BN
    tl.store(c + m[:, None] * BN + n[None, :], total.to(tl.float16))


@triton.jit(noinline=True)
def arrival(table, flag):
    st.wait(table, flag, 1)


@triton.jit
def product_of_calls(table, a, b, c, flags, K, peer, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    at_a, at_b = a + m[:, None] * K + k[None, :], b + k[:, None] * BN + n[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for step in tl.range(0, K, BK, num_stages=3):
        arrival(table, flags + step // BK)
        total = tl.dot(tl.load(at_a), tl.load(at_b), total)
        at_a += BK
        at_b += BK * BN
    tl.store(c + m[:, None] * BN + n[None, :], total.to(tl.float16))


# Triton's pipeliner moves loads above calls, whatever the function does.
@pytest.mark.parametrize("kernel", [product_of_arrivals, product_of_calls], ids=["inline", "noinline"])
def test_loads_stay_after_a_wait(kernel):
    signature = {"table": "*i64", **dict.fromkeys(("a", "b", "c"), "*fp16"), "flags": "*i32", "K": "i32", "peer": "i32"}
    aligned = ["table", "a", "b", "c", "K"]
    text = machine_text(compile_for("sm_90", kernel, signature, aligned, BM=128, BN=128, BK=64))
    accesses = r"ld\.global\.v4|cp\.async\.c|ld\.(acquire|relaxed)\.sys"
    code = [line for line in text.splitlines() if re.search(accesses, line)]
    assert "sys" in code[0], code
    assert sum("ld.acquire.sys" in line for line in code) >= 1
    # All 16 + 16 accesses of one step, and none that another step's wait would not have come before.
    assert sum("v4" in line or "cp.async" in line for line in code) == 16, code


@triton.jit
def product_after_acquires(table, a, b, c, flags, K, OP: tl.constexpr, BLOCK: tl.constexpr):
    ctx = st.DeviceContext(table)
    m, n = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for step in range(0, K, BLOCK):
        if OP == "atomic_add":
            ctx.atomic_add(flags, 1, 0, sem="acquire")
        elif OP == "fence":
            ctx.fence(sem="acquire")
        elif OP == "get":
            ctx.get(c + m * BLOCK + n, a + m * K + n + step, 0)
        total = tl.dot(tl.load(a + m * K + n + step), tl.load(b + (m + step) * BLOCK + n), total)
    tl.store(c + m * BLOCK + n, total.to(tl.float16))


# A loop with a product in it is pipelined by itself, but for one with a barrier.
@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
@pytest.mark.parametrize(("op", "is_pipelined"), [("", True), ("atomic_add", False), ("fence", False), ("get", False)])
def test_loads_of_a_product_stay_after_an_acquire(op, is_pipelined, target):
    signature = {"table": "*i64", **dict.fromkeys(("a", "b", "c"), "*fp16"), "flags": "*i32", "K": "i32"}
    aligned = ["table", "a", "b", "c", "K"]
    compiled = compile_for(target, product_after_acquires, signature, aligned, OP=op, BLOCK=64)
    before = compiled.asm["ttgir"].partition("scf.for")[0]
    blocks = re.findall(r"async_copy_global_to_local|(?:tt\.|buffer_)load .*tensor<64x64x", before)
    assert bool(blocks) == is_pipelined, before


@triton.jit
def ignored(table, flag):
    st.wait(table, flag, 1)


def test_a_wait_is_never_dead():
    text = machine_text(compile_for("sm_90", ignored, {"table": "*i64", "flag": "*i32"}))
    assert "ld.acquire.sys" in text


@triton.jit
def meeting(table):
    st.barrier(table)


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_a_barrier_ends_a_program_that_has_no_flags(target):
    text = machine_text(compile_for(target, meeting, {"table": "*i64"}))
    # The words of barriers, before the context table; the last ones are those of the order of a stream.
    most = ((2 << 20) - 4096) // 8
    # Compared as `< most + 1`.
    assert str(most + 1) in text or f"{most + 1:x}" in text, text
    if target == "gfx942":
        assert "s_trap 2" in text, text
        return
    message = bytes(int(byte) for byte in re.search(r"assertMessage_0\[\d+\] = \{([^}]*)\}", text)[1].split(","))
    assert message.startswith(b"symm barrier: the grid has more programs than there are flags for"), message
    # It is found out before anything is written.
    branch = re.search(rf"setp\.\S+\s+(%p\d+), %rd\d+, (?:{most}|{most + 1});\n(?:.*\n)*?.*@!?\1 bra", text)
    assert branch and branch.end() < text.index("atom.global"), text
    assert "__assertfail" in text


@triton.jit
def polling(table, flag, peer):
    while st.load(table, flag, peer) != 1:
        pass


@triton.jit
def polling_again(table, flag, peer):
    ctx = st.DeviceContext(table)
    value = ctx.load(flag, peer)
    while value != 1:
        value = ctx.load(flag, peer)  # again
    ctx.store(flag, 2, peer)


@triton.jit
def polling_own(table, flag, peer):
    st.store(table, flag, 1, peer)
    while tl.load(flag) != 1:
        pass


@triton.jit
def searching(table, flag, peer):
    at = 0
    while st.load(table, flag + at, peer) != 0:
        at += 1
    while at < tl.load(flag):
        at += 1
    while st.load(table, flag, peer, volatile=True) < at:
        pass
    while st.load(table, flag, peer) < at:
        st.atomic_add(table, flag, 1, peer)
    tl.store(flag, at)


def symm_warnings(compile_it):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compile_it()
    return [(str(each.message), each.lineno) for each in caught if each.category is symm.SymmWarning]


FLAG = {"table": "*i64", "flag": "*i32", "peer": "i32"}


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
@pytest.mark.parametrize(
    ("kernel", "word"), [(polling, "while"), (polling_again, "# again"), (polling_own, "while"), (searching, None)]
)
def test_a_poll_with_plain_loads_is_warned_of(kernel, word, target):
    found = symm_warnings(lambda: compile_for(target, kernel, FLAG))
    lines, first = inspect.getsourcelines(kernel.fn)
    wanted = [first + number for number, line in enumerate(lines) if word and word in line]
    assert [line for _, line in found] == wanted, found
    assert all("polls memory in a loop with a plain load" in message and "use wait" in message for message, _ in found)


def test_warnings_are_given_again_where_a_kernel_comes_from_the_cache():
    always = knobs.compilation.always_compile
    try:
        knobs.compilation.always_compile = False
        found = [symm_warnings(lambda: compile_for("sm_90", polling, FLAG, options={"num_warps": 2})) for _ in range(3)]
    finally:
        knobs.compilation.always_compile = always
    assert len(found[0]) == 1 and found[1:] == [found[0]] * 2, found


TENSORS = {"table": "*i64", "flag": "*i32", "a": "*fp16", "b": "*fp16", "c": "*fp16", "tiles": "i32"}


@triton.jit
def specialized(table, flag, a, b, c, tiles, OP: tl.constexpr):
    ctx = st.DeviceContext(table)
    left = tl.make_tensor_descriptor(a, [128, 4096], [4096, 1], [128, 64])
    right = tl.make_tensor_descriptor(b, [128, 4096], [4096, 1], [128, 64])
    results = tl.zeros((128, 128), tl.float32)
    for tile in tl.range(0, tiles, warp_specialize=True):
        if OP == "signal":
            ctx.signal(flag, 1, 1, op="add")
        elif OP == "atomic_add":
            ctx.atomic_add(flag, 1, 1)
        elif OP == "fence":
            ctx.fence(sem="acquire")
        elif OP == "store":
            ctx.store(c + tl.arange(0, 128), tl.arange(0, 128).to(tl.float16), 1)
        results = tl.dot(left.load([0, tile * 64]), right.load([0, tile * 64]).T, results)
    if OP == "fence after":
        ctx.fence()
    at = tl.arange(0, 128)
    tl.store(c + at[:, None] * 128 + at[None, :], results.to(tl.float16))


@pytest.mark.parametrize("target", ["sm_90", "sm_100"])
@pytest.mark.parametrize("op", ["signal", "atomic_add", "fence"])
def test_an_op_that_triton_gives_to_several_partitions_or_none_is_refused(op, target):
    # Triton 3.9.0 for sm_100 adds three times, twice before the data is stored; for sm_90 it drops fence and atomic.
    with pytest.raises(symm.CompileError, match="S1: in a loop with warp_specialize=True") as caught:
        compile_for(target, specialized, TENSORS, aligned=("a", "b", "c"), OP=op)
    lines, first = inspect.getsourcelines(specialized.fn)
    at = next(number for number, line in enumerate(lines) if f"ctx.{op}(" in line)
    assert caught.value.line == first + at


def test_for_sm_90_an_op_beside_a_specialized_loop_is_refused():
    # Triton takes all of the kernel apart: it moves the fence before the loop.
    with pytest.raises(symm.CompileError, match="S1: in a loop with warp_specialize=True"):
        compile_for("sm_90", specialized, TENSORS, aligned=("a", "b", "c"), OP="fence after")
    compile_for("sm_100", specialized, TENSORS, aligned=("a", "b", "c"), OP="fence after")


def test_stores_in_a_specialized_loop_are_triton_s_own():
    text = machine_text(compile_for("sm_100", specialized, TENSORS, aligned=("a", "b", "c"), OP="store"))
    assert "st.global" in text
