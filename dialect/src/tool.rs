//! Running a tool of MLIR's with this dialect.

use crate::crash;
use mlir_sys::MlirDialectHandle;
use std::ffi::{CString, c_char, c_int};
use std::os::unix::ffi::OsStringExt as _;
use std::panic::resume_unwind;
use std::thread;

/// The main function of such a tool: C's arguments, and a dialect that it adds to its own.
pub type Main = unsafe extern "C" fn(c_int, *const *const c_char, MlirDialectHandle) -> c_int;

/// The stack that MLIR and LLVM get, in bytes: they recurse along nested regions and long chains of operations. Pages
/// that nobody touches cost nothing.
pub const STACK: usize = 64 << 20;

/// Does `work` on a thread with [`STACK`], or on this one where the system gives no such thread.
pub fn on_large_stack<T: Send>(work: impl Fn() -> T + Sync) -> T {
    let work = || {
        crash::note_stack(STACK);
        work()
    };
    thread::scope(|scope| match thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work) {
        Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
        Err(_) => work(),
    })
}

/// Runs `main` on the arguments of this process, which ends with its status.
///
/// # Safety
/// `main` reads what C's main function may read, during the call.
pub unsafe fn run(main: Main) -> ! {
    let arguments: Vec<CString> =
        std::env::args_os().map(|argument| CString::new(argument.into_vec()).unwrap_or_default()).collect();
    let pointers: Vec<*const c_char> =
        arguments.iter().map(|argument| argument.as_ptr()).chain([std::ptr::null()]).collect();
    let count = c_int::try_from(arguments.len()).unwrap_or(c_int::MAX);
    // SAFETY: `pointers` holds `count` C strings and a null pointer, alive during the call.
    let status = unsafe { main(count, pointers.as_ptr(), crate::handle().to_raw()) };
    std::process::exit(status);
}
