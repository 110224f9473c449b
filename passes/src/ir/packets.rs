//! How values lie in the lines of packets (P1): as words of 64 bits, and words as lines `{d0, e, d1, e}`.

use super::{Builder, lasting, signed};
use melior::ir::{Type, TypeLike, Value, ValueLike};
use symm_dialect::ops::WaitPacket;
use symm_dialect::shape::{Shaped, byte_width, scalar};

/// The bytes of a line, and of the data in it.
pub const LINE: i64 = 16;
pub const DATA: u64 = 8;

/// Where in a line its epochs lie, in bytes.
pub const EPOCHS: [i64; 2] = [4, 12];

/// The halves of a line, `{d, e}` as `i64`.
pub type Halves<'c> = [Value<'c, 'c>; 2];

/// A line that is read, and the `i1` without which it is not.
pub type Line<'c> = (Value<'c, 'c>, Option<Value<'c, 'c>>);

/// How many lines a value takes.
pub fn count(ty: Type) -> u64 {
    (byte_width(scalar(ty)) * elements(ty)).div_ceil(DATA)
}

fn elements(ty: Type) -> u64 {
    Shaped::vector(ty).map_or(1, |vector| vector.dimensions().into_iter().flatten().product())
}

/// The lines that a `wait_packet` waits for, from the first on.
pub fn asked<'c: 'a, 'a>(op: WaitPacket<'c, 'a>, b: &Builder<'c>, first: Value<'c, 'c>) -> Vec<Line<'c>> {
    Packets::new(b, op.value().r#type(), op.mask()).lines(b, first)
}

/// A value in lines.
pub struct Packets<'c> {
    ty: Type<'c>,
    mask: Option<Value<'c, 'c>>,
}

impl<'c> Packets<'c> {
    /// Values of a type, with the mask of an op.
    pub fn new(b: &Builder<'c>, ty: Type<'c>, mask: Option<Value<'c, '_>>) -> Self {
        Self { ty, mask: mask.map(|mask| b.cast(mask, mask.r#type())) }
    }

    fn element(&self, b: &Builder<'c>) -> Type<'c> {
        b.int(u32::try_from(8 * byte_width(scalar(self.ty))).unwrap_or(64))
    }

    /// How many elements all lines hold.
    fn room(&self) -> u64 {
        count(self.ty) * DATA / byte_width(scalar(self.ty))
    }

    /// The lines from the first one on, with the masks of those that have one.
    pub fn lines(&self, b: &Builder<'c>, first: Value<'c, 'c>) -> Vec<Line<'c>> {
        let line = |index: u64| {
            let address = b.byte_offset_constant(first, LINE * index.cast_signed());
            (if index == 0 { first } else { address }, self.mask.map(|mask| self.is_on(b, mask, index)))
        };
        (0..count(self.ty)).map(line).collect()
    }

    /// Whether an element of a line is on.
    fn is_on(&self, b: &Builder<'c>, mask: Value<'c, 'c>, line: u64) -> Value<'c, 'c> {
        if Shaped::vector(mask.r#type()).is_none() {
            return mask;
        }
        let each = DATA / byte_width(scalar(self.ty));
        let lanes = (line * each)..((line + 1) * each).min(elements(self.ty));
        let is_set = |lane: u64| b.value("llvm.extractelement", &[mask, b.i64(lane.cast_signed())], b.int(1), &[]);
        lanes.map(is_set).reduce(|one, other| b.binary("arith.ori", one, other)).expect("a line has an element")
    }

    /// The value as integers, one for each element.
    fn integers(&self, b: &Builder<'c>) -> Type<'c> {
        match Shaped::vector(self.ty) {
            Some(_) => Type::vector(&[elements(self.ty)], self.element(b)),
            None => self.element(b),
        }
    }

    /// The data of each line.
    pub fn words(&self, b: &Builder<'c>, value: Value<'c, '_>) -> Vec<Value<'c, 'c>> {
        let integers = self.integers(b);
        let bits = convert(b, lasting(value), integers);
        if Shaped::vector(self.ty).is_none() {
            let word =
                if byte_width(integers) == DATA { bits } else { b.value("arith.extui", &[bits], b.int(64), &[]) };
            return vec![word];
        }
        let padded = self.resized(b, bits, elements(self.ty), self.room());
        let words = b.value("llvm.bitcast", &[padded], Type::vector(&[count(self.ty)], b.int(64)), &[]);
        let word = |index: u64| b.value("llvm.extractelement", &[words, b.i64(index.cast_signed())], b.int(64), &[]);
        (0..count(self.ty)).map(word).collect()
    }

    /// The value that lines hold; zeros where the mask is off.
    pub fn value(&self, b: &Builder<'c>, lines: &[Halves<'c>]) -> Value<'c, 'c> {
        let mut data = lines.iter().map(|[first, second]| {
            let low = b.binary("arith.andi", *first, b.i64(0xffff_ffff));
            b.binary("arith.ori", low, b.binary("arith.shli", *second, b.i64(32)))
        });
        let integers = self.integers(b);
        let mut bits = if Shaped::vector(self.ty).is_some() {
            let words = Type::vector(&[count(self.ty)], b.int(64));
            let all = data.enumerate().fold(b.zero(words), |all, (index, word)| {
                b.value("llvm.insertelement", &[all, word, b.i64(signed(index))], words, &[])
            });
            let padded = b.value("llvm.bitcast", &[all], Type::vector(&[self.room()], self.element(b)), &[]);
            self.resized(b, padded, self.room(), elements(self.ty))
        } else {
            let word = data.next().expect("a value has a line");
            if byte_width(integers) == DATA { word } else { b.value("arith.trunci", &[word], integers, &[]) }
        };
        if let Some(mask) = self.mask {
            bits = b.value("arith.select", &[mask, bits, b.zero(integers)], integers, &[]);
        }
        convert(b, bits, self.ty)
    }

    /// A vector of another length, longer by zeros.
    fn resized(&self, b: &Builder<'c>, vector: Value<'c, 'c>, from: u64, to: u64) -> Value<'c, 'c> {
        if from == to {
            return vector;
        }
        // Lanes from `from` on are of the second vector, which is zero.
        let lanes: Vec<String> = (0..to).map(|lane| lane.min(from).to_string()).collect();
        let mask = b.parse(&format!("array<i32: {}>", lanes.join(", ")));
        let zero = b.zero(Type::vector(&[from], self.element(b)));
        b.value("llvm.shufflevector", &[vector, zero], Type::vector(&[to], self.element(b)), &[("mask", mask)])
    }
}

/// A value as another type of the same size.
fn convert<'c>(b: &Builder<'c>, value: Value<'c, 'c>, ty: Type<'c>) -> Value<'c, 'c> {
    let from = value.r#type();
    if from == ty {
        value
    } else if scalar(from).is_index() || scalar(ty).is_index() {
        b.value("arith.index_cast", &[value], ty, &[])
    } else {
        b.value("arith.bitcast", &[value], ty, &[])
    }
}
