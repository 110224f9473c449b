//! Allocations of memory in no heap, and what would be a fault: alignments of vectors, and integer divisions.

use super::calls::{self, Calls};
use super::operand;
use crate::ir::{Builder, definition, name};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Type, Value, ValueLike};
use std::collections::HashSet;
use symm_abi::check;
use symm_dialect::shape::{Shaped, integer_width, scalar};
use symm_dialect::text;

/// Bytes that the C library aligns memory to.
const USUAL: i64 = 16;

fn callee(op: OperationRef) -> Option<String> {
    op.attribute("callee").ok().and_then(text::symbol)
}

/// Whether a call is one of the C library's that allocates or frees memory.
pub fn allocates(op: OperationRef, defined: &HashSet<String>) -> bool {
    callee(op).is_some_and(|callee| {
        ["malloc", "aligned_alloc", "free"].contains(&callee.as_str()) && !defined.contains(&callee)
    })
}

/// Has the checker allocate or free instead.
pub fn allocate<'c: 'a, 'a>(op: OperationRef<'c, 'a>, calls: &Calls<'c, 'a>) {
    let b = Builder::before(op);
    let loc = calls.location(&b);
    let (align, bytes) = match callee(op).as_deref() {
        Some("malloc") => (b.llvm_i64(USUAL), operand(op, 0)),
        Some("aligned_alloc") => (calls::wide(&b, operand(op, 0)), operand(op, 1)),
        _ => {
            calls.call(&b, &check::RELEASE, [operand(op, 0), loc]);
            return b.erase(op);
        }
    };
    let memory = calls.call(&b, &check::ALLOCATE, [calls::wide(&b, bytes), align, loc]);
    b.replace(op, &memory);
}

/// Reports a vector that has to be aligned to more than its elements are.
pub fn align<'c: 'a, 'a>(op: OperationRef<'c, 'a>, at: Value<'c, 'a>, ty: Type<'c>, calls: &Calls<'c, 'a>) {
    let align = super::number(op, "alignment");
    let least = calls::size(scalar(ty)).map_or(i64::MAX, u64::cast_signed);
    if Shaped::vector(ty).is_some() && align > least {
        let b = Builder::before(op);
        calls.call(&b, &check::ALIGN, [at, b.llvm_i64(align), calls.location(&b)]);
    }
}

/// Reports a division, unless its divisor is a constant that divides every integer.
pub fn divide<'c: 'a, 'a>(op: OperationRef<'c, 'a>, calls: &Calls<'c, 'a>) {
    let (left, right) = (operand(op, 0), operand(op, 1));
    let Some(width) = integer_width(left.r#type()).filter(|&width| width <= 64) else { return };
    if is_harmless(right) {
        return;
    }
    let b = Builder::before(op);
    let is_signed = matches!(name(op), "llvm.sdiv" | "llvm.srem");
    let (bits, signed) = (b.llvm_i32(i64::from(width)), b.llvm_i32(is_signed.into()));
    let operands = [calls::wide(&b, left), calls::wide(&b, right), bits, signed, calls.location(&b)];
    calls.call(&b, &check::DIVIDE, operands);
}

/// Whether a divisor is a constant other than 0 and -1.
fn is_harmless(divisor: Value) -> bool {
    let constant = definition(divisor).filter(|op| name(*op) == "llvm.mlir.constant");
    let value = constant.and_then(|op| op.attribute("value").and_then(IntegerAttribute::try_from).ok());
    value.is_some_and(|value| !matches!(value.value(), 0 | -1))
}
