//! What bounds become where their values are computed with.

use super::{Extent, Extents, MOST_FACTOR};
use melior::dialect::arith::CmpiPredicate;
use melior::ir::Value;

impl<'c> Extents<'c, '_> {
    pub(super) fn sum(&self, one: Extent<'c>, other: Extent<'c>) -> Extent<'c> {
        self.ends("arith.addi", one, other)
    }

    /// What an operation makes of the lower ends, and of the higher ones.
    pub(super) fn ends(&self, name: &str, one: Extent<'c>, other: Extent<'c>) -> Extent<'c> {
        let low = self.b.binary(name, one.low, other.low);
        let high = if one.is_one() && other.is_one() { low } else { self.b.binary(name, one.high, other.high) };
        Extent { low, high }
    }

    pub(super) fn product(&mut self, one: Extent<'c>, other: Extent<'c>, width: u32) -> Extent<'c> {
        if width == 64 {
            self.require_within(one, MOST_FACTOR);
            self.require_within(other, MOST_FACTOR);
        }
        let mut ends = Vec::new();
        for left in one.both() {
            ends.extend(other.both().into_iter().map(|right| self.b.mul(left, right)));
        }
        self.hull(&ends)
    }

    /// The least and the greatest of some values.
    pub(super) fn hull(&self, values: &[Value<'c, 'c>]) -> Extent<'c> {
        let fold = |name| values[1..].iter().fold(values[0], |one, other| self.b.binary(name, one, *other));
        Extent { low: fold("arith.minsi"), high: fold("arith.maxsi") }
    }

    /// Asks for bounds from `-most` on and below `most`.
    pub(super) fn require_within(&mut self, extent: Extent<'c>, most: i64) {
        self.conditions.push(self.b.compare(CmpiPredicate::Sge, extent.low, self.b.i64(-most)));
        self.conditions.push(self.b.compare(CmpiPredicate::Slt, extent.high, self.b.i64(most)));
    }
}
