//! Changing the operands of an op in place.

use crate::access::{SEGMENTS, all};
use crate::context;
use crate::ops::{SymmOp, has_segments};
use melior::StringRef;
use melior::ir::{
    OperationRef, Value, ValueLike,
    attribute::{AttributeLike, DenseI32ArrayAttribute},
    operation::OperationLike,
};
use mlir_sys::{mlirOperationSetInherentAttributeByName, mlirOperationSetOperands};

/// Replaces the values of the operand `name`.
pub fn set_operand_group<'c: 'a, 'a>(op: SymmOp<'c, 'a>, name: &str, values: &[Value<'c, 'a>]) {
    let groups = op.operands();
    let operation: OperationRef = op.operation();
    let mut operands = Vec::new();
    let mut segments = Vec::new();
    for (index, group) in groups.iter().enumerate() {
        let values = if group.name == name { values.to_vec() } else { all(operation, groups, index) };
        segments.push(i32::try_from(values.len()).unwrap_or(i32::MAX));
        operands.extend(values.iter().map(ValueLike::to_raw));
    }
    // SAFETY: the operation and its operands are alive.
    unsafe { mlirOperationSetOperands(operation.to_raw(), operands.len().cast_signed(), operands.as_ptr()) };
    if has_segments(groups) {
        let segments = DenseI32ArrayAttribute::new(context(operation.context()), &segments).to_raw();
        // SAFETY: the segment sizes add up to the number of operands set.
        unsafe {
            mlirOperationSetInherentAttributeByName(operation.to_raw(), StringRef::new(SEGMENTS).to_raw(), segments);
        }
    }
}
