//! Which thread of its group and of its grid this is, and where the threads of a group wait for each other.

use super::Target;
use crate::ir::{Builder, enclosing, structure};
use melior::dialect::arith::CmpiPredicate;
use melior::ir::attribute::DenseI32ArrayAttribute;
use melior::ir::{OperationRef, Value, operation::OperationLike};
use symm_dialect::ops::Group;

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

/// Whether every warp of the kernel around `op` is known to have all of its threads.
pub fn has_whole_warps(op: OperationRef, target: &dyn Target) -> bool {
    known_block_size(op).is_some_and(|threads| threads % target.warp_size() == 0)
}

/// The threads of a block of the kernel around `op`, where the kernel says so.
fn known_block_size(op: OperationRef) -> Option<i64> {
    let sizes = enclosing(op, &[structure::GPU_FUNC])?.attribute("known_block_size").ok()?;
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
pub fn on_leader<'c>(b: &Builder<'c>, group: Group, body: impl FnOnce(&Builder<'c>)) {
    match leads(b, group) {
        None => body(b),
        Some(leads) => b.when(leads, body),
    }
}
