//! What came of an execution: what was found, what is drawn of it, and who has not come to an end.

use super::Run;
use crate::finding::{At, Finding, Kind};
use crate::op::Op;
use crate::trace::Trace;

/// The most tasks that are named of an execution without an end.
const MOST_NAMED: usize = 3;

impl Run<'_> {
    /// The tasks that can still go on, and where they are: first those that need not meet others.
    pub(crate) fn unfinished(&mut self) -> Vec<At> {
        let enabled = self.enabled().into_iter();
        let mut enabled: Vec<_> =
            enabled.filter_map(|each| Some((each.task, self.pending[each.task].as_ref()?))).collect();
        enabled.sort_by_key(|(_, (op, _))| matches!(op, Op::Barrier(..)));
        let named = enabled.into_iter().take(MOST_NAMED);
        named.map(|(task, (_, site))| self.machine.at(task, site, "has not come to its end")).collect()
    }

    /// What was found, after no task can go on.
    #[must_use]
    pub fn findings(mut self) -> Vec<Finding> {
        let blocked: Vec<_> = (0..self.pending.len()).filter(|&task| self.pending[task].is_some()).collect();
        if self.has_crashed {
            return self.machine.findings();
        }
        if blocked.is_empty() {
            self.machine.finish();
            if let Some(reason) = self.execution.failed_check() {
                self.machine.find(Kind::FailedCheck, vec![], reason);
            }
        } else if !self.is_at_limit() && !self.has_failed {
            self.deadlock(&blocked);
        }
        self.machine.findings()
    }

    /// Keeps what is done from now on.
    pub(crate) fn record(&mut self) {
        self.trace = Some(Trace::default());
        self.machine.edges = Some(Vec::new());
    }

    /// What was done since, and what tasks are blocked at.
    pub(crate) fn recorded(&mut self) -> Option<Trace> {
        let mut trace = self.trace.take()?;
        trace.tasks = self.machine.tasks().to_vec();
        trace.edges = self.machine.edges.take().unwrap_or_default();
        for (task, pending) in self.pending.iter().enumerate() {
            if let Some((op, site)) = pending {
                trace.block(self.machine.now(task), op, site);
            }
        }
        Some(trace)
    }
}
