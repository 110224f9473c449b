//! What an operation returns, as `python/symm/remote/_run.py` has found out.

use super::handle::Handle;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// The metadata of a new tensor and the arguments of what makes it; None where there is none, or it is more than a
/// call.
type Part = Option<(Py<PyAny>, Py<PyTuple>)>;

/// What an operation returns, on one worker.
#[pyclass(frozen, module = "symm._symm")]
pub struct Spec {
    /// An entry for each tensor among the results, depth first: metadata for a new one, None for one that is an
    /// argument or nothing.
    #[pyo3(get)]
    metas: Py<PyList>,
    /// Makes the result from the new tensors, if it is not the first of them.
    #[pyo3(get)]
    build: Py<PyAny>,
    /// The arguments whose metadata the operation changes.
    #[pyo3(get)]
    changed: Py<PyList>,
    /// For each entry of `metas`, the metadata and what makes a tensor with it; none where that is more than a call.
    parts: Option<Vec<Part>>,
}

#[pymethods]
impl Spec {
    /// `parts` has the arguments of the function that makes each new tensor, or is None.
    #[new]
    fn new(
        metas: &Bound<'_, PyList>,
        build: Py<PyAny>,
        changed: Py<PyList>,
        parts: Option<Vec<Option<Py<PyTuple>>>>,
    ) -> Self {
        let parts = parts.map(|parts| {
            let pair = |(part, meta): (Option<Py<PyTuple>>, Bound<'_, PyAny>)| part.map(|part| (meta.unbind(), part));
            parts.into_iter().zip(metas.iter()).map(pair).collect()
        });
        Self { metas: metas.clone().unbind(), build, changed, parts }
    }
}

impl Spec {
    /// Handles for the new tensors, if they need no more than a call each.
    pub fn handles<'py>(&self, first: &Bound<'py, Handle>) -> PyResult<Option<Vec<Option<Bound<'py, Handle>>>>> {
        let py = first.py();
        let Some(parts) = &self.parts else { return Ok(None) };
        let (worker, link) = (&first.get().worker, &first.get().link);
        let make = || {
            let id = super::handle::reserve_ids(1);
            Bound::new(py, Handle { id, worker: worker.clone_ref(py), link: link.clone_ref(py) })
        };
        parts.iter().map(|part| part.as_ref().map(|_| make()).transpose()).collect::<PyResult<_>>().map(Some)
    }

    /// The result.
    pub fn result<'py>(
        &self,
        make: &Bound<'py, PyAny>,
        handles: Vec<Option<Bound<'py, Handle>>>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = make.py();
        let tensor = |(part, handle): (&Part, Option<Bound<'py, Handle>>)| {
            let (Some((meta, arguments)), Some(handle)) = (part, handle) else { return Ok(py.None().into_bound(py)) };
            let tensor = make.call1(arguments.bind(py))?;
            tensor.setattr(intern!(py, "_handle"), handle)?;
            tensor.setattr(intern!(py, "_meta"), meta)?;
            Ok(tensor)
        };
        let mut tensors = self.parts.iter().flatten().zip(handles).map(tensor);
        let build = self.build.bind(py);
        if build.is_none() {
            return tensors.next().unwrap_or_else(|| Ok(py.None().into_bound(py)));
        }
        let tensors = tensors.collect::<PyResult<Vec<_>>>()?;
        let kwargs = kwargs.map_or_else(|| PyDict::new(py), Clone::clone);
        build.call1((PyList::new(py, tensors)?, args, kwargs))
    }
}
