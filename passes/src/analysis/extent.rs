//! What memory the accesses of a loop may touch, as two addresses that code before the loop computes.
//!
//! A block of pointers is made of one pointer by adding integers. Each integer is followed back to what is known in
//! front of the loop, and its least and its greatest value in all iterations are computed there, in 64 bits. Narrower
//! arithmetic wraps around, and the bounds do not: so each intermediate result's bounds have to lie within its type.
//! What has to hold for the bounds to be right is collected as conditions, which the code that uses them has to check.
//!
//! Limits: sums, differences, products, extensions, smaller and larger of two, choices, and division by what is the
//! same in all iterations; what a loop carries if it adds to it. Of a mask `x < n` over an access, `x` is bounded by
//! `n`.

mod arithmetic;

use crate::ir::triton::spreads;
use crate::ir::{Builder, blocks, constant_value, definition, name, operations, owner, splat_value};
use melior::dialect::arith::CmpiPredicate;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::block::BlockArgument;
use melior::ir::{BlockLike, OperationRef, Value, ValueLike, operation::OperationLike};
use std::collections::HashMap;
use symm_dialect::lossy;
use symm_dialect::ops::SymmOp;
use symm_dialect::pointer::Pointer;
use symm_dialect::shape::{Shaped, byte_width, integer_width, is_data, scalar};

/// The largest magnitude of what is computed in 64 bits: as bytes, and summed up, it is far from wrapping around.
const MOST: i64 = 1 << 58;

/// The largest magnitude of factors of 64 bits, so that the product does not wrap around.
const MOST_FACTOR: i64 = 1 << 30;

/// The least and the greatest value, both `i64`.
#[derive(Clone, Copy)]
pub struct Extent<'c> {
    pub low: Value<'c, 'c>,
    pub high: Value<'c, 'c>,
}

impl<'c> Extent<'c> {
    fn of_one(value: Value<'c, 'c>) -> Self {
        Self { low: value, high: value }
    }

    fn is_one(self) -> bool {
        self.low == self.high
    }

    fn both(self) -> Vec<Value<'c, 'c>> {
        if self.is_one() { vec![self.low] } else { vec![self.low, self.high] }
    }
}

/// Bounds of the values of one loop.
pub struct Extents<'c, 'a> {
    around: OperationRef<'c, 'a>,
    b: Builder<'c>,
    /// What has to hold for the bounds to be right, `i1` each.
    conditions: Vec<Value<'c, 'c>>,
    /// What is known so far for the current access; `None` for what is being computed or unknown.
    known: HashMap<usize, Option<Extent<'c>>>,
    /// The values known to be below others at the current access.
    below: Vec<(Value<'c, 'a>, Value<'c, 'a>)>,
    /// How often the loop comes round after its first iteration.
    rounds: Option<Value<'c, 'c>>,
}

