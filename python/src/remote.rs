//! Tensors on workers: a client's link, and the worker's executor, which runs torch. `python/symm/_symm.pyi` says what
//! each function is.

mod decode;
mod dispatch;
mod encode;
mod executor;
mod handle;
mod journal;
mod key;
mod kind;
mod link;
#[expect(unsafe_code, reason = "the memory of torch's tensors")]
mod memory;
mod raise;
mod serve;
mod spec;
mod types;
mod untraced;

use pyo3::prelude::*;

/// A tensor that a worker holds, as an argument.
#[pyclass(frozen, module = "symm._symm")]
pub struct TensorId(u64);

/// A generator of random numbers that a worker holds, as an argument.
#[pyclass(frozen, module = "symm._symm")]
pub struct GeneratorId(u64);

/// Stands for the context of the worker's rank, as an argument.
#[pyclass(frozen, module = "symm._symm")]
pub struct SymmContext;

/// A tensor of a worker's without its data.
#[pyclass(frozen, get_all, module = "symm._symm")]
pub struct Meta {
    id: Option<u64>,
    dtype: Py<PyAny>,
    shape: Py<PyAny>,
    strides: Py<PyAny>,
    offset: i64,
}

#[pymethods]
impl TensorId {
    #[new]
    fn new(id: u64) -> Self {
        Self(id)
    }
}

#[pymethods]
impl GeneratorId {
    #[new]
    fn new(id: u64) -> Self {
        Self(id)
    }
}

#[pymethods]
impl SymmContext {
    #[new]
    fn new() -> Self {
        Self
    }
}

#[pymethods]
impl Meta {
    fn __repr__(&self, py: Python<'_>) -> String {
        let (dtype, shape, strides) = (self.dtype.bind(py), self.shape.bind(py), self.strides.bind(py));
        format!("Meta(id={:?}, dtype={dtype}, shape={shape}, strides={strides}, offset={})", self.id, self.offset)
    }
}

/// Adds all this to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<TensorId>()?;
    module.add_class::<GeneratorId>()?;
    module.add_class::<SymmContext>()?;
    module.add_class::<Meta>()?;
    module.add_class::<link::Link>()?;
    module.add_class::<handle::Handle>()?;
    module.add_class::<spec::Spec>()?;
    module.add_class::<dispatch::Dispatcher>()?;
    module.add_class::<kind::DeviceKind>()?;
    module.add_class::<untraced::Untraced>()?;
    module.add_function(wrap_pyfunction!(handle::reserve_ids, module)?)?;
    module.add_function(wrap_pyfunction!(dispatch::remote_key, module)?)?;
    module.add_class::<serve::Worker>()?;
    module.add_function(wrap_pyfunction!(serve::remote_secrets, module)?)?;
    module.add_function(wrap_pyfunction!(types::remote_configure, module)?)
}
