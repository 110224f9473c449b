//! Ops of other dialects by what they are to the structure of a program.

use super::{is_kernel, name};
use melior::ir::operation::OperationLike;
use melior::ir::{BlockLike, BlockRef, OperationRef};

/// What holds the code of a function or a kernel.
pub const FUNCTIONS: &[&str] = &["func.func", "gpu.func", "gpu.launch", "llvm.func", "tt.func"];

/// What holds the code of a kernel.
pub const KERNELS: &[&str] = &["gpu.func", "gpu.launch"];

/// Loops whose iterations follow each other.
pub const LOOPS: &[&str] = &["scf.for", "scf.while", "affine.for"];

/// Whether an op is one of [`LOOPS`].
pub fn is_loop(op: OperationRef) -> bool {
    LOOPS.contains(&name(op))
}

/// Whether an op is a loop of any kind, also one whose iterations may run at the same time.
pub fn repeats(op: OperationRef) -> bool {
    is_loop(op) || matches!(name(op), "affine.parallel" | "scf.parallel" | "scf.forall")
}

/// Whether an op may run more than once in a call of the kernel: it is in a loop of ops or of blocks, or in a function
/// that a kernel may call again and again.
pub fn is_repeated<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    let mut inner = op;
    while let Some(around) = inner.parent_operation() {
        if inner.block().is_some_and(follows_itself) || repeats(around) {
            return true;
        }
        if FUNCTIONS.contains(&name(around)) {
            return !is_kernel(around) && name(around) != "gpu.launch";
        }
        inner = around;
    }
    false
}

/// Whether branches lead from a block back to it.
fn follows_itself<'c: 'a, 'a>(block: BlockRef<'c, 'a>) -> bool {
    let (mut reached, mut next) = (vec![block], 0);
    while let Some(&from) = reached.get(next) {
        for successor in (0..from.successor_count()).filter_map(|index| from.successor(index).ok()) {
            if successor == block {
                return true;
            }
            if !reached.contains(&successor) {
                reached.push(successor);
            }
        }
        next += 1;
    }
    false
}

/// Whether an op is a branch with regions.
pub fn is_branch(op: OperationRef) -> bool {
    name(op) == "scf.if"
}
