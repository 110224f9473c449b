//! Deadlines of waits on AMD: in Triton's ops, with assembly for the clock and what one thread writes.
//!
//! Threads leave the loop on their own, so that nothing in it may need all of them, as atomics of Triton do.

use super::deadline::{Awaited, Deadline};
use super::words::{assembly, load_words, offset};
use crate::ir::{Builder, lasting, signed};
use crate::target::TritonTarget;
use melior::dialect::arith::CmpiPredicate;
use melior::ir::{Value, ValueLike};
use symm_abi::deadline::{
    BROKEN, ENTRY_WORDS, GOOD, HOST_WORD, LIMIT_WORD, LOG_ENTRIES, LOG_WORD, POLLS_OF_A_LOOK, PROGRAM_SHIFTS,
    PROGRAM_WORD, STATE_WORD, TAG_WORD,
};
use symm_dialect::ops::{Order, Scope};
use symm_dialect::shape::byte_width;

/// Nanoseconds from one tick of the clock that all compute units share to the next: it has 100 MHz on gfx942 and
/// gfx950.
const TICK: i64 = 10;

/// Polls a flag in every thread until it is as asked, or its deadline is over.
pub fn poll_until<'c>(
    target: &TritonTarget,
    b: &Builder<'c>,
    (flag, predicate, expected): (Value<'c, 'c>, CmpiPredicate, Value<'c, 'c>),
    scope: Scope,
    deadline: Deadline<'c>,
) {
    let word = |b: &Builder<'c>, word: usize| offset(b, deadline.record, b.i64(signed(word)));
    let limit = limit(b, deadline);
    let (start, state) = (clock(b), word(b, STATE_WORD));
    let left = b.repeat(
        &[b.i32(1)],
        |b, polls| {
            let seen = target.load_flag(b, flag, expected.r#type(), (Order::Relaxed, scope));
            let now = target.load_flag(b, state, b.int(64), (Order::Relaxed, Scope::Sys));
            let past = b.binary("arith.subi", clock(b), start);
            let is_missing = b.not(b.compare(predicate, seen, expected));
            let is_good = b.compare(CmpiPredicate::Eq, now, b.i64(GOOD));
            let has_time = b.binary("arith.andi", is_good, b.compare(CmpiPredicate::Ult, past, limit));
            (b.binary("arith.andi", is_missing, has_time), vec![polls[0], is_missing, seen])
        },
        |b, polls| {
            target.pause(b);
            vec![b.add(polls[0], b.i32(1))]
        },
    );
    b.when(left[1], |b| {
        let address = b.value("tt.ptr_to_int", &[flag], b.int(64), &[]);
        let place = Awaited { address, expected: widened(b, expected), seen: widened(b, left[2]) };
        give_up(target, b, deadline, &place, left[0]);
    });
}

/// Has every thread look at the record and the clock; when it began to.
pub fn look<'c>(
    target: &TritonTarget,
    b: &Builder<'c>,
    place: &Awaited<'c>,
    (polls, start): (Value<'c, 'c>, Value<'c, 'c>),
    deadline: Deadline<'c>,
) -> Value<'c, 'c> {
    let now = clock(b);
    let begins = b.compare(CmpiPredicate::Eq, polls, b.i32(POLLS_OF_A_LOOK));
    let start = b.value("arith.select", &[begins, now, start], b.int(64), &[]);
    let state = offset(b, deadline.record, b.i64(signed(STATE_WORD)));
    let state = target.load_flag(b, state, b.int(64), (Order::Relaxed, Scope::Sys));
    let is_late = b.compare(CmpiPredicate::Uge, b.binary("arith.subi", now, start), limit(b, deadline));
    let is_gone = b.compare(CmpiPredicate::Ne, state, b.i64(GOOD));
    b.when(b.binary("arith.ori", is_late, is_gone), |b| give_up(target, b, deadline, place, polls));
    start
}

/// The time that a wait has, in ticks.
fn limit<'c>(b: &Builder<'c>, deadline: Deadline<'c>) -> Value<'c, 'c> {
    let of_record = || {
        let limit = load_words(b, offset(b, deadline.record, b.i64(signed(LIMIT_WORD))), b.int(64));
        b.binary("arith.divui", limit, b.i64(TICK))
    };
    deadline.limit.map_or_else(of_record, |nanoseconds| b.i64(nanoseconds / TICK))
}

