//! `mlir-lsp-server` with the symm dialect: diagnostics, hovers and completion in editors.

use mlir_sys::MlirDialectHandle;
use std::ffi::{c_char, c_int};
use std::process::ExitCode;
use symm_tool::Call;

unsafe extern "C" {
    fn symmLspServerMain(argc: c_int, argv: *const *const c_char, dialect: MlirDialectHandle) -> c_int;
}

/// Runs the tool.
#[must_use]
pub fn main(call: &Call) -> ExitCode {
    // SAFETY: it hands its arguments on to MLIR, which reads them before it returns.
    unsafe { symm_tool::mlir::run(symmLspServerMain, call) }
}
