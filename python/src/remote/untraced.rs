//! Functions that torch.compile runs as they are.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// A function whose Python code torch.compile does not look at, nor that of what it calls.
#[pyclass(frozen, module = "symm._symm")]
pub struct Untraced {
    function: Py<PyAny>,
    tracing: Tracing,
}

/// What torch.compile does with each frame of Python in this thread.
pub struct Tracing {
    get: Py<PyAny>,
    set: Py<PyAny>,
}

impl Tracing {
    /// Of this process's torch.
    pub fn new(py: Python<'_>) -> PyResult<Self> {
        let frames = py.import("torch")?.getattr("_C")?.getattr("_dynamo")?.getattr("eval_frame")?;
        let function = |name| frames.getattr(name).map(Bound::unbind);
        Ok(Self { get: function("get_eval_frame_callback")?, set: function("set_eval_frame")? })
    }

    /// Runs this without it.
    pub fn without<T>(&self, py: Python<'_>, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
        let callback = self.get.bind(py).call0()?;
        if callback.is_none() {
            return work();
        }
        self.set.bind(py).call1((py.None(),))?;
        let done = work();
        self.set.bind(py).call1((callback,))?;
        done
    }
}

#[pymethods]
impl Untraced {
    #[new]
    fn new(py: Python<'_>, function: Py<PyAny>) -> PyResult<Self> {
        Ok(Self { function, tracing: Tracing::new(py)? })
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__(&self, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<Py<PyAny>> {
        let py = args.py();
        self.tracing.without(py, || self.function.bind(py).call(args, kwargs).map(Bound::unbind))
    }
}
