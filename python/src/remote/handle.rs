//! A client's reference to a tensor on a worker, and the numbers of both.

use super::link::Link;
use pyo3::intern;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// No id is used again in this process.
static IDS: AtomicU64 = AtomicU64::new(1);

/// A tensor on a worker, which drops it when this goes.
#[pyclass(frozen, module = "symm._symm")]
pub struct Handle {
    #[pyo3(get)]
    pub id: u64,
    /// The device's worker: a `symm.remote._workers.Worker`.
    #[pyo3(get)]
    pub worker: Py<PyAny>,
    /// The worker's link.
    #[pyo3(get)]
    pub link: Py<PyAny>,
}

#[pymethods]
impl Handle {
    #[new]
    #[pyo3(signature = (worker, id = None))]
    fn new(worker: &Bound<'_, PyAny>, id: Option<u64>) -> PyResult<Self> {
        let link = worker.getattr(intern!(worker.py(), "link"))?.unbind();
        Ok(Self { id: id.unwrap_or_else(|| reserve_ids(1)), worker: worker.clone().unbind(), link })
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        Python::attach(|py| {
            let link = self.link.bind(py);
            if let Ok(link) = link.cast::<Link>() {
                link.get().forget(self.id);
                return;
            }
            // It may go while an exception is under way, with which no Python may be called. Who drops cannot do
            // anything about an error of its own.
            let raised = PyErr::take(py);
            drop(link.call_method1(intern!(py, "drop"), (self.id,)));
            if let Some(raised) = raised {
                raised.restore(py);
            }
        });
    }
}

/// The first of that many ids in a row, which no tensor of this process has had.
#[pyfunction]
pub fn reserve_ids(count: u64) -> u64 {
    IDS.fetch_add(count, Ordering::Relaxed)
}
