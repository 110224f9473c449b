//! Tasks that can't go on, and what may let them: each step looks at the others alone.

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
    /// Those that wait for others.
    joins: Vec<TaskId>,
}

impl Parked {
    /// Makes room for so many tasks.
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
            Op::WaitPacket(ranges, _) | Op::Poll(ranges, _) => ranges,
            // Whoever comes last to the barrier wakes it.
            Op::Barrier(..) => &[],
            _ => {
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
            }
        }
        self.blocked[task] = true;
    }

    /// A task may go on.
    pub fn wake(&mut self, task: TaskId) {
        self.blocked[task] = false;
    }

    /// So may those that wait for these places.
    pub fn wake_at(&mut self, ranges: &[Range]) {
        for range in ranges {
            let from = (range.heap, range.start.saturating_sub(MOST_BYTES));
            for (_, here) in self.at.range_mut(from..(range.heap, range.end())) {
                for (_, task) in here.extract_if(.., |(place, _)| place.overlaps(*range)) {
                    self.blocked[task] = false;
                }
            }
        }
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
