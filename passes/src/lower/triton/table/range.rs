//! Ranks that may be out of range.

use super::LoadedTable;
use crate::ir::{Builder, constant_value, lasting};
use melior::dialect::arith::CmpiPredicate;
use melior::ir::Value;

impl<'c: 'a, 'a> LoadedTable<'c, 'a> {
    /// What `look_up` finds for a rank, or `otherwise` if it is out of range: hoisted above the code that checks it, a
    /// rank may be anything, and only entries that exist are read.
    pub(super) fn guarded(
        &mut self,
        b: &Builder<'c>,
        rank: Value<'c, 'a>,
        look_up: impl FnOnce(&Self, Value<'c, 'c>) -> Value<'c, 'c>,
        otherwise: i64,
    ) -> Value<'c, 'c> {
        if self.is_known_in_range(rank) {
            return look_up(self, lasting(rank));
        }
        let ranks = self.num_ranks();
        let in_range = b.compare(CmpiPredicate::Ult, rank, ranks);
        let index = b.value("arith.select", &[in_range, rank, b.i32(0)], b.int(32), &[]);
        let found = look_up(self, index);
        b.value("arith.select", &[in_range, found, b.i64(otherwise)], b.int(64), &[])
    }

    /// `value`, or `otherwise` if the rank is out of range.
    pub(super) fn if_in_range(
        &mut self,
        b: &Builder<'c>,
        rank: Value<'c, 'a>,
        value: Value<'c, 'c>,
        otherwise: i64,
    ) -> Value<'c, 'c> {
        if self.is_known_in_range(rank) {
            return value;
        }
        let in_range = b.compare(CmpiPredicate::Ult, rank, self.num_ranks());
        b.value("arith.select", &[in_range, value, b.i64(otherwise)], b.int(64), &[])
    }

    /// Whether a rank is known at compile time to be in range.
    pub(super) fn is_known_in_range(&self, rank: Value<'c, 'a>) -> bool {
        match (constant_value(rank), self.num_ranks) {
            (Some(rank), Some(ranks)) => (0..ranks).contains(&rank),
            (Some(0), None) => true,
            _ => false,
        }
    }
}
