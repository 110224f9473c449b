//! Atomics, signals, fences and barriers, in terms of a [`Target`]'s pieces.

use super::far::{self, Far};
use super::threads::{group_barrier, linear_block, on_leader, thread};
use super::wait::poll;
use super::{Target, bulk};
use crate::ir::Builder;
use crate::ir::address::{GLOBAL, generic, in_space};
use crate::ir::ordering;
use crate::lower::access::remote_element;
use crate::lower::bulk::End;
use crate::lower::group_barriers::GroupBarriers;
use crate::lower::translation::Table;
use melior::dialect::arith::CmpiPredicate;
use melior::dialect::llvm;
use melior::ir::{Attribute, Type, Value, ValueLike};
use symm_dialect::ops::{
    AtomicCas, AtomicRmw, Barrier, Fence, Group, Order, PutSignal, RmwKind, Scope, Signal, SignalKind, SymmOp,
};
use symm_dialect::shape::byte_width;

/// The attributes of an atomic LLVM memory operation on a value of type `ty`.
pub fn atomic<'c>(
    b: &Builder<'c>,
    target: &dyn Target,
    ordering_name: &'static str,
    (order, scope): (Order, Scope),
    ty: Type<'c>,
) -> Vec<(&'static str, Attribute<'c>)> {
    let mut attributes = vec![
        (ordering_name, b.integer(64, ordering::number(order))),
        ("alignment", b.integer(64, byte_width(ty).cast_signed())),
    ];
    let scope = target.sync_scope(scope);
    if !scope.is_empty() {
        attributes.push(("syncscope", b.string(scope)));
    }
    attributes
}

/// A pointer to symmetric memory as one to global memory, which it always is (T1).
pub fn global<'c>(b: &Builder<'c>, pointer: Value<'c, 'c>) -> Value<'c, 'c> {
    in_space(b, pointer, llvm::r#type::pointer(b.context, GLOBAL))
}

pub fn atomic_rmw<'c: 'a, 'a>(op: AtomicRmw<'c, 'a>, b: &Builder<'c>, target: &dyn Target) -> Value<'c, 'c> {
    let address = global(b, remote_element(SymmOp::AtomicRmw(op), b, op.ptr(), &op.indices()));
    let ty = op.value().r#type();
    let value = b.cast(op.value(), ty);
    let near = |b: &Builder<'c>| target.atomic_rmw(b, op.kind(), address, value, (op.sem(), op.scope()));
    let far = Far::flag(SymmOp::AtomicRmw(op), b);
    b.masked(op.mask(), ty, |b| match &far {
        None => near(b),
        Some(far) => b.choose(far.near, ty, near, |b| far.update(b, target, op.kind(), value, op.sem())),
    })
}

pub fn atomic_cas<'c: 'a, 'a>(op: AtomicCas<'c, 'a>, b: &Builder<'c>, target: &dyn Target) -> Value<'c, 'c> {
    let address = global(b, remote_element(SymmOp::AtomicCas(op), b, op.ptr(), &op.indices()));
    let ty = op.expected().r#type();
    let values = (b.cast(op.expected(), ty), b.cast(op.desired(), ty));
    let near = |b: &Builder<'c>| target.atomic_cas(b, address, values, (op.sem(), op.scope()));
    let far = Far::flag(SymmOp::AtomicCas(op), b);
    b.masked(op.mask(), ty, |b| match &far {
        None => near(b),
        Some(far) => b.choose(far.near, ty, near, |b| far.swap(b, target, values, op.sem())),
    })
}

/// An LLVM compare-and-swap; the old value.
pub fn cmpxchg<'c>(
    b: &Builder<'c>,
    target: &dyn Target,
    ptr: Value<'c, 'c>,
    (expected, desired): (Value<'c, 'c>, Value<'c, 'c>),
    (order, scope): (Order, Scope),
) -> Value<'c, 'c> {
    let ty = expected.r#type();
    let failure = if order.acquires() { Order::Acquire } else { Order::Relaxed };
    let pair = llvm::r#type::r#struct(b.context, &[ty, b.int(1)], false);
    let mut attributes = atomic(b, target, "success_ordering", (order, scope), ty);
    attributes.push(("failure_ordering", b.integer(64, ordering::number(failure))));
    let pair = b.value("llvm.cmpxchg", &[ptr, expected, desired], pair, &attributes);
    b.extract(pair, &[0], ty)
}

/// An LLVM store to a flag.
pub fn store<'c>(
    b: &Builder<'c>,
    target: &dyn Target,
    ptr: Value<'c, 'c>,
    value: Value<'c, 'c>,
    order: (Order, Scope),
) {
    let attributes = atomic(b, target, "ordering", order, value.r#type());
    b.store(value, ptr, &attributes);
}

/// An LLVM fence.
pub fn fence(b: &Builder, target: &dyn Target, order: Order, scope: Scope) {
    let mut attributes = vec![("ordering", b.integer(64, ordering::number(order)))];
    let scope = target.sync_scope(scope);
    if !scope.is_empty() {
        attributes.push(("syncscope", b.string(scope)));
    }
    b.op("llvm.fence", &[], &[], &attributes);
}

/// The first thread of the group fences for all of them: it sends their signals and polls their waits (O3). It does
/// so after a barrier, because a release orders what its own thread did before it, and that includes what the barrier
/// let it know of the others; a barrier after an acquire hands on what it let in.
pub fn group_fence<'c: 'a, 'a>(op: Fence<'c, 'a>, b: &Builder<'c>, target: &dyn Target) -> Vec<Value<'c, 'c>> {
    let (order, group) = (op.sem(), op.group());
    if order.releases() {
        gather(b, target, Order::Release, group);
    }
    on_leader(b, group, |b| target.fence(b, order, op.scope()));
    if order.acquires() {
        group_barrier(b, target, group);
    }
    Vec::new()
}

