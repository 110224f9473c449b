//! torch, as the executor of a worker.

mod results;

use super::decode::object;
use super::memory;
use super::types::{Types, types};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use results::{failure, meta, produced};
use std::cell::Cell;
use symm_remote::error::Failure;
use symm_remote::executor::{About, Executor, Produced};
use symm_remote::memory::Memory;
use symm_remote::message::Verb;
use symm_remote::value::{Dtype, Meta, Value};
use symm_remote::worker::Tensors;

/// torch, and `verbs`, an object of `python/symm/_worker_verbs.py`.
pub struct Torch {
    pub about: About,
    pub verbs: Py<PyAny>,
    pub device: Py<PyAny>,
    /// The device has a memory of its own.
    pub apart: bool,
}

/// Arguments by place, and by name.
type Arguments<'py> = (Vec<Bound<'py, PyAny>>, Option<Bound<'py, PyDict>>);

thread_local! {
    static PREPARED: Cell<bool> = const { Cell::new(false) };
}

impl Torch {
    fn object<'py>(
        &self,
        py: Python<'py>,
        types: &Types,
        value: &Value,
        tensors: &Tensors<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // What an operation takes most.
        if let Value::Tensor(id) = value {
            return held(py, tensors, *id);
        }
        object(py, types, value, &|value| match value {
            Value::Tensor(id) => held(py, tensors, *id),
            Value::Generator(id) => self.verbs.bind(py).call_method1("generator", (tensors.session(), *id)),
            Value::Scalar(dtype, bytes) => {
                self.verbs.bind(py).call_method1("scalar", (types.dtype(py, *dtype)?, PyBytes::new(py, bytes)))
            }
            Value::Context => self.verbs.bind(py).call_method0("context"),
            Value::Meta(_) => {
                Err(pyo3::exceptions::PyTypeError::new_err("a description of a tensor is not an argument"))
            }
            _ => Ok(self.device.bind(py).clone()),
        })
    }

    fn arguments<'py>(
        &self,
        py: Python<'py>,
        types: &Types,
        (args, kwargs): (&[Value], &[(String, Value)]),
        tensors: &Tensors<Py<PyAny>>,
    ) -> PyResult<Arguments<'py>> {
        let args = args.iter().map(|value| self.object(py, types, value, tensors)).collect::<PyResult<Vec<_>>>()?;
        if kwargs.is_empty() {
            return Ok((args, None));
        }
        let named = PyDict::new(py);
        for (name, value) in kwargs {
            named.set_item(name, self.object(py, types, value, tensors)?)?;
        }
        Ok((args, Some(named)))
    }

    /// What needs Python, with its exceptions as failures.
    fn python<T>(work: impl FnOnce(Python<'_>, &Types) -> PyResult<T>) -> Result<T, Failure> {
        Python::attach(|py| types(py).and_then(|types| work(py, types)).map_err(|error| failure(py, &error)))
    }
}

fn held<'py>(py: Python<'py>, tensors: &Tensors<Py<PyAny>>, id: u64) -> PyResult<Bound<'py, PyAny>> {
    match tensors.tensor(id) {
        Ok(tensor) => Ok(tensor.bind(py).clone()),
        Err(failure) => Err(pyo3::exceptions::PyRuntimeError::new_err(failure.text)),
    }
}

impl Executor for Torch {
    type Tensor = Py<PyAny>;
    type Op = Py<PyAny>;

    fn about(&self) -> About {
        self.about.clone()
    }

    fn enter(&self, work: &mut dyn FnMut()) {
        Python::attach(|py| {
            if !PREPARED.replace(true) {
                // Grad mode and the current GPU are each thread's own. Without them, the first operation says why.
                if let Err(error) = self.verbs.bind(py).call_method0("prepare_thread") {
                    error.print(py);
                }
            }
            work();
        });
    }

    fn outside(&self, work: &mut (dyn FnMut() + Send)) {
        Python::attach(|py| py.detach(work));
    }

    fn resolve(&self, name: &str) -> Result<Self::Op, Failure> {
        Self::python(|py, _| self.verbs.bind(py).call_method1("find", (name,)).map(Bound::unbind))
    }

    fn call(
        &self,
        op: &Self::Op,
        args: &[Value],
        kwargs: &[(String, Value)],
        tensors: &Tensors<Self::Tensor>,
        wants: bool,
    ) -> Result<Produced<Self::Tensor>, Failure> {
        Self::python(|py, types| {
            let (args, kwargs) = self.arguments(py, types, (args, kwargs), tensors)?;
            let result = op.bind(py).call(PyTuple::new(py, args)?, kwargs.as_ref())?;
            produced(py, types, &result, wants)
        })
    }

    fn verb(
        &self,
        verb: Verb,
        args: &[Value],
        kwargs: &[(String, Value)],
        tensors: &Tensors<Self::Tensor>,
    ) -> Result<Produced<Self::Tensor>, Failure> {
        Self::python(|py, types| {
            let (mut args, kwargs) = self.arguments(py, types, (args, kwargs), tensors)?;
            args.insert(0, tensors.session().into_pyobject(py)?.into_any());
            let method = self.verbs.bind(py).getattr(verb.name())?;
            produced(py, types, &method.call(PyTuple::new(py, args)?, kwargs.as_ref())?, true)
        })
    }

    fn meta(&self, tensor: &Self::Tensor) -> Result<Meta, Failure> {
        Self::python(|py, types| meta(types, tensor.bind(py)))
    }

    fn receive(&self, dtype: Dtype, shape: &[i64]) -> Result<(Self::Tensor, Memory), Failure> {
        Self::python(|py, types| {
            let named = PyDict::new(py);
            named.set_item("dtype", types.dtype(py, dtype)?)?;
            let tensor = types.torch.bind(py).call_method("empty", (shape.to_vec(),), Some(&named))?;
            let (_, memory) = memory::of(&tensor, types)?;
            Ok((tensor.unbind(), memory))
        })
    }

    fn received(&self, tensor: Self::Tensor) -> Result<Self::Tensor, Failure> {
        if !self.apart {
            return Ok(tensor);
        }
        Self::python(|py, _| Ok(tensor.bind(py).call_method1("to", (&self.device,))?.unbind()))
    }

    fn bytes(&self, tensor: &Self::Tensor) -> Result<(Meta, Memory), Failure> {
        Self::python(|py, types| {
            let tensor = self.verbs.bind(py).call_method1("plain", (tensor,))?;
            let (_, memory) = memory::of(&tensor, types)?;
            Ok((meta(types, &tensor)?, memory))
        })
    }

    fn synchronize(&self) -> Result<(), Failure> {
        if !self.apart {
            return Ok(());
        }
        Self::python(|py, _| self.verbs.bind(py).call_method0("synchronize").map(|_| ()))
    }

    fn ended(&self, session: u64) {
        Python::attach(|py| {
            if let Err(error) = self.verbs.bind(py).call_method1("ended", (session,)) {
                error.print(py);
            }
        });
    }
}
