//! The C interface of symm's runtime. `runtime/include/symm.h` documents every function; tests/c.rs holds it against
//! this code.
//!
//! A handle is a number that stands for what the Rust interface has. Nothing unwinds into C.

#![allow(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the header documents each function, and valid pointers, as it says, are the whole contract"
)]

mod handle;
mod kernel;
#[cfg(test)]
mod layout;
mod rank;
mod stream;

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
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
            | Error::NotAllocated { .. }
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
            | Error::Left { .. } => Self::Stopped,
            Error::Environment { .. }
            | Error::SeveralHosts { .. }
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

/// Runs a call, and keeps what went wrong in it for [`symm_last_error`].
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

/// Stores the result of a call that makes something.
///
/// # Safety
/// `place` is valid for a write.
unsafe fn store<T>(place: *mut T, value: T) -> Result<(), Error> {
    if place.is_null() {
        return Err(invalid("the place for the result is null"));
    }
    // SAFETY: the caller's promise.
    unsafe { place.write(value) };
    Ok(())
}

/// The value that a caller's pointer points to.
///
/// # Safety
/// `pointer` is null or valid.
unsafe fn borrow<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Error> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_ref() }.ok_or_else(|| invalid(format!("{what} is null")))
}

/// # Safety
/// `text` is null or a string.
unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<&'a str, Error> {
    if text.is_null() {
        return Err(invalid(format!("{what} is null")));
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| invalid(format!("{what} is not in UTF-8")))
}

/// Refuses sizes that no memory has.
fn check_size(size: usize, what: &str) -> Result<(), Error> {
    match isize::try_from(size) {
        Ok(_) => Ok(()),
        Err(_) => Err(invalid(format!("{what} cannot have {size} bytes"))),
    }
}

/// The bytes at `data`, which may be null if there are none.
///
/// # Safety
/// `data` is valid for reads of `bytes` bytes.
unsafe fn bytes<'a>(data: *const u8, bytes: usize, what: &str) -> Result<&'a [u8], Error> {
    if bytes == 0 {
        return Ok(&[]);
    }
    check_size(bytes, what)?;
    // SAFETY: the caller's promise.
    unsafe { borrow(data, what).map(|data| std::slice::from_raw_parts(data, bytes)) }
}

/// The same, for writes.
///
/// # Safety
/// `data` is valid for reads and writes of `bytes` bytes that nobody else uses.
unsafe fn bytes_mut<'a>(data: *mut u8, bytes: usize, what: &str) -> Result<&'a mut [u8], Error> {
    if bytes == 0 {
        return Ok(&mut []);
    }
    check_size(bytes, what)?;
    if data.is_null() {
        return Err(invalid(format!("{what} is null")));
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts_mut(data, bytes) })
}

#[unsafe(no_mangle)]
pub extern "C" fn symm_last_error() -> *const c_char {
    let last = LAST_ERROR.try_with(|last| last.borrow().as_ptr());
    last.unwrap_or_else(|_| LATE_ERROR.lock().unwrap_or_else(PoisonError::into_inner).as_ptr())
}

/// The question that the caller answers, and the way to ask it.
static ASKS: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

type Question = extern "C" fn() -> c_int;

#[unsafe(no_mangle)]
pub extern "C" fn symm_set_interrupt(asked: Option<Question>) {
    ASKS.store(asked.map_or(ptr::null_mut(), |asked| asked as *mut ()), Ordering::Release);
    symm_runtime::set_interrupt(|| {
        let asked = ASKS.load(Ordering::Acquire);
        // SAFETY: what was stored is null or such a function, and `Option` of one is null for none.
        unsafe { std::mem::transmute::<*mut (), Option<Question>>(asked) }.is_some_and(|asked| asked() != 0)
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn symm_set_call_site(site: *const c_char) -> c_int {
    call(|| {
        // SAFETY: null or a string, says the header.
        let site = if site.is_null() { "" } else { unsafe { text(site, "the call site")? } };
        symm_runtime::set_call_site(Some(site));
        Ok(())
    })
}
