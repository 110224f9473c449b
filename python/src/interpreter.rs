//! What ops do to memory under `TRITON_INTERPRET=1` and numpy cannot: atomics, signals and polls; what travels in
//! lines is in `interpreter/`.
//!
//! Blocks come as the bytes of numpy's arrays: `pointers` as 64-bit addresses, `mask` a byte for each. All accesses are
//! sequentially consistent, which is at least what any op asks for.

pub mod floats;
mod line;
pub mod packet;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering, fence};
use std::thread;
use std::time::{Duration, Instant};

/// The shortest and the longest sleep between two looks at a flag.
const SLEEPS: [Duration; 2] = [Duration::from_micros(1), Duration::from_micros(500)];

/// A value in memory that is updated atomically, as its bits.
trait Cell {
    const BYTES: usize;
    fn get(&self) -> u64;
    fn set(&self, bits: u64);
    /// Replaces `old` by `new`; what is there instead where that is not `old`.
    fn swap(&self, old: u64, new: u64) -> Result<(), u64>;
}

macro_rules! cell {
    ($atomic:ty, $bits:ty) => {
        #[allow(clippy::cast_possible_truncation, clippy::cast_lossless, reason = "the bits of one value")]
        impl Cell for $atomic {
            const BYTES: usize = size_of::<$bits>();

            fn get(&self) -> u64 {
                self.load(Ordering::SeqCst) as u64
            }

            fn set(&self, bits: u64) {
                self.store(bits as $bits, Ordering::SeqCst);
            }

            fn swap(&self, old: u64, new: u64) -> Result<(), u64> {
                let swapped = self.compare_exchange(old as $bits, new as $bits, Ordering::SeqCst, Ordering::SeqCst);
                swapped.map(|_| ()).map_err(|found| found as u64)
            }
        }
    };
}

cell!(AtomicU16, u16);
cell!(AtomicU32, u32);
cell!(AtomicU64, u64);

/// The cell at an address of the kernel's.
fn at<C: Cell>(address: u64) -> PyResult<&'static C> {
    let pointer = std::ptr::with_exposed_provenance::<C>(usize::try_from(address).unwrap_or(0));
    if address == 0 || !pointer.is_aligned() {
        let bytes = C::BYTES;
        return Err(PyValueError::new_err(format!("{address:#x} is not the address of a value of {bytes} bytes")));
    }
    // SAFETY: the kernel says that this much memory is there; all access to it here is atomic.
    Ok(unsafe { &*pointer })
}

/// The `index`th value of an array's bytes.
fn nth(array: &[u8], index: usize, bytes: usize) -> u64 {
    let mut word = [0; 8];
    word[..bytes].copy_from_slice(&array[index * bytes..][..bytes]);
    u64::from_le_bytes(word)
}

/// Replaces each value by what `update` makes of it and its operand; returns the old ones, 0 where masked.
fn update_each<C: Cell + 'static>(
    pointers: &[u8],
    mask: &[u8],
    update: impl Fn(u64, usize) -> Option<u64>,
) -> PyResult<Vec<u8>> {
    let mut old = vec![0; mask.len() * C::BYTES];
    for index in (0..mask.len()).filter(|index| mask[*index] != 0) {
        let cell = at::<C>(nth(pointers, index, 8))?;
        let mut found = cell.get();
        while let Some(new) = update(found, index) {
            match cell.swap(found, new) {
                Ok(()) => break,
                Err(other) => found = other,
            }
        }
        old[index * C::BYTES..][..C::BYTES].copy_from_slice(&found.to_le_bytes()[..C::BYTES]);
    }
    Ok(old)
}

/// What `kind` makes of two floats, as bits.
#[allow(clippy::cast_possible_truncation, reason = "the bits of one value")]
fn combine_floats(kind: &str, element: &str, a: u64, b: u64) -> Option<u64> {
    let value = |bits: u64| match element {
        "fp16" => f64::from(half::f16::from_bits(bits as u16)),
        "bf16" => f64::from(half::bf16::from_bits(bits as u16)),
        "fp32" => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    };
    // A sum of two values that f64 holds exactly, rounded twice, is the sum rounded once: f64 has more than twice
    // their digits.
    let sum = value(a) + value(b);
    match (kind, element) {
        ("fadd", "fp16") => Some(half::f16::from_f64(sum).to_bits().into()),
        ("fadd", "bf16") => Some(half::bf16::from_f64(sum).to_bits().into()),
        ("fadd", "fp32") => Some((sum as f32).to_bits().into()),
        ("fadd", "fp64") => Some(sum.to_bits()),
        ("min", "fp32" | "fp64") => Some(if value(a) <= value(b) { a } else { b }),
        ("max", "fp32" | "fp64") => Some(if value(a) >= value(b) { a } else { b }),
        ("xchg", _) => Some(b),
        _ => None,
    }
}

