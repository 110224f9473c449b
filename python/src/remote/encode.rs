//! From Python's objects to a message, without anything in between.

use super::handle::Handle;
use super::key::{Key, NumberType};
use super::types::{Remote, Types};
use super::{GeneratorId, SymmContext, TensorId};
use pyo3::exceptions::{PyOverflowError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyComplex, PyComplexMethods, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType,
};
use symm_remote::value::Dtype;
use symm_remote::wire::{Encoder, TooLarge};

/// Where values are written, and what they may refer to.
pub struct Arguments<'a, 'py> {
    pub to: &'a mut Encoder,
    pub types: &'a Types,
    pub remote: Option<&'a Remote>,
    /// The link that remote tensors have to be on; if there is none, the first tensor's.
    pub link: Option<&'a Bound<'py, PyAny>>,
    /// The first remote tensor.
    pub first: Option<Bound<'py, Handle>>,
    /// What is made of the same values for a key.
    pub key: Option<&'a mut Key>,
}

pub fn too_large(error: TooLarge) -> PyErr {
    PyValueError::new_err(error.to_string())
}

impl<'py> Arguments<'_, 'py> {
    /// The arguments of an operation.
    pub fn all(&mut self, args: &Bound<'py, PyTuple>, kwargs: Option<&Bound<'py, PyDict>>) -> PyResult<()> {
        self.to.count(args.len());
        for value in args.iter_borrowed() {
            self.argument(&value)?;
        }
        self.to.count(kwargs.map_or(0, PyDictMethods::len));
        for (name, value) in kwargs.into_iter().flatten() {
            self.to.raw(name.cast::<PyString>()?.to_str()?.as_bytes());
            self.argument(&value)?;
        }
        Ok(())
    }

    /// A value; if the key is by type, of a number only its type is in it.
    fn argument(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let Some(key) = self.key.as_mut().filter(|key| key.by_type) else { return self.value(value) };
        if let Ok(value) = value.cast_exact::<PyFloat>() {
            key.kind(self.to, NumberType::Float, |to| to.float(value.value()));
        } else if let Ok(value) = value.cast_exact::<PyInt>() {
            let mut written = Ok(());
            key.kind(self.to, NumberType::Int, |to| written = int(to, value));
            written?;
        } else if let Ok(value) = value.cast_exact::<PyComplex>() {
            key.kind(self.to, NumberType::Complex, |to| to.complex(value.real(), value.imag()));
        } else {
            return self.value(value);
        }
        Ok(())
    }

    fn value(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        if self.remote.is_some_and(|remote| is_exactly(value, &remote.class)) {
            return self.tensor(value);
        }
        if value.is_none() {
            self.to.none();
        } else if let Ok(value) = value.cast_exact::<PyBool>() {
            self.to.bool(value.is_true());
        } else if let Ok(value) = value.cast_exact::<PyInt>() {
            int(self.to, value)?;
        } else if let Ok(value) = value.cast_exact::<PyFloat>() {
            self.to.float(value.value());
        } else if let Ok(values) = value.cast::<PyList>() {
            self.to.list(values.len()).map_err(too_large)?;
            for value in values.iter() {
                self.argument(&value)?;
            }
            self.to.close();
        } else if let Ok(values) = value.cast::<PyTuple>() {
            self.to.tuple(values.len()).map_err(too_large)?;
            for value in values.iter_borrowed() {
                self.argument(&value)?;
            }
            self.to.close();
        } else {
            self.rare(value)?;
        }
        Ok(())
    }

    fn tensor(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let py = value.py();
        let handle = value.getattr(intern!(py, "_handle"))?.cast_into::<Handle>()?;
        let own = &handle.get().link;
        let same = match (self.link, &self.first) {
            (Some(link), _) => link.is(own),
            (None, Some(first)) => first.get().link.is(own),
            (None, None) => true,
        };
        if !same {
            let link = self.link.unwrap_or_else(|| own.bind(py));
            let there: String = link.getattr("address")?.extract()?;
            let message = "Expected all tensors to be on the same device, but found one on another worker than";
            return Err(PyRuntimeError::new_err(format!("{message} {there}: copy it there with .to(…)")));
        }
        let id = handle.get().id;
        match &mut self.key {
            None => self.to.tensor(id),
            Some(key) => {
                let number = value.getattr(intern!(py, "_meta"))?.getattr(intern!(py, "number"))?.extract()?;
                key.metadata(self.to, number, |to| to.tensor(id));
            }
        }
        self.first.get_or_insert(handle);
        Ok(())
    }

    fn rare(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let py = value.py();
        if let Ok(value) = value.cast::<PyString>() {
            self.to.text(value.to_str()?);
        } else if let Some(dtype) = self.types.dtype_row(value) {
            self.to.dtype(dtype);
        } else if is_exactly(value, &self.types.device) {
            self.device(value)?;
        } else if let Some(row) = self.types.layout_row(value) {
            self.to.layout(row);
        } else if let Some(row) = self.types.memory_format_row(value) {
            self.to.memory_format(row);
        } else if let Ok(id) = value.cast::<TensorId>() {
            self.to.tensor(id.get().0);
        } else if let Ok(id) = value.cast::<GeneratorId>() {
            self.to.generator(id.get().0);
        } else if value.is_instance(self.types.tensor.bind(py))? {
            if self.remote.is_some_and(|remote| value.is_instance(remote.class.bind(py)).unwrap_or(false)) {
                self.tensor(value)?;
            } else {
                self.local(value)?;
            }
        } else {
            self.rarer(value)?;
        }
        Ok(())
    }

    fn rarer(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        if let Ok(value) = value.cast::<PyComplex>() {
            self.to.complex(value.real(), value.imag());
        } else if let Ok(value) = value.cast::<PyBytes>() {
            self.to.bytes(value.as_bytes());
        } else if let Ok(values) = value.cast::<PyDict>() {
            self.to.dict(values.len()).map_err(too_large)?;
            for (name, value) in values {
                self.to.raw(name.cast::<PyString>()?.to_str()?.as_bytes());
                self.value(&value)?;
            }
            self.to.close();
        } else if value.is_instance_of::<SymmContext>() {
            self.to.context();
        } else if let Ok(value) = value.cast::<PyInt>() {
            int(self.to, value)?;
        } else if let Ok(value) = value.cast::<PyFloat>() {
            self.to.float(value.value());
        } else {
            let class = value.get_type();
            return Err(PyTypeError::new_err(format!(
                "a {} cannot be sent to a worker: only tensors, numbers, text, and lists and dicts of them",
                class.fully_qualified_name()?
            )));
        }
        Ok(())
    }

    fn device(&mut self, device: &Bound<'py, PyAny>) -> PyResult<()> {
        let kind: String = device.getattr("type")?.extract()?;
        if matches!(kind.as_str(), "remote" | "privateuseone" | "meta") {
            self.to.device();
            return Ok(());
        }
        Err(PyTypeError::new_err(format!("an operation on a worker makes tensors there, not on device {kind}")))
    }

    /// A tensor of this process's: torch lets those without dimensions mix with other devices'.
    fn local(&mut self, tensor: &Bound<'py, PyAny>) -> PyResult<()> {
        let py = tensor.py();
        let plain = is_exactly(tensor, &self.types.tensor) || is_exactly(tensor, &self.types.parameter);
        let here: bool = tensor.getattr(intern!(py, "is_cpu"))?.extract()?;
        let dimensions: usize = tensor.call_method0(intern!(py, "dim"))?.extract()?;
        if !plain || !here || dimensions > 0 {
            let device = tensor.getattr("device")?.getattr("type")?;
            return Err(PyRuntimeError::new_err(format!(
                "Expected all tensors to be on the same device, but found one on {device} in an operation on a \
                 worker: move it there with .to(…)"
            )));
        }
        // Torch makes tensors of a program's numbers, of these types.
        let row = self.types.dtype_row(&tensor.getattr(intern!(py, "dtype"))?);
        match row.map(Dtype::name) {
            Some("float64") => {
                let value: f64 = tensor.call_method0(intern!(py, "item"))?.extract()?;
                self.scalar(row, &value.to_le_bytes());
            }
            Some("int64") => {
                let value: i64 = tensor.call_method0(intern!(py, "item"))?.extract()?;
                self.scalar(row, &value.to_le_bytes());
            }
            _ => {
                let tensor =
                    tensor.call_method0("detach")?.call_method0("resolve_conj")?.call_method0("resolve_neg")?;
                let (dtype, memory) = super::memory::of(&tensor, self.types)?;
                self.scalar(Some(dtype), memory.bytes());
            }
        }
        Ok(())
    }

    fn scalar(&mut self, dtype: Option<Dtype>, bytes: &[u8]) {
        let Some(dtype) = dtype else { return };
        match &mut self.key {
            None => self.to.scalar(dtype, bytes),
            Some(key) => key.local(self.to, dtype, |to| to.scalar(dtype, bytes)),
        }
    }
}

