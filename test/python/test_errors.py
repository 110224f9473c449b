"""What a wrong op in a kernel says: one CompileError with the Python line."""

import inspect

import pytest
import symm
import symm.triton as st
import triton
import triton.language as tl
from compiling import VERSION, compile_for
from test_ranks import outputs, start
from triton.experimental import gluon

SIGNATURE = {
    "table": "*i64", "p": "*fp32", "c": "*kfp32", "h": "*fp16", "b": "*i8", "flag": "*i64", "n": "i32", "x": "fp32",
}  # fmt: skip


@triton.jit
def wrong(table, p, c, h, b, flag, n, x, CASE: tl.constexpr):
    at = tl.arange(0, 64)
    if CASE == 0:
        st.load(p, p, 1)  # ctx must be the World, which is an argument of the kernel, a DeviceContext of it, or its context table (int64), not pointer<fp32>
    elif CASE == 1:
        st.load(table, n, 1)  # ptr must be a pointer or a block of pointers, not int32
    elif CASE == 2:
        st.load(table, p, 1.0)  # rank must be an integer, not 1.0
    elif CASE == 3:
        st.get(table, p, p, at)  # rank must be one integer, not a block
    elif CASE == 4:
        st.load(table, p, -1)  # rank must be at least 0 and below the number of ranks, not -1
    elif CASE == 5:
        st.load(table, p + at, 1, mask=at)  # mask must be boolean, not a block of int32 of shape [64]: write True or False, or a comparison such as offsets < n
    elif CASE == 6:
        st.load(table, p, 1, other=0)  # other is what masked elements become: it needs a mask
    elif CASE == 7:
        st.load(table, p, 1, cache_modifier=".zz")  # cache_modifier must be one of '.ca', '.cg', '.cv', not '.zz'
    elif CASE == 8:
        st.store(table, p, tl.load(p + at), 1)  # value is a block, but the pointer is not
    elif CASE == 9:
        st.put(table, p, h, 1)  # src points to fp32 and dst to fp16: a copy does not cast, use load and store
    elif CASE == 10:
        st.atomic_add(table, b, 1, 1)  # there is no atomic_add of int8
    elif CASE == 11:
        st.atomic_and(table, p, 1, 1)  # atomic_and is for integers, but ptr points to fp32
    elif CASE == 12:
        st.atomic_add(table, p, 1, 1, sem="seq_cst")  # sem must be one of 'relaxed', 'acquire', 'release', 'acq_rel'
    elif CASE == 13:
        st.signal(table, p, 1, 1)  # a flag is an int32, uint32, int64 or uint64, but this one is fp32
    elif CASE == 14:
        st.signal(table, flag + at, 1, 1)  # flag must be one pointer, not a block of them
    elif CASE == 15:
        st.wait(table, flag, 1, "==")  # compare must be one of 'eq', 'ne', 'lt', 'le', 'gt', 'ge', not '=='
    elif CASE == 16:
        st.wait(table, flag, 1, sem="release")  # sem must be one of 'relaxed', 'acquire', not 'release'
    elif CASE == 17:
        st.barrier(table, group="grid")  # group must be one of 'thread', 'warp', 'block', not 'grid'
    elif CASE == 18:
        st.load(table, p, 1, volatile=2)  # volatile must be True or False, not 2
    elif CASE == 19:
        st.DeviceContext(n).barrier()  # symm DeviceContext: ctx must be the World, which is an argument of the kernel, a Dev
    elif CASE == 20:
        st.atomic_cas(table, h, 1, 2, 1)  # there is no atomic_cas of fp16
    elif CASE == 21:
        st.load(table)  # missing 2 required positional arguments: 'ptr' and 'rank'
    elif CASE == 22:
        st.store(table, p + at, tl.load(p + tl.arange(0, 32)), 1)  # value has shape [32], but the pointers have [64]
    elif CASE == 23:
        st.store(table, c, 1, 1)  # ptr is a pointer to constants, and cannot be written to
    elif CASE == 24:
        st.store(table, p, "x", 1)  # value must be a number or a block, not 'x'
    elif CASE == 25:
        st.store(table, p + tl.arange(0, 1), tl.load(p + at), 1)  # value has shape [64], but the pointers have [1]
    elif CASE == 26:
        st.load(table, at, 1)  # ptr must be a pointer or a block of pointers, not
    elif CASE == 27:
        st.wait(table, flag.to(tl.pointer_type(tl.int32)), 1 << 40)  # value 1099511627776 does not fit in a flag of
    elif CASE == 28:
        st.signal(table, flag.to(tl.pointer_type(tl.uint32)), -1, 1)  # value -1 does not fit in a flag of uint32
    elif CASE == 29:
        st.signal(table, flag, 1 << 63, 1)  # value 9223372036854775808 does not fit in a flag of int64
    elif CASE == 30:
        st.signal(table, flag, 1.9, 1)  # value must be an integer, not 1.9
    elif CASE == 31:
        st.put_signal(table, p, p, flag, n * 0.5, 1)  # value must be an integer, not fp32
    elif CASE == 32:
        st.wait(table, flag.to(tl.pointer_type(tl.int32)), n.to(tl.int64))  # value is int64, but the flag is int32
    elif CASE == 33:
        st.put(table, p + at, p + tl.arange(0, 32), 1)  # dst has shape [32], but src has [64]
    elif CASE == 34:
        st.wait_any(table, flag + at, 1, mask=tl.arange(0, 32) > 1)  # mask has shape [32], but the pointers have [64]
    elif CASE == 35:
        st.wait_all(table, flag + at, tl.arange(0, 16))  # value has shape [16], but the pointers have [64]
    elif CASE == 36:
        st.signal(table, flag + at, 1, tl.arange(0, 32))  # rank has shape [32], but the pointers have [64]
    elif CASE == 37:
        st.signal(table, flag + tl.arange(0, 16), 1, at % 32)  # rank has shape [64], but flag has [16]
    elif CASE == 38:
        st.wait_packet(table, flag, 1, 64, mask=tl.arange(0, 32) > 1)  # mask has shape [32], but the value has [64]
    elif CASE == 39:
        st.put_packet(table, flag + 2 * at, tl.load(flag + at), 1, 1, tl.arange(0, 16) > 1)  # mask has shape [16], but
    elif CASE == 40:
        st.load(table, p + at[:, None], at[None, :])  # rank has shape [1, 64], but the pointers have [64, 1]
    elif CASE == 41:
        st.wait_any(table, flag + at, 1, mask=False)  # mask is False everywhere: no flag could end this wait
    elif CASE == 42:
        st.store_signal(table, p, 1.0, flag, 1 << 64, 1)  # symm store_signal: flag_value 18446744073709551616 does not fit
    elif CASE == 43:
        st.store_signal(table, p, 1.0, flag, 1.5, 1)  # symm store_signal: flag_value must be an integer, not 1.5
    elif CASE == 44:
        st.atomic_add(table, p, 1)  # symm atomic_add: atomic_add() missing 1 required positional argument: 'rank'
    elif CASE == 45:
        st.num_ranks(table, 1)  # symm num_ranks: too many positional arguments: num_ranks takes ctx
    elif CASE == 46:
        st.atomic_min(table, p, 1, 0, maks=True)  # argument 'maks': atomic_min takes ctx, ptr, value, rank, mask, sem, scope
    elif CASE == 47:
        st.load(table, None, 1)  # symm load: ptr must be a pointer or a block of pointers, not None
    elif CASE == 48:
        st.load(table, p, True)  # symm load: rank must be an integer, not True
    elif CASE == 49:
        st.signal(table, flag, 1, n > 0)  # symm signal: rank must be an integer, not int1
    elif CASE == 50:
        st.is_near(table, False)  # symm is_near: rank must be an integer, not False
    elif CASE == 51:
        st.is_near(table, 128)  # symm is_near: rank must be at least 0 and below the number of ranks, not 128
    elif CASE == 52:
        st.store(table, b, 256, 1)  # symm store: value 256 does not fit in int8
    elif CASE == 53:
        st.atomic_cas(table, flag.to(tl.pointer_type(tl.int32)), 1 << 32, 1, 1)  # expected 4294967296 does not fit in int32
    elif CASE == 54:
        st.load(table, b + at, 1, at < n, other=-129)  # symm load: other -129 does not fit in int8
    elif CASE == 55:
        st.atomic_xchg(table, flag, 1 << 64, 1)  # symm atomic_xchg: value 18446744073709551616 does not fit in int64
    elif CASE == 56:
        st.store(p + at, 1.0, 0)  # missing 1 required positional argument: 'rank'. Is ctx, the first argument, forgotten?
    elif CASE == 57:
        st.put(p, p, 1)  # symm put: put() missing 1 required positional argument: 'rank'. Is ctx, the first argument, f
    elif CASE == 58:
        st.rank()  # 'ctx'. Is ctx, the first argument, forgotten? Write rank(ctx); ctx is the World or a DeviceContext
    elif CASE == 59:
        st.load(p + at, 1, at < n)  # forgotten? Write load(ctx, ptr, rank, …); ctx is the World or a DeviceContext
    elif CASE == 60:
        st.barrier()  # forgotten? Write barrier(ctx); ctx is the World or a DeviceContext
    elif CASE == 61:
        st.load(p, rank=1)  # forgotten? Write load(ctx, ptr, rank, …); ctx is the World or a DeviceContext
    elif CASE == 62:
        st.signal(table, b.to(tl.pointer_type(tl.int1), bitcast=True), 1, 1)  # a flag is an int32, uint32, int64 or uint64, but this one is bool
    elif CASE == 63:
        st.put(table, p + at, p, 1)  # symm put: dst is one pointer, but src is a block: write dst + offsets
    elif CASE == 64:
        st.get(table, p + at[:, None], p + tl.arange(0, 1)[None, :], 1)  # dst has shape [1, 1], but the copy has [64, 1]
    elif CASE == 65:
        st.put_packet(table, flag, n, 1 << 40, 1)  # symm put_packet: epoch 1099511627776 does not fit in int32
    elif CASE == 66:
        st.wait_packet(table, flag, 1 << 32)  # symm wait_packet: epoch 4294967296 does not fit in int32
    elif CASE == 67:
        st.try_packet(table, flag, -(1 << 70))  # epoch -1180591620717411303424 does not fit in int32
    elif CASE == 68:
        st.load(table, p, 1, volatile=n > 0)  # symm load: volatile must be True or False, not int1
    elif CASE == 69:
        st.load(table, p, 1, cache_modifier=n)  # cache_modifier must be one of '.ca', '.cg', '.cv', not int32
    elif CASE == 70:
        st.load(table, p, 1, eviction_policy=n)  # eviction_policy must be one of 'evict_first', 'evict_last', not int32
    elif CASE == 71:
        st.fence(table, flag)  # symm fence: sem must be one of 'acquire', 'release', 'acq_rel', not pointer<int64>
    elif CASE == 72:
        st.atomic_add(table, p, 1, 1, scope=n)  # symm atomic_add: scope must be one of 'cta', 'gpu', 'sys', not int32
    elif CASE == 73:
        st.signal(table, flag, 1, 1, op=n)  # symm signal: op must be one of 'set', 'add', not int32
    elif CASE == 74:
        st.wait(table, flag, 1, compare=n)  # compare must be one of 'eq', 'ne', 'lt', 'le', 'gt', 'ge', not int32
    elif CASE == 75:
        st.barrier(table, group=at)  # group must be one of 'thread', 'warp', 'block', not a block of int32 of shape [64]
    elif CASE == 76:
        st.load(table, p, 1, mask=1)  # mask must be boolean, not 1: write True or False, or a comparison such as offset
    elif CASE == 77:
        st.put_packet(table, flag, n, 1, 1, mask=n)  # symm put_packet: mask must be boolean, not int32: write True or
    elif CASE == 78:
        st.store(table, p + at, p + at, 1)  # value must be a number or a block of numbers, not a block of pointer<fp32>
    elif CASE == 79:
        st.load(table, p + at, 1, at < n, other=p)  # other must be a number or a block of numbers, not pointer<fp32>
    elif CASE == 80:
        st.wait_packet(table, flag, 1, n)  # symm wait_packet: shape must consist of constant powers of two, not int32
    elif CASE == 81:
        st.try_packet(table, flag, 1, 8, flag)  # dtype must be an element type such as tl.bfloat16, not pointer<int64>
    elif CASE == 82:
        st.wait_packet(table, flag, 1, 8, layout=3)  # symm wait_packet: layout is for Gluon kernels: leave it out
    elif CASE == 83:
        st.put_floats(table, flag, at * 1.0, 1, dtype="x")  # dtype must be an element type such as tl.bfloat16, not 'x'
    elif CASE == 84:
        st.wait_floats(table, flag, 8, words=1)  # symm wait_floats: words must be True or False, not 1
    elif CASE == 85:
        st.barrier(table, timeout=n)  # symm barrier: timeout must be a constant number of seconds above 0, not int32
    elif CASE == 86:
        for i in range(1, 3):
            st.wait(table, flag, 1, timeout=i)  # timeout must be a constant number of seconds above 0, not int32
    elif CASE == 87:
        for i in tl.range(1, 3):
            st.try_packet(table, flag, 1, (2, i + 1))  # powers of two, not the tuple (
    elif CASE == 88:
        for i in tl.static_range(1, 2):
            st.put_packet(table, flag, i, 1, 1)  # value must be a scalar or a block of the kernel, not 1: its type is
    elif CASE == 89:
        st.DeviceContext(symm.World)  # (int64), not the class World: launch the kernel with what symm.init() returns
    elif CASE == 90:
        st.load(table, st.DeviceContext(table), 1)  # ptr must be a pointer or a block of pointers, not a DeviceContext
    elif CASE == 91:
        st.load(table, (p, flag), 1)  # a block of pointers, not the tuple (pointer<fp32>, pointer<int64>)
    elif CASE == 92:
        st.load(table, p, st.rank)  # symm load: rank must be an integer, not the function rank, which is not called
    elif CASE == 93:
        st.put_floats(table, flag, at * 1.0, 1, dtype=tl.float32)  # value must be a block of int64, words of these
    elif CASE == 94:
        st.wait(table, flag, 1, timeout=x)  # timeout must be a constant number of seconds above 0, not fp32


