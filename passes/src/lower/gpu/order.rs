//! Atomics, signals, waits, fences and barriers, in terms of a [`Target`]'s pieces.

use super::{Target, bulk};
use crate::ir::address::{GLOBAL, element, in_space};
use crate::ir::{Builder, blocks, enclosing, operations, type_attribute};
use crate::lower::access::remote_element;
use crate::lower::bulk::End;
use crate::lower::meetings::Meetings;
use crate::lower::translation::Table;
use crate::lower::{llvm_ordering, predicate};
use melior::dialect::arith::CmpiPredicate;
use melior::dialect::llvm;
use melior::ir::attribute::DenseI32ArrayAttribute;
use melior::ir::{Attribute, OperationRef, Region, Type, Value, ValueLike, operation::OperationLike};
use symm_abi::wait::{EAGER_POLLS, ORDERED_POLLS};
use symm_dialect::ops::{
    AtomicCas, AtomicRmw, Barrier, Fence, Group, Order, PutSignal, RmwKind, Scope, Signal, SignalKind, SymmOp, Wait,
};
use symm_dialect::shape::byte_width;
use symm_dialect::symbol::symbol;

/// The symbol of the shared words.
const SHARED_WORD: &str = "_symm_shared_words";

/// The attributes of an atomic LLVM memory operation on a value of type `ty`.
pub fn atomic<'c>(
    b: &Builder<'c>,
    target: &dyn Target,
    ordering_name: &'static str,
    (order, scope): (Order, Scope),
    ty: Type<'c>,
) -> Vec<(&'static str, Attribute<'c>)> {
    let mut attributes = vec![
        (ordering_name, b.integer(64, llvm_ordering(order))),
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
    b.masked(op.mask(), ty, |b| target.atomic_rmw(b, op.kind(), address, value, (op.sem(), op.scope())))
}

pub fn atomic_cas<'c: 'a, 'a>(op: AtomicCas<'c, 'a>, b: &Builder<'c>, target: &dyn Target) -> Value<'c, 'c> {
    let address = global(b, remote_element(SymmOp::AtomicCas(op), b, op.ptr(), &op.indices()));
    let ty = op.expected().r#type();
    let values = (b.cast(op.expected(), ty), b.cast(op.desired(), ty));
    b.masked(op.mask(), ty, |b| target.atomic_cas(b, address, values, (op.sem(), op.scope())))
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
    attributes.push(("failure_ordering", b.integer(64, llvm_ordering(failure))));
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
    let mut attributes = vec![("ordering", b.integer(64, llvm_ordering(order)))];
    let scope = target.sync_scope(scope);
    if !scope.is_empty() {
        attributes.push(("syncscope", b.string(scope)));
    }
    b.op("llvm.fence", &[], &[], &attributes);
}

/// A coordinate of the thread or the grid, `index`.
fn coordinate<'c>(b: &Builder<'c>, op: &str, dimension: &str) -> Value<'c, 'c> {
    b.value(op, &[], b.index(), &[("dimension", b.parse(&format!("#gpu<dim {dimension}>")))])
}

/// The number of the thread that runs `op` in its group and how many there are, `i64`.
pub fn thread<'c: 'a, 'a>(
    b: &Builder<'c>,
    target: &dyn Target,
    op: OperationRef<'c, 'a>,
    group: Group,
) -> (Value<'c, 'c>, Value<'c, 'c>) {
    match group {
        Group::Thread => (b.i64(0), b.i64(1)),
        Group::Warp => {
            let lane = b.value("gpu.lane_id", &[], b.index(), &[]);
            let lane = b.as_i64(lane);
            (lane, lanes(b, target, op, lane))
        }
        Group::Block => thread_of_block(b),
    }
}

/// The number of this thread in its block and how many there are, `i64`.
pub fn thread_of_block<'c>(b: &Builder<'c>) -> (Value<'c, 'c>, Value<'c, 'c>) {
    let word = |op, dimension| b.as_i64(coordinate(b, op, dimension));
    let (width, height) = (word("gpu.block_dim", "x"), word("gpu.block_dim", "y"));
    let row = b.add(b.mul(word("gpu.thread_id", "z"), height), word("gpu.thread_id", "y"));
    let number = b.add(b.mul(row, width), word("gpu.thread_id", "x"));
    (number, b.mul(b.mul(width, height), word("gpu.block_dim", "z")))
}

/// How many threads the warp of lane `lane` has, `i64`: the last one of a block may have fewer than the others.
fn lanes<'c: 'a, 'a>(
    b: &Builder<'c>,
    target: &dyn Target,
    op: OperationRef<'c, 'a>,
    lane: Value<'c, 'c>,
) -> Value<'c, 'c> {
    let size = target.warp_size();
    let known = known_block_size(op);
    if let Some(threads) = known.filter(|threads| *threads <= size || threads % size == 0) {
        return b.i64(threads.min(size));
    }
    let (number, threads) = thread_of_block(b);
    let threads = known.map_or(threads, |known| b.i64(known));
    let first = b.binary("arith.subi", number, lane);
    b.binary("arith.minsi", b.i64(size), b.binary("arith.subi", threads, first))
}

