//! Copies with a far end.

use super::{Calls, Far, keep_pointers};
use crate::ir::Builder;
use crate::ir::address::{bytes, is_contiguous, memory_type};
use crate::lower::bulk::{self, End, Run, Transfer};
use crate::lower::gpu::Target;
use crate::lower::gpu::order::gather;
use crate::lower::gpu::threads::{group_barrier, has_whole_warps, on_leader, thread};
use crate::lower::nvshmem::{self, Function};
use crate::lower::translation::Table;
use melior::ir::r#type::ShapedTypeLike;
use melior::ir::{OperationRef, Value, ValueLike};
use symm_dialect::is_current_rank;
use symm_dialect::ops::{Group, Order, PutSignal, SymmOp};
use symm_dialect::shape::{Shaped, byte_width};

/// A bulk copy, by `near` where the ranks are.
pub fn copy<'c: 'a, 'a>(op: SymmOp<'c, 'a>, b: &Builder<'c>, target: &dyn Target, near: impl Fn(&Builder<'c>)) {
    let (Some(calls), Some(ctx)) = (Calls::new(op.operation()), op.ctx()) else { return near(b) };
    let (src, dst) = op.ends().expect("a bulk copy");
    let rank = |way: Option<(&str, &str)>| way.map(|(rank, _)| op.operand_group(rank)[0]);
    let (from, to) = (rank(src.way), rank(dst.way));
    let table = Table::new(op.operation(), ctx);
    let others = [from, to].into_iter().flatten().filter(|rank| !is_current_rank(ctx, *rank));
    let accessed = |b: &Builder<'c>, rank| table.is_accessed(b, rank);
    let both = others.map(|rank| accessed(b, rank)).reduce(|one, other| b.binary("arith.andi", one, other));
    let Some(both) = both else { return near(b) };
    keep_pointers(op, b);
    let far = |b: &Builder<'c>| {
        let transfer = Transfer::new(op, b);
        let mover = Mover { calls, op: op.operation(), transfer: &transfer };
        let number = |rank| b.cast(rank, b.int(32));
        match (from.map(number), to.map(number)) {
            (None, Some(to)) => mover.put(b, target, to),
            (Some(from), None) => mover.get(b, target, from),
            (Some(from_rank), Some(to_rank)) => {
                let (from, to) = (from.expect("as above"), to.expect("as above"));
                b.either(
                    accessed(b, to),
                    |b| mover.get(b, target, from_rank),
                    |b| {
                        let put = |b: &Builder<'c>| mover.put(b, target, to_rank);
                        b.either(accessed(b, from), put, |b| mover.forward(b, target, (from_rank, to_rank)));
                    },
                );
            }
            (None, None) => unreachable!("it names a rank"),
        }
    };
    b.either(both, |b| near(b), far);
}

/// A copy with a far end.
struct Mover<'c, 'a, 't> {
    calls: Calls<'c>,
    op: OperationRef<'c, 'a>,
    transfer: &'t Transfer<'c, 'a>,
}

/// The same place in this rank's heap.
fn local<'c, 'a>(end: End<'c, 'a>) -> End<'c, 'a> {
    End { delta: None, ..end }
}

fn run_bytes<'c>(b: &Builder<'c>, run: Run<'c>) -> Value<'c, 'c> {
    match run {
        Run::Bytes(bytes) => bytes,
        Run::Element(ty) => b.i64(byte_width(ty).cast_signed()),
    }
}

