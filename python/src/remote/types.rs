//! torch's types, looked up once.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use std::sync::{Arc, Mutex};
use symm_remote::lock::lock;
use symm_remote::value::{DTYPES, Dtype, LAYOUTS, MEMORY_FORMATS};

/// What torch has.
pub struct Types {
    pub torch: Py<PyModule>,
    pub tensor: Py<PyType>,
    pub parameter: Py<PyType>,
    pub device: Py<PyType>,
    /// In the order of the wire's tables; none where this torch is too old.
    dtypes: Vec<Option<Py<PyAny>>>,
    layouts: Vec<Option<Py<PyAny>>>,
    memory_formats: Vec<Option<Py<PyAny>>>,
}

/// The class of remote tensors. An instance has a `Handle` in `_handle`, and in `_meta` an object whose `number` stands
/// for its metadata.
pub struct Remote {
    pub class: Py<PyType>,
}

static TYPES: PyOnceLock<Types> = PyOnceLock::new();
static REMOTE: Mutex<Option<Arc<Remote>>> = Mutex::new(None);

/// torch's types.
pub fn types(py: Python<'_>) -> PyResult<&Types> {
    TYPES.get_or_try_init(py, || {
        let torch = py.import("torch")?;
        let class = |name: &str| torch.getattr(name)?.cast_into::<PyType>().map(Bound::unbind).map_err(PyErr::from);
        let row = |name: &&str| torch.getattr(*name).ok().map(Bound::unbind);
        Ok(Types {
            tensor: class("Tensor")?,
            device: class("device")?,
            parameter: torch.getattr("nn")?.getattr("Parameter")?.cast_into::<PyType>()?.unbind(),
            dtypes: DTYPES.iter().map(|(name, _)| row(name)).collect(),
            layouts: LAYOUTS.iter().map(row).collect(),
            memory_formats: MEMORY_FORMATS.iter().map(row).collect(),
            torch: torch.unbind(),
        })
    })
}

/// Says what remote tensors are; for links that are made after it.
#[pyfunction]
pub fn remote_configure(py: Python<'_>, tensor_class: Py<PyType>) -> PyResult<()> {
    types(py)?;
    let old = lock(&REMOTE).replace(Arc::new(Remote { class: tensor_class }));
    drop(old);
    Ok(())
}

/// What remote tensors are, if that has been said.
pub fn remote() -> Option<Arc<Remote>> {
    lock(&REMOTE).clone()
}

impl Types {
    /// The row of a torch dtype.
    pub fn dtype_row(&self, object: &Bound<'_, PyAny>) -> Option<Dtype> {
        position(&self.dtypes, object).and_then(Dtype::new)
    }

    /// The row of a torch layout.
    pub fn layout_row(&self, object: &Bound<'_, PyAny>) -> Option<u8> {
        position(&self.layouts, object)
    }

    /// The row of a torch memory format.
    pub fn memory_format_row(&self, object: &Bound<'_, PyAny>) -> Option<u8> {
        position(&self.memory_formats, object)
    }

    /// The dtype in this row.
    pub fn dtype<'py>(&self, py: Python<'py>, dtype: Dtype) -> PyResult<Bound<'py, PyAny>> {
        at(py, &self.dtypes, dtype.row(), dtype.name())
    }

    /// The layout in this row.
    pub fn layout<'py>(&self, py: Python<'py>, row: u8) -> PyResult<Bound<'py, PyAny>> {
        at(py, &self.layouts, row, "layout")
    }

    /// The memory format in this row.
    pub fn memory_format<'py>(&self, py: Python<'py>, row: u8) -> PyResult<Bound<'py, PyAny>> {
        at(py, &self.memory_formats, row, "memory format")
    }
}

fn position(table: &[Option<Py<PyAny>>], object: &Bound<'_, PyAny>) -> Option<u8> {
    let row = table.iter().position(|entry| entry.as_ref().is_some_and(|entry| entry.is(object)))?;
    u8::try_from(row).ok()
}

fn at<'py>(py: Python<'py>, table: &[Option<Py<PyAny>>], row: u8, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let object = table.get(usize::from(row)).and_then(Option::as_ref).map(|object| object.bind(py).clone());
    object.ok_or_else(|| pyo3::exceptions::PyTypeError::new_err(format!("this torch has no {name}")))
}
