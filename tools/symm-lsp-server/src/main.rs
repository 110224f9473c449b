//! `mlir-lsp-server` with the symm dialect: diagnostics, hovers and completion in editors.

use std::ffi::{CString, c_char, c_int};
use std::os::unix::ffi::OsStringExt;

unsafe extern "C" {
    fn symmLspServerMain(argc: c_int, argv: *const *const c_char, dialect: mlir_sys::MlirDialectHandle) -> c_int;
}

fn main() {
    let arguments: Vec<CString> =
        std::env::args_os().map(|argument| CString::new(argument.into_vec()).unwrap_or_default()).collect();
    let pointers: Vec<*const c_char> =
        arguments.iter().map(|argument| argument.as_ptr()).chain([std::ptr::null()]).collect();
    let count = c_int::try_from(arguments.len()).unwrap_or(c_int::MAX);
    // SAFETY: `pointers` holds `count` C strings and a null pointer, alive during the call.
    let code = unsafe { symmLspServerMain(count, pointers.as_ptr(), symm_dialect::handle().to_raw()) };
    std::process::exit(code);
}
