//! Changing the operands of an op in place.

use crate::access::{SEGMENTS, all};
use crate::context;
use crate::ops::SymmOp;
use melior::ir::{
    OperationRef, Value, ValueLike,
    attribute::{AttributeLike, DenseI32ArrayAttribute},
    operation::OperationLike,
};
use melior::StringRef;
use mlir_sys::{mlirOperationSetInherentAttributeByName, mlirOperationSetOperands};

/// Replaces the values of the operand `name`, of an op whose definition has more than one optional operand.
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
    let segments = DenseI32ArrayAttribute::new(context(operation.context()), &segments);
    // SAFETY: the operation and its operands are alive; the segment sizes add up to the number of operands set.
    unsafe {
        mlirOperationSetOperands(operation.to_raw(), operands.len().cast_signed(), operands.as_ptr());
        mlirOperationSetInherentAttributeByName(operation.to_raw(), StringRef::new(SEGMENTS).to_raw(), segments.to_raw());
    }
}
