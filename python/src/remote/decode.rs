//! From values to Python's objects.

use super::Meta;
use super::types::Types;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyComplex, PyDict, PyList, PyTuple};
use symm_remote::value::{self, Value};

/// A value as an object; `other` makes what only one of the two ends can know.
pub fn object<'py>(
    py: Python<'py>,
    types: &Types,
    value: &Value,
    other: &dyn Fn(&Value) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let all =
        |values: &[Value]| values.iter().map(|value| object(py, types, value, other)).collect::<PyResult<Vec<_>>>();
    Ok(match value {
        Value::None => py.None().into_bound(py),
        Value::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Value::Int(value) => value.into_pyobject(py)?.into_any(),
        Value::Unsigned(value) => value.into_pyobject(py)?.into_any(),
        Value::Float(value) => value.into_pyobject(py)?.into_any(),
        Value::Complex(real, imaginary) => PyComplex::from_doubles(py, *real, *imaginary).into_any(),
        Value::Text(value) => value.into_pyobject(py)?.into_any(),
        Value::Bytes(value) => PyBytes::new(py, value).into_any(),
        Value::Dtype(dtype) => types.dtype(py, *dtype)?,
        Value::Layout(row) => types.layout(py, *row)?,
        Value::MemoryFormat(row) => types.memory_format(py, *row)?,
        Value::List(values) => PyList::new(py, all(values)?)?.into_any(),
        Value::Tuple(values) => PyTuple::new(py, all(values)?)?.into_any(),
        Value::Dict(values) => {
            let dict = PyDict::new(py);
            for (name, value) in values {
                dict.set_item(name, object(py, types, value, other)?)?;
            }
            dict.into_any()
        }
        Value::Device
        | Value::Tensor(_)
        | Value::Generator(_)
        | Value::Scalar(..)
        | Value::Context
        | Value::Meta(_) => other(value)?,
    })
}

/// What a client knows of values besides plain ones.
pub fn answer<'py>(py: Python<'py>, types: &Types, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    object(py, types, value, &|value| match value {
        Value::Meta(found) => Ok(Bound::new(py, meta(py, types, found)?)?.into_any()),
        _ => Err(PyTypeError::new_err("the worker answered with what only a client may send")),
    })
}

fn meta(py: Python<'_>, types: &Types, meta: &value::Meta) -> PyResult<Meta> {
    Ok(Meta {
        id: meta.id,
        dtype: types.dtype(py, meta.dtype)?.unbind(),
        shape: PyTuple::new(py, &meta.shape)?.into_any().unbind(),
        strides: PyTuple::new(py, &meta.strides)?.into_any().unbind(),
        offset: meta.offset,
    })
}
