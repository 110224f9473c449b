//! `mlir-opt` with the symm dialect and its passes: all of its flags, and `--symm-…`.

use mlir_sys::MlirDialectHandle;
use std::ffi::{c_char, c_int};
use std::io::Write as _;
use symm_dialect::nesting;

unsafe extern "C" {
    fn symmOptMain(argc: c_int, argv: *const *const c_char, dialect: MlirDialectHandle) -> c_int;
}

/// Output that is lost is an error.
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = symm_dialect::closed::replace_output;

fn main() {
    symm_dialect::tool::on_large_stack(work);
}

fn work() {
    let guard = symm_dialect::crash::guard("symm-opt");
    for path in std::env::args_os().skip(1) {
        guard.reads(path.as_ref());
        let text = std::fs::metadata(&path).is_ok_and(|file| file.is_file()).then(|| std::fs::read(&path).ok());
        if let Some((line, column)) = text.flatten().and_then(|text| nesting::too_deep(&text)) {
            let place = format!("{}:{line}:{column}", path.display());
            let _ = writeln!(std::io::stderr(), "{place}: error: is nested more than {} deep", nesting::MOST);
            std::process::exit(1);
        }
    }
    symm_passes::register();
    // SAFETY: it hands its arguments on to MLIR, which reads them before it returns.
    unsafe { symm_dialect::tool::run(symmOptMain) }
}
