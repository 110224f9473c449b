//! Memory that a program takes besides the heap, and what would be a fault: alignments and divisions.

use super::unmapped;
use crate::fiber::{come_to, current};
use crate::space::Place;
use std::ffi::c_char;
use symm_checker::op::Op;

pub unsafe extern "C" fn symm_chk_allocate(bytes: u64, align: u64, loc: *const c_char) -> *mut u8 {
    let task = current();
    let align = align.max(1);
    if !align.is_power_of_two() {
        task.fail(format!("an alignment of {align} bytes, which is not a power of two"), loc);
    }
    let Some(range) = task.state.alloc_own(task.rank, bytes, align) else {
        task.fail(format!("allocates {bytes} bytes, which is more than is left of 512 MiB of a rank's own memory"), loc)
    };
    // Copies of it may have parts that nobody has written, and nobody looks at.
    task.ask(Op::Alloc(range, true), loc);
    task.address(range)
}

pub unsafe extern "C" fn symm_chk_stack(elements: u64, bytes: u64, loc: *const c_char) -> u64 {
    come_to(loc);
    let (task, here) = (current(), 0u8);
    let wanted = u128::from(elements) * u128::from(bytes);
    let left = (&raw const here).addr().saturating_sub(task.lowest.get());
    if wanted > left as u128 {
        task.fault(format!("takes {wanted} bytes from its stack, where {} KiB are left", left >> 10), loc);
    }
    elements
}

pub unsafe extern "C" fn symm_chk_release(memory: *mut u8, loc: *const c_char) {
    let task = current();
    if memory.is_null() {
        return;
    }
    match task.state.place(memory, 0) {
        Place::Held(at) => match task.state.own_at(at) {
            Some(range) => drop(task.ask(Op::Free(range), loc)),
            None => task.fault(format!("frees {at}, where no allocation begins"), loc),
        },
        Place::Plain => task.fault("frees memory that it has not allocated".into(), loc),
        Place::Unmapped => unmapped(task, memory, 0, loc),
    }
}

pub unsafe extern "C" fn symm_chk_align(at: *const u8, align: u64, loc: *const c_char) {
    come_to(loc);
    if !(at as u64).is_multiple_of(align) {
        let task = current();
        task.fault(format!("accesses a vector at {}, which is not aligned to {align} bytes", task.state.name(at)), loc);
    }
}

pub unsafe extern "C" fn symm_chk_divide(left: u64, right: u64, bits: u32, signed: u32, loc: *const c_char) {
    come_to(loc);
    if right == 0 {
        current().fault("divides an integer by zero".into(), loc);
    }
    let ones = u64::MAX >> (64 - bits.clamp(1, 64));
    if signed != 0 && right == ones && left == 1 << (bits.clamp(1, 64) - 1) {
        current().fault("divides the least integer by -1, which overflows".into(), loc);
    }
}
