//! One view per op, and one enum per keyword set: generated from `td/` by `build/views.rs`.

use crate::access;
use melior::ir::{OperationRef, Type, Value, operation::OperationLike};

/// How many values an operand name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// Exactly one.
    One,
    /// None or one.
    Optional,
    /// Any number.
    Variadic,
}

/// A named group of operands of an op.
#[derive(Clone, Copy, Debug)]
pub struct Operands {
    /// The name in `td/`.
    pub name: &'static str,
    /// How many values it stands for.
    pub arity: Arity,
}

/// An attribute of an op.
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    /// The name in `td/`.
    pub name: &'static str,
    /// What it holds.
    pub form: Form,
}

/// What an attribute holds.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// Nothing: it is there or not.
    Flag,
    /// An `i64`.
    Integer,
    /// A string.
    String,
    /// A type.
    Type,
    /// One of these keywords, as its number, an `i32`.
    Keyword(&'static [(&'static str, i64)]),
}

/// What `td/` says of an op.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// The name of its operations.
    pub name: &'static str,
    /// The operands, in order.
    pub operands: &'static [Operands],
    /// The attributes.
    pub attributes: &'static [Attribute],
}

/// Whether an op with these operands keeps how many values each of them stands for. With one of varying number, MLIR
/// counts.
#[must_use]
pub fn has_segments(operands: &[Operands]) -> bool {
    operands.iter().filter(|operands| operands.arity != Arity::One).count() > 1
}

include!(concat!(env!("OUT_DIR"), "/views.rs"));

impl<'c: 'a, 'a> SymmOp<'c, 'a> {
    /// The values of the operand `name`; empty if it is absent, or if the op has none of that name.
    #[must_use]
    pub fn operand_group(self, name: &str) -> Vec<Value<'c, 'a>> {
        match self.operands().iter().position(|group| group.name == name) {
            Some(index) => access::all(self.operation(), self.operands(), index),
            None => Vec::new(),
        }
    }

    /// Every translation the op makes: the names of its rank operand and of its distance operand.
    #[must_use]
    pub fn translations(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Copy(_) => &[("from", "from_delta"), ("to", "to_delta")],
            _ if self.operands().iter().any(|group| group.name == "delta") => &[("rank", "delta")],
            _ => &[],
        }
    }

    /// The device context that the op takes, if it takes one.
    #[must_use]
    pub fn ctx(self) -> Option<Value<'c, 'a>> {
        self.operand_group("ctx").first().copied()
    }
}
