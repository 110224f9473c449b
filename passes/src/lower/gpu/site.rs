//! The places in the source that a kernel's records name by a number.
//!
//! How they are written is [`symm_abi::site`].

use crate::ir::{Builder, blocks, enclosing, location_text, operations, set_attribute, signed, type_attribute};
use melior::dialect::llvm;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Region};
use symm_abi::site::{self, SITES};
use symm_dialect::symbol::symbol;
use symm_dialect::text::string;

/// Adds a place to the sites of its module; its index among them.
pub fn add<'c: 'a, 'a>(operation: OperationRef<'c, 'a>, types: &str, message: &str) -> i64 {
    let module = enclosing(operation, &["gpu.module"]).expect("kernels are in a gpu.module");
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
