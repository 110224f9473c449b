//! `llvm.noalias` in kernels that acquire or release: it says that nothing else writes there while the kernel runs.
//!
//! LLVM takes it at its word: what a kernel only reads through such a pointer it loads once, above the acquire or below
//! the release, or through a path that neither reaches (`ld.global.nc` in PTX, the scalar cache on AMD GPUs). What a
//! peer wrote before its signal would not be seen, and what it writes after ours would be (O1). A kernel that does
//! neither may not read what peers write meanwhile; there it stays, and scalar code becomes vectors.

use crate::analysis::acquires::may_order;
use crate::ir::structure::FUNCTIONS;
use crate::ir::{blocks, context, is_call, name, operations, select, set_attribute};
use melior::ir::attribute::{ArrayAttribute, DictionaryAttribute};
use melior::ir::{Attribute, OperationRef, operation::OperationLike};
use std::collections::HashSet;
use symm_dialect::diagnostic::{Severity, report};
use symm_dialect::ops::SymmOp;
use symm_dialect::symbol::symbol;
use symm_dialect::text;

const NOALIAS: &str = "llvm.noalias";
const ARGUMENTS: &str = "arg_attrs";

/// Drops `llvm.noalias` from the arguments of every function of a `gpu.module` that may acquire or release.
pub fn drop_where_ordered<'c: 'a, 'a>(module: OperationRef<'c, 'a>) {
    let mut functions = operations(blocks(module)[0]);
    functions.retain(|op| FUNCTIONS.contains(&name(*op)) && !blocks(*op).is_empty());
    // What calls of these do is seen in them.
    let own: HashSet<String> = functions.iter().filter_map(|op| symbol(*op)).collect();
    if !functions.iter().any(|function| holds(*function, |op| is_ordered(op, &own))) {
        return;
    }
    for function in functions {
        // A function that is called may do so too.
        if function.has_attribute(ARGUMENTS) && holds(function, |op| is_call(op) || is_ordered(op, &own)) {
            drop_from(function);
        }
    }
}

fn holds<'c: 'a, 'a>(root: OperationRef<'c, 'a>, what: impl Fn(OperationRef<'c, 'a>) -> bool) -> bool {
    !select(root, |op| what(op).then_some(())).is_empty()
}

/// Whether an op may acquire or release; `own` are the functions that are looked at themselves.
fn is_ordered<'c: 'a, 'a>(op: OperationRef<'c, 'a>, own: &HashSet<String>) -> bool {
    match SymmOp::cast(op) {
        // A packet that is polled is written by a peer, too.
        Some(op) => op.orders() || op.polls(),
        None if is_call(op) => {
            let callee = op.attribute("callee").ok().and_then(text::symbol);
            callee.is_none_or(|callee| !own.contains(&callee))
        }
        None => !FUNCTIONS.contains(&name(op)) && may_order(op),
    }
}

fn drop_from<'c: 'a, 'a>(function: OperationRef<'c, 'a>) {
    let Ok(arguments) = function.attribute(ARGUMENTS).and_then(ArrayAttribute::try_from) else { return };
    let mut kept: Vec<Attribute<'c>> = Vec::new();
    for index in 0..arguments.len() {
        let Ok(attribute) = arguments.element(index) else { return };
        let dictionary = DictionaryAttribute::try_from(attribute).ok();
        kept.push(match dictionary.filter(|dictionary| dictionary.element_by_name(NOALIAS).is_some()) {
            None => attribute,
            Some(dictionary) => {
                let message = format!("drops {NOALIAS} of argument {index}: peers write while a kernel runs (O1)");
                report(Severity::Remark, function, &message);
                let elements = (0..dictionary.len()).filter_map(|element| dictionary.element(element).ok());
                let others: Vec<_> =
                    elements.filter(|(name, _)| name.as_string_ref().as_str() != Ok(NOALIAS)).collect();
                DictionaryAttribute::new(context(function), &others).into()
            }
        });
    }
    set_attribute(function, ARGUMENTS, ArrayAttribute::new(context(function), &kept).into());
}
