//! Pending operations, and where the program called them.

use pyo3::prelude::*;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use symm_remote::client::Client;
use symm_remote::error::Failure;

/// The most failed operations that are remembered for those that read their results.
const MOST_FAILED: usize = 1024;
/// The most finished operations before their entries are dropped.
const SOME: usize = 256;

/// An operation that is under way.
pub struct Entry {
    pub message: u64,
    pub op: Arc<str>,
    pub place: Py<PyAny>,
}

/// An operation that has failed.
#[derive(Clone)]
pub struct Failed {
    pub failure: Failure,
    pub op: Arc<str>,
    pub place: Option<Arc<Py<PyAny>>>,
}

#[derive(Default)]
pub struct Journal {
    entries: VecDeque<Entry>,
    failed: HashMap<u64, Failed>,
    pending: Option<Failed>,
}

impl Journal {
    /// Notes an operation.
    pub fn push(&mut self, entry: Entry) {
        self.entries.push_back(entry);
    }

    /// Whether there is something to settle.
    pub fn is_long(&self) -> bool {
        self.entries.len() >= SOME
    }

    /// Forgets what is done, and remembers what has failed. What it gives back is to be dropped without the journal's
    /// lock: it may run any code.
    #[must_use]
    pub fn settle(&mut self, client: &Client) -> (Vec<Entry>, HashMap<u64, Failed>) {
        // In this order: what has failed by then is among the failures.
        let done = client.acknowledged();
        let failures = if client.has_failures() { client.failures() } else { Vec::new() };
        let old = if self.failed.len() + failures.len() > MOST_FAILED {
            std::mem::take(&mut self.failed)
        } else {
            HashMap::new()
        };
        let mut removed = Vec::new();
        for (message, failure) in failures {
            let at = self.entries.binary_search_by_key(&message, |entry| entry.message).ok();
            let entry = at.and_then(|at| self.entries.remove(at));
            let op = entry.as_ref().map_or_else(|| "a transfer".into(), |entry| entry.op.clone());
            let failed = Failed { failure, op, place: entry.map(|entry| Arc::new(entry.place)) };
            self.pending.get_or_insert_with(|| failed.clone());
            self.failed.insert(message, failed);
        }
        while self.entries.front().is_some_and(|entry| entry.message <= done) {
            removed.extend(self.entries.pop_front());
        }
        (removed, old)
    }

    /// The first unreported failure; the others are forgotten with it.
    pub fn take_pending(&mut self) -> Option<Failed> {
        self.pending.take()
    }

    /// What has failed at this message.
    pub fn failed(&self, message: u64) -> Option<Failed> {
        self.failed.get(&message).cloned()
    }

    /// The oldest operation that is not done.
    pub fn oldest(&self, py: Python<'_>) -> Option<(Arc<str>, Py<PyAny>)> {
        self.entries.front().map(|entry| (entry.op.clone(), entry.place.clone_ref(py)))
    }
}
