//! Canonicalisation: drops masks that are known to be true, and accesses whose mask is known to be false.

use crate::edit::set_operand_group;
use crate::ops::{Accessing, SymmOp};
use melior::RewriterBase;
use melior::ir::attribute::{DenseElementsAttribute, IntegerAttribute};
use melior::ir::operation::{OperationLike, OperationResult};
use melior::ir::{AttributeLike, Value, ValueLike};
use mlir_sys::mlirDenseElementsAttrGetBoolSplatValue;

/// Rewrites `op`, or returns false.
pub fn canonicalize<'c: 'a, 'a>(op: SymmOp<'c, 'a>, rewriter: RewriterBase<'c, '_>) -> bool {
    let Some(mask) = op.mask().and_then(constant_mask) else { return false };
    let operation = op.operation();
    if mask {
        rewriter.start_op_modification(operation);
        set_operand_group(op, "mask", &[]);
        if !op.operand_group("other").is_empty() {
            set_operand_group(op, "other", &[]);
        }
        rewriter.finalize_op_modification(operation);
        return true;
    }
    let Some(access) = op.accessing() else { return false };
    match access {
        Accessing::RemoteLoad(load) => match load.other() {
            Some(other) => rewriter.replace_op_with_values(operation, &[other]),
            None => return false,
        },
        Accessing::RemoteStore(_)
        | Accessing::Get(_)
        | Accessing::Put(_)
        | Accessing::Copy(_)
        | Accessing::PutPacket(_) => rewriter.erase_op(operation),
        // Kept: a put_signal also orders, and nothing else would define the result of the others.
        Accessing::PutSignal(_)
        | Accessing::Signal(_)
        | Accessing::Wait(_)
        | Accessing::AtomicRmw(_)
        | Accessing::AtomicCas(_)
        | Accessing::WaitPacket(_)
        | Accessing::TryPacket(_) => return false,
    }
    true
}

/// The value of a mask that is a constant, the same in every lane.
fn constant_mask(mask: Value) -> Option<bool> {
    // Checked first: melior prints what it can't convert.
    if !mask.is_operation_result() {
        return None;
    }
    let result = OperationResult::try_from(mask).ok()?;
    let owner = result.owner();
    if owner.name().as_string_ref().as_str() != Ok("arith.constant") {
        return None;
    }
    let value = owner.attribute("value").ok()?;
    if let Ok(integer) = IntegerAttribute::try_from(value) {
        return Some(integer.value() != 0);
    }
    let dense = DenseElementsAttribute::try_from(value).ok()?;
    // SAFETY: the attribute is a splat, and of `i1`: a mask.
    dense.is_splat().then(|| unsafe { mlirDenseElementsAttrGetBoolSplatValue(dense.to_raw()) } != 0)
}
