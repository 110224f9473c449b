//! Whether all threads of a block get somewhere together, as far as the structure of a kernel shows it.

use super::MOST_VALUES;
use crate::ir::structure::{self, FUNCTIONS, KERNELS};
use crate::ir::{definition, enclosing, is_kernel, name, owner};
use melior::ir::block::BlockArgument;
use melior::ir::{BlockLike, OperationRef, RegionLike, Value, ValueLike, operation::OperationLike};
use std::ops::Range;
use symm_dialect::ops::SymmOp;

/// The arguments of a `gpu.launch` that are the number of the thread.
pub const THREAD_OF_LAUNCH: Range<usize> = 3..6;

/// Whether every thread of the block that runs this kernel reaches `op`, and as often as any other: everything
/// around it is a loop or a branch that all of them take alike.
pub fn is_reached_together<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    // A Triton program is one thread to its author: what it branches on is the same in all of its threads.
    if enclosing(op, &[structure::TRITON_FUNC]).is_some() {
        return true;
    }
    let mut inner = op;
    while let Some(parent) = inner.parent_operation() {
        // A block after the first one of a region is reached through branches.
        let first = inner.block().and_then(|block| Some(block.parent_region()?.first_block() == Some(block)));
        let alike = match name(parent) {
            structure::GPU_FUNC => return first == Some(true) && is_kernel(parent),
            structure::LAUNCH => return first == Some(true),
            "scf.for" => operands_are_uniform(parent, 3),
            "scf.if" => operands_are_uniform(parent, 1),
            _ => false,
        };
        if !alike {
            return false;
        }
        inner = parent;
    }
    false
}

/// Whether every call or launch of the function that holds `op` reaches it: no loop or branch is around it.
pub fn is_reached_unconditionally<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    let first = op.block().and_then(|block| Some(block.parent_region()?.first_block() == Some(block)));
    let Some(parent) = op.parent_operation() else { return true };
    match name(parent) {
        structure::LAUNCH => first == Some(true) && is_reached_unconditionally(parent),
        function if FUNCTIONS.contains(&function) => first == Some(true),
        _ => false,
    }
}

fn operands_are_uniform<'c: 'a, 'a>(op: OperationRef<'c, 'a>, count: usize) -> bool {
    let mut left = MOST_VALUES;
    op.operands().take(count).all(|operand| is_uniform(operand, &mut left))
}

/// Whether a value is the same in all threads of the block. What is made of too many values counts as different.
fn is_uniform<'c: 'a, 'a>(value: Value<'c, 'a>, left: &mut u32) -> bool {
    let Some(one_less) = left.checked_sub(1) else { return false };
    *left = one_less;
    let Some(op) = definition(value) else { return is_uniform_argument(value, left) };
    // The host has made it before the launch.
    if enclosing(op, KERNELS).is_none() {
        return true;
    }
    let known = match SymmOp::cast(op) {
        Some(op) => op.question().is_ok(),
        None => match name(op) {
            "gpu.block_id" | "gpu.grid_dim" | "gpu.block_dim" => return true,
            name => name.starts_with("arith.") || name.starts_with("index.") || name == "memref.dim",
        },
    };
    known && op.operands().all(|operand| is_uniform(operand, left))
}

/// The arguments of a kernel, what the host has made before the launch, and the counter of a loop that all threads run
/// alike.
fn is_uniform_argument<'c: 'a, 'a>(value: Value<'c, 'a>, left: &mut u32) -> bool {
    // Asked first: melior prints what it can't convert.
    if !value.is_block_argument() {
        return false;
    }
    let Ok(argument) = BlockArgument::try_from(value) else { return false };
    let block = owner(argument);
    let Some(parent) = block.parent_operation() else { return false };
    match name(parent) {
        // Its first arguments are the numbers of the block, then those of the thread, then the sizes.
        structure::LAUNCH => !THREAD_OF_LAUNCH.contains(&argument.argument_number()),
        structure::GPU_FUNC => {
            is_kernel(parent) && block.parent_region().and_then(|region| region.first_block()) == Some(block)
        }
        "scf.for" => {
            argument.argument_number() == 0 && parent.operands().take(3).all(|operand| is_uniform(operand, left))
        }
        _ => enclosing(parent, KERNELS).is_none(),
    }
}
