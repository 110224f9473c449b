//! The runtime's errors as exceptions of `symm.errors`.

use pyo3::prelude::*;
use symm_runtime::{Error, HELPERS_MEND};

/// Why there is no run any more after a `MismatchError`.
pub const OUT_OF_STEP: &str = "the ranks had called different things (MismatchError), and are out of step";

/// The text of a `ClosedError`.
pub const LEFT: &str = "this World is closed: this rank has left the run";

/// What the runtime says to programs of several languages, and what it is in Python.
const WORDS: [(&str, &str); 6] = [
    // The runtime knows no thread of a rank that Python has joined and that waits: it is never taken for stuck.
    (HELPERS_MEND, ""),
    ("(heap_size, --heap-size)", "(heap_size of symm.init)"),
    ("torchrun, mpirun, srun or `symm-run --processes`", "torchrun, mpirun or srun"),
    ("call Rank::leave (symm_leave) when all is done", "call World.close when all is done"),
    (": host function running for ", ": in no call of symm for "),
    ("in the same order with the same sizes:", "in the same order, with the same sizes and types:"),
];

/// The text of an error of the runtime, in Python's words.
pub fn text(error: &Error) -> String {
    WORDS.iter().fold(error.to_string(), |text, (runtime, python)| text.replace(runtime, python))
}

/// The exception for an error of the runtime.
pub fn raise(py: Python<'_>, error: &Error) -> PyErr {
    let message = text(error);
    let class = py.import("symm.errors").and_then(|errors| errors.getattr(class(error.cause())));
    match class.and_then(|class| class.call1((message,))) {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// Whose fault an error is, as a class in `symm/errors.py`.
fn class(error: &Error) -> &'static str {
    match error {
        Error::NoEngine(..) => "EngineError",
        Error::HeapExhausted { .. } => "HeapExhaustedError",
        Error::Program(why) if why == LEFT => "ClosedError",
        Error::InvalidConfig { .. } => "ArgumentError",
        Error::NotSymmetric { .. } | Error::NotAllocated(_) => "NotSymmetricError",
        Error::NoSuchRank { .. } => "RankRangeError",
        Error::CollectiveMismatch { .. } => "MismatchError",
        Error::RunMismatch { .. }
        | Error::NoGpu { .. }
        | Error::Environment { .. }
        | Error::SeveralHosts { .. }
        | Error::Meeting(_)
        | Error::DuplicateRank { .. }
        | Error::RanksAbsent { .. }
        | Error::Silent { .. }
        | Error::Refused { .. } => "BootstrapError",
        Error::Gpu { .. } | Error::NoPeerAccess { .. } | Error::Unsupported { .. } => "DeviceError",
        Error::RankDied { .. }
        | Error::Stopped { .. }
        | Error::Left(_)
        | Error::RankReturned { .. }
        | Error::Deadlock { .. }
        | Error::Timeout { .. } => "RankFailedError",
        _ => "SymmError",
    }
}
