//! Faults on a GPU: a record in the report buffer, then a trap.
//!
//! The report buffer is memory of the host that the device can write; the word of the context table behind the bases
//! points to it, or is zero. It holds one record of 64-bit words:
//! `[state, site, rank, block, thread, count, value 0 … value 5]`. The first thread to turn `state` from 0 to 1
//! writes the record and sets it to 2; the others wait for that, so that no trap comes before the record is whole.
//! `site` is the op's place among the sites. The host fills in the message (runtime/src/format.rs).

use super::{Target, order, site};
use crate::ir::address::{as_word, word_kind};
use crate::ir::{Builder, signed};
use crate::lower::translation::Table;
use melior::dialect::arith::CmpiPredicate;
use melior::dialect::llvm;
use melior::ir::{Value, ValueLike};
use symm_dialect::ops::{Fault, Order, Scope};

pub fn lower<'c: 'a, 'a>(op: Fault<'c, 'a>, b: &Builder<'c>, target: &dyn Target) {
    let types: String = op.values().iter().map(|value| word_kind(value.r#type())).collect();
    let site = site::add(op.operation(), &types, &op.message());
    let table = Table::new(op.operation(), op.ctx());
    if let Some(word) = table.extension(b, 0) {
        let buffer = b.value("llvm.inttoptr", &[word], llvm::r#type::pointer(b.context, 1), &[]);
        let exists = b.compare(CmpiPredicate::Ne, word, b.i64(0));
        b.when(exists, |b| record(b, target, op, &table, buffer, site));
    }
    b.op("llvm.intr.trap", &[], &[], &[]);
}

fn record<'c: 'a, 'a>(
    b: &Builder<'c>,
    target: &dyn Target,
    op: Fault<'c, 'a>,
    table: &Table<'c, 'a>,
    buffer: Value<'c, 'c>,
    site: i64,
) {
    let state = target.atomic_cas(b, buffer, (b.i64(0), b.i64(1)), (Order::Relaxed, Scope::Sys));
    let is_first = b.compare(CmpiPredicate::Eq, state, b.i64(0));
    b.when(is_first, |b| {
        let values: Vec<Value> = op.values().iter().map(|value| as_word(b, *value)).collect();
        let header = [
            b.i64(site),
            b.as_i64(table.rank(b)),
            order::linear_block(b),
            order::thread_of_block(b).0,
            b.i64(signed(values.len())),
        ];
        for (index, word) in header.iter().chain(&values).enumerate() {
            b.store(*word, b.byte_offset_constant(buffer, 8 * (signed(index) + 1)), &[]);
        }
        target.store_flag(b, buffer, b.i64(2), (Order::Release, Scope::Sys));
    });
    b.repeat(
        &[],
        |b, _| {
            let whole = b.load(
                buffer,
                b.int(64),
                &order::atomic(b, target, "ordering", (Order::Relaxed, Scope::Sys), b.int(64)),
            );
            (b.compare(CmpiPredicate::Ne, whole, b.i64(2)), Vec::new())
        },
        |_, _| Vec::new(),
    );
}
