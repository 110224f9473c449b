//! The way of an operation whose results are known: from torch's call to the queue without Python in between.

use super::encode::Arguments;
use super::handle::Handle;
use super::key::Key;
use super::link::Link;
use super::spec::Spec;
use super::types::{Remote, Types, remote, types};
use super::untraced::Tracing;
use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyBytes, PyDict, PyString, PyTuple};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use symm_remote::lock::lock;
use symm_remote::message::kind;
use symm_remote::wire::Encoder;

thread_local! {
    /// This thread has gone the other way once, which prepares it.
    static READY: Cell<bool> = const { Cell::new(false) };
}

/// `__torch_dispatch__` of remote tensors.
#[pyclass(frozen, module = "symm._symm")]
pub struct Dispatcher {
    make: Py<PyAny>,
    place: Py<PyAny>,
    other: Py<PyAny>,
    remote: Arc<Remote>,
    tracing: Tracing,
    plans: Mutex<HashMap<usize, Arc<Plan>>>,
    scratch: Mutex<Scratch>,
}

struct Plan {
    name: String,
    number: u64,
    by_type: bool,
    /// Keeps the address that it is found by.
    _func: Py<PyAny>,
}

/// Memory that is used again.
#[derive(Default)]
struct Scratch {
    arguments: Encoder,
    key: Key,
}

#[pymethods]
impl Dispatcher {
    /// `make` makes a tensor from the arguments that specs have, `place` gives the line of the program, and `other`
    /// does what this cannot do.
    #[new]
    fn new(py: Python<'_>, make: Py<PyAny>, place: Py<PyAny>, other: Py<PyAny>) -> PyResult<Self> {
        let (remote, tracing) = (configured()?, Tracing::new(py)?);
        Ok(Self { make, place, other, remote, tracing, plans: Mutex::default(), scratch: Mutex::default() })
    }

    #[pyo3(signature = (class, func, types, args, kwargs = None))]
    fn __call__<'py>(
        &self,
        class: &Bound<'py, PyAny>,
        func: &Bound<'py, PyAny>,
        types: &Bound<'py, PyTuple>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.tracing.without(class.py(), || {
            let ready = READY.replace(true);
            if ready
                && types.len() == 1
                && let Some(plan) = self.plan_of(func)
                && let Some(result) = self.with_scratch(|scratch| self.issue(&plan, args, kwargs, scratch))?
            {
                return Ok(result);
            }
            self.other.bind(class.py()).call1((class, func, types, args, kwargs))
        })
    }

    /// Says that an operation is sent as it is called. `number` stands for it in keys; if `by_type`, its results do not
    /// depend on its numbers, only on their types.
    fn add(&self, func: &Bound<'_, PyAny>, name: &Bound<'_, PyString>, number: u64, by_type: bool) -> PyResult<()> {
        let plan = Plan { name: name.extract()?, number, by_type, _func: func.clone().unbind() };
        let old = self.lock_plans().insert(func.as_ptr() as usize, Arc::new(plan));
        drop(old);
        Ok(())
    }
}

impl Dispatcher {
    fn lock_plans(&self) -> std::sync::MutexGuard<'_, HashMap<usize, Arc<Plan>>> {
        lock(&self.plans)
    }

    fn plan_of(&self, func: &Bound<'_, PyAny>) -> Option<Arc<Plan>> {
        self.lock_plans().get(&(func.as_ptr() as usize)).cloned()
    }

    /// Gives memory to `work`, in which any Python may run.
    fn with_scratch<T>(&self, work: impl FnOnce(&mut Scratch) -> PyResult<T>) -> PyResult<T> {
        let lock = || lock(&self.scratch);
        let mut scratch = std::mem::take(&mut *lock());
        let done = work(&mut scratch);
        *lock() = scratch;
        done
    }

    /// Sends an operation and makes its result; nothing where the other way has to be taken.
    fn issue<'py>(
        &self,
        plan: &Plan,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        scratch: &mut Scratch,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = args.py();
        let (true, Some(first)) = write(types(py)?, &self.remote, plan.number, plan.by_type, args, kwargs, scratch)
        else {
            return Ok(None);
        };
        let Ok(link) = first.get().link.bind(py).cast::<Link>() else { return Ok(None) };
        let key = PyBytes::new(py, scratch.key.finish(&scratch.arguments));
        let Some(known) = link.get().specs(py).get_item(key)? else { return Ok(None) };
        let Ok(spec) = known.cast::<Spec>() else { return Ok(None) };
        let Some(handles) = spec.get().handles(&first)? else { return Ok(None) };
        first.get().worker.bind(py).setattr(intern!(py, "fresh"), py.None())?;
        let place = self.place.bind(py).call0()?;
        let ids = handles.iter().map(|handle| handle.as_ref().map(|handle| handle.get().id));
        Link::issue(link, &plan.name, ids, &scratch.arguments, &place)?;
        spec.get().result(self.make.bind(py), handles, args, kwargs).map(Some)
    }
}

type KeyAndWorker<'py> = (Option<Bound<'py, PyBytes>>, Option<Py<PyAny>>);

/// What the results of an operation depend on, and the worker of its first tensor. The key is None where an argument
/// cannot be sent.
#[pyfunction]
#[pyo3(signature = (number, by_type, args, kwargs))]
pub fn remote_key<'py>(
    number: u64,
    by_type: bool,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<KeyAndWorker<'py>> {
    let (py, mut scratch) = (args.py(), Scratch::default());
    let remote = configured()?;
    let (written, first) = write(types(py)?, &remote, number, by_type, args, kwargs, &mut scratch);
    let key = written.then(|| PyBytes::new(py, scratch.key.finish(&scratch.arguments)));
    Ok((key, first.map(|first| first.get().worker.clone_ref(py))))
}

fn configured() -> PyResult<Arc<Remote>> {
    remote().ok_or_else(|| PyRuntimeError::new_err("remote_configure comes first"))
}

/// Whether the arguments could be written, and the first tensor among them.
fn write<'py>(
    types: &Types,
    remote: &Remote,
    number: u64,
    by_type: bool,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
    scratch: &mut Scratch,
) -> (bool, Option<Bound<'py, Handle>>) {
    scratch.arguments.begin(kind::CALL);
    scratch.key.begin(number, by_type);
    let (to, key) = (&mut scratch.arguments, Some(&mut scratch.key));
    let mut arguments = Arguments { to, types, remote: Some(remote), link: None, first: None, key };
    let written = arguments.all(args, kwargs).is_ok();
    (written, arguments.first)
}
