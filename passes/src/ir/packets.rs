//! How values lie in the lines of packets (P1): as words of 64 bits, and words as lines `{d0, e, d1, e}`, or two of
//! them as a line of floats.

use super::{Builder, lasting, signed};
use melior::dialect::arith::CmpiPredicate;
use melior::ir::{Type, TypeLike, Value, ValueLike};
use symm_abi::packet::LINE_BYTES;
use symm_dialect::ops::WaitPacket;
use symm_dialect::shape::{Shaped, byte_width, scalar};

/// The bytes of a line, and of the data in it where it has an epoch.
pub const LINE: i64 = LINE_BYTES.cast_signed();
const DATA: u64 = LINE_BYTES / 2;

/// What a cleared line has in each word: all bits set, which is a NaN in floats of all formats that have a sentinel.
pub const CLEARED: i64 = -1;

/// The flag of a line of floats: each of its words has come once any of its bits is not set. Words have 32 bits, or 64
/// for floats of 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sentinel {
    bits: u32,
}

impl Sentinel {
    /// That of an op, if it has one.
    pub fn new(bits: Option<i64>) -> Option<Self> {
        bits.and_then(|bits| u32::try_from(bits).ok()).map(|bits| Self { bits })
    }

    /// The bits of a float.
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// The bits of a word that is read and written as a whole and shows by itself that it has come.
    pub fn word_bits(self) -> u32 {
        self.bits.max(32)
    }

    /// The bytes of a line where its words begin.
    pub fn words(self) -> Vec<i64> {
        (0..LINE).step_by(self.word_bits() as usize / 8).collect()
    }

    /// A word of a cleared line, in 64 bits.
    pub fn pattern(self) -> i64 {
        if self.word_bits() == 64 { CLEARED } else { 0xffff_ffff }
    }

    /// 64 bits of data as they are sent, one for each element of what `constant` makes: a word with all bits set loses
    /// its highest one, which makes its last NaN another NaN.
    pub fn sent<'c>(
        self,
        b: &Builder<'c>,
        data: Value<'c, 'c>,
        constant: impl Fn(i64) -> Value<'c, 'c>,
    ) -> Value<'c, 'c> {
        let rest = constant(if self.word_bits() == 64 { i64::MAX } else { 0x7fff_ffff_7fff_ffff });
        // Zero where a word has all bits set. The sum has the highest bit of a word set for any other one; nothing is
        // carried on.
        let others = b.binary("arith.xori", data, constant(CLEARED));
        let sums = b.binary("arith.addi", b.binary("arith.andi", others, rest), rest);
        let kept = b.binary("arith.ori", b.binary("arith.ori", sums, others), rest);
        b.binary("arith.andi", data, kept)
    }

    /// Whether a half of a line has not come, `i1`.
    fn missing<'c>(self, b: &Builder<'c>, half: Value<'c, 'c>) -> Value<'c, 'c> {
        if self.bits == 64 {
            return b.compare(CmpiPredicate::Eq, half, b.i64(CLEARED));
        }
        let words = [half, b.binary("arith.shrui", half, b.i64(32))].map(|word| {
            let word = b.value("arith.trunci", &[word], b.int(32), &[]);
            b.compare(CmpiPredicate::Eq, word, b.i32(CLEARED))
        });
        b.binary("arith.ori", words[0], words[1])
    }
}

/// What says that a line has come.
#[derive(Clone, Copy)]
pub enum Flag<'c> {
    Epoch(Value<'c, 'c>),
    Sentinel(Sentinel),
}

impl<'c> Flag<'c> {
    /// That of an op.
    pub fn new(b: &Builder<'c>, epoch: Option<Value<'c, '_>>, sentinel: Option<i64>) -> Self {
        match (Sentinel::new(sentinel), epoch) {
            (Some(sentinel), _) => Self::Sentinel(sentinel),
            (None, epoch) => Self::Epoch(epoch.map_or_else(|| b.i32(0), |epoch| b.cast(epoch, b.int(32)))),
        }
    }

    /// Whether lines are read and written as words of 32 bits, and not of 64.
    pub fn is_in_words(self) -> bool {
        matches!(self, Self::Sentinel(sentinel) if sentinel.word_bits() == 32)
    }

    /// Whether a line has not come.
    pub fn missing(self, b: &Builder<'c>, halves: Halves<'c>) -> Value<'c, 'c> {
        let [first, second] = halves.map(|half| match self {
            Self::Sentinel(sentinel) => sentinel.missing(b, half),
            Self::Epoch(epoch) => {
                let found = b.binary("arith.shrui", half, b.i64(32));
                b.compare(CmpiPredicate::Ne, b.value("arith.trunci", &[found], b.int(32), &[]), epoch)
            }
        });
        b.binary("arith.ori", first, second)
    }
}

