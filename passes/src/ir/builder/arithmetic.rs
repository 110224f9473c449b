//! Constants, and what is computed of integers and indices: `arith` ops.

use super::Builder;
use crate::ir::raw::lasting;
use melior::dialect::arith::CmpiPredicate;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::{Type, Value, ValueLike};

impl<'c> Builder<'c> {
    /// An `arith.constant` of an integer or index type.
    pub fn constant(&self, ty: Type<'c>, value: i64) -> Value<'c, 'c> {
        self.value("arith.constant", &[], ty, &[("value", IntegerAttribute::new(ty, value).into())])
    }

    /// A constant `i64`.
    pub fn i64(&self, value: i64) -> Value<'c, 'c> {
        self.constant(self.int(64), value)
    }

    /// A constant `i32`.
    pub fn i32(&self, value: i64) -> Value<'c, 'c> {
        self.constant(self.int(32), value)
    }

    /// A constant `index`.
    pub fn index_constant(&self, value: i64) -> Value<'c, 'c> {
        self.constant(self.index(), value)
    }

    /// An arith op of two operands of one type.
    pub fn binary(&self, name: &str, lhs: Value<'c, '_>, rhs: Value<'c, '_>) -> Value<'c, 'c> {
        self.value(name, &[lhs, rhs], lhs.r#type(), &[])
    }

    /// `lhs + rhs`.
    pub fn add(&self, lhs: Value<'c, '_>, rhs: Value<'c, '_>) -> Value<'c, 'c> {
        self.binary("arith.addi", lhs, rhs)
    }

    /// `lhs * rhs`.
    pub fn mul(&self, lhs: Value<'c, '_>, rhs: Value<'c, '_>) -> Value<'c, 'c> {
        self.binary("arith.muli", lhs, rhs)
    }

    /// A comparison of two integers or indices, `i1`.
    pub fn compare(&self, predicate: CmpiPredicate, lhs: Value<'c, '_>, rhs: Value<'c, '_>) -> Value<'c, 'c> {
        let predicate = self.integer(64, predicate as i64);
        self.value("arith.cmpi", &[lhs, rhs], self.int(1), &[("predicate", predicate)])
    }

    /// The other truth value.
    pub fn not(&self, truth: Value<'c, '_>) -> Value<'c, 'c> {
        self.binary("arith.xori", truth, self.constant(self.int(1), 1))
    }

    /// An integer as `index`, sign-extended.
    pub fn as_index(&self, value: Value<'c, '_>) -> Value<'c, 'c> {
        self.value("arith.index_cast", &[value], self.index(), &[])
    }

    /// An integer or index value as `i64`, sign-extended.
    pub fn as_i64(&self, value: Value<'c, '_>) -> Value<'c, 'c> {
        let ty = value.r#type();
        if ty == self.int(64) {
            return lasting(value);
        }
        let name = if ty == self.index() { "arith.index_cast" } else { "arith.extsi" };
        self.value(name, &[value], self.int(64), &[])
    }
}
