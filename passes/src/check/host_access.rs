//! Rejects host code that accesses the symmetric heap directly.
//!
//! On a GPU the heap is device memory: a host function copies to and from it with `gpu.memcpy`. On the CPU a direct
//! access would work, and the program would fail on the first GPU.
//!
//! ```mlir
//! %data = symm.alloc %ctx : memref<16xf32>
//! %x = memref.load %data[%i] : memref<16xf32>   // error: copy it with gpu.memcpy first
//! ```
//!
//! Limits: it follows a value from `symm.alloc` through views and casts in one function, not through calls.

use crate::analysis::accesses;
use crate::ir::{definition, enclosing, name, select, structure};
use crate::pass::{Ir, Pass, Values};
use melior::ir::{OperationRef, Value, operation::OperationLike};
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::ops::{Pointing, SymmOp};

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-check-host-access",
    summary: "Reject host code that reads or writes the symmetric heap directly",
    options: &[],
    run,
};

/// Ops whose result is a view of their first operand.
const VIEWS: &[&str] = &[
    "memref.subview",
    "memref.cast",
    "memref.reinterpret_cast",
    "memref.collapse_shape",
    "memref.expand_shape",
    "memref.view",
    "memref.reshape",
    "memref.transpose",
    "memref.memory_space_cast",
    "memref.assume_alignment",
];

fn run(root: OperationRef, _: &Values) -> Result<Ir, Reported> {
    let mut outcome = Ok(Ir::Kept);
    for op in select(root, |op| is_access(op).then_some(op)) {
        if enclosing(op, &[structure::GPU_FUNC, structure::LAUNCH, structure::GPU_MODULE]).is_none()
            && op.operands().any(is_heap)
        {
            outcome = Err(error(op, "accesses the symmetric heap from host code; use gpu.memcpy or a kernel"));
        }
    }
    outcome
}

/// Whether an op accesses the memory of some of its operands.
fn is_access<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    match SymmOp::cast(op) {
        Some(op) => op.reads() || op.writes(),
        None => accesses::of(name(op)).is_some() || name(op).starts_with("linalg."),
    }
}

/// Whether a value is a view of what `symm.alloc` returned.
fn is_heap<'c: 'a, 'a>(mut value: Value<'c, 'a>) -> bool {
    while let Some(op) = definition(value) {
        value = match SymmOp::cast(op).map(SymmOp::pointing) {
            Some(Some(Pointing::Alloc(_))) => return true,
            Some(Some(Pointing::AsRemote(remote))) => remote.ptr(),
            None if VIEWS.contains(&name(op)) && op.operand_count() > 0 => op.operand(0).expect("counted"),
            // A heap's start is a pointer, and no memref that a host op takes.
            Some(Some(Pointing::HeapBase(_)) | None) | None => return false,
        };
    }
    false
}
