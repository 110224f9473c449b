//! Records of a timeline: the programs of a Triton kernel write them into the trace buffer of their rank.
//!
//! A word of each heap points to the buffer ([`symm_abi::heap::TRACE_OFFSET`]), or is zero. A program takes a record by
//! an atomic, which one of its threads makes, and the same thread writes it. What finds no room is counted alone.

use super::Lowering;
use crate::ir::triton::program;
use crate::ir::triton::words::{atomic_rmw, load_words, offset};
use crate::ir::{Builder, signed};
use melior::dialect::arith::CmpiPredicate;
use melior::ir::{Type, Value};
use symm_abi::WORD_BYTES;
use symm_abi::heap::TRACE_OFFSET;
use symm_abi::trace::{ASKED, BEGIN, END, PLACE, PROGRAM, RECORD_WORDS, ROOM, TABLE, VALUES};
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::ops::{Order, RmwKind, Scope, SymmOp, TraceBegin, TraceEnd};

/// How what the tag of a record stands for begins.
const TRACED: &str = "trace ";

impl<'c: 'a, 'a> Lowering<'c, 'a> {
    /// The address of a record, in all threads of the program; 0 where there is none.
    pub fn trace_begin(&mut self, b: &Builder<'c>, op: TraceBegin<'c, 'a>) -> Result<Value<'c, 'c>, Reported> {
        if !self.target.has_order() {
            let complaint = format!("S1: the clock of {} is not known here, which a timeline needs", self.target);
            return Err(error(op.operation(), &complaint));
        }
        let tag = self.traced.of(op.operation(), &format!("{TRACED}{}", op.what()));
        let table = self.tables.of(SymmOp::TraceBegin(op))?;
        let (buffer, whose) = (table.trace_buffer(), table.address());
        let none = |b: &Builder<'c>| b.i64(0);
        let take = |b: &Builder<'c>| {
            let buffer = pointer(b, buffer);
            const { assert!(ASKED == 0, "it is where the buffer starts") };
            let one = b.i64(1);
            let index = atomic_rmw(b, RmwKind::Add, buffer, one, None, (Order::Relaxed, Scope::Gpu));
            let room = load_words(b, offset(b, buffer, b.i64(signed(ROOM))), b.int(64));
            let fits = b.compare(CmpiPredicate::Ult, index, room);
            let write = |b: &Builder<'c>| {
                let record = offset(b, buffer, b.mul(b.add(index, one), b.i64(signed(RECORD_WORDS))));
                let written = [(PLACE, b.i64(tag)), (TABLE, whose), (PROGRAM, program(b))];
                let values = (VALUES..).zip(op.values().into_iter().map(crate::ir::lasting));
                for (word, value) in written.into_iter().chain(values) {
                    store(b, record, word, value);
                }
                // Last, so that taking a record is not part of the measured time.
                store(b, record, BEGIN, self.target.time(b));
                b.value("tt.ptr_to_int", &[record], b.int(64), &[])
            };
            b.choose(fits, b.int(64), write, none)
        };
        Ok(b.choose(b.compare(CmpiPredicate::Ne, buffer, b.i64(0)), b.int(64), take, none))
    }

    pub fn trace_end(&self, b: &Builder<'c>, op: TraceEnd<'c, 'a>) -> Result<(), Reported> {
        if !op.values().is_empty() {
            return Err(error(op.operation(), "S1: a record of a Triton kernel takes no values at its end"));
        }
        b.when(b.compare(CmpiPredicate::Ne, op.record(), b.i64(0)), |b| {
            let now = self.target.time(b);
            store(b, pointer(b, op.record()), END, now);
        });
        Ok(())
    }
}

/// The address of the buffer, which a word of this rank's heap holds.
pub fn buffer_of<'c>(b: &Builder<'c>, base: Value<'c, 'c>) -> Value<'c, 'c> {
    let word = b.i64(TRACE_OFFSET.cast_signed() / signed(WORD_BYTES));
    load_words(b, offset(b, pointer(b, base), word), b.int(64))
}

fn pointer<'c>(b: &Builder<'c>, address: Value<'c, '_>) -> Value<'c, 'c> {
    let ty = Type::parse(b.context, "!tt.ptr<i64>").expect("a type of an unregistered dialect");
    b.value("tt.int_to_ptr", &[address], ty, &[])
}

fn store<'c>(b: &Builder<'c>, record: Value<'c, 'c>, word: usize, value: Value<'c, 'c>) {
    b.op("tt.store", &[offset(b, record, b.i64(signed(word))), value], &[], &[]);
}
