//! What a task asks for next.

use crate::task::{Scope, TaskId};
use half::{bf16, f16};
use std::fmt;
use std::sync::Arc;
use symm_abi::wait::Compare;

/// Where an op stands in its program, for reports: `FILE:LINE`, and the op.
pub type Site = Arc<str>;

/// Bytes of one rank's heap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Range {
    /// The rank whose heap it is.
    pub heap: u32,
    /// Bytes from the start of the heap.
    pub start: u64,
    /// How many bytes.
    pub bytes: u64,
}

/// The number of the memory that blocks share among their threads, which is not a rank's heap. Each block has a place
/// of its own in it.
pub const SHARED: u32 = u32::MAX;

/// Heaps from this number on have no barriers of all ranks: they are memory of one rank alone.
pub const PRIVATE: u32 = 1 << 20;

/// The numbers from this one on are those of memory that each rank has besides its heap: this one plus the rank.
pub const OWN: u32 = 1 << 31;

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.heap {
            SHARED => write!(f, "{:#x} of the blocks' shared memory", self.start),
            own if own >= OWN => write!(f, "{:#x} of rank {}'s own memory", self.start, own - OWN),
            heap => write!(f, "{:#x} of rank {heap}'s heap", self.start),
        }
    }
}

impl Range {
    /// Whether flags may be there: it is in a rank's heap, or in what a block shares.
    #[must_use]
    pub fn may_have_flags(self) -> bool {
        self.heap == SHARED || self.heap < OWN
    }

    /// Where it ends, in bytes from the start of the heap.
    #[must_use]
    #[inline]
    pub fn end(self) -> u64 {
        self.start.saturating_add(self.bytes)
    }

    /// Whether two ranges have a byte in common.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        self.heap == other.heap && self.start < other.end() && other.start < self.end()
    }
}

/// The memory order of an op.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// None.
    Relaxed,
    /// Later accesses come after it.
    Acquire,
    /// Earlier accesses come before it.
    Release,
    /// Both.
    AcqRel,
}

impl Order {
    /// Whether later accesses come after it.
    #[must_use]
    pub fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcqRel)
    }

    /// Whether earlier accesses come before it.
    #[must_use]
    pub fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcqRel)
    }
}

/// An access of one value that does not race with others of its kind: an atomic, a signal, a wait or a volatile access.
/// The range is the value's, of 1, 2, 4 or 8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strong {
    /// The value's bytes.
    pub at: Range,
    /// The order.
    pub order: Order,
    /// The scope.
    pub scope: Scope,
}

/// How an atomic makes the new value of the old one. Values are the bits, in the low bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are the dialect's kinds")]
pub enum Update {
    Add(u64),
    Sub(u64),
    And(u64),
    Or(u64),
    Xor(u64),
    Min(u64),
    Max(u64),
    UMin(u64),
    UMax(u64),
    Exchange(u64),
    AddFloat(Float, u64),
    Compare { expected: u64, desired: u64 },
}

/// The types of floats that atomics add.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are MLIR's types")]
pub enum Float {
    F16,
    Bf16,
    F32,
    F64,
}

impl Float {
    /// The sum of two values, as bits.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the bits are in the low bytes")]
    fn add(self, one: u64, other: u64) -> u64 {
        match self {
            Self::F16 => (f16::from_bits(one as u16) + f16::from_bits(other as u16)).to_bits().into(),
            Self::Bf16 => (bf16::from_bits(one as u16) + bf16::from_bits(other as u16)).to_bits().into(),
            Self::F32 => (f32::from_bits(one as u32) + f32::from_bits(other as u32)).to_bits().into(),
            Self::F64 => (f64::from_bits(one) + f64::from_bits(other)).to_bits(),
        }
    }
}

impl Update {
    /// The new value; `None` where a comparison failed and nothing is written.
    #[must_use]
    pub fn apply(self, old: u64, bytes: u64) -> Option<u64> {
        let signed = |value| sign_extended(value, bytes);
        let new = match self {
            Self::Add(by) => old.wrapping_add(by),
            Self::Sub(by) => old.wrapping_sub(by),
            Self::And(with) => old & with,
            Self::Or(with) => old | with,
            Self::Xor(with) => old ^ with,
            Self::Min(with) => [old, with][usize::from(signed(with) < signed(old))],
            Self::Max(with) => [old, with][usize::from(signed(with) > signed(old))],
            Self::UMin(with) => truncated(old, bytes).min(truncated(with, bytes)),
            Self::UMax(with) => truncated(old, bytes).max(truncated(with, bytes)),
            Self::Exchange(with) => with,
            Self::AddFloat(float, by) => float.add(old, by),
            Self::Compare { expected, desired } => {
                if truncated(expected, bytes) != truncated(old, bytes) {
                    return None;
                }
                desired
            }
        };
        Some(truncated(new, bytes))
    }
}

