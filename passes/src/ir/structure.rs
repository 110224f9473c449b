//! Ops of other dialects by what they are to the structure of a program.

use super::{is_kernel, name};
use melior::ir::operation::OperationLike;
use melior::ir::{BlockLike, BlockRef, OperationRef};

/// What holds a program, host code and modules of kernels.
pub const MODULE: &str = "builtin.module";
/// What holds kernels and the functions that they call.
pub const GPU_MODULE: &str = "gpu.module";

/// A function, of the host or of a device.
pub const FUNC: &str = "func.func";
/// A kernel, or a function that kernels call.
pub const GPU_FUNC: &str = "gpu.func";
/// A function once it is lowered.
pub const LLVM_FUNC: &str = "llvm.func";
/// A Triton kernel, or a function that one calls.
pub const TRITON_FUNC: &str = "tt.func";
/// A kernel that stands where it is launched.
pub const LAUNCH: &str = "gpu.launch";
/// The launch of a kernel that stands in a module.
pub const LAUNCH_FUNC: &str = "gpu.launch_func";

pub const CALL: &str = "func.call";
pub const RETURN: &str = "func.return";
pub const GPU_RETURN: &str = "gpu.return";

/// What holds the code of a function or a kernel.
pub const FUNCTIONS: &[&str] = &[FUNC, GPU_FUNC, LAUNCH, LLVM_FUNC, TRITON_FUNC];

/// What holds the code of a kernel.
pub const KERNELS: &[&str] = &[GPU_FUNC, LAUNCH];

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
            return !is_kernel(around) && name(around) != LAUNCH;
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
