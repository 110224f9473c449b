//! Checks in the program that failed. They do not stop it; the run fails at its end.

use std::fmt;
use std::sync::Mutex;

use crate::error::Place;
use crate::lock::lock;

/// How many failures are kept in full.
const KEPT: usize = 32;

/// A check in the program that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckFailure {
    /// The rank and block that checked, and where.
    pub place: Place,
    /// The program's message, with its values.
    pub message: String,
}

impl fmt::Display for CheckFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: check failed: {}", self.place, self.message)
    }
}

/// The failures of one process.
#[derive(Debug, Default, Clone)]
pub struct CheckFailures {
    /// How many there were.
    pub count: u64,
    /// The first 32.
    pub first: Vec<CheckFailure>,
}

/// Collects failures from all threads.
#[derive(Debug, Default)]
pub(crate) struct Checks(Mutex<CheckFailures>);

impl Checks {
    pub(crate) fn add(&self, failure: impl FnOnce() -> CheckFailure) {
        let mut failures = lock(&self.0);
        failures.count += 1;
        if failures.first.len() < KEPT {
            failures.first.push(failure());
        }
    }

    pub(crate) fn take(&self) -> CheckFailures {
        std::mem::take(&mut lock(&self.0))
    }
}
