//! Loops that poll: a task that reads the same places again and again, finds the same there, and does nothing else.

use crate::op::{Answer, Op, Range, Site};

/// The most places that one loop reads.
const MOST_PLACES: usize = 8;
/// The most bytes of what a loop looks at.
const MOST_BYTES: u64 = 16;
/// After so many polls others go on first.
const EAGER: usize = 16;

/// What a task has read since it last did anything else.
#[derive(Debug, Default)]
pub(crate) struct Polls {
    seen: Vec<(Site, Range, Answer)>,
    repeats: usize,
    /// Places that it has read for so long that it will read them for ever, and what they hold.
    pub vain: Option<(Vec<Range>, Vec<u8>)>,
}

impl Polls {
    /// Notes a step and what came of it; whether it has repeated itself as often as this.
    pub fn note(&mut self, op: &Op, site: &Site, way: usize, answer: &Answer, most: usize) -> bool {
        if matches!(op, Op::Fence(..)) {
            return false;
        }
        let Some(place) = polled(op, answer).filter(|place| place.bytes <= MOST_BYTES) else {
            *self = Self::default();
            return false;
        };
        let known = self.seen.iter_mut().find(|(at, range, _)| *range == place && at == site);
        let Some((.., last)) = known else {
            if self.seen.len() == MOST_PLACES {
                self.seen.clear();
            }
            self.seen.push((site.clone(), place, answer.clone()));
            self.repeats = 0;
            return false;
        };
        if way == 0 && last == answer {
            self.repeats += 1;
        } else {
            self.repeats = 0;
            *last = answer.clone();
        }
        self.repeats >= most
    }

    /// Whether others should go on first.
    pub fn is_idle(&self) -> bool {
        self.repeats >= EAGER
    }

    /// Whether an op would read once more what was read in vain.
    pub fn repeats(&self, op: &Op, site: &Site) -> bool {
        self.seen.iter().any(|(at, range, answer)| at == site && polled(op, answer) == Some(*range))
    }

    /// The places that it reads.
    pub fn places(&self) -> Vec<Range> {
        self.seen.iter().map(|(_, range, _)| *range).collect()
    }
}

/// The place that an op has read without changing it.
fn polled(op: &Op, answer: &Answer) -> Option<Range> {
    match op {
        Op::Read(ranges) | Op::TryPacket(ranges, _) => (ranges.len() == 1).then(|| ranges[0]),
        Op::Load(strong) => Some(strong.at),
        Op::Wait(strong, until) => (until.timeout && *answer == Answer::Word(0)).then_some(strong.at),
        Op::Atomic(strong, update) => {
            let Answer::Word(old) = *answer else { return None };
            update.apply(old, strong.at.bytes).is_none_or(|new| new == old).then_some(strong.at)
        }
        _ => None,
    }
}
