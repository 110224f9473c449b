//! `mlir-opt` with the symm dialect and its passes: all of its flags, and `--symm-…`.

use mlir_sys::MlirDialectHandle;
use std::ffi::{c_char, c_int};

unsafe extern "C" {
    fn symmOptMain(argc: c_int, argv: *const *const c_char, dialect: MlirDialectHandle) -> c_int;
}

/// Output that is lost is an error.
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = symm_dialect::closed::replace_output;

fn main() {
    let guard = symm_dialect::crash::guard("symm-opt");
    for path in std::env::args_os().skip(1) {
        guard.reads(path.as_ref());
    }
    symm_passes::register();
    // SAFETY: it hands its arguments on to MLIR, which reads them before it returns.
    unsafe { symm_dialect::tool::run(symmOptMain) }
}
