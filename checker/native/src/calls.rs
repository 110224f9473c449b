//! The functions that a kernel calls for each access, signal, wait and barrier ([`symm_abi::check`]).
//!
//! While a task asks, nothing on its stack may own anything: the stack may be given to another task.

mod atomics;
mod groups;

use crate::fiber::current;
use crate::space::Place;
use crate::task::Context;
use atomics::{symm_chk_compare, symm_chk_load, symm_chk_store, symm_chk_update};
pub use groups::wait;
use groups::{
    symm_chk_barrier, symm_chk_enter, symm_chk_fence, symm_chk_put_packet, symm_chk_shared, symm_chk_signal,
    symm_chk_try_packet, symm_chk_wait, symm_chk_wait_packet,
};
use std::ffi::c_char;
use symm_abi::check::Definitions;
use symm_checker::op::{Answer, Op};

/// The functions, by name.
pub fn symbols() -> Vec<(&'static str, usize)> {
    DEFINITIONS.symbols()
}

const DEFINITIONS: Definitions = Definitions {
    symm_chk_read,
    symm_chk_write,
    symm_chk_copy,
    symm_chk_fill,
    symm_chk_read_lanes,
    symm_chk_write_lanes,
    symm_chk_load,
    symm_chk_store,
    symm_chk_update,
    symm_chk_compare,
    symm_chk_fence,
    symm_chk_signal,
    symm_chk_wait,
    symm_chk_barrier,
    symm_chk_enter,
    symm_chk_shared,
    symm_chk_put_packet,
    symm_chk_wait_packet,
    symm_chk_try_packet,
};

/// Bytes that a task reads, from wherever they are.
pub fn bytes_at(task: &Context, from: *const u8, bytes: u64, loc: *const c_char) -> Vec<u8> {
    let count = usize::try_from(bytes).unwrap_or(0);
    match task.state.place(from, bytes) {
        _ if count == 0 => Vec::new(),
        Place::Held(range) => match task.ask(Op::Read(vec![range]), loc) {
            Answer::Bytes(bytes) => bytes,
            _ => Vec::new(),
        },
        // SAFETY: the program's own memory, which it reads.
        Place::Plain => unsafe { std::slice::from_raw_parts(from, count) }.to_vec(),
        Place::Unmapped => unmapped(task, from, bytes, loc),
    }
}

/// Writes bytes for a task, wherever they go.
pub fn put_bytes(task: &Context, to: *mut u8, bytes: Vec<u8>, loc: *const c_char) {
    match task.state.place(to, bytes.len() as u64) {
        _ if bytes.is_empty() => {}
        Place::Held(range) => {
            task.ask(Op::Write(vec![range], bytes), loc);
        }
        // SAFETY: the program's own memory, which it writes.
        Place::Plain => unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) },
        Place::Unmapped => unmapped(task, to, bytes.len() as u64, loc),
    }
}

fn unmapped(task: &Context, at: *const u8, bytes: u64, loc: *const c_char) -> ! {
    task.fail(
        format!("accesses {bytes} bytes at {at:p}, where there is no memory; is the rank one that there is?"),
        loc,
    )
}

unsafe extern "C" fn symm_chk_read(into: *mut u8, from: *const u8, bytes: u64, loc: *const c_char) {
    let found = bytes_at(current(), from, bytes, loc);
    // SAFETY: compiled code has room for as many.
    unsafe { into.copy_from_nonoverlapping(found.as_ptr(), found.len()) };
}

unsafe extern "C" fn symm_chk_write(to: *mut u8, from: *const u8, bytes: u64, loc: *const c_char) {
    // SAFETY: the value is on the stack of who calls.
    let value = unsafe { std::slice::from_raw_parts(from, usize::try_from(bytes).unwrap_or(0)) };
    put_bytes(current(), to, value.to_vec(), loc);
}

unsafe extern "C" fn symm_chk_copy(to: *mut u8, from: *const u8, bytes: u64, loc: *const c_char) {
    let task = current();
    put_bytes(task, to, bytes_at(task, from, bytes, loc), loc);
}

unsafe extern "C" fn symm_chk_fill(to: *mut u8, byte: u32, bytes: u64, loc: *const c_char) {
    let byte = byte.to_le_bytes()[0];
    put_bytes(current(), to, vec![byte; usize::try_from(bytes).unwrap_or(0)], loc);
}

/// The lanes that a mask lets through.
unsafe fn lanes_on(mask: *const u8, lanes: u64) -> impl Iterator<Item = usize> {
    let count = usize::try_from(lanes).unwrap_or(0);
    // SAFETY: a byte for each lane.
    (0..count).filter(move |&lane| unsafe { mask.add(lane).read() } & 1 != 0)
}

unsafe extern "C" fn symm_chk_read_lanes(
    into: *mut u8,
    from: *const *const u8,
    bytes: u64,
    lanes: u64,
    mask: *const u8,
    loc: *const c_char,
) {
    let (task, width) = (current(), usize::try_from(bytes).unwrap_or(0));
    // SAFETY: a pointer, a byte of mask and room for a value for each lane.
    unsafe {
        for lane in lanes_on(mask, lanes) {
            let found = bytes_at(task, from.add(lane).read_unaligned(), bytes, loc);
            into.add(lane * width).copy_from_nonoverlapping(found.as_ptr(), found.len());
        }
    }
}

unsafe extern "C" fn symm_chk_write_lanes(
    to: *const *const u8,
    from: *const u8,
    bytes: u64,
    lanes: u64,
    mask: *const u8,
    loc: *const c_char,
) {
    let (task, width) = (current(), usize::try_from(bytes).unwrap_or(0));
    // SAFETY: a pointer, a byte of mask and a value for each lane.
    unsafe {
        for lane in lanes_on(mask, lanes) {
            let value = std::slice::from_raw_parts(from.add(lane * width), width).to_vec();
            put_bytes(task, to.add(lane).read_unaligned().cast_mut(), value, loc);
        }
    }
}
