//! What torch returns: tensors, values and exceptions.

use super::super::types::Types;
use pyo3::exceptions::{PyException, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyComplex, PyComplexMethods, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use symm_remote::error::{Failure, REFUSED};
use symm_remote::executor::Produced;
use symm_remote::value::{Meta, Value};

/// The result of an operation.
pub fn produced(
    py: Python<'_>,
    types: &Types,
    result: &Bound<'_, PyAny>,
    wants: bool,
) -> PyResult<Produced<Py<PyAny>>> {
    let mut results = Results { py, types, wants, tensors: Vec::new() };
    let value = results.value(result)?;
    Ok(Produced { tensors: results.tensors, value })
}

/// What a tensor is.
pub fn meta(types: &Types, tensor: &Bound<'_, PyAny>) -> PyResult<Meta> {
    let dtype = tensor.getattr("dtype")?;
    let dtype = types.dtype_row(&dtype).ok_or_else(|| PyTypeError::new_err(format!("no tensors of {dtype} here")))?;
    let layout = tensor.getattr("layout")?;
    if !layout.is(&types.layout(tensor.py(), 0)?) {
        let message = format!("a result has the layout {layout}: tensors on workers are strided");
        return Err(PyRuntimeError::new_err(message));
    }
    let strides = tensor.call_method0("stride")?.extract()?;
    let offset = tensor.call_method0("storage_offset")?.extract()?;
    Ok(Meta { id: None, dtype, shape: tensor.getattr("shape")?.extract()?, strides, offset })
}

struct Results<'a, 'py> {
    py: Python<'py>,
    types: &'a Types,
    wants: bool,
    tensors: Vec<Option<Py<PyAny>>>,
}

impl Results<'_, '_> {
    fn value(&mut self, result: &Bound<'_, PyAny>) -> PyResult<Value> {
        if result.is_instance(self.types.tensor.bind(self.py))? {
            let position = self.tensors.len() as u64;
            self.tensors.push(Some(result.clone().unbind()));
            if !self.wants {
                return Ok(Value::None);
            }
            return Ok(Value::Meta(Meta { id: Some(position), ..meta(self.types, result)? }));
        }
        if result.is_none() {
            self.tensors.push(None);
            return Ok(Value::None);
        }
        if let Ok(results) = result.cast::<PyTuple>() {
            return results.iter().map(|result| self.value(&result)).collect::<PyResult<_>>().map(Value::Tuple);
        }
        if let Ok(results) = result.cast::<PyList>() {
            return results.iter().map(|result| self.value(&result)).collect::<PyResult<_>>().map(Value::List);
        }
        if self.wants { self.plain(result) } else { Ok(Value::None) }
    }

    fn plain(&mut self, result: &Bound<'_, PyAny>) -> PyResult<Value> {
        if let Ok(value) = result.cast::<PyBool>() {
            return Ok(Value::Bool(value.is_true()));
        }
        if let Ok(value) = result.cast::<PyInt>() {
            return value.extract().map(Value::Int).or_else(|_| value.extract().map(Value::Unsigned));
        }
        if let Ok(value) = result.cast::<PyFloat>() {
            return Ok(Value::Float(value.value()));
        }
        if let Ok(value) = result.cast::<PyComplex>() {
            return Ok(Value::Complex(value.real(), value.imag()));
        }
        if let Ok(value) = result.cast::<PyString>() {
            return Ok(Value::Text(value.to_str()?.to_owned()));
        }
        if let Ok(value) = result.cast::<PyBytes>() {
            return Ok(Value::Bytes(value.as_bytes().to_vec()));
        }
        if let Ok(results) = result.cast::<PyDict>() {
            let pair = |(name, result): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
                Ok((name.cast::<PyString>()?.to_str()?.to_owned(), self.value(&result)?))
            };
            return results.iter().map(pair).collect::<PyResult<_>>().map(Value::Dict);
        }
        if let Some(dtype) = self.types.dtype_row(result) {
            return Ok(Value::Dtype(dtype));
        }
        let class = result.get_type().fully_qualified_name()?;
        Err(PyTypeError::new_err(format!(
            "a {class} cannot be sent back: only tensors, numbers, text, lists and dicts"
        )))
    }
}

/// An exception as a failure: of the nearest type that a client has too.
pub fn failure(py: Python<'_>, error: &PyErr) -> Failure {
    let class = error.get_type(py);
    let text = error.value(py).str().map_or_else(|error| error.to_string(), |text| text.to_string());
    let name = |class: &Bound<'_, PyAny>| -> PyResult<Option<String>> {
        let name: String = class.getattr("__name__")?.extract()?;
        let module: String = class.getattr("__module__")?.extract()?;
        Ok(match (module.as_str(), name.as_str()) {
            ("builtins" | "symm.errors", _) | (_, "OutOfMemoryError") => Some(name),
            (_, "_LinAlgError" | "LinAlgError") => Some("LinAlgError".into()),
            (_, "Refused") => Some(REFUSED.into()),
            _ => None,
        })
    };
    // A program that catches exceptions does not expect SystemExit of a worker.
    let is_exception = class.is_subclass_of::<PyException>().unwrap_or(false);
    let known = if is_exception { class.mro().iter().find_map(|class| name(&class).ok().flatten()) } else { None };
    let kind = known.unwrap_or_else(|| "RuntimeError".into());
    let own = class.name().map_or_else(|_| String::new(), |name| name.to_string());
    if text.contains("DefaultCPUAllocator: can't allocate memory") || kind == "MemoryError" {
        return Failure::new("OutOfMemoryError", text);
    }
    let named = own == kind || kind == REFUSED || own.contains("LinAlgError");
    Failure::new(&kind, if named { text } else { format!("{own}: {text}") })
}
