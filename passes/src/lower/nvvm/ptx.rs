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

/// The two words of 32 bits in one of 64, the lower one first.
pub fn words<'c>(b: &Builder<'c>, half: Value<'c, 'c>) -> [Value<'c, 'c>; 2] {
    let upper = b.binary("arith.shrui", half, b.i64(32));
    [half, upper].map(|word| b.value("arith.trunci", &[word], b.int(32), &[]))
}

/// The word of 64 bits that two of 32 bits make.
pub fn half<'c>(b: &Builder<'c>, words: [Value<'c, 'c>; 2]) -> Value<'c, 'c> {
    let [low, high] = words.map(|word| b.value("arith.extui", &[word], b.int(64), &[]));
    b.binary("arith.ori", low, b.binary("arith.shli", high, b.i64(32)))
}