/// The halves of a line, `{d, e}` as `i64`.
pub type Halves<'c> = [Value<'c, 'c>; 2];

/// A line that is read, and the `i1` without which it is not.
pub type Line<'c> = (Value<'c, 'c>, Option<Value<'c, 'c>>);

/// How many lines a value takes.
pub fn count(ty: Type, sentinel: Option<Sentinel>) -> u64 {
    (byte_width(scalar(ty)) * elements(ty)).div_ceil(data_bytes(sentinel))
}

fn data_bytes(sentinel: Option<Sentinel>) -> u64 {
    if sentinel.is_some() { LINE_BYTES } else { DATA }
}

fn elements(ty: Type) -> u64 {
    Shaped::vector(ty).map_or(1, |vector| vector.dimensions().into_iter().flatten().product())
}

/// The lines that a `wait_packet` waits for, from the first on.
pub fn asked<'c: 'a, 'a>(op: WaitPacket<'c, 'a>, b: &Builder<'c>, first: Value<'c, 'c>) -> Vec<Line<'c>> {
    Packets::new(b, op.value().r#type(), op.mask(), op.sentinel()).lines(b, first)
}

/// A value in lines.
pub struct Packets<'c> {
    ty: Type<'c>,
    mask: Option<Value<'c, 'c>>,
    sentinel: Option<Sentinel>,
}

impl<'c> Packets<'c> {
    /// Values of a type, with the mask of an op and the bits of its sentinel.
    pub fn new(b: &Builder<'c>, ty: Type<'c>, mask: Option<Value<'c, '_>>, sentinel: Option<i64>) -> Self {
        Self { ty, mask: mask.map(|mask| b.cast(mask, mask.r#type())), sentinel: Sentinel::new(sentinel) }
    }

    fn count(&self) -> u64 {
        count(self.ty, self.sentinel)
    }

    /// How many words of data all lines hold.
    fn word_count(&self) -> u64 {
        self.count() * data_bytes(self.sentinel) / DATA
    }

    fn element(&self, b: &Builder<'c>) -> Type<'c> {
        b.int(u32::try_from(8 * byte_width(scalar(self.ty))).unwrap_or(64))
    }

    /// How many elements all lines hold.
    fn room(&self) -> u64 {
        self.word_count() * DATA / byte_width(scalar(self.ty))
    }

    /// The lines from the first one on, with the masks of those that have one.
    pub fn lines(&self, b: &Builder<'c>, first: Value<'c, 'c>) -> Vec<Line<'c>> {
        let line = |index: u64| {
            let address = b.byte_offset_constant(first, LINE * index.cast_signed());
            (if index == 0 { first } else { address }, self.mask.map(|mask| self.is_on(b, mask, index)))
        };
        (0..self.count()).map(line).collect()
    }

    /// Whether an element of a line is on.
    fn is_on(&self, b: &Builder<'c>, mask: Value<'c, 'c>, line: u64) -> Value<'c, 'c> {
        if Shaped::vector(mask.r#type()).is_none() {
            return mask;
        }
        let each = data_bytes(self.sentinel) / byte_width(scalar(self.ty));
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

    /// The data of all lines, one or two words for each.
    pub fn words(&self, b: &Builder<'c>, value: Value<'c, '_>) -> Vec<Value<'c, 'c>> {
        let integers = self.integers(b);
        let bits = convert(b, lasting(value), integers);
        if Shaped::vector(self.ty).is_none() {
            let word =
                if byte_width(integers) == DATA { bits } else { b.value("arith.extui", &[bits], b.int(64), &[]) };
            let rest = self.sentinel.map(|_| b.i64(0));
            return std::iter::once(word).chain(rest).collect();
        }
        let padded = self.resized(b, bits, elements(self.ty), self.room());
        let words = b.value("llvm.bitcast", &[padded], Type::vector(&[self.word_count()], b.int(64)), &[]);
        let word = |index: u64| b.value("llvm.extractelement", &[words, b.i64(index.cast_signed())], b.int(64), &[]);
        (0..self.word_count()).map(word).collect()
    }

    /// The value that lines hold; zeros where the mask is off.
    pub fn value(&self, b: &Builder<'c>, lines: &[Halves<'c>]) -> Value<'c, 'c> {
        let data_of = |[first, second]: &Halves<'c>| {
            if self.sentinel.is_some() {
                return vec![*first, *second];
            }
            let low = b.binary("arith.andi", *first, b.i64(0xffff_ffff));
            vec![b.binary("arith.ori", low, b.binary("arith.shli", *second, b.i64(32)))]
        };
        let mut data = lines.iter().flat_map(data_of);
        let integers = self.integers(b);
        let mut bits = if Shaped::vector(self.ty).is_some() {
            let words = Type::vector(&[self.word_count()], b.int(64));
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
