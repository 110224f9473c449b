//! Errors of links and workers as exceptions of `symm.errors`.

use pyo3::prelude::*;
use symm_remote::error::{Error, Failure, REFUSED};

/// Where an error comes from.
pub struct Origin<'a> {
    pub worker: &'a str,
    pub op: Option<&'a str>,
    pub place: Option<Py<PyAny>>,
}

/// What an operation has raised on the worker.
pub fn failure(py: Python<'_>, failure: &Failure, origin: Origin<'_>) -> PyErr {
    if failure.kind == REFUSED {
        return exception(py, "RefusedError", &failure.text, origin);
    }
    let made = py.import("symm.errors").and_then(|errors| {
        let class = errors.getattr("WorkerError")?.call_method1("of", (&failure.kind,))?;
        class.call1((&failure.text, origin.worker, origin.op, origin.place, &failure.kind))
    });
    made.map_or_else(|error| error, PyErr::from_value)
}

/// An exception of this class.
pub fn exception(py: Python<'_>, class: &str, text: &str, origin: Origin<'_>) -> PyErr {
    let made = py
        .import("symm.errors")
        .and_then(|errors| errors.getattr(class)?.call1((text, origin.worker, origin.op, origin.place)));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// An error of a link that has no operation.
pub fn error(py: Python<'_>, error: &Error, worker: &str) -> PyErr {
    let class = match error {
        Error::Address(_) | Error::Unprotected(_) | Error::File { .. } => {
            let made = py
                .import("symm.errors")
                .and_then(|errors| errors.getattr("ArgumentError")?.call1((error.to_string(),)));
            return made.map_or_else(|error| error, PyErr::from_value);
        }
        Error::Refused(_) => "RefusedError",
        Error::Late(_) => "DeadlineError",
        Error::Lost(_) | Error::Malformed(_) | Error::Io(_) => "WorkerLostError",
    };
    exception(py, class, &error.to_string(), Origin { worker, op: None, place: None })
}
