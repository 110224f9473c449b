//! Packets (P1): values of 8 to 64 bits an element, what flags them, and slots that hold their lines.

use super::{Verdict, access, ensure};
use crate::lossy;
use crate::ops::{PutPacket, SymmOp, TryPacket, WaitPacket};
use crate::pointer::{Pointer, strides};
use crate::shape::{Shaped, float_width, integer_width, is_data, scalar};
use melior::ir::operation::OperationLike;
use melior::ir::r#type::ShapedTypeLike;
use melior::ir::{OperationRef, Type, TypeLike, Value, ValueLike};

/// Checks a `put_packet`.
pub fn put<'c: 'a, 'a>(put: PutPacket<'c, 'a>) -> Verdict {
    let packet = Packet { value: put.value().r#type(), valid: None, upper: put.upper().map(|upper| upper.r#type()) };
    verify(SymmOp::PutPacket(put), put.slots(), &packet)
}

/// Checks a `wait_packet`.
pub fn wait<'c: 'a, 'a>(wait: WaitPacket<'c, 'a>) -> Verdict {
    let mut results = types(wait.operation());
    let Some(value) = results.next() else { return Ok(()) };
    verify(SymmOp::WaitPacket(wait), wait.slots(), &Packet { value, valid: None, upper: results.next() })
}

/// Checks a `try_packet`.
pub fn look<'c: 'a, 'a>(look: TryPacket<'c, 'a>) -> Verdict {
    let mut results = types(look.operation());
    let Some(value) = results.next() else { return Ok(()) };
    let packet = Packet { value, valid: results.next(), upper: results.next() };
    verify(SymmOp::TryPacket(look), look.slots(), &packet)
}

/// The types of an op's results. Not by number: melior's error for one that is not there prints the op, which verifies
/// it.
fn types<'c: 'a, 'a>(operation: OperationRef<'c, 'a>) -> impl Iterator<Item = Type<'c>> {
    operation.results().map(|result| Value::from(result).r#type()).collect::<Vec<_>>().into_iter()
}

/// The types of what is in a packet, whether it is there, and the upper word of floats.
struct Packet<'c> {
    value: Type<'c>,
    valid: Option<Type<'c>>,
    upper: Option<Type<'c>>,
}

fn verify<'c: 'a, 'a>(op: SymmOp<'c, 'a>, slots: Value<'c, 'a>, packet: &Packet<'c>) -> Verdict {
    let &Packet { value, valid, upper } = packet;
    let slots = slots.r#type();
    let Some(pointer) = Pointer::of(slots) else { return Ok(()) };
    access::indices(op, pointer, &op.operand_group("indices"))?;
    verify_value(op, value)?;
    verify_flag(op, pointer, value, upper)?;
    verify_slots(op, (slots, pointer), value)?;
    if let Some(valid) = valid {
        verify_valid(op, valid, value)?;
    }
    op.operand_group("mask").first().map_or(Ok(()), |mask| access::mask(op, mask.r#type(), value))
}

fn verify_value<'c: 'a, 'a>(op: SymmOp<'c, 'a>, value: Type<'c>) -> Verdict {
    let element = scalar(value);
    ensure(op, is_data(element) && integer_width(element) != Some(1), || {
        lossy!("P1: packets carry integers and floats of 8 to 64 bits and index, or vectors of them, got {value}")
    })?;
    ensure(op, Shaped::vector(value).is_none_or(|vector| vector.rank() == 1 && !value.is_scalable_vector()), || {
        lossy!("P1: packets carry vectors of one fixed dimension, got {value}")
    })
}

/// An epoch for any value, or for floats the one that is not sent.
fn verify_flag<'c: 'a, 'a>(
    op: SymmOp<'c, 'a>,
    pointer: Pointer<'c>,
    value: Type<'c>,
    upper: Option<Type<'c>>,
) -> Verdict {
    let (has_epoch, clears) =
        (!op.operand_group("epoch").is_empty(), matches!(op, SymmOp::PutPacket(put) if put.clear()));
    let Some(bits) = op.sentinel() else {
        ensure(op, has_epoch, || "P1: packets have an epoch, or a sentinel".into())?;
        ensure(op, !clears, || "P1: there is nothing to clear where packets have an epoch".into())?;
        return ensure(op, upper.is_none(), || "P1: a packet with an epoch has one word".into());
    };
    ensure(op, !has_epoch, || "P1: packets have an epoch or a sentinel, not both".into())?;
    ensure(op, matches!(bits, 8 | 16 | 32 | 64), || format!("P1: a sentinel has 8, 16, 32 or 64 bits, not {bits}"))?;
    let element = scalar(value);
    let is_word = integer_width(element) == Some(64);
    let is_float = float_width(element).is_some_and(|width| i64::from(width) == bits) && has_nan_of_ones(element);
    ensure(op, is_word || is_float, || {
        lossy!(
            "S1: a sentinel is for floats of {bits} bits in which all bits set are a NaN, or i64 of such, not {element}"
        )
    })?;
    let is_triton = matches!(pointer, Pointer::Triton(_) | Pointer::TritonTensor(..));
    let has_both = upper.is_some_and(|upper| upper == value && is_word);
    ensure(op, if is_triton { has_both } else { upper.is_none() }, || {
        "P1: a line of floats is two words of 64 bits of one shape in a Triton kernel, and elsewhere a vector".into()
    })
}

/// Of floats of 8 bits, those called FNUZ have one NaN elsewhere, and those without a sign no other NaN.
fn has_nan_of_ones(ty: Type) -> bool {
    let name = ty.to_string();
    !name.ends_with("UZ") && !name.ends_with("FNU")
}

/// Lines are bytes: the elements of the slots say how far apart indices are, and nothing about the value.
fn verify_slots<'c: 'a, 'a>(op: SymmOp<'c, 'a>, (ty, pointer): (Type<'c>, Pointer<'c>), value: Type<'c>) -> Verdict {
    let element = pointer.pointee();
    let are_integers = element
        .map_or(matches!(pointer, Pointer::Llvm), |element| matches!(integer_width(element), Some(8 | 16 | 32 | 64)));
    ensure(op, are_integers, || lossy!("P1: slots are memory of i8, i16, i32 or i64, got {ty}"))?;
    if let Pointer::MemRef(memref) = pointer {
        ensure(op, memref.rank() > 0 && strides(ty).last() == Some(&1), || {
            lossy!("P1: slots are contiguous: a memref whose innermost stride is 1, got {ty}")
        })?;
    }
    let has_shape = match (pointer, Shaped::tensor(value)) {
        (Pointer::TritonTensor(slots, _), Some(value)) => value.is_shaped_like(slots),
        (Pointer::TritonTensor(..), None) | (_, Some(_)) => false,
        (_, None) => true,
    };
    ensure(op, has_shape, || {
        lossy!("P1: a tensor of pointers takes a tensor with a packet for each pointer, got {ty} and {value}")
    })
}

fn verify_valid<'c: 'a, 'a>(op: SymmOp<'c, 'a>, valid: Type<'c>, value: Type<'c>) -> Verdict {
    let shaped = match (Shaped::tensor(valid), Shaped::tensor(value)) {
        (Some(valid), Some(value)) => valid.is_shaped_like(value),
        (None, None) => !valid.is_vector(),
        _ => false,
    };
    ensure(op, shaped && integer_width(scalar(valid)) == Some(1), || {
        lossy!("P1: whether a value is there is an i1, or a tensor of i1 shaped like {value}, got {valid}")
    })
}
