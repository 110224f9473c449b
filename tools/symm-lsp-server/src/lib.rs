//! `mlir-lsp-server` with the symm dialect: diagnostics, hovers and completion in editors.

// Unsafe code is allowed by name.
#![deny(unsafe_code)]

use mlir_sys::MlirDialectHandle;
use std::ffi::{c_char, c_int};
use std::process::ExitCode;
use symm_tool::Call;

#[expect(unsafe_code, reason = "a tool of MLIR, which is C++")]
unsafe extern "C" {
    fn symmLspServerMain(argc: c_int, argv: *const *const c_char, dialect: MlirDialectHandle) -> c_int;
}

/// Runs the tool.
#[must_use]
#[expect(unsafe_code, reason = "it calls that tool")]
pub fn main(call: &Call) -> ExitCode {
    // SAFETY: it hands its arguments on to MLIR, which reads them before it returns.
    unsafe { symm_tool::mlir::run(symmLspServerMain, call) }
}
