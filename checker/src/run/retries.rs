//! Atomics that have changed nothing, and are about to be tried again, and loads of loops that only poll: where all
//! executions are tried, the task waits until what it has found changes. Only where nobody else can go on does it try
//! again, as often as it likes.

use super::Run;
use crate::machine::word;
use crate::op::{Op, Strong};
use crate::task::TaskId;
use std::collections::BTreeSet;

/// Who tries again.
#[derive(Debug, Default)]
pub(super) struct Retries {
    /// Whether they wait.
    wait: bool,
    /// Those that do not, until they do something else.
    insist: BTreeSet<TaskId>,
}

impl Run<'_> {
    /// From now on, who would find again what it has found waits until that changes.
    pub(crate) fn await_changes(&mut self) {
        self.retries.wait = true;
    }

    /// Whether a task would try an atomic again that has changed nothing, or look again, and find the same; then it is
    /// parked.
    pub(super) fn is_retrying(&mut self, task: TaskId) -> bool {
        if !self.would_retry(task) {
            return false;
        }
        let Some((op, _)) = &self.pending[task] else { return false };
        let places = if let Op::Look(strong) = op { vec![strong.at] } else { self.polls[task].places() };
        self.parked.park(task, op, &places);
        true
    }

    fn would_retry(&mut self, task: TaskId) -> bool {
        if !self.retries.wait || self.retries.insist.contains(&task) || self.vain(task).is_some() {
            return false;
        }
        let polls = &self.polls[task];
        match &self.pending[task] {
            Some((op @ Op::Atomic(..), site)) => {
                polls.repeats(op, self.machine.site(site)) && polls.find_the_same(|range| self.machine.bytes(&[range]))
            }
            Some((Op::Look(strong), _)) => polls.found_at(strong.at) == Some(word(&self.machine.bytes(&[strong.at]))),
            _ => false,
        }
    }

    /// Of a task's ways, how many of the first ones may show anything new: where it tries an atomic again, and in every
    /// way but the first finds what it has found, or looks again and sees the oldest value again, they do not.
    pub(super) fn new_ways(&self, task: TaskId, ways: usize) -> usize {
        let Some((op, _)) = self.pending[task].as_ref().filter(|_| self.retries.wait && ways > 1) else { return ways };
        let (Op::Atomic(Strong { at, .. }, _) | Op::Look(Strong { at, .. })) = op else { return ways };
        let Some(found) = self.polls[task].found_at(*at) else { return ways };
        match op {
            Op::Atomic(strong, update) => {
                let is_same = self.machine.unchanged(task, *strong, *update).all(|value| value == found);
                if is_same { 1 } else { ways }
            }
            _ => self.machine.values(task, *at).iter().rposition(|&value| value != found).map_or(1, |last| last + 1),
        }
    }

    /// The tasks that wait so.
    pub(crate) fn retrying(&mut self) -> Vec<TaskId> {
        (0..self.tasks()).filter(|&task| self.would_retry(task)).collect()
    }

    /// Lets those go on that wait so; whether there are any.
    pub(crate) fn insist(&mut self) -> bool {
        let retrying = self.retrying();
        for &task in &retrying {
            self.retries.insist.insert(task);
            self.parked.wake(task);
        }
        !retrying.is_empty()
    }

    /// After a step of a task: whether it still tries the same.
    pub(super) fn note_retry(&mut self, task: TaskId) {
        if self.retries.wait && self.polls[task].places().is_empty() {
            self.retries.insist.remove(&task);
        }
    }
}