/// A whole number; torch takes those of 64 bits, with a sign or without.
fn int(to: &mut Encoder, value: &Bound<'_, PyInt>) -> PyResult<()> {
    if let Ok(value) = value.extract() {
        to.int(value);
    } else {
        let large = |_| PyOverflowError::new_err(format!("{value} is not a number of 64 bits"));
        to.unsigned(value.extract().map_err(large)?);
    }
    Ok(())
}

fn is_exactly(value: &Bound<'_, PyAny>, class: &Py<PyType>) -> bool {
    value.get_type_ptr().cast::<pyo3::ffi::PyObject>() == class.as_ptr()
}

/// The ids of an operation's results.
pub fn outputs(to: &mut Encoder, ids: &Bound<'_, PyAny>) -> PyResult<()> {
    to.byte(0);
    let id = |to: &mut Encoder, id: &Bound<'_, PyAny>| -> PyResult<()> {
        to.option(if id.is_none() { None } else { Some(id.extract()?) });
        Ok(())
    };
    if let Ok(ids) = ids.cast::<PyTuple>() {
        to.count(ids.len());
        ids.iter_borrowed().try_for_each(|value| id(to, &value))
    } else {
        let ids = ids.cast::<PyList>()?;
        to.count(ids.len());
        ids.iter().try_for_each(|value| id(to, &value))
    }
}
