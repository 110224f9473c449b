//! The runtime's errors as exceptions of `symm.errors`.

use pyo3::prelude::*;
use symm_runtime::Error;

/// The exception for an error of the runtime.
pub fn raise(py: Python<'_>, error: &Error) -> PyErr {
    let message = error.to_string().replace("--heap-size", "heap_size of symm.init");
    let class = py.import("symm.errors").and_then(|errors| errors.getattr(class(error.cause())));
    match class.and_then(|class| class.call1((message,))) {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// Whose fault an error is, as a class in `symm/errors.py`.
fn class(error: &Error) -> &'static str {
    match error {
        Error::HeapExhausted { .. } => "HeapExhaustedError",
        Error::NotSymmetric { .. } | Error::NotAllocated { .. } => "NotSymmetricError",
        Error::NoSuchRank { .. } => "RankRangeError",
        Error::CollectiveMismatch { .. } => "MismatchError",
        Error::RunMismatch { .. }
        | Error::NoGpu { .. }
        | Error::Environment { .. }
        | Error::SeveralHosts { .. }
        | Error::DuplicateRank { .. }
        | Error::RanksAbsent { .. }
        | Error::Silent { .. }
        | Error::Refused { .. } => "BootstrapError",
        Error::Gpu { .. } | Error::NoPeerAccess { .. } | Error::Unsupported { .. } => "DeviceError",
        Error::RankDied { .. }
        | Error::Stopped { .. }
        | Error::Left { .. }
        | Error::RankReturned { .. }
        | Error::Deadlock { .. }
        | Error::Timeout { .. } => "RankFailedError",
        _ => "SymmError",
    }
}
