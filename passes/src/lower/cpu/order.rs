//! Atomics, signals, waits, fences and barriers.

use super::check::{self, group_code, once, order_code, scope_code, spilled, sync_scope};
use super::data::{context_pointer, transfer_alone};
use super::device::linear_block;
use super::far::{self, Far};
use super::runtime::Runtime;
use crate::contract::{compare, signal_kind};
use crate::ir::Builder;
use crate::ir::address::element;
use crate::ir::ordering;
use crate::lower::access::remote_element;
use crate::lower::bulk::End;
use crate::lower::llvm_bin_op;
use crate::lower::translation::Table;
use melior::dialect::llvm;
use melior::ir::{Value, ValueLike};
use symm_abi::{check as calls, functions, trace};
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::ops::{
    AtomicCas, AtomicRmw, Barrier, Comparison, Fence, Group, Order, PutSignal, RmwKind, Scope, Signal, SignalKind,
    SymmOp, Wait,
};
use symm_dialect::shape::{byte_width, integer_width};

fn rmw<'c>(
    b: &Builder<'c>,
    kind: RmwKind,
    address: Value<'c, 'c>,
    value: Value<'c, '_>,
    (order, scope): (Order, &str),
) -> Value<'c, 'c> {
    let ty = value.r#type();
    let mut attributes = vec![
        ("bin_op", b.integer(64, llvm_bin_op(kind))),
        ("ordering", b.integer(64, ordering::number(order))),
        ("alignment", b.integer(64, byte_width(ty).cast_signed())),
    ];
    attributes.extend((!scope.is_empty()).then(|| ("syncscope", b.string(scope))));
    b.value("llvm.atomicrmw", &[address, value], ty, &attributes)
}

pub fn atomic_rmw<'c: 'a, 'a>(op: AtomicRmw<'c, 'a>, b: &Builder<'c>, runtime: &Runtime<'c, 'a>) -> Vec<Value<'c, 'c>> {
    let address = remote_element(SymmOp::AtomicRmw(op), b, op.ptr(), &op.indices());
    let order = (op.sem(), scope_of(runtime, op.scope()));
    let (near, far) = (far::near(SymmOp::AtomicRmw(op), b, runtime), Far { ctx: op.ctx(), runtime });
    let old = b.masked(op.mask(), op.value().r#type(), |b| {
        let update = |b: &Builder<'c>| rmw(b, op.kind(), address, op.value(), order);
        far.update(b, near, (op.kind(), address, op.value()), update)
    });
    runtime.call(b, &functions::WAKE, [address]);
    vec![old]
}

pub fn atomic_cas<'c: 'a, 'a>(op: AtomicCas<'c, 'a>, b: &Builder<'c>, runtime: &Runtime<'c, 'a>) -> Vec<Value<'c, 'c>> {
    let address = remote_element(SymmOp::AtomicCas(op), b, op.ptr(), &op.indices());
    let ty = op.expected().r#type();
    let failure = if op.sem().acquires() { Order::Acquire } else { Order::Relaxed };
    let (near, far) = (far::near(SymmOp::AtomicCas(op), b, runtime), Far { ctx: op.ctx(), runtime });
    let swap = |b: &Builder<'c>| {
        let pair = llvm::r#type::r#struct(b.context, &[ty, b.int(1)], false);
        let scope = scope_of(runtime, op.scope());
        let mut attributes = vec![
            ("success_ordering", b.integer(64, ordering::number(op.sem()))),
            ("failure_ordering", b.integer(64, ordering::number(failure))),
            ("alignment", b.integer(64, byte_width(ty).cast_signed())),
        ];
        attributes.extend((!scope.is_empty()).then(|| ("syncscope", b.string(scope))));
        let pair = b.value("llvm.cmpxchg", &[address, op.expected(), op.desired()], pair, &attributes);
        b.extract(pair, &[0], ty)
    };
    let values = (op.expected(), op.desired());
    let old = b.masked(op.mask(), ty, |b| far.swap(b, near, (address, values), swap));
    runtime.call(b, &functions::WAKE, [address]);
    vec![old]
}

pub fn signal<'c: 'a, 'a>(op: Signal<'c, 'a>, b: &Builder<'c>, runtime: &Runtime<'c, 'a>) -> Vec<Value<'c, 'c>> {
    let address = remote_element(SymmOp::Signal(op), b, op.flag(), &op.indices());
    if runtime.check {
        let (value, bytes) = spilled(b, op.operation(), op.value());
        let (order, scope) = (b.i32(order_code(op.sem())), b.i32(scope_code(op.scope())));
        let (kind, group) = (b.i32(signal_kind(op.kind()) as i64), b.i32(group_code(op.group())));
        let operands = [address, kind, value, bytes, order, scope, group, runtime.location(b)];
        runtime.call(b, &calls::SIGNAL, operands);
        return Vec::new();
    }
    let near = far::near(SymmOp::Signal(op), b, runtime);
    let (kind, ctx, peer, value, order) = (op.kind(), op.ctx(), op.rank(), op.value(), op.sem());
    let notice = Notice { kind, ctx, peer, near, value, order };
    send(b, runtime, address, &notice);
    Vec::new()
}

