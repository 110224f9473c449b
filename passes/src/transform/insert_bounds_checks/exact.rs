//! Sums and products of 64 bits that know whether they have wrapped around.

use crate::ir::address::Descriptor;
use crate::ir::{Builder, constant_value};
use melior::dialect::arith::CmpiPredicate;
use melior::ir::Value;

/// The magnitude below which a few numbers can be added up: addresses and what lies between them are.
const MOST: i64 = 1 << 58;

/// A number, and whether it has wrapped around on the way.
#[derive(Clone, Copy)]
pub struct Exact<'c> {
    value: Value<'c, 'c>,
    wrapped: Option<Value<'c, 'c>>,
    /// Whether it is known to be less than [`MOST`] away from zero.
    is_small: bool,
}

impl<'c> Exact<'c> {
    /// A constant.
    pub fn constant(b: &Builder<'c>, value: i64) -> Self {
        Self { value: b.i64(value), wrapped: None, is_small: value.unsigned_abs() < MOST.unsigned_abs() }
    }

    /// An address, or what lies between two.
    pub fn address(value: Value<'c, 'c>) -> Self {
        Self { value, wrapped: None, is_small: true }
    }

    /// Any number, `i64`.
    pub fn any(b: &Builder<'c>, value: Value<'c, 'c>) -> Self {
        constant_value(value).map_or(Self { value, wrapped: None, is_small: false }, |value| Self::constant(b, value))
    }

    /// A result of it and another number, which wraps around where it is said.
    fn with(self, b: &Builder<'c>, other: Self, value: Value<'c, 'c>, wraps: Option<Value<'c, 'c>>) -> Self {
        let all = [self.wrapped, other.wrapped, wraps].into_iter().flatten();
        let wrapped = all.reduce(|one, other| b.binary("arith.ori", one, other));
        Self { value, wrapped, is_small: wraps.is_none() }
    }

    /// The sum.
    pub fn add(self, b: &Builder<'c>, other: Self) -> Self {
        match (constant_value(self.value), constant_value(other.value)) {
            (Some(0), _) => return other.with(b, self, other.value, None).as_small_as(other),
            (_, Some(0)) => return self.with(b, other, self.value, None).as_small_as(self),
            (Some(one), Some(other)) if one.checked_add(other).is_some() => return Self::constant(b, one + other),
            _ => {}
        }
        let sum = b.add(self.value, other.value);
        if self.is_small && other.is_small {
            return self.with(b, other, sum, None);
        }
        // It has wrapped around where both have another sign than the sum.
        let differs = |one: Self| b.binary("arith.xori", one.value, sum);
        let both = b.binary("arith.andi", differs(self), differs(other));
        self.with(b, other, sum, Some(b.compare(CmpiPredicate::Slt, both, b.i64(0))))
    }

    /// The product.
    pub fn multiply(self, b: &Builder<'c>, other: Self) -> Self {
        match (constant_value(self.value), constant_value(other.value)) {
            (Some(one), Some(other)) if one.checked_mul(other).is_some() => return Self::constant(b, one * other),
            (Some(1), _) => return other.with(b, self, other.value, None).as_small_as(other),
            (_, Some(1)) => return self.with(b, other, self.value, None).as_small_as(self),
            _ => {}
        }
        let operation = b.op("arith.mulsi_extended", &[self.value, other.value], &[b.int(64), b.int(64)], &[]);
        let half = |index| operation.result(index).expect("a product has two halves").into();
        let (low, high): (Value, Value) = (half(0), half(1));
        let sign = b.binary("arith.shrsi", low, b.i64(63));
        self.with(b, other, low, Some(b.compare(CmpiPredicate::Ne, high, sign)))
    }

    fn as_small_as(self, other: Self) -> Self {
        Self { is_small: other.is_small, ..self }
    }

    /// It as `i64`: the greatest one where it has wrapped around.
    pub fn saturated(self, b: &Builder<'c>) -> Value<'c, 'c> {
        match self.wrapped {
            Some(wrapped) => b.value("arith.select", &[wrapped, b.i64(i64::MAX), self.value], b.int(64), &[]),
            None => self.value,
        }
    }
}

/// Where element `indices` of a memref lies, in elements from the aligned pointer.
pub fn linear<'c>(b: &Builder<'c>, memref: &Descriptor<'c>, indices: &[Value<'c, '_>]) -> Exact<'c> {
    let offset = Exact::any(b, memref.offset(b));
    indices.iter().enumerate().fold(offset, |sum, (dimension, index)| {
        let stride = Exact::any(b, memref.stride(b, dimension));
        sum.add(b, Exact::any(b, b.as_i64(*index)).multiply(b, stride))
    })
}

/// The memory that this many elements of each dimension take with a memref's strides: how many elements the lowest of
/// them lies before the one with indices zero, and the elements from there to the end of the highest, none where a size
/// is zero.
pub fn span<'c>(b: &Builder<'c>, memref: &Descriptor<'c>, sizes: &[Value<'c, 'c>]) -> (Exact<'c>, Exact<'c>) {
    let (zero, one) = (b.i64(0), Exact::constant(b, 1));
    let (mut before, mut after, mut count) = (Exact::constant(b, 0), one, one);
    for (dimension, size) in sizes.iter().enumerate() {
        let steps = Exact::any(b, b.binary("arith.subi", *size, one.value));
        let stride = memref.stride(b, dimension);
        let back = b.binary("arith.subi", zero, stride);
        let forth = |stride| steps.multiply(b, Exact::any(b, stride));
        match constant_value(stride) {
            Some(stride) if stride < 0 => before = before.add(b, forth(b.i64(stride.saturating_neg()))),
            Some(_) => after = after.add(b, forth(stride)),
            None => {
                before = before.add(b, forth(b.binary("arith.maxsi", back, zero)));
                after = after.add(b, forth(b.binary("arith.maxsi", stride, zero)));
            }
        }
        count = count.multiply(b, Exact::any(b, *size));
    }
    let empty = b.compare(CmpiPredicate::Eq, count.saturated(b), zero);
    let span = before.add(b, after).saturated(b);
    let elements = b.value("arith.select", &[empty, zero, span], b.int(64), &[]);
    (before, Exact::any(b, elements))
}
