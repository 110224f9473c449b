//! Tasks that poll in vain, until what they read changes.

use super::Run;
use crate::op::Range;
use crate::polls::Polls;
use crate::task::TaskId;

impl Run<'_> {
    /// Forgets that a task polls in vain where what it reads has changed, or it does something else.
    pub(super) fn watch_polls(&mut self, task: TaskId) {
        let polls = &mut self.polls[task];
        if let (Some((ranges, bytes)), Some((op, site))) = (&polls.vain, &self.pending[task])
            && !(polls.repeats(op, self.machine.site(site)) && self.machine.bytes(ranges) == *bytes)
        {
            polls.forget();
        }
    }

    /// The same of all tasks.
    pub(crate) fn watch_all(&mut self) {
        for task in 0..self.tasks() {
            if self.vain(task).is_some() {
                self.watch_polls(task);
            }
        }
    }

    /// Whether a task polls, so that others should go on first.
    #[must_use]
    pub fn is_idle(&self, task: TaskId) -> bool {
        self.polls.get(task).is_some_and(Polls::is_idle)
    }

    /// What a task polls in vain, and what is there.
    pub(crate) fn vain(&self, task: TaskId) -> Option<&(Vec<Range>, Vec<u8>)> {
        self.polls[task].vain.as_ref()
    }
}
