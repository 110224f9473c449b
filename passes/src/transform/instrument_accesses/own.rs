//! Allocations of memory in no heap, and what would be a fault: alignments of vectors, integer divisions, and a stack
//! that is too small.

use super::calls::{self, Calls};
use super::operand;
use crate::ir::{Builder, definition, mutable, name};
use melior::ir::attribute::{IntegerAttribute, TypeAttribute};
use melior::ir::operation::{OperationLike, OperationMutLike};
use melior::ir::{OperationRef, Type, Value, ValueLike};
use std::collections::HashSet;
use symm_abi::check;
use symm_dialect::shape::{Shaped, integer_width, scalar};
use symm_dialect::text;

/// Bytes on the stack from which on it is looked at whether they are there.
const LARGE: u64 = 4 << 10;
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

/// Has the checker look at whether what is taken from the stack is there: memory of a size that is not known, or of so
/// many bytes. The size that the checker returns is not known to LLVM, so that the stack grows here and not at the
/// start of the function.
pub fn grow<'c: 'a, 'a>(op: OperationRef<'c, 'a>, calls: &Calls<'c, 'a>) {
    let element = op.attribute("elem_type").and_then(TypeAttribute::try_from).map(|ty| ty.value());
    let (Ok(element), elements) = (element, operand(op, 0)) else { return };
    let is_small = |elements: i64| calls::size(element).unwrap_or(1).saturating_mul(elements.cast_unsigned()) < LARGE;
    if constant(elements).is_some_and(is_small) {
        return;
    }
    let b = Builder::before(op);
    let bytes = b.value("llvm.ptrtoint", &[b.element(b.zero(b.ptr()), b.llvm_i64(1), element)], b.int(64), &[]);
    let taken = calls.call(&b, &check::STACK, [calls::wide(&b, elements), bytes, calls.location(&b)]);
    mutable(op).set_operand(0, taken[0]);
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
    constant(divisor).is_some_and(|value| !matches!(value, 0 | -1))
}

fn constant(value: Value) -> Option<i64> {
    let constant = definition(value).filter(|op| name(*op) == "llvm.mlir.constant")?;
    constant.attribute("value").and_then(IntegerAttribute::try_from).ok().map(|value| value.value())
}