SOURCE = inspect.getsource(wrong.fn)
FIRST = inspect.getsourcelines(wrong.fn)[1]
CASES = [line for line in SOURCE.splitlines() if "  # " in line]


@pytest.mark.parametrize("case", range(len(CASES)), ids=[line.split("  # ")[1][:40] for line in CASES])
def test_message_and_line(case):
    with pytest.raises(symm.CompileError) as caught:
        compile_for("sm_90", wrong, SIGNATURE, CASE=case)
    error = caught.value
    code, message = CASES[case].strip().split("  # ")
    # The line is shown below the message, with the comment.
    said, shown = error.message.rsplit("\n", 1)
    assert message in said
    assert ("Is ctx, the first argument, forgotten?" in said) == ("forgotten?" in message or case in (0, 57)), said
    assert code in shown
    assert error.file == __file__
    assert error.line == FIRST + SOURCE.splitlines().index(CASES[case])
    assert str(error).startswith(f"{__file__}:{error.line}: symm ")


@pytest.mark.in_turn
def test_an_interpreted_kernel_says_the_same():
    [(output, status)] = outputs(start("errors_alike.py", 1))
    assert status == 0, output


@triton.jit
def fitting(table, signed, unsigned, n):
    st.wait(table, signed, -(1 << 31))
    st.wait(table, signed, (1 << 31) - 1)
    st.signal(table, unsigned, (1 << 64) - 1, 1)
    st.signal(table, unsigned, n, 1)
    st.signal(table, signed, n, 1, op="add")
    # The bits of a number without a sign, and what wraps around.
    st.atomic_xchg(table, signed, (1 << 32) - 1, 1)
    st.atomic_add(table, unsigned, -1, 127)


