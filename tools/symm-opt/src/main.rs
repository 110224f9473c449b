//! `mlir-opt` with the symm dialect and its passes: all of its flags, and `--symm-…`.

use std::ffi::{CString, c_char, c_int};
use std::os::unix::ffi::OsStringExt;

unsafe extern "C" {
    fn symmOptMain(argc: c_int, argv: *const *const c_char, dialect: mlir_sys::MlirDialectHandle) -> c_int;
}

fn main() {
    let guard = symm_dialect::crash::guard("symm-opt");
    for path in std::env::args_os().skip(1) {
        guard.reads(path.as_ref());
    }
    symm_passes::register();
    let arguments: Vec<CString> =
        std::env::args_os().map(|argument| CString::new(argument.into_vec()).unwrap_or_default()).collect();
    let pointers: Vec<*const c_char> =
        arguments.iter().map(|argument| argument.as_ptr()).chain([std::ptr::null()]).collect();
    let count = c_int::try_from(arguments.len()).unwrap_or(c_int::MAX);
    // SAFETY: `pointers` holds `count` C strings and a null pointer, alive during the call.
    let code = unsafe { symmOptMain(count, pointers.as_ptr(), symm_dialect::handle().to_raw()) };
    std::process::exit(code);
}
