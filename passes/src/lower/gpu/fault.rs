//! Faults on a GPU: a record in the report buffer, then a trap.
//!
//! The report buffer is memory of the host that the device can write; a word of the context table after the bases
//! points to it, or is zero. What it holds is [`symm_abi::fault`]. The host fills in the message.

use super::{Target, order, site, threads};
use crate::ir::address::{GLOBAL, as_word, word_kind};
use crate::ir::{Builder, signed};
use crate::lower::translation::Table;
use melior::dialect::arith::CmpiPredicate;
use melior::dialect::llvm;
use melior::ir::{Value, ValueLike};
use symm_abi::{WORD_BYTES, fault, table};
use symm_dialect::ops::{Fault, Order, Scope};

pub fn lower<'c: 'a, 'a>(op: Fault<'c, 'a>, b: &Builder<'c>, target: &dyn Target) {
    let types: String = op.values().iter().map(|value| word_kind(value.r#type()).letter()).collect();
    let site = site::add(op.operation(), &types, &op.message());
    let table = Table::new(op.operation(), op.ctx());
    if let Some(word) = table.extension(b, table::FAULT) {
        let buffer = b.value("llvm.inttoptr", &[word], llvm::r#type::pointer(b.context, GLOBAL), &[]);
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
    let state = target.atomic_cas(b, buffer, (b.i64(fault::EMPTY), b.i64(fault::TAKEN)), (Order::Relaxed, Scope::Sys));
    let is_first = b.compare(CmpiPredicate::Eq, state, b.i64(fault::EMPTY));
    b.when(is_first, |b| {
        let values: Vec<Value> = op.values().iter().map(|value| as_word(b, *value)).collect();
        let header = [
            (fault::SITE, b.i64(site)),
            (fault::RANK, b.as_i64(table.rank(b))),
            (fault::BLOCK, threads::linear_block(b)),
            (fault::THREAD, threads::thread_of_block(b).0),
            (fault::COUNT, b.i64(signed(values.len()))),
        ];
        for (word, value) in header.into_iter().chain((fault::VALUES..).zip(values)) {
            b.store(value, b.byte_offset_constant(buffer, signed(WORD_BYTES * word)), &[]);
        }
        const { assert!(fault::STATE == 0, "the flag is where the buffer starts") };
        target.store_flag(b, buffer, b.i64(fault::WHOLE), (Order::Release, Scope::Sys));
    });
    b.repeat(
        &[],
        |b, _| {
            let whole = b.load(
                buffer,
                b.int(64),
                &order::atomic(b, target, "ordering", (Order::Relaxed, Scope::Sys), b.int(64)),
            );
            (b.compare(CmpiPredicate::Ne, whole, b.i64(fault::WHOLE)), Vec::new())
        },
        |_, _| Vec::new(),
    );
}
