//! Atomic and volatile accesses of single values.

use super::unmapped;
use crate::fiber::{come_to, current};
use crate::space::Place;
use crate::task::Context;
use std::ffi::c_char;
use symm_abi::check::{Order, Scope, Update as Kind};
use symm_checker::op::{self, Answer, Float, Op, Strong, Update};
use symm_checker::task;

/// Where a value is that an atomic accesses.
pub enum Value {
    Held(Strong),
    /// In memory that only its task has: no other one can tell the order.
    Own(*mut u8, usize),
}

pub fn value(task: &Context, at: *const u8, bytes: u64, (order, scope): (u32, u32), loc: *const c_char) -> Value {
    come_to(loc);
    match task.state.place(at, bytes) {
        Place::Held(at) => Value::Held(Strong { at, order: order_of(order), scope: scope_of(scope) }),
        Place::Plain => Value::Own(at.cast_mut(), usize::try_from(bytes).unwrap_or(0)),
        Place::Unmapped => unmapped(task, at, bytes, loc),
    }
}

pub fn order_of(code: u32) -> op::Order {
    match Order::from_code(code) {
        Some(Order::Acquire) => op::Order::Acquire,
        Some(Order::Release) => op::Order::Release,
        Some(Order::AcqRel) => op::Order::AcqRel,
        Some(Order::Relaxed) | None => op::Order::Relaxed,
    }
}

pub fn scope_of(code: u32) -> task::Scope {
    match Scope::from_code(code) {
        Some(Scope::Cta) => task::Scope::Cta,
        Some(Scope::Cluster) => task::Scope::Cluster,
        Some(Scope::Gpu) => task::Scope::Gpu,
        Some(Scope::Sys) | None => task::Scope::Sys,
    }
}

/// The bits of a value in memory.
///
/// # Safety
/// As many bytes are there; at most eight of them are looked at.
pub unsafe fn word(at: *const u8, bytes: u64) -> u64 {
    let mut word = [0; 8];
    let count = usize::try_from(bytes).unwrap_or(8).min(8);
    // SAFETY: the caller's promise.
    word[..count].copy_from_slice(unsafe { std::slice::from_raw_parts(at, count) });
    u64::from_le_bytes(word)
}

/// # Safety
/// As for [`word`].
unsafe fn put_word(at: *mut u8, value: u64, bytes: u64) {
    let count = usize::try_from(bytes).unwrap_or(8).min(8);
    // SAFETY: the caller's promise.
    unsafe { at.copy_from_nonoverlapping(value.to_le_bytes().as_ptr(), count) };
}

pub fn as_word(answer: &Answer) -> u64 {
    match answer {
        Answer::Word(word) => *word,
        Answer::None | Answer::Bytes(_) => 0,
    }
}

pub unsafe extern "C" fn symm_chk_load(
    into: *mut u8,
    from: *const u8,
    bytes: u64,
    order: u32,
    scope: u32,
    loc: *const c_char,
) {
    // A vector that is read as volatile is several values.
    if bytes > 8 {
        for start in (0..bytes).step_by(8) {
            let offset = usize::try_from(start).unwrap_or(0);
            // SAFETY: within the value.
            unsafe { symm_chk_load(into.add(offset), from.add(offset), 8.min(bytes - start), order, scope, loc) };
        }
        return;
    }
    let task = current();
    // SAFETY: compiled code has room for the value, and its own memory is there.
    unsafe {
        let found = match value(task, from, bytes, (order, scope), loc) {
            Value::Held(strong) => as_word(&task.ask(Op::Load(strong), loc)),
            Value::Own(at, _) => word(at, bytes),
        };
        put_word(into, found, bytes);
    }
}

