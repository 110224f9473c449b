//! Lines of floats, of which a word with all bits set says that it has not come: two words of 64 bits, all data.

use super::line::{Line, lines, look_once, wait};
use super::nth;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::atomic::Ordering;
use symm_checker::op::have_come;

/// The bytes of a line, and whether they have come.
fn look(line: Line, bits: u32) -> ([u8; 16], bool) {
    let mut bytes = [0; 16];
    for (word, bytes) in line.iter().zip(bytes.chunks_mut(8)) {
        bytes.copy_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
    }
    (bytes, have_come(&bytes, bits))
}

/// 64 bits of floats as they are sent: a word with all bits set loses its highest one.
fn sent(word: u64, bits: u32) -> u64 {
    if bits == 64 {
        return if word == u64::MAX { word >> 1 } else { word };
    }
    let [low, high] = [word & 0xffff_ffff, word >> 32].map(|word| if word == 0xffff_ffff { word >> 1 } else { word });
    high << 32 | low
}

/// The words as they are sent: 16 bytes for each line.
#[pyfunction]
pub fn sent_floats<'py>(py: Python<'py>, data: &[u8], bits: u32) -> Bound<'py, PyBytes> {
    let words: Vec<u8> = (0..data.len() / 8).flat_map(|index| sent(nth(data, index, 8), bits).to_le_bytes()).collect();
    PyBytes::new(py, &words)
}

/// Writes 16 bytes into each line.
#[pyfunction]
pub fn put_floats(pointers: &[u8], data: &[u8], mask: &[u8]) -> PyResult<()> {
    if data.len() != 2 * pointers.len() {
        return Err(PyValueError::new_err("there are 16 bytes of data for each pointer"));
    }
    for (index, line) in lines(pointers, mask)?.into_iter().enumerate() {
        let Some(line) = line else { continue };
        for (half, word) in line.into_iter().enumerate() {
            word.store(nth(data, 2 * index + half, 8), Ordering::Relaxed);
        }
    }
    Ok(())
}

/// Waits for floats, at most `seconds`; their bytes, 0 where masked, or `None`.
#[pyfunction]
pub fn await_floats<'py>(
    py: Python<'py>,
    pointers: &[u8],
    bits: u32,
    mask: &[u8],
    seconds: f64,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    Ok(wait(py, lines(pointers, mask)?, seconds, |line| look(line, bits)))
}

/// Looks once for floats; their bytes, and a byte for each line that says whether they are there.
#[pyfunction]
pub fn try_floats<'py>(
    py: Python<'py>,
    pointers: &[u8],
    bits: u32,
    mask: &[u8],
) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
    Ok(look_once(py, lines(pointers, mask)?, |line| look(line, bits)))
}