impl<'c: 'a, 'a> Extents<'c, 'a> {
    /// Bounds of what an `scf.for` holds, computed before it.
    pub fn of(around: OperationRef<'c, 'a>) -> Self {
        let (b, known) = (Builder::before(around), HashMap::new());
        Self { around, b, conditions: Vec::new(), known, below: Vec::new(), rounds: None }
    }

    /// What has to hold for all bounds to be right.
    pub fn conditions(&self) -> &[Value<'c, 'c>] {
        &self.conditions
    }

    /// The addresses that an access touches: of its first byte, and after its last one.
    pub fn of_access(
        &mut self,
        pointer: Value<'c, 'a>,
        distance: Option<Value<'c, 'a>>,
        mask: Option<Value<'c, 'a>>,
    ) -> Option<Extent<'c>> {
        self.known.clear();
        self.below.clear();
        if let Some(mask) = mask {
            self.learn(mask);
        }
        // A block pointer points to a block.
        let data = Pointer::of(pointer.r#type()).and_then(Pointer::pointee).filter(|data| is_data(*data))?;
        let mut touched = self.address(pointer)?;
        if let Some(distance) = distance {
            let distance = self.number(distance)?;
            touched = self.sum(touched, distance);
        }
        let end = self.b.add(touched.high, self.b.i64(byte_width(data).cast_signed()));
        Some(Extent { low: touched.low, high: end })
    }

    /// Whether two stretches of memory have nothing in common.
    pub fn are_apart(&self, one: Extent<'c>, other: Extent<'c>) -> Value<'c, 'c> {
        let before = self.b.compare(CmpiPredicate::Sle, one.high, other.low);
        let after = self.b.compare(CmpiPredicate::Sle, other.high, one.low);
        self.b.binary("arith.ori", before, after)
    }

    /// Notes what a mask says about its values.
    fn learn(&mut self, mask: Value<'c, 'a>) {
        let Some(op) = definition(mask) else { return };
        let mut operands = op.operands();
        let (Some(one), Some(other)) = (operands.next(), operands.next()) else { return };
        match name(op) {
            "arith.andi" => {
                self.learn(one);
                self.learn(other);
            }
            "arith.cmpi" if is_less(op) => self.below.push((one, other)),
            _ => {}
        }
    }

    /// Whether a value is the same in all iterations, and one.
    fn is_fixed(&self, value: Value<'c, 'a>) -> bool {
        let block = match definition(value) {
            Some(op) => op.block(),
            None => BlockArgument::try_from(value).ok().map(owner),
        };
        let mut next = block.and_then(|block| block.parent_operation());
        while let Some(op) = next {
            if op == self.around {
                return false;
            }
            next = op.parent_operation();
        }
        block.is_some() && Shaped::tensor(value.r#type()).is_none()
    }

    /// The bounds of pointers, as addresses.
    fn address(&mut self, pointer: Value<'c, 'a>) -> Option<Extent<'c>> {
        if self.is_fixed(pointer) {
            let address = self.b.value("tt.ptr_to_int", &[pointer], self.b.int(64), &[]);
            return Some(Extent::of_one(address));
        }
        self.remembered(pointer, |extents| {
            let Some(op) = definition(pointer) else { return extents.carried(pointer) };
            let first = op.operands().next()?;
            match SymmOp::cast(op) {
                Some(SymmOp::AsRemote(remote)) => {
                    let (base, distance) = (extents.address(remote.ptr())?, remote.delta()?);
                    let distance = extents.number(distance)?;
                    Some(extents.sum(base, distance))
                }
                None if name(op) == "tt.addptr" => {
                    let (base, moved) = (extents.address(first)?, extents.moved(op)?);
                    Some(extents.sum(base, moved))
                }
                None if spreads(name(op)) || name(op) == "tt.bitcast" => extents.address(first),
                _ => None,
            }
        })
    }

    /// The bounds of what an addition to a pointer moves it by, in bytes.
    fn moved(&mut self, addition: OperationRef<'c, 'a>) -> Option<Extent<'c>> {
        let pointer = addition.operands().next()?;
        let size = Pointer::of(pointer.r#type()).and_then(Pointer::pointee).map(byte_width)?;
        let elements = self.number(addition.operands().nth(1)?)?;
        let size = Extent::of_one(self.b.i64(size.cast_signed()));
        Some(self.ends("arith.muli", elements, size))
    }

    /// The bounds of integers.
    fn number(&mut self, value: Value<'c, 'a>) -> Option<Extent<'c>> {
        let element = scalar(value.r#type());
        let width = integer_width(element).filter(|width| (8..=64).contains(width))?;
        if self.is_fixed(value) {
            let wide = self.b.as_i64(value);
            let extent = Extent::of_one(wide);
            if width == 64 && constant_value(value).is_none() {
                self.require_within(extent, MOST);
            }
            return Some(extent);
        }
        self.remembered(value, |extents| {
            let Some(op) = definition(value) else { return extents.carried(value) };
            let extent = extents.computed(op, width)?;
            Some(extents.bounded(value, extent))
        })
    }

    /// The bounds of what an operation in the loop computes.
    fn computed(&mut self, op: OperationRef<'c, 'a>, width: u32) -> Option<Extent<'c>> {
        let operand = |index| op.operands().nth(index);
        let name = name(op);
        if spreads(name) || matches!(name, "arith.extsi" | "arith.bitcast") {
            let from = operand(0)?;
            return integer_width(scalar(from.r#type())).and_then(|_| self.number(from));
        }
        let extent = match name {
            "arith.constant" => {
                let number = constant_value(op.result(0).ok()?.into()).or_else(|| splat_value(op))?;
                let number = self.b.i64(number);
                return Some(Extent::of_one(number));
            }
            "tt.make_range" => {
                let end = |name| lossy_attribute(op, name).split(' ').next().and_then(|word| word.parse::<i64>().ok());
                return Some(Extent { low: self.b.i64(end("start")?), high: self.b.i64(end("end")? - 1) });
            }
            "arith.select" => {
                let (one, other) = (self.number(operand(1)?)?, self.number(operand(2)?)?);
                return Some(self.hull(&[one.low, other.low, one.high, other.high]));
            }
            "arith.minsi" | "arith.maxsi" | "arith.addi" => {
                let (one, other) = (self.number(operand(0)?)?, self.number(operand(1)?)?);
                self.ends(name, one, other)
            }
            "arith.subi" => {
                let (one, other) = (self.number(operand(0)?)?, self.number(operand(1)?)?);
                self.ends(name, one, Extent { low: other.high, high: other.low })
            }
            "arith.muli" => {
                let (one, other) = (self.number(operand(0)?)?, self.number(operand(1)?)?);
                self.product(one, other, width)
            }
            "arith.divsi" | "arith.remsi" => return self.divided(op),
            _ => return None,
        };
        let most = if width == 64 { MOST } else { 1 << (width - 1) };
        self.require_within(extent, most);
        Some(extent)
    }

    /// The bounds of a quotient or of what a division leaves, by what is the same in all iterations and above zero.
    fn divided(&mut self, op: OperationRef<'c, 'a>) -> Option<Extent<'c>> {
        let (dividend, divisor) = (self.number(op.operands().next()?)?, self.number(op.operands().nth(1)?)?);
        if !divisor.is_one() {
            return None;
        }
        let (zero, one) = (self.b.i64(0), self.b.i64(1));
        let is_above_zero = self.b.compare(CmpiPredicate::Sgt, divisor.low, zero);
        self.conditions.push(is_above_zero);
        // What is computed before the loop must be defined where the loop is not reached.
        let divisor = self.b.binary("arith.maxsi", divisor.low, one);
        if name(op) == "arith.divsi" {
            let each = |end| self.b.binary("arith.divsi", end, divisor);
            return Some(Extent { low: each(dividend.low), high: each(dividend.high) });
        }
        let most = self.b.binary("arith.subi", divisor, one);
        let least = self.b.binary("arith.subi", one, divisor);
        let (smaller, larger) = ("arith.minsi", "arith.maxsi");
        let low = self.b.binary(larger, self.b.binary(smaller, dividend.low, zero), least);
        let high = self.b.binary(smaller, self.b.binary(larger, dividend.high, zero), most);
        Some(Extent { low, high })
    }

    /// The bounds of the loop's counter, or of what it carries around.
    fn carried(&mut self, value: Value<'c, 'a>) -> Option<Extent<'c>> {
        let argument = value.is_block_argument().then(|| BlockArgument::try_from(value).ok())??;
        if owner(argument).parent_operation() != Some(self.around) {
            return None;
        }
        let Some(number) = argument.argument_number().checked_sub(1) else { return self.counter() };
        let start = self.around.operands().nth(3 + number)?;
        let is_pointer = Pointer::of(value.r#type()).is_some();
        let first = if is_pointer { self.address(start)? } else { self.number(start)? };
        // In Triton's text `scf` is unknown, and so is which op ends a block.
        let next = operations(*blocks(self.around).first()?).last()?.operands().nth(number)?;
        if next == value {
            return Some(first);
        }
        let step = self.steps_from(value, next)?;
        let rounds = self.rounds()?;
        self.require_within(step, MOST_FACTOR);
        self.require_within(Extent::of_one(rounds), MOST_FACTOR);
        let zero = self.b.i64(0);
        let down = self.b.binary("arith.minsi", self.b.mul(step.low, rounds), zero);
        let up = self.b.binary("arith.maxsi", self.b.mul(step.high, rounds), zero);
        let extent = self.sum(first, Extent { low: down, high: up });
        if !is_pointer {
            let width = integer_width(scalar(value.r#type()))?;
            self.require_within(extent, if width == 64 { MOST } else { 1 << (width - 1) });
        }
        Some(self.bounded(value, extent))
    }

    /// The bounds of what is added to a carried value in an iteration, to pointers in bytes.
    fn steps_from(&mut self, value: Value<'c, 'a>, next: Value<'c, 'a>) -> Option<Extent<'c>> {
        if next == value {
            return Some(Extent::of_one(self.b.i64(0)));
        }
        let op = definition(next)?;
        let (first, second) = (op.operands().next()?, op.operands().nth(1)?);
        let (before, step) = match name(op) {
            "tt.addptr" => (self.steps_from(value, first)?, self.moved(op)?),
            "arith.addi" => match self.steps_from(value, first) {
                Some(before) => (before, self.number(second)?),
                None => (self.steps_from(value, second)?, self.number(first)?),
            },
            _ => return None,
        };
        Some(self.sum(before, step))
    }

    /// The bounds of the loop's counter. Without an iteration they may be anything.
    fn counter(&mut self) -> Option<Extent<'c>> {
        let rounds = self.rounds()?;
        let (start, step) = (self.end(0)?, self.end(2)?);
        let extent = Extent { low: start, high: self.b.add(start, self.b.mul(rounds, step)) };
        let counter = blocks(self.around).first()?.argument(0).ok()?;
        Some(self.bounded(counter.into(), extent))
    }

    /// A bound of the loop or its step, `i64`.
    fn end(&mut self, index: usize) -> Option<Value<'c, 'c>> {
        let value = self.around.operands().nth(index)?;
        Some(self.number(value)?.low)
    }

    /// How often the loop comes round after its first iteration, `i64`.
    fn rounds(&mut self) -> Option<Value<'c, 'c>> {
        if self.rounds.is_none() {
            let (lower, upper, step) = (self.end(0)?, self.end(1)?, self.end(2)?);
            let (zero, one) = (self.b.i64(0), self.b.i64(1));
            self.conditions.push(self.b.compare(CmpiPredicate::Sgt, step, zero));
            let step = self.b.binary("arith.maxsi", step, one);
            let distance = self.b.binary("arith.subi", self.b.binary("arith.subi", upper, lower), one);
            let distance = self.b.binary("arith.maxsi", distance, zero);
            self.rounds = Some(self.b.binary("arith.divsi", distance, step));
        }
        self.rounds
    }

    /// What is known of a value, found once; nothing if it is made of itself.
    fn remembered(
        &mut self,
        value: Value<'c, 'a>,
        find: impl FnOnce(&mut Self) -> Option<Extent<'c>>,
    ) -> Option<Extent<'c>> {
        let key = value.to_raw().ptr as usize;
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        self.known.insert(key, None);
        let found = find(self);
        self.known.insert(key, found);
        found
    }

    /// The bounds of a value where the mask lets it be accessed: all elements of the mask are those of the value.
    fn bounded(&mut self, value: Value<'c, 'a>, extent: Extent<'c>) -> Extent<'c> {
        let limits: Vec<_> = self.below.iter().filter(|(below, _)| *below == value).map(|(_, limit)| *limit).collect();
        let mut high = extent.high;
        for limit in limits {
            if let Some(limit) = self.number(limit) {
                let last = self.b.binary("arith.subi", limit.high, self.b.i64(1));
                high = self.b.binary("arith.minsi", high, last);
            }
        }
        Extent { low: extent.low, high }
    }
}

/// Whether a comparison is that of signed numbers, less than.
fn is_less(op: OperationRef) -> bool {
    let predicate = op.attribute("predicate").and_then(IntegerAttribute::try_from);
    predicate.is_ok_and(|predicate| predicate.value() == CmpiPredicate::Slt as i64)
}

fn lossy_attribute<'c: 'a, 'a>(op: OperationRef<'c, 'a>, name: &str) -> String {
    op.attribute(name).map_or_else(|_| String::new(), |attribute| lossy!("{attribute}"))
}
