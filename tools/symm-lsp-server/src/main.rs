//! `mlir-lsp-server` with the symm dialect: diagnostics, hovers and completion in editors.

use mlir_sys::MlirDialectHandle;
use std::ffi::{c_char, c_int};

unsafe extern "C" {
    fn symmLspServerMain(argc: c_int, argv: *const *const c_char, dialect: MlirDialectHandle) -> c_int;
}

fn main() {
    // SAFETY: it hands its arguments on to MLIR, which reads them before it returns.
    unsafe { symm_dialect::tool::run(symmLspServerMain) }
}
