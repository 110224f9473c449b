//! Accesses of vectors under a mask: a pointer and a byte of mask for each lane.

use super::calls::{Calls, size, slot, spill};
use super::{operand, result_type};
use crate::ir::{Builder, signed};
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Type, Value, ValueLike};
use symm_abi::check;
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::pointer::is_llvm_pointer;
use symm_dialect::shape::{Shaped, scalar};

/// The lanes of a vector and the bytes of each.
fn lanes<'c: 'a, 'a>(op: OperationRef<'c, 'a>, ty: Type<'c>) -> Result<(usize, u64), Reported> {
    let count = Shaped::vector(ty).and_then(|vector| vector.dimensions().into_iter().product::<Option<u64>>());
    let count = count.and_then(|count| usize::try_from(count).ok());
    let whole = size(scalar(ty)).filter(|_| symm_dialect::shape::integer_width(scalar(ty)) != Some(1));
    count.zip(whole).ok_or_else(|| error(op, "S1: symm-check does not know the memory layout of its lanes"))
}

/// The addresses of the lanes, in memory, one after the other.
fn pointers<'c: 'a, 'a>(
    b: &Builder<'c>,
    op: OperationRef<'c, 'a>,
    (at, count, bytes): (Value<'c, 'a>, usize, u64),
) -> Value<'c, 'c> {
    if !is_llvm_pointer(at.r#type()) {
        return spill(b, op, at);
    }
    let words = slot(op, Type::vector(&[count as u64], b.int(64)));
    for lane in 0..count {
        let step = b.llvm_i64(signed(lane) * bytes.cast_signed());
        let address = b.byte_offset(at, step);
        b.store(address, b.byte_offset(words, b.llvm_i64(8 * signed(lane))), &[]);
    }
    words
}

/// The bytes of a mask.
fn mask<'c: 'a, 'a>(b: &Builder<'c>, op: OperationRef<'c, 'a>, (mask, count): (Value<'c, 'a>, usize)) -> Value<'c, 'c> {
    let bytes = b.value("llvm.zext", &[mask], Type::vector(&[count as u64], b.int(8)), &[]);
    spill(b, op, bytes)
}

/// A masked load or a gather: pointers, mask, and what lanes hold that are off.
pub fn read<'c: 'a, 'a>(op: OperationRef<'c, 'a>, calls: &Calls<'c, 'a>) -> Result<(), Reported> {
    let (b, ty) = (Builder::before(op), result_type(op));
    let (count, bytes) = lanes(op, ty)?;
    let from = pointers(&b, op, (operand(op, 0), count, bytes));
    let mask = mask(&b, op, (operand(op, 1), count));
    let slot = match op.operand(2) {
        Ok(otherwise) => spill(&b, op, otherwise),
        Err(_) => spill(&b, op, b.zero(ty)),
    };
    let (bytes, lanes) = (b.llvm_i64(bytes.cast_signed()), b.llvm_i64(signed(count)));
    calls.call(&b, &check::READ_LANES, [slot, from, bytes, lanes, mask, calls.location(&b)]);
    b.replace(op, &[b.load(slot, ty, &[])]);
    Ok(())
}

/// A masked store or a scatter: values, pointers, mask.
pub fn write<'c: 'a, 'a>(op: OperationRef<'c, 'a>, calls: &Calls<'c, 'a>) -> Result<(), Reported> {
    let (b, value) = (Builder::before(op), operand(op, 0));
    let (count, bytes) = lanes(op, value.r#type())?;
    let to = pointers(&b, op, (operand(op, 1), count, bytes));
    let mask = mask(&b, op, (operand(op, 2), count));
    let slot = spill(&b, op, value);
    let (bytes, lanes) = (b.llvm_i64(bytes.cast_signed()), b.llvm_i64(signed(count)));
    calls.call(&b, &check::WRITE_LANES, [to, slot, bytes, lanes, mask, calls.location(&b)]);
    b.erase(op);
    Ok(())
}
