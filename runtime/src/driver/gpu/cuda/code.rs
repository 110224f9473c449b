//! Loading code, and the limits that a kernel has to raise.

use std::ffi::{c_int, c_void};
use std::ptr;

use cudarc::driver::sys;

use super::check;
use crate::error::Error;

/// Bytes of the PTX compiler's log.
const LOG_BYTES: usize = 8 << 10;

/// The first version in which a kernel can be loaded by a call: CUDA 12.4.
const LOADS_FUNCTIONS: c_int = 12_040;

/// Loads PTX or machine code on the current device; an error has the log of the driver's compiler.
pub(super) fn load(image: &[u8]) -> Result<sys::CUmodule, Error> {
    use sys::CUjit_option_enum as Jit;
    let mut text = image.to_vec();
    // PTX is a string; the other forms contain their size.
    text.push(0);
    let mut log = vec![0_u8; LOG_BYTES];
    let mut module = ptr::null_mut();
    let mut keys = [Jit::CU_JIT_ERROR_LOG_BUFFER, Jit::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), ptr::without_provenance_mut(LOG_BYTES)];
    // SAFETY: PTX ends with a zero byte; the options are a buffer and its size.
    let loaded = unsafe {
        sys::cuModuleLoadDataEx(&raw mut module, text.as_ptr().cast(), 2, keys.as_mut_ptr(), values.as_mut_ptr())
    };
    let said = String::from_utf8_lossy(&log).trim_end_matches('\0').trim().to_owned();
    check(loaded, if said.is_empty() { "load the kernels" } else { said.as_str() })?;
    Ok(module)
}

/// Loads a kernel now. Loading it at its first launch would wait for kernels that wait for it, and eager loading cannot
/// be requested once something else has started CUDA.
pub(super) fn finish_loading(function: sys::CUfunction, version: c_int) -> Result<(), Error> {
    if version >= LOADS_FUNCTIONS {
        // SAFETY: the function is the driver's, which has this call.
        return check(unsafe { sys::cuFuncLoad(function) }, "load a kernel");
    }
    // To answer, the driver has to load the function.
    attribute(function, sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS, "load a kernel").map(|_| ())
}

/// An attribute of a kernel.
pub(super) fn attribute(
    function: sys::CUfunction,
    which: sys::CUfunction_attribute,
    purpose: &str,
) -> Result<u32, Error> {
    let mut value = 0;
    // SAFETY: the function is the driver's, which stores a number.
    check(unsafe { sys::cuFuncGetAttribute(&raw mut value, which, function) }, purpose)?;
    Ok(value.cast_unsigned())
}

/// Dynamic shared memory of more than 48 KiB has to be asked for.
pub(super) fn allow_shared(function: sys::CUfunction, bytes: u32) -> Result<(), Error> {
    if bytes <= 48 << 10 {
        return Ok(());
    }
    let most = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    // SAFETY: the function is loaded.
    let allowed = unsafe { sys::cuFuncSetAttribute(function, most, bytes.cast_signed()) };
    check(allowed, &format!("use {bytes} bytes of dynamic shared memory"))
}
