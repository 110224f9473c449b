//! What blocks on a GPU record in the trace buffer of their rank, in the device's memory.
//!
//! The buffer starts with [`RECORD_WORDS`] words of its own, of which [`ASKED`] and [`ROOM`] are used; records of as
//! many words follow. A record is written by the one thread that took it, and its end is zero until then. The
//! values say where and how much; which they are depends on the [`Event`].

use crate::wait::Compare;
use std::fmt;

/// How many records were requested.
pub const ASKED: usize = 0;
/// How many records fit.
pub const ROOM: usize = 1;

/// The words of a record.
pub const RECORD_WORDS: usize = 8;
/// The word that holds the site and, from bit [`BLOCK_SHIFT`] on, the block.
pub const PLACE: usize = 0;
/// The bit of [`PLACE`] at which the block starts.
pub const BLOCK_SHIFT: u32 = 32;
/// The word of the start time, in nanoseconds of the device's clock.
pub const BEGIN: usize = 1;
/// The word of the end time.
pub const END: usize = 2;
/// The first of the values that are known at the start.
pub const VALUES: usize = 3;
/// The most of them.
pub const MOST_VALUES: usize = LATE_VALUES - VALUES;
/// The first of the values that are known at the end.
pub const LATE_VALUES: usize = 6;
/// The most of them.
pub const MOST_LATE_VALUES: usize = RECORD_WORDS - LATE_VALUES;

/// Of a record of a Triton kernel, whose [`PLACE`] is its op's tag: the address of the context table.
pub const TABLE: usize = 6;
/// And the program, its numbers in one word ([`crate::deadline::PROGRAM_SHIFTS`]).
pub const PROGRAM: usize = 7;

/// The kernel `(context, words, rounds)` by which the runtime learns how the device's clock runs: each time the first
/// word has become one more, it writes the time into the end of the record at [`CLOCK_RECORD`].
pub const CLOCK: &str = "_symm_clock";
/// The word at which the record of [`CLOCK`] starts.
pub const CLOCK_RECORD: usize = 8;

/// What a signal does to its flag. The numbers are what `symm_rt_trace_signal` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalKind {
    /// Sets it.
    Set = 0,
    /// Adds to it.
    Add = 1,
}

impl SignalKind {
    /// The kind with this number.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        [Self::Set, Self::Add].get(code as usize).copied()
    }

    fn keyword(self) -> &'static str {
        match self {
            Self::Set => "set",
            Self::Add => "add",
        }
    }

    fn from_keyword(keyword: &str) -> Option<Self> {
        [Self::Set, Self::Add].into_iter().find(|kind| kind.keyword() == keyword)
    }
}

/// An access to another rank's heap. The numbers are what `symm_rt_trace_begin` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transfer {
    /// `symm.put`.
    Put = 0,
    /// `symm.get`.
    Get = 1,
    /// `symm.copy`.
    Copy = 2,
    /// `symm.remote_load`.
    Load = 3,
    /// `symm.remote_store`.
    Store = 4,
    /// `symm.atomic_rmw` and `symm.atomic_cas`.
    Atomic = 5,
}

impl Transfer {
    /// The transfer with this number.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        [Self::Put, Self::Get, Self::Copy, Self::Load, Self::Store, Self::Atomic].get(code as usize).copied()
    }
}

/// The event of a record. Its text is the message of the record's [site](crate::site).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// A block of a kernel. No values.
    Block,
    /// `symm.barrier`. No values.
    Barrier,
    /// `symm.fence`, with its order and scope, such as `release sys`. No values.
    Fence(&'a str),
    /// A copy. Values: the address in the peer's heap, the peer, the bytes.
    Put,
    /// Likewise from the peer.
    Get,
    /// Likewise between two ranks; the peer is the one that receives.
    Copy,
    /// A signal. Values: the flag's address, the peer, the value.
    Signal(SignalKind),
    /// The signal of a `symm.put_signal`, which is sent when its record ends. Values: as for a signal.
    PutSignal(SignalKind),
    /// A wait. Values: the flag's address, the value expected; at the end, what it saw, and whether that was as
    /// expected.
    Wait {
        /// How the flag is compared; signed, whatever `unsigned` says.
        compare: Compare,
        /// Whether the values are unsigned.
        unsigned: bool,
    },
}

impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Block => f.write_str("block"),
            Self::Barrier => f.write_str("barrier"),
            Self::Fence(order) => write!(f, "fence {order}"),
            Self::Put => f.write_str("put"),
            Self::Get => f.write_str("get"),
            Self::Copy => f.write_str("copy"),
            Self::Signal(kind) => write!(f, "signal {}", kind.keyword()),
            Self::PutSignal(kind) => write!(f, "put_signal {}", kind.keyword()),
            Self::Wait { compare, unsigned } => {
                write!(f, "wait {}{}", if *unsigned { "unsigned " } else { "" }, compare.keyword())
            }
        }
    }
}

impl<'a> Event<'a> {
    /// The event with this text.
    #[must_use]
    pub fn parse(text: &'a str) -> Option<Self> {
        let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
        Some(match name {
            "block" => Self::Block,
            "barrier" => Self::Barrier,
            "fence" => Self::Fence(rest),
            "put" => Self::Put,
            "get" => Self::Get,
            "copy" => Self::Copy,
            "signal" => Self::Signal(SignalKind::from_keyword(rest)?),
            "put_signal" => Self::PutSignal(SignalKind::from_keyword(rest)?),
            "wait" => {
                let (unsigned, keyword) = rest.strip_prefix("unsigned ").map_or((false, rest), |word| (true, word));
                Self::Wait { compare: Compare::from_keyword(keyword)?, unsigned }
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_as_they_were_written() {
        let signals = [SignalKind::Set, SignalKind::Add].map(|kind| [Event::Signal(kind), Event::PutSignal(kind)]);
        let waits = Compare::ALL[..6]
            .iter()
            .flat_map(|&compare| [false, true].map(|unsigned| Event::Wait { compare, unsigned }));
        let fixed = [Event::Block, Event::Barrier, Event::Fence("release sys"), Event::Put, Event::Get, Event::Copy];
        for event in fixed.into_iter().chain(signals.concat()).chain(waits) {
            assert_eq!(Event::parse(&event.to_string()), Some(event), "{event}");
        }
    }

    #[test]
    fn what_is_no_event_is_refused() {
        for text in ["", "puts", "signal", "signal sub", "wait", "wait unsigned", "wait unsigned about"] {
            assert_eq!(Event::parse(text), None, "{text}");
        }
    }

    #[test]
    fn codes_are_the_numbers_of_their_kinds() {
        for code in 0..6 {
            assert_eq!(Transfer::from_code(code).unwrap() as u32, code);
        }
        assert_eq!((Transfer::from_code(6), SignalKind::from_code(2)), (None, None));
        assert_eq!([0, 1].map(SignalKind::from_code), [Some(SignalKind::Set), Some(SignalKind::Add)]);
    }
}
