//! Signals, waits, fences and barriers of groups, shared memory, and packets.

use super::atomics::{Value, as_word, order_of, scope_of, value, word};
use crate::fiber::current;
use crate::space::Place;
use crate::task::{Context, Work};
use std::ffi::c_char;
use symm_abi::check::Group;
use symm_abi::packet::LINE_BYTES;
use symm_abi::trace::SignalKind;
use symm_abi::wait::Compare;
use symm_checker::op::{self, Answer, Op, Range};

pub fn group_of(code: u32) -> Group {
    Group::from_code(code).unwrap_or(Group::Thread)
}

pub unsafe extern "C" fn symm_chk_fence(order: u32, scope: u32, group: u32, loc: *const c_char) {
    let (task, group, order) = (current(), group_of(group), order_of(order));
    task.meet(group, loc);
    task.ask(Op::Fence(order, scope_of(scope)), loc);
    if order.acquires() {
        task.meet(group, loc);
    }
}

pub unsafe extern "C" fn symm_chk_signal(
    flag: *mut u8,
    kind: u32,
    by: *const u8,
    bytes: u64,
    order: u32,
    scope: u32,
    group: u32,
    loc: *const c_char,
) {
    let (task, group) = (current(), group_of(group));
    task.meet(group, loc);
    if !task.leads(group) {
        return;
    }
    // SAFETY: the value is on the stack of who calls.
    let by = unsafe { word(by, bytes) };
    let signal = match SignalKind::from_code(kind) {
        Some(SignalKind::Add) => op::Signal::Add(by),
        Some(SignalKind::Set) | None => op::Signal::Set(by),
    };
    match value(task, flag, bytes, (order, scope), loc) {
        Value::Held(strong) if strong.at.may_have_flags() => drop(task.ask(Op::Signal(strong, signal), loc)),
        _ => task.fail("signals a flag that is not in the symmetric heap".into(), loc),
    }
}

pub unsafe extern "C" fn symm_chk_wait(
    flag: *const u8,
    compare: u32,
    expected: *const u8,
    bytes: u64,
    may_give_up: u32,
    order: u32,
    scope: u32,
    group: u32,
    loc: *const c_char,
) -> u32 {
    let (task, group) = (current(), group_of(group));
    // SAFETY: the value is on the stack of who calls.
    let expected = unsafe { word(expected, bytes) };
    task.meet(group, loc);
    let mut seen = 1;
    if task.leads(group) {
        seen = wait(task, flag, (compare, expected, bytes), may_give_up != 0, (order, scope), loc);
        if let Some((key, _)) = task.group(group) {
            task.state.said.borrow_mut().insert(key, seen.into());
        }
    }
    task.meet(group, loc);
    let said = task.group(group).and_then(|(key, _)| task.state.said.borrow().get(&key).copied());
    said.map_or(seen, |said| u32::from(said != 0))
}

/// One task's wait for a flag.
pub fn wait(
    task: &Context,
    flag: *const u8,
    (compare, expected, bytes): (u32, u64, u64),
    may_give_up: bool,
    order: (u32, u32),
    loc: *const c_char,
) -> u32 {
    let compare = Compare::from_code(compare).unwrap_or(Compare::Eq);
    let until = op::Until { compare, value: expected, timeout: may_give_up };
    match value(task, flag, bytes, order, loc) {
        Value::Held(strong) if strong.at.may_have_flags() => {
            u32::from(as_word(&task.ask(Op::Wait(strong, until), loc)) != 0)
        }
        _ => task.fail("waits for a flag that is not in the symmetric heap".into(), loc),
    }
}

pub unsafe extern "C" fn symm_chk_barrier(group: u32, loc: *const c_char) {
    current().meet(group_of(group), loc);
}

pub unsafe extern "C" fn symm_chk_enter(group: u32, loc: *const c_char) -> u32 {
    let (task, group) = (current(), group_of(group));
    task.meet(group, loc);
    task.leads(group).into()
}

pub unsafe extern "C" fn symm_chk_shared(number: u32, bytes: u64, loc: *const c_char) -> *mut u8 {
    let task = current();
    let Work::Thread(thread) = &task.work else { task.fail("shared memory is a kernel's".into(), loc) };
    let range = task.state.shared(thread.block[0], number, bytes);
    if bytes > 0 && task.leads(Group::Block) {
        task.ask(Op::Alloc(range, false), loc);
    }
    // No thread may access it before it is there.
    task.meet(Group::Block, loc);
    task.address(range)
}

fn line(task: &Context, at: *const u8, loc: *const c_char) -> Range {
    match task.state.place(at, LINE_BYTES) {
        Place::Held(range) if range.may_have_flags() => range,
        _ => task.fail("a packet's slot is not in the symmetric heap".into(), loc),
    }
}

pub unsafe extern "C" fn symm_chk_put_packet(at: *mut u8, data: u64, epoch: u32, loc: *const c_char) {
    let task = current();
    let lines = vec![line(task, at, loc)];
    task.ask(Op::PutPacket(lines, vec![data], epoch), loc);
}

pub unsafe extern "C" fn symm_chk_wait_packet(at: *const u8, epoch: u32, loc: *const c_char) -> u64 {
    let task = current();
    let lines = vec![line(task, at, loc)];
    match task.ask(Op::WaitPacket(lines, epoch), loc) {
        // SAFETY: at most eight of the bytes are looked at.
        Answer::Bytes(bytes) => unsafe { word(bytes.as_ptr(), bytes.len() as u64) },
        _ => 0,
    }
}

pub unsafe extern "C" fn symm_chk_try_packet(data: *mut u8, at: *const u8, epoch: u32, loc: *const c_char) -> u32 {
    let task = current();
    let lines = vec![line(task, at, loc)];
    let Answer::Bytes(found) = task.ask(Op::TryPacket(lines, epoch), loc) else { return 0 };
    let [value @ .., is_there] = found.as_slice() else { return 0 };
    // SAFETY: compiled code has room for a packet's data.
    unsafe { data.copy_from_nonoverlapping(value.as_ptr(), value.len()) };
    u32::from(*is_there)
}

pub unsafe extern "C" fn symm_chk_put_floats(at: *mut u8, first: u64, second: u64, loc: *const c_char) {
    let task = current();
    let lines = vec![line(task, at, loc)];
    task.ask(Op::PutFloats(lines, vec![[first, second]]), loc);
}

pub unsafe extern "C" fn symm_chk_wait_floats(data: *mut u8, at: *const u8, bits: u32, loc: *const c_char) {
    let task = current();
    let lines = vec![line(task, at, loc)];
    if let Answer::Bytes(bytes) = task.ask(Op::WaitFloats(lines, bits), loc) {
        // SAFETY: compiled code has room for a line.
        unsafe { data.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }
}

pub unsafe extern "C" fn symm_chk_try_floats(data: *mut u8, at: *const u8, bits: u32, loc: *const c_char) -> u32 {
    let task = current();
    let lines = vec![line(task, at, loc)];
    let Answer::Bytes(found) = task.ask(Op::TryFloats(lines, bits), loc) else { return 0 };
    let [value @ .., is_there] = found.as_slice() else { return 0 };
    // SAFETY: compiled code has room for a line.
    unsafe { data.copy_from_nonoverlapping(value.as_ptr(), value.len()) };
    u32::from(*is_there)
}
