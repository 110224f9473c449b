//! Ctrl-C, and whatever else a Python handler raises, while the runtime waits.

use pyo3::prelude::*;
use std::cell::Cell;

thread_local! {
    static RAISED: Cell<Option<PyErr>> = const { Cell::new(None) };
}

/// Runs the handlers of signals that have come; whether one has raised, for [`raised`].
pub fn interrupted() -> bool {
    let Some(Err(error)) = Python::try_attach(check) else { return false };
    RAISED.set(Some(error));
    true
}

fn check(py: Python<'_>) -> PyResult<()> {
    py.check_signals()
}

/// What a handler has raised on this thread since the last call.
pub fn raised() -> Option<PyErr> {
    RAISED.take()
}