/// The low bytes of a value.
#[must_use]
pub fn truncated(value: u64, bytes: u64) -> u64 {
    if bytes >= 8 { value } else { value & ((1 << (8 * bytes)) - 1) }
}

fn sign_extended(value: u64, bytes: u64) -> i64 {
    let unused = 64 - 8 * u32::try_from(bytes.min(8)).unwrap_or(8);
    (value << unused).cast_signed() >> unused
}

/// Whether a flag's value is what a wait waits for (rule O6).
#[must_use]
pub fn holds(compare: Compare, seen: u64, expected: u64, bytes: u64) -> bool {
    let (seen, expected) = (truncated(seen, bytes), truncated(expected, bytes));
    let order = if compare.is_unsigned() {
        seen.cmp(&expected)
    } else {
        sign_extended(seen, bytes).cmp(&sign_extended(expected, bytes))
    };
    match compare {
        Compare::Eq => order.is_eq(),
        Compare::Ne => order.is_ne(),
        Compare::Lt | Compare::UnsignedLt => order.is_lt(),
        Compare::Le | Compare::UnsignedLe => order.is_le(),
        Compare::Gt | Compare::UnsignedGt => order.is_gt(),
        Compare::Ge | Compare::UnsignedGe => order.is_ge(),
    }
}

/// The bit of the numbers of the barriers around a group's put: what a task has put since its last other access, the
/// others of its group do not know after it. Their later writes come after it all the same (rule O3).
pub const COPIES: u64 = 1 << 62;

/// The bits of a line that has not come, in each half of it (rule P1).
pub const CLEARED: u64 = u64::MAX;

/// Whether no word of a line's bytes has all bits set: words of 32 bits, or of 64 for floats of 64.
#[must_use]
pub fn have_come(line: &[u8], bits: u32) -> bool {
    line.chunks(bits.max(32) as usize / 8).all(|word| word.iter().any(|&byte| byte != u8::MAX))
}

/// One step of a task. A group's signal or wait is a `Barrier` of the group and the op of its first thread (rule O3);
/// where a task is a whole block, the op alone.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// Weak reads; the answer is their bytes, one after the other.
    Read(Vec<Range>),
    /// Weak writes of bytes, one after the other.
    Write(Vec<Range>, Vec<u8>),
    /// Weak writes, of a task's part of what its group puts together: a later barrier of [`COPIES`] does not hand them
    /// over.
    Put(Vec<Range>, Vec<u8>),
    /// A strong read; the answer is the value.
    Load(Strong),
    /// The same once more, of a loop that does nothing else and keeps nothing of its rounds: where it reads what it has
    /// read before, it comes here again.
    Look(Strong),
    /// A load takes effect at its `Late`, and stands before what its task writes from here on. The answer names it.
    Issue,
    /// The value of a load that was issued: none that was written after the load.
    Late(Strong, u32),
    /// A strong write.
    Store(Strong, u64),
    /// An atomic; the answer is the old value.
    Atomic(Strong, Update),
    /// A signal: of a value, or of an addition.
    Signal(Strong, Signal),
    /// Blocks until the flag holds.
    Wait(Strong, Until),
    /// Orders the strong accesses around it.
    Fence(Order, Scope),
    /// Blocks until all of these tasks are at their barrier of this number.
    Barrier(u64, Arc<[TaskId]>),
    /// Starts tasks.
    Launch(Arc<[TaskId]>),
    /// Blocks until these tasks have ended.
    Join(Arc<[TaskId]>),
    /// Writes packets, of 8 bytes each, into lines of a heap, with an epoch.
    PutPacket(Vec<Range>, Vec<u64>, u32),
    /// Blocks until all lines have the epoch; the answer is their data.
    WaitPacket(Vec<Range>, u32),
    /// Looks once at lines; the answer is their data, and after it for each of them 1 if it has the epoch, else 0.
    TryPacket(Vec<Range>, u32),
    /// Writes floats into lines of a heap, or clears these: all bits are set then.
    PutFloats(Vec<Range>, Vec<[u64; 2]>),
    /// Blocks until no word of lines of floats of this many bits is as it was cleared; the answer is their bytes.
    WaitFloats(Vec<Range>, u32),
    /// Looks once at lines; the answer is their bytes, and after it for each of them 1 if it has come, else 0.
    TryFloats(Vec<Range>, u32),
    /// Blocks until these bytes are others: a loop has read them, and would do the same again as long as they are not.
    /// With its look at lines of packets or floats, if it is one.
    Poll(Vec<Range>, Vec<u8>, Option<Box<Op>>),
    /// From now on these bytes may be accessed; whether they are zero, or nothing is written there yet.
    Alloc(Range, bool),
    /// From now on they may not.
    Free(Range),
}

