//! What the threads of a group put together: each says all of it, and copies its part.

use super::groups::group_of;
use crate::fiber::current;
use crate::task::Context;
use std::ffi::c_char;
use symm_abi::check::Group;
use symm_checker::op::{Answer, Op, Range};

/// What a group puts: where it reads, and where it writes.
#[derive(Default)]
pub struct Put {
    from: Vec<Range>,
    to: Vec<Range>,
    /// Whether some of it is in no memory; what comes after that is not noted, however much it is.
    is_beyond: bool,
}

impl Put {
    /// The part of one of this many threads: neighbours have elements next to each other.
    fn keep(&mut self, nth: u64, threads: u64, element: u64) {
        for ranges in [&mut self.from, &mut self.to] {
            let elements: u64 = ranges.iter().map(|range| range.bytes.div_ceil(element)).sum();
            let bound = |nth: u64| u128::from(elements) * u128::from(nth) / u128::from(threads);
            let (first, last) = (bound(nth), bound(nth + 1));
            let mut before = 0;
            *ranges = std::mem::take(ranges)
                .into_iter()
                .filter_map(|range| {
                    let here = u128::from(range.bytes.div_ceil(element));
                    let at = |bound: u128| {
                        let elements = u64::try_from(bound.clamp(before, before + here) - before).unwrap_or(0);
                        elements.saturating_mul(element).min(range.bytes)
                    };
                    let (start, end) = (at(first), at(last));
                    before += here;
                    (start < end).then(|| Range { start: range.start + start, bytes: end - start, ..range })
                })
                .collect();
        }
    }
}

/// Notes a read, if it is of what a group puts.
pub fn reads(task: &Context, range: Range, loc: *const c_char) -> bool {
    let is_part = task.put.borrow().is_some();
    if is_part && is_first_beyond(task, range, |put| &mut put.from) {
        task.ask(Op::Read(vec![range]), loc);
    }
    is_part
}

/// Notes a write of what was read last.
pub fn writes(task: &Context, range: Range, loc: *const c_char) -> bool {
    let takes = |put: &Put| put.is_beyond || put.to.len() < put.from.len();
    let is_part = task.put.borrow().as_ref().is_some_and(takes);
    if is_part && is_first_beyond(task, range, |put| &mut put.to) {
        task.ask(Op::Write(vec![range], Vec::new()), loc);
    }
    is_part
}

/// Notes a range. Whether it is the first one that is in no memory: the task does its op at once, which says so.
fn is_first_beyond(task: &Context, range: Range, list: fn(&mut Put) -> &mut Vec<Range>) -> bool {
    let mut put = task.put.borrow_mut();
    let Some(put) = put.as_mut().filter(|put| !put.is_beyond) else { return false };
    put.is_beyond = task.state.is_beyond(range);
    if !put.is_beyond {
        list(put).push(range);
    }
    put.is_beyond
}

pub unsafe extern "C" fn symm_chk_begin_put(group: u32, loc: *const c_char) {
    let task = current();
    task.meet_for_put(group_of(group), loc);
    *task.put.borrow_mut() = Some(Put::default());
    // Until it asks, at the end of the put, it reads and writes nothing by itself.
    task.set_ahead(None);
}

pub unsafe extern "C" fn symm_chk_end_put(group: u32, element: u64, loc: *const c_char) {
    let (task, group) = (current(), group_of(group));
    let bytes = match task.ask(Op::Read(part(task, element, group)), loc) {
        Answer::Bytes(bytes) => bytes,
        _ => Vec::new(),
    };
    let to = task.put.take().unwrap_or_default().to;
    task.ask(Op::Put(to, bytes), loc);
    task.meet_for_put(group, loc);
}

/// Leaves a task's part of what it says. The ranges that it reads, while those that it writes stay with it: nothing on
/// its stack may own anything while it asks.
fn part(task: &Context, element: u64, group: Group) -> Vec<Range> {
    let mut put = task.put.borrow_mut();
    let put = put.get_or_insert_default();
    if put.is_beyond {
        // What was read last may go nowhere.
        put.from.truncate(put.to.len());
    }
    if let Some((_, members)) = task.group(group) {
        let nth = members.iter().position(|&member| member == task.task).unwrap_or(0);
        // Which part is whose is not said: each time it is another one.
        let (threads, puts) = (members.len() as u64, task.puts.get());
        task.puts.set(puts + 1);
        put.keep((nth as u64 + puts) % threads, threads, element.max(1));
    }
    std::mem::take(&mut put.from)
}