/// What a thread does whose time is over.
fn give_up<'c>(
    target: &TritonTarget,
    b: &Builder<'c>,
    deadline: Deadline<'c>,
    place: &Awaited<'c>,
    polls: Value<'c, 'c>,
) {
    let word = |b: &Builder<'c>, index: Value<'c, 'c>| offset(b, deadline.record, index);
    let (program, sum) = program(b);
    let values = [b.i64(deadline.tag), place.address, place.expected, place.seen, program];
    let old = exchange(b, "smax", word(b, b.i64(signed(STATE_WORD))), BROKEN);
    let is_first = b.compare(CmpiPredicate::Eq, old, b.i64(GOOD));
    let state = b.value("arith.select", &[is_first, b.i64(BROKEN), old], b.int(64), &[]);
    b.when(is_first, |b| {
        let places = (TAG_WORD..).take(4).chain([PROGRAM_WORD]);
        let count = if deadline.logs { values.len() } else { values.len() - 1 };
        for (place, value) in places.zip(values).take(count) {
            store(b, word(b, b.i64(signed(place))), value);
        }
    });
    if deadline.logs {
        // Who has just begun to wait leaves at once, and nothing is said of it.
        b.when(b.compare(CmpiPredicate::Ugt, polls, b.i32(POLLS_OF_A_LOOK)), |b| {
            let entry = b.binary("arith.andi", sum, b.i64(signed(LOG_ENTRIES) - 1));
            let entry = b.add(b.mul(entry, b.i64(signed(ENTRY_WORDS))), b.i64(signed(LOG_WORD)));
            let taken = exchange(b, "swap", word(b, entry), 1);
            b.when(b.compare(CmpiPredicate::Eq, taken, b.i64(0)), |b| {
                for (place, value) in (1..).zip(values) {
                    store(b, word(b, b.add(entry, b.i64(place))), value);
                }
            });
        });
    }
    let host = target.load_flag(b, word(b, b.i64(signed(HOST_WORD))), b.int(64), (Order::Relaxed, Scope::Sys));
    b.when(b.compare(CmpiPredicate::Ne, host, b.i64(0)), |b| store(b, host, state));
}

/// The clock, in ticks.
pub fn clock<'c>(b: &Builder<'c>) -> Value<'c, 'c> {
    assembly(b, "s_memrealtime $0\ns_waitcnt lgkmcnt(0)", "=s,~{memory}", &[], b.int(64))
}

/// What a word was before an atomic of one thread.
fn exchange<'c>(b: &Builder<'c>, kind: &str, pointer: Value<'c, 'c>, value: i64) -> Value<'c, 'c> {
    let text = format!("global_atomic_{kind}_x2 $0, $1, $2, off sc0 sc1\ns_waitcnt vmcnt(0)");
    assembly(b, &text, "=&v,v,v,~{memory}", &[pointer, b.i64(value)], b.int(64))
}

/// Stores a word, at a pointer or an address, by this thread.
fn store<'c>(b: &Builder<'c>, place: Value<'c, 'c>, value: Value<'c, 'c>) {
    let text = "global_store_dwordx2 $1, $2, off sc0 sc1\ns_waitcnt vmcnt(0)\nv_mov_b32 $0, 0";
    assembly(b, text, "=v,v,v,~{memory}", &[place, value], b.int(32));
}

fn widened<'c>(b: &Builder<'c>, value: Value<'c, 'c>) -> Value<'c, 'c> {
    if byte_width(value.r#type()) == 8 { lasting(value) } else { b.value("arith.extsi", &[value], b.int(64), &[]) }
}

/// This program's numbers in a word, and their sum.
fn program<'c>(b: &Builder<'c>) -> (Value<'c, 'c>, Value<'c, 'c>) {
    let [x, y, z] = [0, 1, 2].map(|axis| {
        let number = b.value("tt.get_program_id", &[], b.int(32), &[("axis", b.integer(32, axis))]);
        b.value("arith.extui", &[number], b.int(64), &[])
    });
    let shifted = |value, by: u32| b.binary("arith.shli", value, b.i64(by.into()));
    let [by_y, by_z] = PROGRAM_SHIFTS;
    let above = b.binary("arith.ori", shifted(y, by_y), shifted(z, by_z));
    (b.binary("arith.ori", x, above), b.add(b.add(x, y), z))
}
