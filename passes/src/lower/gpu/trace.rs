//! Records of what a block does, in the trace buffer of its rank.
//!
//! The buffer is memory of the device; a word of the context table after the bases points to it, or is zero. What it
//! holds is [`symm_abi::trace`]. The runtime reads it, also while the kernel hangs, so every store is volatile.

use super::{Target, site, threads};
use crate::ir::address::GLOBAL;
use crate::ir::{Builder, signed};
use crate::lower::translation::Table;
use melior::dialect::arith::CmpiPredicate;
use melior::dialect::llvm;
use melior::ir::Value;
use symm_abi::trace::{ASKED, BEGIN, BLOCK_SHIFT, END, LATE_VALUES, PLACE, RECORD_WORDS, ROOM, VALUES};
use symm_abi::{WORD_BYTES, table};
use symm_dialect::ops::{Order, RmwKind, Scope, TraceBegin, TraceEnd};

/// Bytes of a record, and of what is before the first.
const RECORD_BYTES: usize = WORD_BYTES * RECORD_WORDS;

fn store<'c>(b: &Builder<'c>, record: Value<'c, 'c>, word: usize, value: Value<'c, '_>) {
    let attributes = [("volatile_", b.unit()), ("alignment", b.integer(64, 8))];
    b.store(value, b.byte_offset_constant(record, signed(WORD_BYTES * word)), &attributes);
}

fn pointer<'c>(b: &Builder<'c>, address: Value<'c, '_>) -> Value<'c, 'c> {
    b.value("llvm.inttoptr", &[address], llvm::r#type::pointer(b.context, GLOBAL), &[])
}

pub fn begin<'c: 'a, 'a>(op: TraceBegin<'c, 'a>, b: &Builder<'c>, target: &dyn Target) -> Value<'c, 'c> {
    let Some(buffer) = Table::new(op.operation(), op.ctx()).extension(b, table::TRACE) else {
        return b.i64(0);
    };
    let site = site::add(op.operation(), "", &op.what());
    let leads = threads::leads(b, op.group()).unwrap_or_else(|| target.is_first_here(b));
    let is_traced = b.compare(CmpiPredicate::Ne, buffer, b.i64(0));
    let none = |b: &Builder<'c>| b.i64(0);
    let record = |b: &Builder<'c>| {
        let buffer = pointer(b, buffer);
        const { assert!(ASKED == 0, "it is where the buffer starts") };
        let index = target.atomic_rmw(b, RmwKind::Add, buffer, b.i64(1), (Order::Relaxed, Scope::Gpu));
        let room = b.load(
            b.byte_offset_constant(buffer, signed(WORD_BYTES * ROOM)),
            b.int(64),
            &[("alignment", b.integer(64, 8))],
        );
        let fits = b.compare(CmpiPredicate::Ult, index, room);
        let write = |b: &Builder<'c>| {
            let record = b.byte_offset(buffer, b.mul(b.add(index, b.i64(1)), b.i64(signed(RECORD_BYTES))));
            let place = b.add(b.mul(threads::linear_block(b), b.i64(1 << BLOCK_SHIFT)), b.i64(site));
            store(b, record, PLACE, place);
            for (value, word) in op.values().into_iter().zip(VALUES..) {
                store(b, record, word, value);
            }
            store(b, record, END, b.i64(0));
            // Last, so that taking a record is not part of the measured time.
            store(b, record, BEGIN, target.nanoseconds(b));
            b.value("llvm.ptrtoint", &[record], b.int(64), &[])
        };
        b.choose(fits, b.int(64), write, none)
    };
    b.choose(b.binary("arith.andi", leads, is_traced), b.int(64), record, none)
}

pub fn end<'c: 'a, 'a>(op: TraceEnd<'c, 'a>, b: &Builder<'c>, target: &dyn Target) {
    let is_mine = b.compare(CmpiPredicate::Ne, op.record(), b.i64(0));
    b.when(is_mine, |b| {
        let now = target.nanoseconds(b);
        let record = pointer(b, op.record());
        for (value, word) in op.values().into_iter().zip(LATE_VALUES..) {
            store(b, record, word, value);
        }
        store(b, record, END, now);
    });
}
