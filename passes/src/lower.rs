//! Lowerings to the targets, and what they share.

mod access;
pub mod bits;
pub mod bulk;
pub mod convergent;
pub mod cpu;
mod gpu;
mod group_barriers;
pub mod nvshmem;
pub mod nvvm;
pub mod packets;
mod pieces;
pub mod rocdl;
mod translation;
pub mod triton;
mod types;
mod updates;

use melior::dialect::arith::CmpiPredicate;
use melior::ir::{TypeLike, ValueLike};
use symm_dialect::ops::{Comparison, RmwKind, SymmOp, Update};
use symm_dialect::shape::integer_width;

/// The number LLVM's dialect gives an atomic operation on a type.
pub fn llvm_bin_op(kind: RmwKind) -> i64 {
    match kind {
        RmwKind::Xchg => 0,
        RmwKind::Add => 1,
        RmwKind::Sub => 2,
        RmwKind::And => 3,
        RmwKind::Or => 5,
        RmwKind::Xor => 6,
        RmwKind::Max => 7,
        RmwKind::Min => 8,
        RmwKind::UMax => 9,
        RmwKind::UMin => 10,
        RmwKind::FAdd => 11,
    }
}

/// Why an atomic can't be LLVM's (S1), if it can't: LLVM compares integers.
pub fn refuse_atomic(op: SymmOp) -> Option<&'static str> {
    let narrow = |ty| integer_width(ty) == Some(16);
    let is_float = match op.update()? {
        Update::AtomicCas(op) if narrow(op.expected().r#type()) => {
            return Some("compares and swaps i16 in Triton kernels only");
        }
        Update::AtomicCas(op) => op.expected().r#type().is_float(),
        Update::AtomicRmw(op) => matches!(op.kind(), RmwKind::Min | RmwKind::Max) && op.value().r#type().is_float(),
        Update::Signal(_) | Update::PutSignal(_) | Update::PutPacket(_) => false,
    };
    is_float.then_some("compares floats in Triton kernels only")
}

/// A comparison of the flag with the value, in arith's words (O6).
pub fn predicate(comparison: Comparison, unsigned: bool) -> CmpiPredicate {
    match (comparison, unsigned) {
        (Comparison::Eq, _) => CmpiPredicate::Eq,
        (Comparison::Ne, _) => CmpiPredicate::Ne,
        (Comparison::Lt, false) => CmpiPredicate::Slt,
        (Comparison::Le, false) => CmpiPredicate::Sle,
        (Comparison::Gt, false) => CmpiPredicate::Sgt,
        (Comparison::Ge, false) => CmpiPredicate::Sge,
        (Comparison::Lt, true) => CmpiPredicate::Ult,
        (Comparison::Le, true) => CmpiPredicate::Ule,
        (Comparison::Gt, true) => CmpiPredicate::Ugt,
        (Comparison::Ge, true) => CmpiPredicate::Uge,
    }
}
