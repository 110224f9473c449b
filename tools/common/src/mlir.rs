//! Running an MLIR tool with the symm dialect.

use crate::Call;
use mlir_sys::MlirDialectHandle;
use std::ffi::{CString, c_char, c_int};
use std::os::unix::ffi::OsStringExt as _;

/// The main function of such a tool: C's arguments, and a dialect that it adds to its own.
pub type Main = unsafe extern "C" fn(c_int, *const *const c_char, MlirDialectHandle) -> c_int;

/// Runs `main` on the arguments of a call; the process ends with its status.
///
/// # Safety
/// `main` reads what C's main function may read, during the call.
pub unsafe fn run(main: Main, call: &Call) -> ! {
    let arguments: Vec<CString> =
        call.line().map(|argument| CString::new(argument.into_vec()).unwrap_or_default()).collect();
    let pointers: Vec<*const c_char> =
        arguments.iter().map(|argument| argument.as_ptr()).chain([std::ptr::null()]).collect();
    if crate::closed::was_open() {
        // LLVM would report a failed write as a crash: the signal ends the tool when the reader of its output leaves.
        // SAFETY: the default action takes no function.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    }
    let count = c_int::try_from(arguments.len()).unwrap_or(c_int::MAX);
    // SAFETY: `pointers` holds `count` C strings and a null pointer, alive during the call.
    let status = unsafe { main(count, pointers.as_ptr(), symm_dialect::handle().to_raw()) };
    std::process::exit(status);
}