/// What `kind` makes of a value and its operand.
fn combine(kind: &str, element: &str, bytes: usize, a: u64, b: u64) -> Option<u64> {
    if !element.contains("int") {
        return combine_floats(kind, element, a, b);
    }
    // Signed values are compared by their topmost bits, whatever their width.
    let shift = 64 - 8 * bytes;
    let signed = |value: u64| (value << shift).cast_signed();
    Some(match kind {
        "add" => a.wrapping_add(b),
        "sub" => a.wrapping_sub(b),
        "and" => a & b,
        "or" => a | b,
        "xor" => a ^ b,
        "min" => {
            if signed(a) <= signed(b) {
                a
            } else {
                b
            }
        }
        "max" => {
            if signed(a) >= signed(b) {
                a
            } else {
                b
            }
        }
        "umin" => a.min(b),
        "umax" => a.max(b),
        "xchg" => b,
        _ => return None,
    })
}

fn unknown(what: &str, element: &str) -> PyErr {
    PyValueError::new_err(format!("there is no atomic {what} of {element}"))
}

/// The bytes of an element by Triton's name for it.
fn width(element: &str) -> Option<usize> {
    match element {
        "fp16" | "bf16" | "int16" | "uint16" => Some(2),
        "int32" | "uint32" | "fp32" => Some(4),
        "int64" | "uint64" | "fp64" => Some(8),
        _ => None,
    }
}

#[pyfunction]
pub fn atomic_rmw<'py>(
    py: Python<'py>,
    kind: &str,
    element: &str,
    pointers: &[u8],
    values: &[u8],
    mask: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = width(element).ok_or_else(|| unknown(kind, element))?;
    combine(kind, element, bytes, 0, 0).ok_or_else(|| unknown(kind, element))?;
    let update = |old, index| combine(kind, element, bytes, old, nth(values, index, bytes));
    let old = match bytes {
        2 => update_each::<AtomicU16>(pointers, mask, update),
        4 => update_each::<AtomicU32>(pointers, mask, update),
        _ => update_each::<AtomicU64>(pointers, mask, update),
    }?;
    Ok(PyBytes::new(py, &old))
}

#[pyfunction]
pub fn atomic_cas<'py>(
    py: Python<'py>,
    element: &str,
    pointers: &[u8],
    expected: &[u8],
    desired: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = width(element).ok_or_else(|| unknown("cas", element))?;
    let update = |old, index| (old == nth(expected, index, bytes)).then(|| nth(desired, index, bytes));
    let mask = vec![1; pointers.len() / 8];
    let old = match bytes {
        2 => update_each::<AtomicU16>(pointers, &mask, update),
        4 => update_each::<AtomicU32>(pointers, &mask, update),
        _ => update_each::<AtomicU64>(pointers, &mask, update),
    }?;
    Ok(PyBytes::new(py, &old))
}

/// Writes a flag, after everything that this thread has written before.
#[pyfunction]
pub fn set_flag(element: &str, address: u64, value: u64) -> PyResult<()> {
    match width(element) {
        Some(4) => at::<AtomicU32>(address)?.set(value),
        _ => at::<AtomicU64>(address)?.set(value),
    }
    Ok(())
}

/// Waits until a flag compares with `value` as asked, at most `seconds`; whether it does.
#[pyfunction]
pub fn await_flag(
    py: Python<'_>,
    element: &str,
    address: u64,
    comparison: &str,
    value: u64,
    seconds: f64,
) -> PyResult<bool> {
    let narrow = width(element) == Some(4);
    let (is_signed, shift) = (element.starts_with("int"), if narrow { 32 } else { 0 });
    let holds = |found: u64| {
        let (found, value) = (found << shift, value << shift);
        let order = if is_signed { found.cast_signed().cmp(&value.cast_signed()) } else { found.cmp(&value) };
        match comparison {
            "eq" => order.is_eq(),
            "ne" => order.is_ne(),
            "lt" => order.is_lt(),
            "le" => order.is_le(),
            "gt" => order.is_gt(),
            _ => order.is_ge(),
        }
    };
    let (small, large) =
        if narrow { (Some(at::<AtomicU32>(address)?), None) } else { (None, Some(at::<AtomicU64>(address)?)) };
    let found = || small.map_or(0, Cell::get) | large.map_or(0, Cell::get);
    py.detach(|| {
        let (start, mut sleep) = (Instant::now(), SLEEPS[0]);
        while !holds(found()) {
            if start.elapsed().as_secs_f64() > seconds {
                return Ok(false);
            }
            thread::sleep(sleep);
            sleep = SLEEPS[1].min(sleep * 2);
        }
        Ok(true)
    })
}

/// Orders all accesses of this thread.
#[pyfunction]
pub fn full_fence() {
    fence(Ordering::SeqCst);
}