pub unsafe extern "C" fn symm_chk_look(
    into: *mut u8,
    from: *const u8,
    bytes: u64,
    order: u32,
    scope: u32,
    again: *mut u8,
    loc: *const c_char,
) {
    let task = current();
    // SAFETY: compiled code has room for the value and for a byte; the program's own memory is there.
    unsafe {
        let is_again = again.replace(1) != 0;
        let found = match value(task, from, bytes, (order, scope), loc) {
            Value::Held(strong) if is_again => as_word(&task.ask(Op::Look(strong), loc)),
            Value::Held(strong) => as_word(&task.ask(Op::Load(strong), loc)),
            Value::Own(at, _) => word(at, bytes),
        };
        put_word(into, found, bytes);
    }
}

pub unsafe extern "C" fn symm_chk_store(
    to: *mut u8,
    from: *const u8,
    bytes: u64,
    order: u32,
    scope: u32,
    loc: *const c_char,
) {
    if bytes > 8 {
        for start in (0..bytes).step_by(8) {
            let offset = usize::try_from(start).unwrap_or(0);
            // SAFETY: within the value.
            unsafe { symm_chk_store(to.add(offset), from.add(offset), 8.min(bytes - start), order, scope, loc) };
        }
        return;
    }
    let task = current();
    // SAFETY: the value is on the stack of who calls, and its own memory is there.
    unsafe {
        let new = word(from, bytes);
        match value(task, to, bytes, (order, scope), loc) {
            Value::Held(strong) => drop(task.ask(Op::Store(strong, new), loc)),
            Value::Own(at, _) => put_word(at, new, bytes),
        }
    }
}

fn update_of(kind: u32, value: u64) -> Option<Update> {
    Some(match Kind::from_code(kind)? {
        Kind::Exchange => Update::Exchange(value),
        Kind::Add => Update::Add(value),
        Kind::Sub => Update::Sub(value),
        Kind::And => Update::And(value),
        Kind::Or => Update::Or(value),
        Kind::Xor => Update::Xor(value),
        Kind::Max => Update::Max(value),
        Kind::Min => Update::Min(value),
        Kind::UMax => Update::UMax(value),
        Kind::UMin => Update::UMin(value),
        Kind::AddF32 => Update::AddFloat(Float::F32, value),
        Kind::AddF64 => Update::AddFloat(Float::F64, value),
        Kind::AddF16 => Update::AddFloat(Float::F16, value),
        Kind::AddBf16 => Update::AddFloat(Float::Bf16, value),
    })
}

/// Updates a value, and says what it was.
fn updated(task: &Context, at: &Value, update: Update, loc: *const c_char) -> u64 {
    match *at {
        Value::Held(strong) => as_word(&task.ask(Op::Atomic(strong, update), loc)),
        Value::Own(at, bytes) => {
            // SAFETY: the task's own memory.
            unsafe {
                let old = word(at, bytes as u64);
                if let Some(new) = update.apply(old, bytes as u64) {
                    put_word(at, new, bytes as u64);
                }
                old
            }
        }
    }
}

pub unsafe extern "C" fn symm_chk_update(
    old: *mut u8,
    at: *mut u8,
    kind: u32,
    by: *const u8,
    bytes: u64,
    order: u32,
    scope: u32,
    loc: *const c_char,
) {
    let task = current();
    // SAFETY: the value and room for the old one are on the stack of who calls.
    unsafe {
        let Some(update) = update_of(kind, word(by, bytes)) else {
            task.fail(format!("an atomic of an unknown kind, {kind}"), loc)
        };
        let was = updated(task, &value(task, at, bytes, (order, scope), loc), update, loc);
        put_word(old, was, bytes);
    }
}

pub unsafe extern "C" fn symm_chk_compare(
    old: *mut u8,
    at: *mut u8,
    expected: *const u8,
    desired: *const u8,
    bytes: u64,
    order: u32,
    scope: u32,
    loc: *const c_char,
) {
    let task = current();
    // SAFETY: as above.
    unsafe {
        let update = Update::Compare { expected: word(expected, bytes), desired: word(desired, bytes) };
        let was = updated(task, &value(task, at, bytes, (order, scope), loc), update, loc);
        put_word(old, was, bytes);
    }
}