impl<'c: 'a, 'a> Mover<'c, 'a, '_> {
    /// Copies what lies in one piece by `function` of a group, whose threads are together before and after. Without
    /// whole warps, for which the engine's functions of a warp are, one thread does it.
    fn each(
        &self,
        b: &Builder<'c>,
        target: &dyn Target,
        ends: (End<'c, 'a>, End<'c, 'a>),
        (function, rank): (fn(Group) -> Function, Value<'c, 'c>),
    ) {
        let group = self.transfer.group;
        let copy = |b: &Builder<'c>, group| {
            bulk::copy_by(b, ends, self.transfer.count, &|b, to, from, run| {
                let bytes = run_bytes(b, run);
                self.calls.call(b, function(group), &[to, from, bytes, rank]);
            });
        };
        if group != Group::Warp || has_whole_warps(self.op, target) {
            copy(b, group);
            return;
        }
        group_barrier(b, target, group);
        on_leader(b, group, |b| copy(b, Group::Thread));
        group_barrier(b, target, group);
    }

    fn put(&self, b: &Builder<'c>, target: &dyn Target, to: Value<'c, 'c>) {
        let Transfer { src, dst, group, .. } = *self.transfer;
        self.each(b, target, (src, local(dst)), (nvshmem::put, to));
        self.calls.quiet_group(b, target, group);
    }

    fn get(&self, b: &Builder<'c>, target: &dyn Target, from: Value<'c, 'c>) {
        let Transfer { src, dst, .. } = *self.transfer;
        self.each(b, target, (local(src), dst), (nvshmem::get, from));
    }

    /// From one far rank to another, through registers: the threads of a group share the elements.
    fn forward(&self, b: &Builder<'c>, target: &dyn Target, (from_rank, to_rank): (Value<'c, 'c>, Value<'c, 'c>)) {
        let Transfer { src, dst, group, .. } = *self.transfer;
        let element = self.transfer.count.map(|(_, element)| element);
        let element = element.or_else(|| Shaped::memref(src.pointer.r#type()).map(|memref| memref.element()));
        let width = element.map_or(1, |element| byte_width(memory_type(b, element)));
        let width = if matches!(width, 2 | 4 | 8) { width } else { 1 };
        group_barrier(b, target, group);
        let (first, step) = thread(b, target, self.op, group);
        bulk::copy_by(b, (local(src), local(dst)), self.transfer.count, &|b, to, from, run| {
            let bytes = run_bytes(b, run);
            let scale = |b: &Builder<'c>, value| b.mul(value, b.i64(width.cast_signed()));
            b.for_step(scale(b, first), bytes, scale(b, step), |b, offset| {
                let [from, to] = [from, to].map(|start| b.byte_offset(start, offset));
                let value = self.calls.value(b, nvshmem::load(width), &[from, from_rank]);
                self.calls.call(b, nvshmem::store(width), &[to, value, to_rank]);
            });
        });
        self.calls.quiet(b);
        group_barrier(b, target, group);
    }
}

/// `put_signal` to a far rank: one call where the engine has it, for memory in one piece and a flag of 8 bytes.
pub fn put_signal<'c: 'a, 'a>(
    op: PutSignal<'c, 'a>,
    b: &Builder<'c>,
    target: &dyn Target,
    far: &Far<'c>,
    value: Value<'c, 'c>,
) {
    let transfer = Transfer::new(SymmOp::PutSignal(op), b);
    let Transfer { src, dst, count, group, .. } = transfer;
    let in_one_piece = count.is_some() || is_contiguous(src.pointer.r#type()) && is_contiguous(dst.pointer.r#type());
    let is_whole = group != Group::Warp || has_whole_warps(op.operation(), target);
    if in_one_piece && is_whole && byte_width(value.r#type()) == 8 {
        let operation = b.i32(nvshmem::signal_operation(op.kind()));
        let (to, from, bytes) = (local(dst).start(b), src.start(b), bytes(b, src.pointer, count));
        let operands = [to, from, bytes, far.at, value, operation, far.rank];
        far.calls.call(b, nvshmem::put_signal(group), &operands);
        far.calls.quiet_group(b, target, group);
        return;
    }
    Mover { calls: far.calls, op: op.operation(), transfer: &transfer }.put(b, target, far.rank);
    gather(b, target, Order::Release, group);
    on_leader(b, group, |b| far.signal(b, target, op.kind(), value, Order::Release));
}
