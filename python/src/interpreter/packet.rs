//! Packets: each word of a line has half of the data, and above it the epoch.

use super::line::{Line, lines, look_once, wait};
use super::nth;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::atomic::Ordering;

/// The data of a line, and whether both halves are of an epoch; 0 if they are not.
fn look(line: Line, epoch: u32) -> ([u8; 8], bool) {
    let [first, second] = line.map(|word| word.load(Ordering::Relaxed));
    let is_here = [first, second].iter().all(|word| word >> 32 == u64::from(epoch));
    let data = if is_here { (first & u64::from(u32::MAX)) | (second << 32) } else { 0 };
    (data.to_le_bytes(), is_here)
}

/// Writes packets of an epoch, 8 bytes of data each.
#[pyfunction]
pub fn put_packets(pointers: &[u8], data: &[u8], epoch: u32, mask: &[u8]) -> PyResult<()> {
    if data.len() != pointers.len() {
        return Err(PyValueError::new_err("there are 8 bytes of data for each pointer"));
    }
    for (index, line) in lines(pointers, mask)?.into_iter().enumerate() {
        let Some([first, second]) = line else { continue };
        let (data, flag) = (nth(data, index, 8), u64::from(epoch) << 32);
        first.store((data & u64::from(u32::MAX)) | flag, Ordering::Relaxed);
        second.store((data >> 32) | flag, Ordering::Relaxed);
    }
    Ok(())
}

/// Waits for packets of an epoch, at most `seconds`; their data, 0 where masked, or `None`.
#[pyfunction]
pub fn await_packets<'py>(
    py: Python<'py>,
    pointers: &[u8],
    epoch: u32,
    mask: &[u8],
    seconds: f64,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    Ok(wait(py, lines(pointers, mask)?, seconds, |line| look(line, epoch)))
}

/// Looks once for packets of an epoch; their data, and a byte for each that says whether it is there.
#[pyfunction]
pub fn try_packets<'py>(
    py: Python<'py>,
    pointers: &[u8],
    epoch: u32,
    mask: &[u8],
) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
    Ok(look_once(py, lines(pointers, mask)?, |line| look(line, epoch)))
}