/// The threads of a block of the kernel around `op`, where the kernel says so.
fn known_block_size(op: OperationRef) -> Option<i64> {
    let sizes = enclosing(op, &["gpu.func"])?.attribute("known_block_size").ok()?;
    let sizes = DenseI32ArrayAttribute::try_from(sizes).ok()?;
    (0..sizes.len()).map(|index| sizes.element(index).ok().map(i64::from)).product()
}

/// The number of this block in its grid, `i64`.
pub fn linear_block<'c>(b: &Builder<'c>) -> Value<'c, 'c> {
    let word = |name, dimension| b.as_i64(coordinate(b, name, dimension));
    let row = b.add(b.mul(word("gpu.block_id", "z"), word("gpu.grid_dim", "y")), word("gpu.block_id", "y"));
    b.add(b.mul(row, word("gpu.grid_dim", "x")), word("gpu.block_id", "x"))
}

/// Waits until all threads of the group are here.
pub fn group_barrier(b: &Builder, target: &dyn Target, group: Group) {
    match group {
        Group::Thread => {}
        Group::Warp => target.warp_barrier(b),
        Group::Block => {
            b.op("gpu.barrier", &[], &[], &[]);
        }
    }
}

/// Whether this thread is the one that acts for its group, `i1`; `None` if each acts for itself.
pub fn leads<'c>(b: &Builder<'c>, group: Group) -> Option<Value<'c, 'c>> {
    let number = match group {
        Group::Thread => return None,
        Group::Warp => b.value("gpu.lane_id", &[], b.index(), &[]),
        Group::Block => {
            let word = |dimension| coordinate(b, "gpu.thread_id", dimension);
            b.binary("arith.ori", b.binary("arith.ori", word("x"), word("y")), word("z"))
        }
    };
    Some(b.compare(CmpiPredicate::Eq, number, b.index_constant(0)))
}

/// Runs `body` on one thread of the group.
fn on_leader<'c>(b: &Builder<'c>, group: Group, body: impl FnOnce(&Builder<'c>)) {
    match leads(b, group) {
        None => body(b),
        Some(leads) => b.when(leads, body),
    }
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
    send(b, target, op.kind(), flag, value, (op.sem(), op.scope()), op.group());
    Vec::new()
}

pub fn put_signal<'c: 'a, 'a>(
    op: PutSignal<'c, 'a>,
    b: &Builder<'c>,
    target: &dyn Target,
    meetings: &Meetings,
) -> Vec<Value<'c, 'c>> {
    let dst = bulk::lower(SymmOp::PutSignal(op), b, target, meetings).dst;
    let flag = global(b, End { pointer: op.flag(), delta: dst.delta }.at(b, &op.indices()));
    let value = b.cast(op.value(), op.value().r#type());
    gather(b, target, Order::Release, op.group());
    send(b, target, op.kind(), flag, value, (Order::Release, op.scope()), op.group());
    Vec::new()
}

/// O3: what every thread of the group wrote is complete, if it is to be released, and all are here.
fn gather(b: &Builder, target: &dyn Target, order: Order, group: Group) {
    if group != Group::Thread && order == Order::Release {
        target.before_group_release(b);
    }
    group_barrier(b, target, group);
}

/// One thread of a group signals for all of them.
fn send<'c>(
    b: &Builder<'c>,
    target: &dyn Target,
    kind: SignalKind,
    flag: Value<'c, 'c>,
    value: Value<'c, 'c>,
    (order, scope): (Order, Scope),
    group: Group,
) {
    on_leader(b, group, |b| match kind {
        SignalKind::Set => target.store_flag(b, flag, value, (order, scope)),
        SignalKind::Add => {
            target.atomic_rmw(b, RmwKind::Add, flag, value, (order, scope));
        }
    });
}

