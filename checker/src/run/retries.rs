//! Atomics that have changed nothing, and are about to be tried again: where all executions are tried, the task waits
//! until what it has found changes. Only where nobody else can go on does it try again, as often as it likes.

use super::Run;
use crate::op::Op;
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

    /// Whether a task would try an atomic again that has changed nothing, and find the same; it is parked then.
    pub(super) fn is_retrying(&mut self, task: TaskId) -> bool {
        if !self.would_retry(task) {
            return false;
        }
        let Some((op, _)) = &self.pending[task] else { return false };
        self.parked.park(task, op, &self.polls[task].places());
        true
    }

    fn would_retry(&mut self, task: TaskId) -> bool {
        if !self.retries.wait || self.retries.insist.contains(&task) || self.vain(task).is_some() {
            return false;
        }
        let Some((op @ Op::Atomic(..), site)) = &self.pending[task] else { return false };
        let site = self.machine.site(site);
        self.polls[task].repeats(op, site) && self.polls[task].find_the_same(|range| self.machine.bytes(&[range]))
    }

    /// Whether a task tries an atomic again, and in every way but the first finds what it has found: to try these again
    /// shows nothing new.
    pub(super) fn finds_the_same(&self, task: TaskId) -> bool {
        let Some((Op::Atomic(strong, update), _)) = &self.pending[task] else { return false };
        let Some(found) = self.polls[task].found_at(strong.at).filter(|_| self.retries.wait) else { return false };
        self.machine.unchanged(task, *strong, *update).all(|value| value == found)
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
