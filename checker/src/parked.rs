//! Tasks that can't go on, and what may let them: each step looks at the others alone.

use crate::filter::Filter;
use crate::op::{Op, Range};
use crate::task::TaskId;
use std::collections::BTreeMap;

/// The most bytes of a place that a task waits at: a packet's line.
const MOST_BYTES: u64 = 16;

/// Tasks that were blocked when they were looked at last.
#[derive(Debug, Default)]
pub(crate) struct Parked {
    blocked: Vec<bool>,
    /// Those that wait for a place to change, by where it starts.
    at: BTreeMap<(u32, u64), Vec<(Range, TaskId)>>,
    /// All places of these, and of those before.
    filter: Filter,
    /// Those that wait for others.
    joins: Vec<TaskId>,
}

impl Parked {
    /// Makes room for this many tasks.
    pub fn grow(&mut self, tasks: usize) {
        self.blocked.resize(tasks, false);
    }

    /// Whether a task can't go on, as far as is known.
    pub fn holds(&self, task: TaskId) -> bool {
        self.blocked[task]
    }

    /// A task can't go on before one of these places changes, or as its op says.
    pub fn park(&mut self, task: TaskId, op: &Op, polls: &[Range]) {
        let places = match op {
            _ if !polls.is_empty() => polls,
            Op::Wait(strong, _) => std::slice::from_ref(&strong.at),
            Op::WaitPacket(ranges, _) | Op::WaitFloats(ranges, _) | Op::Poll(ranges, ..) => ranges,
            // Whoever comes last to the barrier wakes it.
            Op::Barrier(..) => &[],
            Op::Join(_)
            | Op::Read(_)
            | Op::Write(..)
            | Op::Put(..)
            | Op::Load(_)
            | Op::Look(_)
            | Op::Issue
            | Op::Late(..)
            | Op::Store(..)
            | Op::Atomic(..)
            | Op::Signal(..)
            | Op::Fence(..)
            | Op::Launch(_)
            | Op::PutPacket(..)
            | Op::TryPacket(..)
            | Op::PutFloats(..)
            | Op::TryFloats(..)
            | Op::Alloc(..)
            | Op::Free(_) => {
                self.joins.push(task);
                &[]
            }
        };
        if places.iter().any(|place| place.bytes > MOST_BYTES) {
            return;
        }
        for place in places {
            let here = self.at.entry((place.heap, place.start)).or_default();
            if !here.contains(&(*place, task)) {
                here.push((*place, task));
                self.filter.add(*place);
            }
        }
        self.blocked[task] = true;
    }

    /// A task may go on.
    pub fn wake(&mut self, task: TaskId) {
        self.blocked[task] = false;
    }

    /// So may those that wait for these places; whether there are any.
    #[inline]
    pub fn wake_at(&mut self, ranges: &[Range]) -> bool {
        ranges.iter().fold(false, |wakes, &range| wakes | (self.filter.may_have(range) && self.wake_within(range)))
    }

    #[cold]
    fn wake_within(&mut self, range: Range) -> bool {
        let mut wakes = false;
        let from = (range.heap, range.start.saturating_sub(MOST_BYTES));
        for (_, here) in self.at.range_mut(from..(range.heap, range.end())) {
            for (_, task) in here.extract_if(.., |(place, _)| place.overlaps(range)) {
                self.blocked[task] = false;
                wakes = true;
            }
        }
        wakes
    }

    /// Whether a write of a range may wake somebody, and a number that is another one as soon as it may where it did
    /// not.
    pub fn may_wake(&self, range: Range) -> bool {
        self.filter.may_have(range)
    }

    #[inline]
    pub fn changes(&self) -> u64 {
        self.filter.changes()
    }

    /// So may those that wait for others to end.
    pub fn wake_joins(&mut self) {
        for task in self.joins.drain(..) {
            self.blocked[task] = false;
        }
    }

    /// So may all.
    pub fn wake_all(&mut self) {
        self.blocked.fill(false);
        self.at.clear();
        self.joins.clear();
    }
}
