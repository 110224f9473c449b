//! The bytes of torch's tensors in this process.

use super::types::Types;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use symm_remote::memory::Memory;
use symm_remote::value::Dtype;

/// The bytes of a contiguous tensor on the CPU, which is kept alive with them.
pub fn of(tensor: &Bound<'_, PyAny>, types: &Types) -> PyResult<(Dtype, Memory)> {
    let wrong = |what: &str| PyValueError::new_err(format!("a transfer needs a contiguous tensor on the CPU, {what}"));
    if !tensor.is_instance(types.tensor.bind(tensor.py()))? {
        return Err(wrong("and this is not a tensor"));
    }
    let dtype = types.dtype_row(&tensor.getattr("dtype")?).ok_or_else(|| wrong("of plain numbers"))?;
    if tensor.getattr("device")?.getattr("type")?.extract::<String>()? != "cpu" {
        return Err(wrong("and this one is elsewhere"));
    }
    let strided = tensor.getattr("layout")?.is(&types.layout(tensor.py(), 0)?);
    if !strided || !tensor.call_method0("is_contiguous")?.extract::<bool>()? {
        return Err(wrong("and this one is not contiguous"));
    }
    let elements: usize = tensor.call_method0("numel")?.extract()?;
    let address: usize = tensor.call_method0("data_ptr")?.extract()?;
    if elements > 0 && address == 0 {
        return Err(wrong("and this one has no memory"));
    }
    let owner = tensor.clone().unbind();
    // SAFETY: a contiguous tensor has its elements at its address as long as it lives, and they are plain numbers.
    let memory = unsafe { Memory::new(address as *mut u8, elements * dtype.size(), Box::new(owner)) };
    Ok((dtype, memory))
}

/// A tensor's sizes.
pub fn shape(tensor: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    tensor.getattr("shape")?.extract()
}