def test_flags_take_what_fits():
    compile_for("sm_90", fitting, {"table": "*i64", "signed": "*i32", "unsigned": "*u64", "n": "i32"})


@triton.jit
def masked_by_true(table, p):
    at = tl.arange(0, 64)
    tl.store(p + at, st.load(table, p + at, 1, mask=True, other=0))
    tl.store(p, st.load(table, p, 1, True, 0.5))


def test_a_mask_that_is_true_is_a_mask_for_other():
    compile_for("sm_90", masked_by_true, {"table": "*i64", "p": "*fp32"})


@triton.jit
def block_pointer(table, p):
    st.load(table, tl.make_block_ptr(p, (64,), (1,), (0,), (64,), (0,)), 1)


@pytest.mark.skipif(VERSION >= (3, 7), reason="newer versions have no block pointers")
def test_block_pointers_are_refused():
    with pytest.raises(symm.CompileError, match="block pointers are not supported"):
        compile_for("sm_90", block_pointer, {"table": "*i64", "p": "*fp32"})


@triton.jit
def callee(table, p):
    return st.load(table, p, 1.5)


@triton.jit
def caller(table, p):
    tl.store(p, callee(table, p))


@gluon.jit
def gluon_caller(table, p):
    st.load(table, p, None)


@pytest.mark.parametrize(("kernel", "inside"), [(caller, callee), (gluon_caller, gluon_caller)])
def test_line_is_the_op_s_own(kernel, inside):
    with pytest.raises(symm.CompileError, match="rank must be an integer, not (1.5|None)") as caught:
        compile_for("sm_90", kernel, {"table": "*i64", "p": "*fp32"})
    lines, first = inspect.getsourcelines(inside.fn)
    [at] = [number for number, line in enumerate(lines) if "st.load" in line]
    assert caught.value.line == first + at


def test_ops_are_for_kernels():
    with pytest.raises(symm.SymmError, match="symm load is an op for kernels"):
        st.load(None, None, 0)


def test_an_error_of_a_kernel_is_readable_in_tritons_interpreter():
    # It shows the exception's repr.
    assert repr(symm.CompileError("symm wait: two\nlines", "mine.py", 16)) == "CompileError: mine.py:16: symm wait: two\nlines"
    assert repr(symm.RankRangeError("no such rank")) == "RankRangeError: no such rank"
