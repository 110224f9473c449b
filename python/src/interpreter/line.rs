//! Lines of 16 bytes, each of which shows by itself that it has come: two words of 64 bits.

use super::{SLEEPS, at, nth};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::atomic::AtomicU64;
use std::thread;
use std::time::Instant;

/// The two words of a line.
pub type Line = [&'static AtomicU64; 2];

/// The words of each line that a block of pointers is for; `None` where it is masked.
pub fn lines(pointers: &[u8], mask: &[u8]) -> PyResult<Vec<Option<Line>>> {
    if pointers.len() != 8 * mask.len() {
        return Err(PyValueError::new_err("there is a mask for each pointer"));
    }
    let line = |index| {
        let address = nth(pointers, index, 8);
        Ok([at::<AtomicU64>(address)?, at::<AtomicU64>(address.wrapping_add(8))?])
    };
    mask.iter().enumerate().map(|(index, on)| (*on != 0).then(|| line(index)).transpose()).collect()
}

/// Waits for lines, at most `seconds`: `look` returns the data of one, and whether it has come. The data of all, 0
/// where masked, or `None`.
pub fn wait<const BYTES: usize>(
    py: Python<'_>,
    lines: Vec<Option<Line>>,
    seconds: f64,
    look: impl Fn(Line) -> ([u8; BYTES], bool) + Sync,
) -> Option<Bound<'_, PyBytes>> {
    let data = py.detach(|| {
        let (start, mut data) = (Instant::now(), Vec::with_capacity(BYTES * lines.len()));
        for line in lines {
            let mut sleep = SLEEPS[0];
            let found = loop {
                let Some(line) = line else { break [0; BYTES] };
                let (found, is_here) = look(line);
                if is_here {
                    break found;
                }
                if start.elapsed().as_secs_f64() > seconds {
                    return None;
                }
                thread::sleep(sleep);
                sleep = SLEEPS[1].min(sleep * 2);
            };
            data.extend(found);
        }
        Some(data)
    });
    data.map(|data| PyBytes::new(py, &data))
}

/// Looks once for lines: the data of all, 0 where masked, and a byte for each that says whether it has come.
pub fn look_once<const BYTES: usize>(
    py: Python<'_>,
    lines: Vec<Option<Line>>,
    look: impl Fn(Line) -> ([u8; BYTES], bool),
) -> (Bound<'_, PyBytes>, Bound<'_, PyBytes>) {
    let found = lines.into_iter().map(|line| line.map_or(([0; BYTES], true), &look));
    let (data, valid): (Vec<_>, Vec<_>) = found.map(|(data, is_here)| (data, u8::from(is_here))).unzip();
    (PyBytes::new(py, data.as_flattened()), PyBytes::new(py, &valid))
}
