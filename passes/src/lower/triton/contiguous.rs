//! Blocks that are contiguous by how they are made: of scalars and of one range, as `p + start + arange`.
//!
//! Their first and their last element are computed from the scalars, without a reduction over the block. Narrow
//! arithmetic may wrap around on the way, once at most; then the last element is not where it should be, and the
//! comparison of both ends tells.

use crate::ir::{Builder, definition, lasting, name, splat_value};
use melior::dialect::arith::CmpiPredicate;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value, ValueLike};
use symm_dialect::shape::{Shaped, integer_width, scalar};

/// How many ops are looked through, one after the other.
const MOST_STEPS: usize = 16;

/// `arith.cmpi`'s predicates, as numbers.
const LESS: [(i64, &str); 2] = [(CmpiPredicate::Slt as i64, "arith.extsi"), (CmpiPredicate::Ult as i64, "arith.extui")];

/// The elements of a block of pointers that a copy is about.
#[derive(Clone, Copy)]
pub struct Run<'c> {
    /// The first pointer.
    pub first: Value<'c, 'c>,
    /// Whether the others follow it, `i1`.
    pub follows: Value<'c, 'c>,
}

/// The elements of a mask that are on.
#[derive(Clone, Copy)]
pub struct Prefix<'c> {
    /// How many, from the first one on, `i64`.
    pub count: Value<'c, 'c>,
    /// Whether all others are off, `i1`.
    pub is_prefix: Value<'c, 'c>,
}

/// A block of pointers to elements of `size` bytes; `None` where it is made in another way.
pub fn pointers<'c>(b: &Builder<'c>, block: Value<'c, '_>, size: u64) -> Option<Run<'c>> {
    let length = length(block)?;
    if !holds_range(block, MOST_STEPS)? {
        return None;
    }
    let [first, last] = [0, length - 1].map(|index| element(b, block, index));
    let [start, end] = [first, last].map(|pointer| b.value("tt.ptr_to_int", &[pointer], b.int(64), &[]));
    let expected = b.add(start, b.i64((length - 1) * size.cast_signed()));
    Some(Run { first, follows: b.compare(CmpiPredicate::Eq, end, expected) })
}

/// What is on of a block without a mask.
pub fn all<'c>(b: &Builder<'c>, block: Value<'c, '_>) -> Option<Prefix<'c>> {
    Some(Prefix { count: b.i64(length(block)?), is_prefix: b.constant(b.int(1), 1) })
}

/// A mask that is made of comparisons of ranges with scalars; `None` where it is made in another way.
pub fn prefix<'c>(b: &Builder<'c>, mask: Value<'c, '_>) -> Option<Prefix<'c>> {
    let length = length(mask)?;
    let op = definition(mask)?;
    let operands: Vec<_> = op.operands().collect();
    match name(op) {
        "ttg.convert_layout" => prefix(b, operands[0]),
        "tt.splat" => {
            let (all, none) = (b.i64(length), b.i64(0));
            let count = b.value("arith.select", &[lasting(operands[0]), all, none], b.int(64), &[]);
            Some(Prefix { count, is_prefix: b.constant(b.int(1), 1) })
        }
        "arith.andi" => {
            let (one, other) = (prefix(b, operands[0])?, prefix(b, operands[1])?);
            let count = b.binary("arith.minui", one.count, other.count);
            Some(Prefix { count, is_prefix: b.binary("arith.andi", one.is_prefix, other.is_prefix) })
        }
        "arith.cmpi" => below(b, op, length),
        _ => None,
    }
}

/// The elements of a range that are less than a scalar.
fn below<'c: 'a, 'a>(b: &Builder<'c>, op: OperationRef<'c, 'a>, length: i64) -> Option<Prefix<'c>> {
    let predicate = IntegerAttribute::try_from(op.attribute("predicate").ok()?).ok()?.value();
    let extension = LESS.iter().find_map(|(number, extension)| (*number == predicate).then_some(*extension))?;
    let (range, limit) = (op.operand(0).ok()?, op.operand(1).ok()?);
    if !holds_range(range, MOST_STEPS)? || holds_range(limit, MOST_STEPS)? {
        return None;
    }
    let wide = |value: Value<'c, 'c>| match integer_width(value.r#type()) {
        Some(64) => value,
        _ => b.value(extension, &[value], b.int(64), &[]),
    };
    let [first, last, limit] =
        [(range, 0), (range, length - 1), (limit, 0)].map(|(value, index)| wide(element(b, value, index)));
    let is_less = if extension == "arith.extsi" { CmpiPredicate::Slt } else { CmpiPredicate::Ult };
    let is_prefix = b.compare(CmpiPredicate::Eq, last, b.add(first, b.i64(length - 1)));
    // Of 64 bits a range may pass the largest number, too.
    let is_prefix = b.binary("arith.andi", is_prefix, b.not(b.compare(is_less, last, first)));
    let some = b.binary("arith.minui", b.binary("arith.subi", limit, first), b.i64(length));
    let some_are = b.compare(is_less, first, limit);
    let count = b.value("arith.select", &[some_are, some, b.i64(0)], b.int(64), &[]);
    Some(Prefix { count, is_prefix })
}

/// The elements of a block of one dimension.
fn length(block: Value) -> Option<i64> {
    match Shaped::tensor(block.r#type())?.dimensions()[..] {
        [Some(length)] => i64::try_from(length).ok(),
        _ => None,
    }
}

/// Whether the elements of a block are a range plus something that is the same for all of them, or are the same;
/// `None` where they may be anything.
fn holds_range(block: Value, steps: usize) -> Option<bool> {
    let op = definition(block)?;
    let operand = |index| op.operand(index).ok().filter(|_| steps > 0).and_then(|value| holds_range(value, steps - 1));
    match name(op) {
        "tt.make_range" => Some(true),
        "tt.splat" => Some(false),
        "arith.constant" => splat_value(op).map(|_| false),
        "ttg.convert_layout" | "arith.extsi" | "arith.extui" => operand(0),
        "tt.addptr" | "arith.addi" => match (operand(0)?, operand(1)?) {
            (true, true) => None,
            (one, other) => Some(one || other),
        },
        "arith.subi" => operand(0).filter(|_| operand(1) == Some(false)),
        "arith.muli" => operand(0).filter(|range| !range && operand(1) == Some(false)),
        _ => None,
    }
}

/// An element of a block of which [`holds_range`] knows how it is made.
fn element<'c>(b: &Builder<'c>, block: Value<'c, '_>, index: i64) -> Value<'c, 'c> {
    let op = definition(block).expect("it was looked at");
    let operands: Vec<_> = op.operands().collect();
    let ty = scalar(block.r#type());
    match name(op) {
        "tt.make_range" => {
            let start = op.attribute("start").ok().and_then(|start| IntegerAttribute::try_from(start).ok());
            b.constant(ty, start.map_or(0, |start| start.value()) + index)
        }
        "tt.splat" => lasting(operands[0]),
        "arith.constant" => b.constant(ty, splat_value(op).expect("it was looked at")),
        "ttg.convert_layout" => element(b, operands[0], index),
        other => {
            let operands: Vec<_> = operands.into_iter().map(|operand| element(b, operand, index)).collect();
            let ty = if other == "tt.addptr" { operands[0].r#type() } else { ty };
            b.value(other, &operands, ty, &[])
        }
    }
}
