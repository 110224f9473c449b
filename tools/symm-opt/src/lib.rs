//! `mlir-opt` with the symm dialect and its passes. It lacks `--llvm-target-to-…` (passes/cpp/upstream.cpp).

// Unsafe code is allowed by name.
#![deny(unsafe_code)]

use mlir_sys::MlirDialectHandle;
use std::ffi::{c_char, c_int};
use std::io::Write as _;
use std::process::ExitCode;
use symm_dialect::nesting;
use symm_tool::{Call, on_large_stack};

#[expect(unsafe_code, reason = "a tool of MLIR, which is C++")]
unsafe extern "C" {
    fn symmOptMain(argc: c_int, argv: *const *const c_char, dialect: MlirDialectHandle) -> c_int;
}

/// Runs the tool.
#[must_use]
pub fn main(call: &Call) -> ExitCode {
    on_large_stack(|| work(call))
}

#[expect(unsafe_code, reason = "it calls that tool")]
fn work(call: &Call) -> ! {
    let guard = symm_tool::crash::guard(call.name);
    for path in &call.arguments {
        guard.reads(path.as_ref());
        let text = std::fs::metadata(path).is_ok_and(|file| file.is_file()).then(|| std::fs::read(path).ok());
        if let Some((line, column)) = text.flatten().and_then(|text| nesting::too_deep(&text)) {
            let place = format!("{}:{line}:{column}", path.display());
            let _ = writeln!(std::io::stderr(), "{place}: error: is nested more than {} deep", nesting::MOST);
            std::process::exit(1);
        }
    }
    symm_passes::register_upstream();
    symm_passes::register();
    // SAFETY: it hands its arguments on to MLIR, which reads them before it returns.
    unsafe { symm_tool::mlir::run(symmOptMain, call) }
}
