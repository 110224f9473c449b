//! Accesses that bounds checks do not look at: their authors are to know.

use super::pointers::{PLAIN, accesses, called, context_of, start};
use crate::ir::{definition, name};
use melior::ir::{OperationRef, Value, operation::OperationLike};
use symm_dialect::ops::{Ctx, SymmOp};

/// How the names of accesses by tensor descriptors begin, in Triton's dialect and in Gluon's.
const DESCRIPTORS: [&str; 2] = ["tt.descriptor_", "ttng.async_tma_"];

/// What an access of a kernel with a context is called, and why it is not looked at; `None` if it is, or is none.
pub fn unseen<'c: 'a, 'a>(
    contexts: &[Ctx<'c, 'a>],
    op: OperationRef<'c, 'a>,
    is_divided: bool,
) -> Option<(String, &'static str)> {
    context_of(contexts, op)?;
    if DESCRIPTORS.iter().any(|start| name(op).starts_with(start)) {
        return Some((name(op).to_owned(), "it is by a tensor descriptor, and confined to the shape of that"));
    }
    let symm = SymmOp::cast(op).filter(|op| !op.accesses().is_empty());
    let plain = PLAIN.iter().find(|(known, ..)| *known == name(op)).map(|(_, called, _)| (*called).to_owned());
    let access = symm.map(|op| format!("symm {}", called(op))).or(plain)?;
    if is_divided {
        return Some((access, "it is in a loop with warp_specialize=True"));
    }
    let is_seen = match symm {
        Some(symm) => {
            let there = symm.accesses().iter().filter(|access| !symm.operand_group(access.pointer).is_empty()).count();
            accesses(contexts, op).len() == there
        }
        None => !accesses(contexts, op).is_empty() || op.operand(0).is_ok_and(|pointer| is_own(pointer)),
    };
    let is_block = op.operand(0).is_ok_and(|pointer| points_to_block(pointer));
    let why = if is_block { "it is by a block pointer" } else { "its pointer is not made from the kernel's arguments" };
    (!is_seen).then_some((access, why))
}

fn points_to_block(pointer: Value) -> bool {
    definition(start(pointer)).is_some_and(|op| name(op) == "tt.make_tensor_ptr")
}

/// Whether a pointer is to words of symm's own, which earlier passes access.
fn is_own(pointer: Value) -> bool {
    let Some(op) = definition(start(pointer)) else { return false };
    match name(op) {
        "symm.heap_base" => true,
        "tt.int_to_ptr" => op
            .operand(0)
            .ok()
            .and_then(definition)
            .is_some_and(|loaded| name(loaded) == "tt.load" && loaded.operand(0).is_ok_and(|from| is_own(from))),
        _ => false,
    }
}