impl Op {
    /// Whether it waits until memory is as it asks, which others may undo.
    #[must_use]
    pub fn awaits_memory(&self) -> bool {
        match self {
            Self::Wait(..) | Self::WaitPacket(..) | Self::WaitFloats(..) | Self::Poll(..) => true,
            Self::Read(_)
            | Self::Write(..)
            | Self::Put(..)
            | Self::Load(_)
            | Self::Look(_)
            | Self::Issue
            | Self::Late(..)
            | Self::Store(..)
            | Self::Atomic(..)
            | Self::Signal(..)
            | Self::Fence(..)
            | Self::Barrier(..)
            | Self::Launch(_)
            | Self::Join(_)
            | Self::PutPacket(..)
            | Self::TryPacket(..)
            | Self::PutFloats(..)
            | Self::TryFloats(..)
            | Self::Alloc(..)
            | Self::Free(_) => false,
        }
    }
}

/// What a signal does to its flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Sets it.
    Set(u64),
    /// Adds to it.
    Add(u64),
}

/// What a wait waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Until {
    /// How the flag is compared.
    pub compare: Compare,
    /// With what.
    pub value: u64,
    /// Whether it may give up at any time. The answer is 1 if the flag came, else 0.
    pub timeout: bool,
}

impl Until {
    /// A flag's value as the wait compares it, for reports.
    #[must_use]
    pub(crate) fn shown(self, value: u64, bytes: u64) -> String {
        let value = truncated(value, bytes);
        if self.compare.is_unsigned() { value.to_string() } else { sign_extended(value, bytes).to_string() }
    }
}

/// What an op gives back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Answer {
    /// Nothing.
    #[default]
    None,
    /// A value's bits.
    Word(u64),
    /// Bytes.
    Bytes(Vec<u8>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_are_signed_unless_they_say_otherwise() {
        assert!(!holds(Compare::Ge, 0xffff_ffff, 0, 4));
        assert!(holds(Compare::UnsignedGe, 0xffff_ffff, 0, 4));
        assert!(holds(Compare::Ge, 0xffff_ffff, 0, 8));
        assert!(holds(Compare::Eq, 1 << 32 | 7, 7, 4));
    }

    #[test]
    fn values_are_shown_as_they_are_compared() {
        let shown = |compare, value, bytes| Until { compare, value: 0, timeout: false }.shown(value, bytes);
        assert_eq!(shown(Compare::Ge, 0xffff_fffe, 4), "-2");
        assert_eq!(shown(Compare::UnsignedGe, 0xffff_fffe, 4), "4294967294");
        assert_eq!(shown(Compare::Eq, 0xffff_fffe, 8), "4294967294");
    }

    #[test]
    fn updates_have_the_values_width() {
        assert_eq!(Update::Add(1).apply(0xff, 1), Some(0));
        assert_eq!(Update::Min(0xff).apply(1, 1), Some(0xff));
        assert_eq!(Update::UMin(0xff).apply(1, 1), Some(1));
        assert_eq!(Update::Max(0xff).apply(1, 1), Some(1));
        assert_eq!(Update::UMax(0xff).apply(1, 1), Some(0xff));
        assert_eq!(Update::Compare { expected: 2, desired: 3 }.apply(1, 4), None);
        assert_eq!(Update::Compare { expected: 1, desired: 3 }.apply(1, 4), Some(3));
    }
}