/// A signal; of a group that is `gathered` already, perhaps.
pub fn signal<'c: 'a, 'a>(
    op: Signal<'c, 'a>,
    b: &Builder<'c>,
    target: &dyn Target,
    gathered: bool,
) -> Vec<Value<'c, 'c>> {
    let flag = global(b, remote_element(SymmOp::Signal(op), b, op.flag(), &op.indices()));
    let value = b.cast(op.value(), op.value().r#type());
    if !gathered {
        gather(b, target, op.sem(), op.group());
    }
    let near = |b: &Builder<'c>| notify(b, target, op.kind(), flag, value, (op.sem(), op.scope()));
    let far = Far::flag(SymmOp::Signal(op), b);
    on_leader(b, op.group(), |b| match &far {
        None => near(b),
        Some(far) => b.either(far.near, near, |b| far.signal(b, target, op.kind(), value, op.sem())),
    });
    Vec::new()
}

pub fn put_signal<'c: 'a, 'a>(
    op: PutSignal<'c, 'a>,
    b: &Builder<'c>,
    target: &dyn Target,
    barriers: &GroupBarriers,
) -> Vec<Value<'c, 'c>> {
    let value = b.cast(op.value(), op.value().r#type());
    let near = |b: &Builder<'c>| {
        let dst = bulk::lower(SymmOp::PutSignal(op), b, target, barriers).dst;
        let flag = global(b, End { pointer: op.flag(), delta: dst.delta }.at(b, &op.indices()));
        gather(b, target, Order::Release, op.group());
        on_leader(b, op.group(), |b| notify(b, target, op.kind(), flag, value, (Order::Release, op.scope())));
    };
    match Far::flag(SymmOp::PutSignal(op), b) {
        None => near(b),
        Some(far) => b.either(far.near, near, |b| far::put_signal(op, b, target, &far, value)),
    }
    Vec::new()
}

/// O3: what every thread of the group wrote is complete, if it is to be released, and all are here.
pub fn gather(b: &Builder, target: &dyn Target, order: Order, group: Group) {
    if group != Group::Thread && order == Order::Release {
        target.before_group_release(b);
    }
    group_barrier(b, target, group);
}

/// Sets or adds to a flag.
fn notify<'c>(
    b: &Builder<'c>,
    target: &dyn Target,
    kind: SignalKind,
    flag: Value<'c, 'c>,
    value: Value<'c, 'c>,
    order: (Order, Scope),
) {
    match kind {
        SignalKind::Set => target.store_flag(b, flag, value, order),
        SignalKind::Add => {
            target.atomic_rmw(b, RmwKind::Add, flag, value, order);
        }
    }
}

/// Block b of every rank tells block b of every other rank the number of this barrier, then waits until all have
/// told it theirs. The words lie at the start of each heap (runtime: the signal pad): for each block an epoch, then
/// a flag for each rank. Epochs only grow, so that no flag is ever reset. The threads of a group share the ranks.
pub fn barrier<'c: 'a, 'a>(op: Barrier<'c, 'a>, b: &Builder<'c>, target: &dyn Target) -> Vec<Value<'c, 'c>> {
    let table = Table::new(op.operation(), op.ctx());
    let ranks = b.as_i64(table.num_ranks(b));
    let me = table.rank(b);
    let pad = b.mul(b.mul(linear_block(b), b.add(ranks, b.i64(1))), b.i64(8));
    let slot = |b: &Builder<'c>, base: Value<'c, 'c>, rank: Value<'c, 'c>| {
        let word = b.add(b.mul(b.as_i64(rank), b.i64(8)), b.i64(8));
        global(b, b.byte_offset(b.byte_offset(base, pad), word))
    };
    let mine = table.own_base(b);
    let counter = global(b, b.byte_offset(mine, pad));
    // Read by all before the barrier, and counted by the first after it.
    let epoch = b.add(b.load(counter, b.int(64), &[]), b.i64(1));
    gather(b, target, Order::Release, op.group());
    on_leader(b, op.group(), |b| b.store(epoch, counter, &[]));
    let (first, step) = thread(b, target, op.operation(), op.group());
    b.when(b.compare(CmpiPredicate::Slt, first, ranks), |b| {
        target.fence(b, Order::Release, Scope::Sys);
        b.for_step(first, ranks, step, |b, rank| {
            let rank = b.value("arith.trunci", &[rank], b.int(32), &[]);
            let near = |b: &Builder<'c>| {
                let theirs = slot(b, table.base_from(b, mine, rank), me);
                target.store_flag(b, theirs, epoch, (Order::Relaxed, Scope::Sys));
            };
            let far = Far::of_rank(SymmOp::Barrier(op), b, rank, |b| generic(b, slot(b, mine, me)));
            match far {
                None => near(b),
                Some(far) => {
                    b.either(far.near, near, |b| far.signal(b, target, SignalKind::Set, epoch, Order::Relaxed));
                }
            }
        });
        let order = if target.polls_in_order() { Order::Acquire } else { Order::Relaxed };
        b.for_step(first, ranks, step, |b, rank| {
            poll(b, target, slot(b, mine, rank), CmpiPredicate::Sge, epoch, None, (order, Scope::Sys));
        });
        if !target.polls_in_order() {
            target.fence(b, Order::Acquire, Scope::Sys);
        }
    });
    group_barrier(b, target, op.group());
    Vec::new()
}
