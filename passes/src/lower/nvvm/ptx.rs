//! PTX text: its names for orders and types, and how it stands in MLIR.

use crate::ir::Builder;
use melior::ir::{Type, TypeLike, Value, ValueLike, operation::OperationLike};
use symm_dialect::ops::{Order, RmwKind};
use symm_dialect::shape::byte_width;

/// The PTX name of an order.
pub fn order_name(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "relaxed",
        Order::Acquire => "acquire",
        Order::Release => "release",
        Order::AcqRel => "acq_rel",
    }
}

/// The PTX type and the register constraint of an atomic on `ty`.
pub fn atomic_type(kind: RmwKind, ty: Type) -> (&'static str, &'static str) {
    let wide = byte_width(ty) == 8;
    match kind {
        RmwKind::FAdd if ty.is_f64() => ("f64", "d"),
        RmwKind::FAdd if ty.is_f32() => ("f32", "f"),
        RmwKind::FAdd if ty.is_f16() => ("noftz.f16", "h"),
        RmwKind::FAdd => ("noftz.bf16", "h"),
        RmwKind::Xchg if ty.is_f64() => ("b64", "d"),
        RmwKind::Xchg if ty.is_f32() => ("b32", "f"),
        RmwKind::And | RmwKind::Or | RmwKind::Xor | RmwKind::Xchg if wide => ("b64", "l"),
        RmwKind::And | RmwKind::Or | RmwKind::Xor | RmwKind::Xchg => ("b32", "r"),
        RmwKind::Min | RmwKind::Max if wide => ("s64", "l"),
        RmwKind::Min | RmwKind::Max => ("s32", "r"),
        _ if wide => ("u64", "l"),
        _ => ("u32", "r"),
    }
}

/// The same bits as a value of another type.
pub fn bitcast<'c>(b: &Builder<'c>, value: Value<'c, 'c>, ty: Type<'c>) -> Value<'c, 'c> {
    if value.r#type() == ty { value } else { b.value("llvm.bitcast", &[value], ty, &[]) }
}

/// PTX text; it has side effects and may read or write any memory.
pub fn inline<'c>(
    b: &Builder<'c>,
    text: &str,
    constraints: &str,
    operands: &[Value<'c, 'c>],
    result: Option<Type<'c>>,
) -> Option<Value<'c, 'c>> {
    let attributes =
        [("asm_string", b.string(text)), ("constraints", b.string(constraints)), ("has_side_effects", b.unit())];
    let results: Vec<Type> = result.into_iter().collect();
    b.op("llvm.inline_asm", operands, &results, &attributes).results().next().map(Into::into)
}
