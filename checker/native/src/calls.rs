//! The functions that a kernel calls for each access, signal, wait and barrier ([`symm_abi::check`]).
//!
//! While a task asks, nothing on its stack may own anything: the stack may be given to another task.

mod atomics;
mod groups;
mod own;
mod put;

use crate::fiber::{come_to, current};
use crate::space::Place;
use crate::task::{Context, ahead};
use atomics::{symm_chk_compare, symm_chk_load, symm_chk_look, symm_chk_store, symm_chk_update};
pub use groups::wait;
use groups::{
    symm_chk_barrier, symm_chk_enter, symm_chk_fence, symm_chk_put_floats, symm_chk_put_packet, symm_chk_shared,
    symm_chk_signal, symm_chk_try_floats, symm_chk_try_packet, symm_chk_wait, symm_chk_wait_floats,
    symm_chk_wait_packet,
};
use own::{symm_chk_align, symm_chk_allocate, symm_chk_divide, symm_chk_release, symm_chk_stack};
pub use put::Put;
use put::{symm_chk_begin_put, symm_chk_end_put};
use std::ffi::c_char;
use symm_abi::check::Definitions;
use symm_checker::op::{Answer, Op, Range};

/// The functions, by name.
pub fn symbols() -> Vec<(&'static str, usize)> {
    DEFINITIONS.symbols()
}

const DEFINITIONS: Definitions = Definitions {
    symm_chk_read,
    symm_chk_write,
    symm_chk_change,
    symm_chk_copy,
    symm_chk_fill,
    symm_chk_read_lanes,
    symm_chk_write_lanes,
    symm_chk_load,
    symm_chk_look,
    symm_chk_store,
    symm_chk_update,
    symm_chk_compare,
    symm_chk_fence,
    symm_chk_turn,
    symm_chk_stack,
    symm_chk_allocate,
    symm_chk_release,
    symm_chk_align,
    symm_chk_divide,
    symm_chk_signal,
    symm_chk_wait,
    symm_chk_barrier,
    symm_chk_enter,
    symm_chk_begin_put,
    symm_chk_end_put,
    symm_chk_shared,
    symm_chk_put_packet,
    symm_chk_wait_packet,
    symm_chk_try_packet,
    symm_chk_put_floats,
    symm_chk_wait_floats,
    symm_chk_try_floats,
};

/// Bytes of an access that a task may make by itself.
const MOST_AT_ONCE: usize = 1 << 20;

/// Bytes that a task reads, from wherever they are.
pub fn bytes_at(task: &Context, from: *const u8, bytes: u64, loc: *const c_char) -> Vec<u8> {
    let count = usize::try_from(bytes).unwrap_or(0);
    match task.state.place(from, bytes) {
        _ if count == 0 => Vec::new(),
        Place::Held(range) => {
            if count <= MOST_AT_ONCE {
                let mut found = vec![0; count];
                if task.reads(range, &mut found, loc) {
                    return found;
                }
            }
            match task.ask(Op::Read(vec![range]), loc) {
                Answer::Bytes(bytes) => bytes,
                _ => Vec::new(),
            }
        }
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
            if !task.writes(range, &bytes, loc) {
                task.ask(Op::Write(vec![range], bytes), loc);
            }
        }
        // SAFETY: the program's own memory, which it writes.
        Place::Plain => unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) },
        Place::Unmapped => unmapped(task, to, bytes.len() as u64, loc),
    }
}

/// Copies bytes for a task. Of more than any memory has, it says what is wrong, and copies nothing.
pub fn copy_bytes(task: &Context, to: *mut u8, from: *const u8, bytes: u64, loc: *const c_char) {
    let too_many = |at| match task.state.place(at, bytes) {
        Place::Held(range) if is_too_large(task, range) => Some(range),
        _ => None,
    };
    let (source, target) = (too_many(from), too_many(to));
    if let Some(range) = source {
        task.ask(Op::Read(vec![range]), loc);
    }
    if let Some(range) = target {
        task.ask(Op::Write(vec![range], Vec::new()), loc);
    }
    if source.is_none() && target.is_none() {
        put_bytes(task, to, bytes_at(task, from, bytes, loc), loc);
    }
}