pub fn put_signal<'c: 'a, 'a>(op: PutSignal<'c, 'a>, b: &Builder<'c>, runtime: &Runtime<'c, 'a>) -> Vec<Value<'c, 'c>> {
    once(b, runtime, op.group(), |b| {
        let dst = transfer_alone(SymmOp::PutSignal(op), b, runtime).dst;
        let flag = End { pointer: op.flag(), delta: dst.delta }.at(b, &op.indices());
        if runtime.check {
            let (value, bytes) = spilled(b, op.operation(), op.value());
            let (order, scope) = (b.i32(order_code(Order::Release)), b.i32(scope_code(op.scope())));
            let (kind, group) = (b.i32(signal_kind(op.kind()) as i64), b.i32(group_code(Group::Thread)));
            let operands = [flag, kind, value, bytes, order, scope, group, runtime.location(b)];
            runtime.call(b, &calls::SIGNAL, operands);
            return;
        }
        let (kind, ctx, peer, value) = (op.kind(), op.ctx(), op.rank(), op.value());
        let near = far::near(SymmOp::PutSignal(op), b, runtime);
        send(b, runtime, flag, &Notice { kind, ctx, peer, near, value, order: Order::Release });
    });
    Vec::new()
}

/// What a signal says.
struct Notice<'c, 'a> {
    kind: SignalKind,
    ctx: Value<'c, 'a>,
    peer: Value<'c, 'a>,
    /// Whether the peer is near, if it may be far.
    near: Option<Value<'c, 'c>>,
    value: Value<'c, 'a>,
    order: Order,
}

/// Sets or adds to a flag and wakes its waiters.
fn send<'c: 'a, 'a>(b: &Builder<'c>, runtime: &Runtime<'c, 'a>, flag: Value<'c, 'c>, notice: &Notice<'c, 'a>) {
    let Notice { kind, ctx, peer, near, value, order } = *notice;
    let far = Far { ctx, runtime };
    let after = match kind {
        SignalKind::Set => {
            far.set(b, near, (flag, value), |b| store_flag(b, flag, value, order));
            b.cast(value, value.r#type())
        }
        SignalKind::Add => {
            let add = |b: &Builder<'c>| rmw(b, RmwKind::Add, flag, value, (order, ""));
            b.add(far.update(b, near, (RmwKind::Add, flag, value), add), value)
        }
    };
    if runtime.trace {
        let (ctx, peer, kind) = (context_pointer(b, ctx), b.cast(peer, b.int(32)), b.i32(signal_kind(kind) as i64));
        runtime.call(b, &functions::TRACE_SIGNAL, [ctx, peer, flag, kind, b.as_i64(after), runtime.location(b)]);
    }
    runtime.call(b, &functions::WAKE, [flag]);
}

fn store_flag<'c>(b: &Builder<'c>, flag: Value<'c, 'c>, value: Value<'c, '_>, order: Order) {
    let attributes = [
        ("ordering", b.integer(64, ordering::number(order))),
        ("alignment", b.integer(64, byte_width(value.r#type()).cast_signed())),
    ];
    b.store(value, flag, &attributes);
}

pub fn wait<'c: 'a, 'a>(op: Wait<'c, 'a>, b: &Builder<'c>, runtime: &Runtime<'c, 'a>) -> Vec<Value<'c, 'c>> {
    let flag = element(b, op.flag(), &op.indices());
    if runtime.check {
        return watched_wait(op, b, runtime, flag);
    }
    // The runtime waits forever with 0.
    let timeout = op.timeout().map(|timeout| b.binary("arith.maxsi", b.cast(timeout, b.int(64)), b.i64(1)));
    let timeout = timeout.unwrap_or_else(|| b.i64(0));
    let seen = poll(b, runtime, op.ctx(), flag, (op.comparison(), op.is_unsigned()), op.value(), timeout);
    op.satisfied().map(|_| b.value("arith.trunci", &[seen], b.int(1), &[])).into_iter().collect()
}

/// A wait that symm-check decides.
fn watched_wait<'c: 'a, 'a>(
    op: Wait<'c, 'a>,
    b: &Builder<'c>,
    runtime: &Runtime<'c, 'a>,
    flag: Value<'c, 'c>,
) -> Vec<Value<'c, 'c>> {
    let compare = compare(op.comparison());
    let compare = b.i32(if op.is_unsigned() { compare.unsigned() } else { compare } as i64);
    let (expected, bytes) = spilled(b, op.operation(), op.value());
    let may_give_up = b.i32(op.timeout().is_some().into());
    let (order, scope) = (b.i32(order_code(op.sem())), b.i32(scope_code(op.scope())));
    let group = b.i32(group_code(op.group()));
    let operands = [flag, compare, expected, bytes, may_give_up, order, scope, group, runtime.location(b)];
    let [seen] = runtime.call(b, &calls::WAIT, operands);
    op.satisfied().map(|_| b.value("arith.trunci", &[seen], b.int(1), &[])).into_iter().collect()
}

/// What an op's scope is called; elsewhere than under symm-check it is always the system's.
fn scope_of(runtime: &Runtime, scope: Scope) -> &'static str {
    if runtime.check { sync_scope(scope) } else { "" }
}

