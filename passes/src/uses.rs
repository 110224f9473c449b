//! Uses of values and operands of operations: what melior has no safe way to ask or to change.

use melior::ir::{OperationRef, Value, ValueLike};

/// Whether a value has exactly one use.
pub fn has_one_use(value: Value) -> bool {
    // SAFETY: the value is alive, and so are its uses.
    unsafe {
        let first = mlir_sys::mlirValueGetFirstUse(value.to_raw());
        !mlir_sys::mlirOpOperandIsNull(first) && mlir_sys::mlirOpOperandIsNull(mlir_sys::mlirOpOperandGetNextUse(first))
    }
}

/// Replaces an operand that the operation has.
pub fn set_operand(op: OperationRef, index: usize, value: Value) {
    // SAFETY: the pass owns the module while it runs.
    unsafe { mlir_sys::mlirOperationSetOperand(op.to_raw(), index.cast_signed(), value.to_raw()) };
}

/// Inserts a copy of an operation behind it.
pub fn copy_behind<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> OperationRef<'c, 'a> {
    // SAFETY: the operation lies in a block, which takes the copy over.
    unsafe {
        let copy = mlir_sys::mlirOperationClone(op.to_raw());
        mlir_sys::mlirBlockInsertOwnedOperationAfter(mlir_sys::mlirOperationGetBlock(op.to_raw()), op.to_raw(), copy);
        OperationRef::from_raw(copy)
    }
}
