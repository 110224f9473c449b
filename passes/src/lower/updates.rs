//! Updates of memory that are not symm's: which of them no target has (S1). What a target makes of the others is in the
//! folder of that target.

use crate::ir::{name, select};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::{OperationRef, Type, TypeLike, ValueLike, operation::OperationLike};
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::shape::{byte_width, integer_width};

/// Refuses the updates in an op that no target has.
pub fn refuse(root: OperationRef) -> Result<(), Reported> {
    let mut outcome = Ok(());
    for op in select(root, |op| refusal(op).is_some().then_some(op)) {
        if let Some(complaint) = refusal(op) {
            outcome = Err(error(op, &format!("S1: {complaint}")));
        }
    }
    outcome
}

/// Why no target has such an update, if none has.
pub fn refusal(op: OperationRef) -> Option<String> {
    let ty = op.results().next()?.r#type();
    match name(op) {
        "memref.generic_atomic_rmw" if !is_integer(ty) => {
            Some(format!("updates {ty}; it compares and swaps, for which targets have atomics of i8, i16, i32 and i64"))
        }
        "memref.atomic_rmw" => match kind(op)? {
            MULF => Some("multiplies floats, for which no target has an atomic".into()),
            MULI => Some("multiplies, for which no target has an atomic; use memref.generic_atomic_rmw".into()),
            kind if is_integer(ty) || is_float(ty) || kind == ASSIGN && ty.is_float() && byte_width(ty) == 1 => None,
            _ => Some(format!("updates {ty}; targets have atomics of i8, i16, i32, i64, f16, bf16, f32 and f64")),
        },
        _ => None,
    }
}

/// The kind of a `memref.atomic_rmw`, by arith's numbers.
pub fn kind(op: OperationRef) -> Option<i64> {
    Some(IntegerAttribute::try_from(op.attribute("kind").ok()?).ok()?.value())
}

const ASSIGN: i64 = 3;
const MULF: i64 = 12;
const MULI: i64 = 13;

fn is_integer(ty: Type) -> bool {
    integer_width(ty).is_some_and(|width| matches!(width, 8 | 16 | 32 | 64))
}

fn is_float(ty: Type) -> bool {
    ty.is_f16() || ty.is_bf16() || ty.is_f32() || ty.is_f64()
}