/// Waits for a flag in the runtime, which polls relaxed and fences once (O5). The comparison's number tells signed
/// from unsigned (O6).
fn poll<'c: 'a, 'a>(
    b: &Builder<'c>,
    runtime: &Runtime<'c, 'a>,
    ctx: Value<'c, 'a>,
    flag: Value<'c, 'c>,
    (comparison, unsigned): (Comparison, bool),
    expected: Value<'c, '_>,
    timeout: Value<'c, 'c>,
) -> Value<'c, 'c> {
    let comparison = compare(comparison);
    let comparison = b.i32(if unsigned { comparison.unsigned() } else { comparison } as i64);
    let width = integer_width(expected.r#type()).unwrap_or(64);
    let expected = b.cast(expected, expected.r#type());
    let operands = [context_pointer(b, ctx), flag, comparison, expected, timeout, runtime.location(b)];
    let function = if width == 32 { functions::WAIT32 } else { functions::WAIT64 };
    let [satisfied] = runtime.call(b, &function, operands);
    satisfied
}

pub fn fence<'c: 'a, 'a>(op: Fence<'c, 'a>, b: &Builder<'c>, runtime: &Runtime<'c, 'a>) -> Vec<Value<'c, 'c>> {
    if runtime.check {
        let (order, scope) = (b.i32(order_code(op.sem())), b.i32(scope_code(op.scope())));
        runtime.call(b, &calls::FENCE, [order, scope, b.i32(group_code(op.group())), runtime.location(b)]);
        return Vec::new();
    }
    b.op("llvm.fence", &[], &[], &[("ordering", b.integer(64, ordering::number(op.sem())))]);
    Vec::new()
}

/// Block b of every rank tells block b of every other rank the number of this barrier, then waits until all have
/// told it theirs. The words lie at the start of each heap (runtime: the signal pad): for each block an epoch, then
/// a flag for each rank. Epochs only grow, so that no flag is ever reset. Under symm-check they are elsewhere.
pub fn barrier<'c: 'a, 'a>(
    op: Barrier<'c, 'a>,
    b: &Builder<'c>,
    runtime: &Runtime<'c, 'a>,
) -> Result<Vec<Value<'c, 'c>>, Reported> {
    let operation = op.operation();
    let Some(block) = linear_block(b, operation) else {
        return Err(error(operation, "S1: is for kernels; a host function uses symm.barrier_all"));
    };
    let table = Table::new(operation, op.ctx());
    check::once(b, runtime, op.group(), |b| meet(op, b, runtime, (table, block)));
    Ok(Vec::new())
}

/// The part of a barrier that one thread of its group does.
fn meet<'c: 'a, 'a>(
    op: Barrier<'c, 'a>,
    b: &Builder<'c>,
    runtime: &Runtime<'c, 'a>,
    (table, block): (Table<'c, 'a>, Value<'c, 'c>),
) {
    let me = table.rank(b);
    let ranks = table.num_ranks(b);
    let words = b.add(b.as_i64(ranks), b.i64(1));
    let pad = b.mul(b.mul(block, words), b.i64(8));
    let pad = if runtime.check { b.add(pad, b.i64(calls::BARRIERS.cast_signed())) } else { pad };
    let slot = |b: &Builder<'c>, base: Value<'c, 'c>, rank: Value<'c, 'c>| {
        let word = b.add(b.mul(b.as_i64(rank), b.i64(8)), b.i64(8));
        b.byte_offset(b.byte_offset(base, pad), word)
    };
    let mine = table.base(b, me, b.ptr());
    let counter = b.byte_offset(mine, pad);
    let epoch = b.add(b.load(counter, b.int(64), &[]), b.i64(1));
    b.store(epoch, counter, &[]);
    let zero = b.i32(0);
    b.for_each(zero, ranks, |b, rank| {
        let theirs = slot(b, table.base(b, rank, b.ptr()), me);
        let near = runtime.engine.then(|| table.is_near(b, rank));
        let far = Far { ctx: op.ctx(), runtime };
        far.set(b, near, (theirs, epoch), |b| store_flag(b, theirs, epoch, Order::Release));
        if runtime.trace {
            let (ctx, kind) = (context_pointer(b, op.ctx()), b.i32(trace::SignalKind::Set as i64));
            runtime.call(b, &functions::TRACE_SIGNAL, [ctx, rank, theirs, kind, epoch, runtime.location(b)]);
        }
        runtime.call(b, &functions::WAKE, [theirs]);
    });
    b.for_each(zero, ranks, |b, rank| {
        let flag = slot(b, mine, rank);
        poll(b, runtime, op.ctx(), flag, (Comparison::Ge, false), epoch, b.i64(0));
    });
}
