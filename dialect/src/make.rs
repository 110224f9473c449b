//! Making operations of this dialect from their parts, which `ops` has for each op.

use crate::access::SEGMENTS;
use crate::ops::{Operands, has_segments};
use melior::Context;
use melior::ir::attribute::{DenseI32ArrayAttribute, IntegerAttribute, StringAttribute, TypeAttribute};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Type, Value};

/// The parts of an operation.
pub trait Make<'c, 'a> {
    /// Its name.
    const NAME: &'static str;
    /// The names of its operands, in order.
    const OPERANDS: &'static [Operands];

    /// The values of each operand.
    fn values(&self) -> Vec<Vec<Value<'c, 'a>>>;

    /// The attributes that the assembly names, but for those with their default.
    fn named(&self, context: &'c Context) -> Vec<(&'static str, Attribute<'c>)>;

    /// All values, in order.
    fn operands(&self) -> Vec<Value<'c, 'a>> {
        self.values().concat()
    }

    /// All attributes, with the one that says how many values each operand has.
    fn attributes(&self, context: &'c Context) -> Vec<(&'static str, Attribute<'c>)> {
        let mut attributes = self.named(context);
        if has_segments(Self::OPERANDS) {
            let sizes: Vec<i32> =
                self.values().iter().map(|values| i32::try_from(values.len()).unwrap_or(i32::MAX)).collect();
            attributes.push((SEGMENTS, DenseI32ArrayAttribute::new(context, &sizes).into()));
        }
        attributes
    }
}

/// An integer of this many bits.
pub(crate) fn integer(context: &Context, bits: u32, value: i64) -> Attribute<'_> {
    IntegerAttribute::new(IntegerType::new(context, bits).into(), value).into()
}

pub(crate) fn string<'c>(context: &'c Context, text: &str) -> Attribute<'c> {
    StringAttribute::new(context, text).into()
}

pub(crate) fn ty(ty: Type) -> Attribute {
    TypeAttribute::new(ty).into()
}