/// Whether a range is so large, and so far out of the heap, that its bytes are not to be made up.
fn is_too_large(task: &Context, range: Range) -> bool {
    range.bytes > MOST_AT_ONCE as u64 && task.state.is_beyond(range)
}

fn unmapped(task: &Context, at: *const u8, bytes: u64, loc: *const c_char) -> ! {
    task.fault(format!("accesses {bytes} bytes at {at:p}, where there is no memory: does that rank exist?"), loc)
}

unsafe extern "C" fn symm_chk_read(into: *mut u8, from: *const u8, bytes: u64, loc: *const c_char) {
    come_to(loc);
    // SAFETY: compiled code has room for as many.
    unsafe {
        if bytes == 4 && read_near::<4, true>(into, from, loc) {
            return;
        }
        read(into, from, bytes, loc);
    }
}

/// Reads this many bytes where that takes few steps; whether it has done so.
#[expect(clippy::inline_always, reason = "it is a part of each access")]
#[inline(always)]
unsafe fn read_near<const N: usize, const ALONE: bool>(into: *mut u8, from: *const u8, loc: *const c_char) -> bool {
    // SAFETY: the caller's promise.
    let into = unsafe { &mut *into.cast::<[u8; N]>() };
    ahead().is_some_and(|ahead| ahead.read_near::<N, ALONE>(from as u64, into, loc as usize))
}

/// Writes this many bytes, likewise.
#[expect(clippy::inline_always, reason = "it is a part of each access")]
#[inline(always)]
unsafe fn write_near<const N: usize, const ALONE: bool>(to: *mut u8, from: *const u8, loc: *const c_char) -> bool {
    // SAFETY: the caller's promise.
    let value = unsafe { from.cast::<[u8; N]>().read_unaligned() };
    ahead().is_some_and(|ahead| ahead.write_near::<N, ALONE>(to as u64, value, loc as usize))
}

/// A read that is not as simple.
#[inline(never)]
unsafe fn read(into: *mut u8, from: *const u8, bytes: u64, loc: *const c_char) {
    // SAFETY: the caller's promise.
    let is_done = unsafe {
        match bytes {
            1 => read_near::<1, false>(into, from, loc),
            2 => read_near::<2, false>(into, from, loc),
            4 => read_near::<4, false>(into, from, loc),
            8 => read_near::<8, false>(into, from, loc),
            16 => read_near::<16, false>(into, from, loc),
            _ => false,
        }
    };
    if is_done {
        return;
    }
    let (task, count) = (current(), usize::try_from(bytes).unwrap_or(0));
    if let Some(range) = task.held(from, bytes) {
        // SAFETY: compiled code has room for as many.
        let value = unsafe { std::slice::from_raw_parts_mut(into, count) };
        // What a group puts nobody reads at once.
        if task.reads(range, value, loc) || put::reads(task, range, loc) {
            return;
        }
    }
    let found = bytes_at(task, from, bytes, loc);
    // SAFETY: as above.
    unsafe { into.copy_from_nonoverlapping(found.as_ptr(), found.len()) };
}

unsafe extern "C" fn symm_chk_write(to: *mut u8, from: *const u8, bytes: u64, loc: *const c_char) {
    come_to(loc);
    // SAFETY: the value is on the stack of who calls.
    unsafe {
        if bytes == 4 && write_near::<4, true>(to, from, loc) {
            return;
        }
        write(to, from, bytes, loc);
    }
}

