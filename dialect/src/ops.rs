//! One view per op, and one enum per keyword set: generated from `td/` by `build/views.rs`.

#![expect(
    clippy::match_same_arms,
    clippy::elidable_lifetime_names,
    reason = "what build.rs writes has an arm for each op, and both lifetimes for each view"
)]

use crate::access;
use crate::make::{self, Make};
use melior::Context;
use melior::ir::{Attribute as MlirAttribute, OperationRef, Type, Value, operation::OperationLike};

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
    /// Nothing: a unit attribute.
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
    /// The operands that point to what the op writes.
    pub written: &'static [&'static str],
}

/// Whether an op with these operands stores their segment sizes. With a single variable group, MLIR derives them.
#[must_use]
pub fn has_segments(operands: &[Operands]) -> bool {
    operands.iter().filter(|operands| operands.arity != Arity::One).count() > 1
}

/// What an op does to the memory that one of its operands points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The name of the operand.
    pub pointer: &'static str,
    /// Whether it reads there.
    pub reads: bool,
    /// Whether it writes there.
    pub writes: bool,
    /// Whether the memory is a flag, which orders and holds no data.
    pub is_flag: bool,
    /// The names of the operands for the rank and for the distance, if it is another rank's memory.
    pub way: Option<(&'static str, &'static str)>,
}

impl Access {
    /// Whether the memory is on the symmetric heap: a peer's, or a flag, which peers set.
    #[must_use]
    pub fn is_on_heap(&self) -> bool {
        self.way.is_some() || self.is_flag
    }
}

/// One end of a bulk copy.
#[derive(Clone, Copy)]
pub struct End<'c, 'a> {
    /// Where it is, on this rank.
    pub pointer: Value<'c, 'a>,
    /// The names of the operands for the rank and for the distance, if it is on another rank.
    pub way: Option<(&'static str, &'static str)>,
}

/// Which ends of a bulk copy are on other ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// The source.
    Get,
    /// The destination.
    Put,
    /// Both.
    Copy,
}

impl Order {
    /// Whether it acquires: later accesses stay after it.
    #[must_use]
    pub fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcqRel)
    }

    /// Whether it releases: earlier accesses stay before it.
    #[must_use]
    pub fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcqRel)
    }
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

    /// Whether it reads data or a flag.
    #[must_use]
    pub fn reads(self) -> bool {
        self.accesses().iter().any(|access| access.reads)
    }

    /// Whether it writes data or a flag.
    #[must_use]
    pub fn writes(self) -> bool {
        self.accesses().iter().any(|access| access.writes)
    }

    /// Whether it reads or writes data, and not flags alone.
    #[must_use]
    pub fn accesses_data(self) -> bool {
        self.accesses().iter().any(|access| !access.is_flag)
    }

    /// Whether it writes data.
    #[must_use]
    pub fn writes_data(self) -> bool {
        self.accesses().iter().any(|access| access.writes && !access.is_flag)
    }

    /// Whether accesses around it may be ordered: it acquires or releases, or is a wait, even a relaxed one, after
    /// which a fence acquires.
    #[must_use]
    pub fn orders(self) -> bool {
        self.acquires() || self.releases() || self.waits() && self.sem().is_some()
    }

    /// Whether it reads memory that peers write concurrently: its flag, or its packets.
    #[must_use]
    pub fn polls(self) -> bool {
        self.accesses().iter().any(|access| access.is_flag && access.reads)
    }

    /// Source and destination of a bulk copy; `None` for any other op.
    #[must_use]
    pub fn ends(self) -> Option<(End<'c, 'a>, End<'c, 'a>)> {
        self.engine()?;
        Some((self.end("src")?, self.end("dst")?))
    }

    /// Which ends of a bulk copy are on other ranks; `None` for any other op.
    #[must_use]
    pub fn route(self) -> Option<Route> {
        let (src, dst) = self.ends()?;
        match (src.way, dst.way) {
            (Some(_), None) => Some(Route::Get),
            (None, Some(_)) => Some(Route::Put),
            (Some(_), Some(_)) => Some(Route::Copy),
            (None, None) => None,
        }
    }

    fn end(self, name: &str) -> Option<End<'c, 'a>> {
        let access = self.accesses().iter().find(|access| access.pointer == name)?;
        Some(End { pointer: self.operand_group(name).first().copied()?, way: access.way })
    }
}
