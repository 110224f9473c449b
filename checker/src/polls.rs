//! Loops that poll: a task that reads the same places again and again, finds the same there, and does nothing else.

use crate::memory::copy;
use crate::op::{Answer, Op, Range};

/// The most places that one loop reads.
const MOST_PLACES: usize = 8;
/// The most bytes of what a loop looks at.
const MOST_BYTES: usize = 16;
/// After this many polls others go on first.
const EAGER: usize = 16;

/// What a task has read since it last did anything else.
#[derive(Debug, Default)]
pub(crate) struct Polls {
    seen: [Seen; MOST_PLACES],
    /// How many of these there are.
    places: u32,
    repeats: u32,
    /// Places that it has read for so long that it will read them for ever, and what they hold.
    pub vain: Option<(Vec<Range>, Vec<u8>)>,
}

/// What a read has found.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    /// The number of its place in the program.
    site: u32,
    range: Range,
    /// As a number: it takes fewer steps.
    bytes: u128,
}

impl Polls {
    /// Notes a step and what came of it; whether it has repeated itself as often as this.
    pub fn note(&mut self, op: &Op, site: u32, way: usize, answer: &Answer, most: usize) -> bool {
        if matches!(op, Op::Fence(..)) {
            return false;
        }
        let Some(place) = polled(op, answer).filter(|place| place.bytes <= MOST_BYTES as u64) else {
            self.forget();
            return false;
        };
        match answer {
            Answer::Bytes(bytes) => self.note_read(site, place, way, bytes, most),
            Answer::Word(word) => self.note_read(site, place, way, &word.to_le_bytes(), most),
            Answer::None => self.note_read(site, place, way, &[], most),
        }
    }

    /// The same of a read of a place, and the bytes that it has found; a step with a place has always as many.
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub fn note_read(&mut self, site: u32, range: Range, way: usize, found: &[u8], most: usize) -> bool {
        if found.len() > MOST_BYTES {
            self.forget();
            return false;
        }
        let mut bytes = [0; MOST_BYTES];
        copy(&mut bytes[..found.len()], found);
        let bytes = u128::from_le_bytes(bytes);
        let count = self.count();
        let known = self.seen[..count]
            .iter_mut()
            .find(|seen| (seen.range.start, seen.site) == (range.start, site) && seen.range == range);
        let Some(last) = known else {
            let nth = count % MOST_PLACES;
            self.seen[nth] = Seen { site, range, bytes };
            self.places = u32::try_from(nth).unwrap_or(0) + 1;
            self.repeats = 0;
            return false;
        };
        if way == 0 && last.bytes == bytes {
            self.repeats += 1;
        } else {
            self.repeats = 0;
            last.bytes = bytes;
        }
        self.repeats as usize >= most
    }

    /// The same of at most this many bytes, where it is the first read since its task has done anything else; else does
    /// nothing.
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub fn note_first(&mut self, site: u32, range: Range, found: &[u8]) -> bool {
        let is_first = self.places == 0;
        if is_first {
            let mut bytes = [0; MOST_BYTES];
            bytes[..found.len()].copy_from_slice(found);
            self.seen[0] = Seen { site, range, bytes: u128::from_le_bytes(bytes) };
            self.places = 1;
        }
        is_first
    }

    /// How many places there are.
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    fn count(&self) -> usize {
        MOST_PLACES.min(self.places as usize)
    }

    /// Whether the last reads have found again what was found before.
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub fn has_repeated(&self) -> bool {
        self.repeats > 0
    }

    /// The task does something else.
    #[inline]
    pub fn forget(&mut self) {
        self.forget_places();
        self.vain = None;
    }

    /// The same, while it polls nothing in vain.
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub fn forget_places(&mut self) {
        self.places = 0;
        self.repeats = 0;
    }

    /// Whether others should go on first.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.repeats as usize >= EAGER
    }

    /// Whether an op would read once more what was read in vain.
    pub fn repeats(&self, op: &Op, site: u32) -> bool {
        let answers = |seen: &Seen| match op {
            Op::Wait(..) => Answer::Word(0),
            _ => Answer::Word(crate::machine::word(&seen.bytes.to_le_bytes())),
        };
        self.seen[..self.count()].iter().any(|seen| seen.site == site && polled(op, &answers(seen)) == Some(seen.range))
    }

    /// Whether memory has at all places what was found there last.
    pub fn find_the_same(&self, bytes: impl Fn(Range) -> Vec<u8>) -> bool {
        let is_there = |seen: &Seen| {
            let there = bytes(seen.range);
            seen.bytes.to_le_bytes().starts_with(&there)
        };
        self.count() > 0 && self.seen[..self.count()].iter().all(is_there)
    }

    /// What was found at a place last, as a word.
    pub fn found_at(&self, place: Range) -> Option<u64> {
        let seen = self.seen[..self.count()].iter().rfind(|seen| seen.range == place)?;
        Some(crate::machine::word(&seen.bytes.to_le_bytes()))
    }

    /// The places that it reads.
    pub fn places(&self) -> Vec<Range> {
        self.seen[..self.count()].iter().map(|seen| seen.range).collect()
    }
}

/// The place that an op has read without changing it.
fn polled(op: &Op, answer: &Answer) -> Option<Range> {
    match op {
        Op::Read(ranges) | Op::TryPacket(ranges, _) | Op::TryFloats(ranges, _) => {
            (ranges.len() == 1).then(|| ranges[0])
        }
        Op::Load(strong) | Op::Look(strong) => Some(strong.at),
        Op::Wait(strong, until) => (until.timeout && *answer == Answer::Word(0)).then_some(strong.at),
        Op::Atomic(strong, update) => {
            let Answer::Word(old) = *answer else { return None };
            update.apply(old, strong.at.bytes).is_none_or(|new| new == old).then_some(strong.at)
        }
        // They do not return what others may change, or wait by themselves until it has changed.
        Op::Write(..)
        | Op::Put(..)
        | Op::Issue
        | Op::Late(..)
        | Op::Store(..)
        | Op::Signal(..)
        | Op::Fence(..)
        | Op::Barrier(..)
        | Op::Launch(_)
        | Op::Join(_)
        | Op::PutPacket(..)
        | Op::WaitPacket(..)
        | Op::PutFloats(..)
        | Op::WaitFloats(..)
        | Op::Poll(..)
        | Op::Alloc(..)
        | Op::Free(_) => None,
    }
}
