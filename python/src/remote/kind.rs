//! What torch asks of a device while an exception is under way.

use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard};
use symm_remote::lock::lock;

/// The device's type, as torch's guard for devices made in Python asks for it.
///
/// The guard asks when an operation of a backward pass is left, also when an exception has left it. With that exception
/// in place no call can succeed, and torch would end the process. So the exception is kept here, for who has begun the
/// backward pass.
#[pyclass(frozen, module = "symm._symm")]
pub struct DeviceKind {
    kind: Py<PyAny>,
    raised: Mutex<Option<PyErr>>,
}

#[pymethods]
impl DeviceKind {
    #[new]
    fn new(kind: Py<PyAny>) -> Self {
        Self { kind, raised: Mutex::new(None) }
    }

    fn __call__(&self, py: Python<'_>) -> Py<PyAny> {
        if let Some(raised) = PyErr::take(py) {
            self.lock().get_or_insert(raised);
        }
        self.kind.clone_ref(py)
    }

    /// The first exception that was kept since the last call.
    fn take(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let raised = self.lock().take();
        raised.map(|raised| raised.into_value(py).into_any())
    }
}

impl DeviceKind {
    fn lock(&self) -> MutexGuard<'_, Option<PyErr>> {
        lock(&self.raised)
    }
}
