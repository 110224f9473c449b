//! Faults on a GPU: a record in the report buffer, then a trap.
//!
//! The report buffer is memory of the host that the device can write; the word of the context table behind the bases
//! points to it, or is zero. It holds one record of 64-bit words:
//! `[state, site, rank, block, thread, count, value 0 … value 5]`. The first thread to turn `state` from 0 to 1
//! writes the record and sets it to 2; the others wait for that, so that no trap comes before the record is whole.
//! `site` is an index into the symbol `_symm_sites`: texts one behind the other, each ended by a zero byte, of location,
//! types of the values and message, with tabs in between. The host fills in the message (runtime/src/format.rs).

use super::{Target, order};
use crate::ir::{Builder, blocks, enclosing, location_text, operations, set_attribute, signed, type_attribute};
use crate::lower::address::{as_word, word_kind};
use crate::lower::translation::Table;
use melior::dialect::arith::CmpiPredicate;
use melior::dialect::llvm;
use melior::ir::operation::OperationLike;
use melior::ir::{Region, Value, ValueLike};
use symm_dialect::ops::{Fault, Group, Order, Scope};
use symm_dialect::symbol::symbol;
use symm_dialect::text::string;

/// The symbol of the sites' texts.
const SITES: &str = "_symm_sites";

pub fn lower<'c: 'a, 'a>(op: Fault<'c, 'a>, b: &Builder<'c>, target: &dyn Target) {
    let site = add_site(b, op);
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
            order::thread(b, Group::Block).0,
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

/// Adds the op's location and message to the module's sites; its index among them.
fn add_site<'c: 'a, 'a>(b: &Builder<'c>, op: Fault<'c, 'a>) -> i64 {
    let operation = op.operation();
    let module = enclosing(operation, &["gpu.module"]).expect("kernels are in a gpu.module");
    let types: String = op.values().iter().map(|value| word_kind(value.r#type())).collect();
    let message = op.message().replace('\0', "");
    let text = format!("{}\t{types}\t{message}\0", location_text(operation.location()));
    let body = blocks(module)[0];
    let existing = operations(body).into_iter().find(|op| symbol(*op).as_deref() == Some(SITES));
    let texts = existing.and_then(|sites| sites.attribute("value").ok()).and_then(string).unwrap_or_default();
    let sites: Vec<&str> = texts.split_inclusive('\0').collect();
    if let Some(index) = sites.iter().position(|site| *site == text) {
        return signed(index);
    }
    let index = signed(sites.len());
    let all = texts + &text;
    let array = llvm::r#type::array(b.int(8), u32::try_from(all.len()).unwrap_or(u32::MAX));
    let attributes = [("value", b.string(&all)), ("global_type", type_attribute(array))];
    if let Some(sites) = existing {
        for (name, attribute) in attributes {
            set_attribute(sites, name, attribute);
        }
    } else {
        let top = Builder::at_start(b.context, body, operation.location());
        let fixed = [
            ("sym_name", top.string(SITES)),
            ("linkage", top.parse("#llvm.linkage<external>")),
            ("constant", top.unit()),
            ("addr_space", top.integer(32, 1)),
        ];
        let all = [fixed.as_slice(), attributes.as_slice()].concat();
        top.op_with_regions("llvm.mlir.global", &[], &[], &all, vec![Region::new()]);
    }
    index
}
