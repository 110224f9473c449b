//! The places in the source that a kernel's records name by a number.
//!
//! How they are written is [`symm_abi::site`].

use crate::ir::address::GLOBAL;
use crate::ir::{
    Builder, blocks, enclosing, location_text, operations, set_attribute, signed, structure, type_attribute,
};
use melior::ir::OperationRef;
use melior::ir::operation::OperationLike;
use symm_abi::site::{self, SITES};
use symm_dialect::symbol::symbol;
use symm_dialect::text::string;

/// Adds a place to the sites of its module; its index among them.
pub fn add<'c: 'a, 'a>(operation: OperationRef<'c, 'a>, types: &str, message: &str) -> i64 {
    let module = enclosing(operation, &[structure::GPU_MODULE]).expect("kernels are in a gpu.module");
    let b = Builder::before(operation);
    let text = site::text(&location_text(operation.location()), types, message);
    let body = blocks(module)[0];
    let existing = operations(body).into_iter().find(|op| symbol(*op).as_deref() == Some(SITES));
    let texts = existing.and_then(|sites| sites.attribute("value").ok()).and_then(string).unwrap_or_default();
    let sites: Vec<&str> = texts.split_inclusive('\0').collect();
    if let Some(index) = sites.iter().position(|site| *site == text) {
        return signed(index);
    }
    let index = signed(sites.len());
    let all = texts + &text;
    let (array, value) = b.text(&all);
    if let Some(sites) = existing {
        set_attribute(sites, "value", value);
        set_attribute(sites, "global_type", type_attribute(array));
    } else {
        let top = Builder::at_start(b.context, body, operation.location());
        let attributes = [("value", value), ("constant", top.unit()), ("addr_space", top.integer(32, GLOBAL.into()))];
        top.global(SITES, array, "external", &attributes);
    }
    index
}
