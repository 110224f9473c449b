//! Ops of other dialects by what they are to the structure of a program.

use super::name;
use melior::ir::OperationRef;

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

/// Whether an op is a branch with regions.
pub fn is_branch(op: OperationRef) -> bool {
    name(op) == "scf.if"
}
