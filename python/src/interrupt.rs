//! Ctrl-C, whatever else a Python handler raises, and what Python itself looks at, while the runtime waits.

use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::OnceLock;
use symm_runtime::leave_soon;

/// What is called while a thread waits.
static LOOK: OnceLock<Py<PyAny>> = OnceLock::new();

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
    py.check_signals()?;
    if let Some(look) = LOOK.get()
        && look.call0(py)?.is_truthy(py)?
    {
        leave_soon();
    }
    Ok(())
}

/// Has threads that wait call a function; `python/symm/_symm.pyi` says when.
#[pyfunction]
pub fn on_look(look: Py<PyAny>) {
    // The package sets it once.
    let _ = LOOK.set(look);
}

/// What a handler has raised on this thread since the last call.
pub fn raised() -> Option<PyErr> {
    RAISED.take()
}