/// A wait, with a barrier after it if it `ends` with its group together by itself.
pub fn wait<'c: 'a, 'a>(op: Wait<'c, 'a>, b: &Builder<'c>, target: &dyn Target, ends: bool) -> Vec<Value<'c, 'c>> {
    let flag = global(b, element(b, op.flag(), &op.indices()));
    let expected = b.cast(op.value(), op.value().r#type());
    let timeout = op.timeout().map(|timeout| b.cast(timeout, b.int(64)));
    let predicate = predicate(op.comparison(), op.is_unsigned());
    let order = (op.sem(), op.scope());
    let Some(timeout) = timeout else {
        on_leader(b, op.group(), |b| {
            poll(b, target, flag, predicate, expected, None, order);
        });
        if ends {
            group_barrier(b, target, op.group());
        }
        return Vec::new();
    };
    if op.group() == Group::Thread {
        return vec![poll(b, target, flag, predicate, expected, Some(timeout), order)];
    }
    // One thread polls; what it found goes to the others through a word of shared memory.
    let word = shared_word(b, target, op.operation(), op.group());
    on_leader(b, op.group(), |b| {
        let seen = poll(b, target, flag, predicate, expected, Some(timeout), order);
        b.store(b.value("arith.extui", &[seen], b.int(32), &[]), word, &[]);
    });
    group_barrier(b, target, op.group());
    // As a word: LLVM 22's NVPTX back end leaves loads of one bit out of the order of its block, past the barrier.
    let seen = b.load(word, b.int(32), &[("volatile_", b.unit())]);
    group_barrier(b, target, op.group());
    vec![b.value("arith.trunci", &[seen], b.int(1), &[])]
}

/// A word of the block's shared memory for each warp it may have: the first one where a block waits, the warp's own
/// where a warp does.
fn shared_word<'c: 'a, 'a>(
    b: &Builder<'c>,
    target: &dyn Target,
    op: OperationRef<'c, 'a>,
    group: Group,
) -> Value<'c, 'c> {
    let module = enclosing(op, &["gpu.module"]).expect("kernels are in a gpu.module");
    let body = blocks(module)[0];
    if !operations(body).into_iter().any(|op| symbol(op).as_deref() == Some(SHARED_WORD)) {
        let top = Builder::at_start(b.context, body, op.location());
        let attributes = [
            ("sym_name", top.string(SHARED_WORD)),
            ("global_type", type_attribute(llvm::r#type::array(b.int(32), 32))),
            ("linkage", top.parse("#llvm.linkage<internal>")),
            ("addr_space", top.integer(32, 3)),
        ];
        top.op_with_regions("llvm.mlir.global", &[], &[], &attributes, vec![Region::new()]);
    }
    let shared = llvm::r#type::pointer(b.context, 3);
    let words = b.value("llvm.mlir.addressof", &[], shared, &[("global_name", b.symbol(SHARED_WORD))]);
    if group == Group::Block {
        return words;
    }
    let (number, _) = thread_of_block(b);
    let warp = b.binary("arith.divui", number, b.i64(target.warp_size()));
    b.byte_offset(words, b.mul(warp, b.i64(4)))
}

/// What a wait polls for, and until when.
struct Poll<'c> {
    flag: Value<'c, 'c>,
    predicate: CmpiPredicate,
    expected: Value<'c, 'c>,
    /// When it started and how long it may take.
    deadline: Option<(Value<'c, 'c>, Value<'c, 'c>)>,
    scope: Scope,
}

impl<'c> Poll<'c> {
    /// Reads the flag until it is as expected, time is up, or `polls` are done; whether it is as expected. With
    /// `patience` it reads on for ever, and backs off after so many polls.
    fn repeat(&self, b: &Builder<'c>, target: &dyn Target, order: Order, polls: i64, patience: bool) -> Value<'c, 'c> {
        let attributes = atomic(b, target, "ordering", (order, self.scope), self.expected.r#type());
        // The one way out is at the end of the loop: LLVM's loop rotation, which would bring it there, takes
        // time with the square of the number of waits.
        let results = b.repeat(
            &[b.i64(0)],
            |b, polled| {
                if patience {
                    let impatient = b.compare(CmpiPredicate::Sge, polled[0], b.i64(polls));
                    b.when(impatient, |b| target.backoff(b));
                }
                let polled = b.add(polled[0], b.i64(1));
                let seen = b.load(self.flag, self.expected.r#type(), &attributes);
                let seen = b.compare(self.predicate, seen, self.expected);
                let mut go_on = b.not(seen);
                if let Some((start, timeout)) = self.deadline {
                    let elapsed = b.binary("arith.subi", target.nanoseconds(b), start);
                    go_on = b.binary("arith.andi", go_on, b.compare(CmpiPredicate::Slt, elapsed, timeout));
                }
                if !patience {
                    go_on = b.binary("arith.andi", go_on, b.compare(CmpiPredicate::Slt, polled, b.i64(polls)));
                }
                (go_on, vec![polled, seen])
            },
            |_, values| vec![values[0]],
        );
        results[1]
    }
}

/// O5: polls relaxed, backs off after a while, and acquires once after the poll has succeeded. Where a poll that
/// acquires is faster than a fence, the first ones are such.
fn poll<'c>(
    b: &Builder<'c>,
    target: &dyn Target,
    flag: Value<'c, 'c>,
    predicate: CmpiPredicate,
    expected: Value<'c, 'c>,
    timeout: Option<Value<'c, 'c>>,
    (order, scope): (Order, Scope),
) -> Value<'c, 'c> {
    let deadline = timeout.map(|timeout| (target.nanoseconds(b), timeout));
    let poll = Poll { flag, predicate, expected, deadline, scope };
    let late = |b: &Builder<'c>, eager_polls| {
        let seen = poll.repeat(b, target, Order::Relaxed, eager_polls, true);
        if order == Order::Acquire {
            target.fence(b, Order::Acquire, scope);
        }
        seen
    };
    if order != Order::Acquire || !target.polls_in_order() {
        return late(b, EAGER_POLLS);
    }
    let seen = poll.repeat(b, target, Order::Acquire, ORDERED_POLLS, false);
    let eager_polls = EAGER_POLLS - ORDERED_POLLS;
    b.choose(seen, b.int(1), |_| seen, |b| late(b, eager_polls))
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
            let theirs = slot(b, table.base_from(b, mine, rank), me);
            target.store_flag(b, theirs, epoch, (Order::Relaxed, Scope::Sys));
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