/// A write that is not as simple.
#[inline(never)]
unsafe fn write(to: *mut u8, from: *const u8, bytes: u64, loc: *const c_char) {
    // SAFETY: the caller's promise.
    let is_done = unsafe {
        match bytes {
            1 => write_near::<1, false>(to, from, loc),
            2 => write_near::<2, false>(to, from, loc),
            4 => write_near::<4, false>(to, from, loc),
            8 => write_near::<8, false>(to, from, loc),
            16 => write_near::<16, false>(to, from, loc),
            _ => false,
        }
    };
    if is_done {
        return;
    }
    let task = current();
    // SAFETY: the value is on the stack of who calls.
    let value = unsafe { std::slice::from_raw_parts(from, usize::try_from(bytes).unwrap_or(0)) };
    if let Some(range) = task.held(to, bytes)
        && (task.writes(range, value, loc) || put::writes(task, range, loc))
    {
        return;
    }
    put_bytes(task, to, value.to_vec(), loc);
}

unsafe extern "C" fn symm_chk_change(
    slot: *mut u8,
    at: *mut u8,
    bytes: u64,
    read_loc: *const c_char,
    write_loc: *const c_char,
) -> *mut u8 {
    come_to(write_loc);
    if bytes == 4
        && let Some(place) = change_near::<4, true>(at, write_loc)
    {
        return place;
    }
    // SAFETY: compiled code has room for as many.
    unsafe { change(slot, at, bytes, (read_loc, write_loc)) }
}

/// Where this many bytes are that are read and then written, where that takes few steps.
#[expect(clippy::inline_always, reason = "it is a part of each access")]
#[inline(always)]
fn change_near<const N: usize, const ALONE: bool>(at: *mut u8, loc: *const c_char) -> Option<*mut u8> {
    Some(ahead()?.change_near::<N, ALONE>(at as u64, loc as usize)?.as_mut_ptr())
}

/// A change that is not as simple.
#[inline(never)]
unsafe fn change(slot: *mut u8, at: *mut u8, bytes: u64, locs: (*const c_char, *const c_char)) -> *mut u8 {
    let place = match bytes {
        1 => change_near::<1, false>(at, locs.1),
        2 => change_near::<2, false>(at, locs.1),
        4 => change_near::<4, false>(at, locs.1),
        8 => change_near::<8, false>(at, locs.1),
        16 => change_near::<16, false>(at, locs.1),
        _ => None,
    };
    place.unwrap_or_else(|| {
        // SAFETY: the caller's promise.
        unsafe { symm_chk_read(slot, at, bytes, locs.0) };
        slot
    })
}

unsafe extern "C" fn symm_chk_turn(loc: *const c_char) {
    current().turn(loc);
}

unsafe extern "C" fn symm_chk_copy(to: *mut u8, from: *const u8, bytes: u64, loc: *const c_char) {
    come_to(loc);
    let task = current();
    if let (Place::Held(to), Place::Held(from)) = (task.state.place(to, bytes), task.state.place(from, bytes))
        && put::reads(task, from, loc)
        && put::writes(task, to, loc)
    {
        return;
    }
    copy_bytes(task, to, from, bytes, loc);
}

unsafe extern "C" fn symm_chk_fill(to: *mut u8, byte: u32, bytes: u64, loc: *const c_char) {
    come_to(loc);
    let (task, byte, count) = (current(), byte.to_le_bytes()[0], usize::try_from(bytes).unwrap_or(0));
    match task.state.place(to, bytes) {
        Place::Held(range) if is_too_large(task, range) => drop(task.ask(Op::Write(vec![range], Vec::new()), loc)),
        Place::Held(_) => put_bytes(task, to, vec![byte; count], loc),
        // SAFETY: the program's own memory, which it writes.
        Place::Plain => unsafe { to.write_bytes(byte, count) },
        Place::Unmapped => unmapped(task, to, bytes, loc),
    }
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
    come_to(loc);
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
    come_to(loc);
    let (task, width) = (current(), usize::try_from(bytes).unwrap_or(0));
    // SAFETY: a pointer, a byte of mask and a value for each lane.
    unsafe {
        for lane in lanes_on(mask, lanes) {
            let value = std::slice::from_raw_parts(from.add(lane * width), width).to_vec();
            put_bytes(task, to.add(lane).read_unaligned().cast_mut(), value, loc);
        }
    }
}
