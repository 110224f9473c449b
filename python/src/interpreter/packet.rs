//! Packets: lines of two words of 64 bits, each with half of the data and the epoch above it, and each valid by itself.

use super::{SLEEPS, at, nth};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

/// The two words of each line that a block of pointers is for; `None` where it is masked.
fn lines(pointers: &[u8], mask: &[u8]) -> PyResult<Vec<Option<[&'static AtomicU64; 2]>>> {
    if pointers.len() != 8 * mask.len() {
        return Err(PyValueError::new_err("there is a mask for each pointer"));
    }
    let line = |index| {
        let address = nth(pointers, index, 8);
        Ok([at::<AtomicU64>(address)?, at::<AtomicU64>(address.wrapping_add(8))?])
    };
    mask.iter().enumerate().map(|(index, on)| (*on != 0).then(|| line(index)).transpose()).collect()
}

/// The data of a line, if both halves are of an epoch.
fn look(line: [&AtomicU64; 2], epoch: u32) -> Option<u64> {
    let [first, second] = line.map(|word| word.load(Ordering::Relaxed));
    let is_here = [first, second].iter().all(|word| word >> 32 == u64::from(epoch));
    is_here.then_some((first & u64::from(u32::MAX)) | (second << 32))
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
    let lines = lines(pointers, mask)?;
    let data = py.detach(|| {
        let (start, mut data) = (Instant::now(), Vec::with_capacity(pointers.len()));
        for line in lines {
            let mut sleep = SLEEPS[0];
            let found = loop {
                let Some(line) = line else { break 0 };
                if let Some(found) = look(line, epoch) {
                    break found;
                }
                if start.elapsed().as_secs_f64() > seconds {
                    return None;
                }
                thread::sleep(sleep);
                sleep = SLEEPS[1].min(sleep * 2);
            };
            data.extend(found.to_le_bytes());
        }
        Some(data)
    });
    Ok(data.map(|data| PyBytes::new(py, &data)))
}

/// Looks once for packets of an epoch; their data, and a byte for each that says whether it is there.
#[pyfunction]
pub fn try_packets<'py>(
    py: Python<'py>,
    pointers: &[u8],
    epoch: u32,
    mask: &[u8],
) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
    let found: Vec<Option<u64>> =
        lines(pointers, mask)?.into_iter().map(|line| line.map_or(Some(0), |line| look(line, epoch))).collect();
    let data: Vec<u8> = found.iter().flat_map(|found| found.unwrap_or(0).to_le_bytes()).collect();
    let valid: Vec<u8> = found.iter().map(|found| u8::from(found.is_some())).collect();
    Ok((PyBytes::new(py, &data), PyBytes::new(py, &valid)))
}
