//! What a caller's pointers point to, checked as far as that can be.

use crate::invalid;
use std::ffi::{CStr, c_char};
use symm_runtime::Error;

/// Stores the result of a call that makes something.
///
/// # Safety
/// `place` is valid for a write.
pub unsafe fn store<T>(place: *mut T, value: T) -> Result<(), Error> {
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
pub unsafe fn borrow<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Error> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_ref() }.ok_or_else(|| invalid(format!("{what} is null")))
}

/// # Safety
/// `text` is null or a string.
pub unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<&'a str, Error> {
    if text.is_null() {
        return Err(invalid(format!("{what} is null")));
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| invalid(format!("{what} is not in UTF-8")))
}

/// Refuses sizes that no memory has.
pub fn check_size(size: usize, what: &str) -> Result<(), Error> {
    match isize::try_from(size) {
        Ok(_) => Ok(()),
        Err(_) => Err(invalid(format!("{what} cannot have {size} bytes"))),
    }
}

/// The bytes at `data`, which may be null if there are none.
///
/// # Safety
/// `data` is valid for reads of `bytes` bytes.
pub unsafe fn bytes<'a>(data: *const u8, bytes: usize, what: &str) -> Result<&'a [u8], Error> {
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
pub unsafe fn bytes_mut<'a>(data: *mut u8, bytes: usize, what: &str) -> Result<&'a mut [u8], Error> {
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
