//! Barriers before which every thread completes what it has written.
//!
//! A barrier of the block orders what the threads before it wrote for whoever releases after it. On AMD it makes them
//! wait for nothing, and the release after it waits for the stores of its own wave only. So where a kernel releases for
//! less than a block, every wave waits before every barrier; of all kernels of a module, where one calls a function.
//! What a whole block releases needs none of this, because each of its threads releases for itself (O3).

use super::Target;
use crate::ir::{Builder, blocks, collect, is_call, name, operations, select, structure};
use melior::ir::OperationRef;
use symm_dialect::ops::{Group, Scope, SymmOp};

/// The functions below `root` in which a thread or a warp releases to other blocks, or the `gpu.module`s.
pub fn of_releases<'c: 'a, 'a>(root: OperationRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let has = |op, is: fn(OperationRef<'c, 'a>) -> bool| !select(op, |op| is(op).then_some(())).is_empty();
    let modules = select(root, |op| (name(op) == structure::GPU_MODULE).then_some(op));
    let parts = modules
        .into_iter()
        .flat_map(|module| if has(module, is_call) { vec![module] } else { operations(blocks(module)[0]) });
    // An op directly in the module has no barriers, and lowering erases it.
    parts.filter(|part| SymmOp::cast(*part).is_none() && has(*part, releases_for_less_than_block)).collect()
}

/// Completes what every thread has written before the barriers of these.
pub fn complete_writes<'c: 'a, 'a>(parts: &[OperationRef<'c, 'a>], target: &dyn Target) {
    for op in parts.iter().flat_map(|part| collect(*part)) {
        if matches!(name(op), "gpu.barrier" | "rocdl.barrier" | "rocdl.s.barrier") {
            target.before_barrier(&Builder::before(op), op);
        }
    }
}

fn releases_for_less_than_block<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    let Some(op) = SymmOp::cast(op) else { return false };
    let stays_in_block = matches!(op, SymmOp::Fence(fence) if fence.scope() == Scope::Cta);
    op.releases() && op.group() != Some(Group::Block) && !stays_in_block
}
