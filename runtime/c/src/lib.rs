//! The C interface of symm's runtime. `runtime/include/symm.h` documents every function; tests/c.rs holds it against
//! this code.
//!
//! A handle is a number that stands for what the Rust interface has. Nothing unwinds into C.

#![allow(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the header documents each function, and valid pointers, as it says, are the whole contract"
)]
// Unsafe code is allowed by name.
#![deny(unsafe_code)]

#[expect(unsafe_code, reason = "places of the caller, and what it makes there")]
mod handle;
#[expect(unsafe_code, reason = "functions that C calls, and kernels of the caller")]
mod kernel;
#[cfg(test)]
mod layout;
#[expect(unsafe_code, reason = "what a caller's pointers point to")]
mod pointers;
#[expect(unsafe_code, reason = "functions that C calls")]
mod process;
#[expect(unsafe_code, reason = "functions that C calls")]
mod rank;
#[expect(unsafe_code, reason = "functions that C calls")]
mod stream;

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{LazyLock, Mutex, PoisonError};

use symm_runtime::Error;

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// In its place at the end of a thread, in handlers of `atexit` and destructors of statics: thread-local data is gone.
static LATE_ERROR: LazyLock<Mutex<CString>> = LazyLock::new(Mutex::default);

/// The header's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
enum Status {
    Ok = 0,
    Invalid = 1,
    OutOfMemory = 2,
    Mismatch = 3,
    Stopped = 4,
    Bootstrap = 5,
    Device = 6,
    Fault = 7,
    Unsupported = 8,
    Internal = 9,
}

impl Status {
    fn of(error: &Error) -> Self {
        match error.cause() {
            Error::InvalidConfig { .. }
            | Error::BadAlignment { .. }
            | Error::NotAllocated(_)
            | Error::BadLaunch { .. }
            | Error::HostArgument { .. }
            | Error::WrongContext { .. }
            | Error::NoSuchRank { .. }
            | Error::NotSymmetric { .. }
            | Error::Forked { .. }
            | Error::Program(_) => Self::Invalid,
            Error::HeapExhausted { .. } => Self::OutOfMemory,
            Error::CollectiveMismatch { .. } => Self::Mismatch,
            Error::Stopped { .. }
            | Error::RankDied { .. }
            | Error::RankReturned { .. }
            | Error::Deadlock { .. }
            | Error::Timeout { .. }
            | Error::Interrupted { .. }
            | Error::Left(_) => Self::Stopped,
            Error::Environment { .. }
            | Error::SeveralHosts { .. }
            | Error::Meeting(_)
            | Error::RunMismatch { .. }
            | Error::DuplicateRank { .. }
            | Error::RanksAbsent { .. }
            | Error::Silent { .. }
            | Error::Refused { .. } => Self::Bootstrap,
            Error::System { .. } | Error::NoGpu { .. } | Error::Gpu { .. } | Error::NoPeerAccess { .. } => Self::Device,
            Error::Fault { .. } => Self::Fault,
            Error::Unsupported { .. } => Self::Unsupported,
            _ => Self::Internal,
        }
    }
}

/// An invalid call.
fn invalid(what: impl Into<String>) -> Error {
    Error::Program(what.into())
}

/// Runs a call, and keeps what went wrong in it for [`process::symm_last_error`].
fn call(body: impl FnOnce() -> Result<(), Error>) -> c_int {
    symm_runtime::set_foreign();
    let (status, text) = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return Status::Ok as c_int,
        Ok(Err(error)) => (Status::of(&error), error.to_string()),
        Err(panic) => (Status::Internal, format!("panicked: {}; this is a fault of symm", said(&*panic))),
    };
    let text: Vec<u8> = text.bytes().filter(|byte| *byte != 0).collect();
    // No zero bytes are left.
    let text = CString::new(text).unwrap_or_default();
    let kept = LAST_ERROR.try_with(|last| *last.borrow_mut() = text.clone());
    if kept.is_err() {
        *LATE_ERROR.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
    status as c_int
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}
