//! Polls: atomic or volatile loads of loops that do nothing else, and keep nothing from one round to the next. From its
//! second round on such a loop comes back to where it is as long as it reads the same.
//!
//! ```mlir
//! ^poll:
//!   %v = llvm.load volatile %flag : !llvm.ptr -> i32
//!   %go_on = llvm.icmp "eq" %v, %zero : i32
//!   llvm.cond_br %go_on, ^poll, ^end
//! ```
//!
//! Limits: one load of at most 8 bytes; arithmetic besides it; one way into the loop, with no arguments.

use super::calls::{self, Calls};
use super::{changes, is_private, is_strong, operand, order, result_type, scope};
use crate::ir::{Builder, blocks, name, operations};
use melior::ir::operation::OperationLike;
use melior::ir::{BlockLike, BlockRef, OperationRef};
use symm_abi::check;
use symm_dialect::diagnostic::Reported;
use symm_dialect::text;

/// Tells of the polls of a function. `symm_chk_turn` has been told of the rounds.
pub fn tell<'c: 'a, 'a>(function: OperationRef<'c, 'a>, calls: &Calls<'c, 'a>) -> Result<(), Reported> {
    let all = blocks(function);
    let mut outcome = Ok(());
    for header in 1..all.len() {
        let inside = inside(&all, header);
        if let Some(load) = poll(&all, header, &inside) {
            let enters = |from: &usize| !inside[*from] && leads(all[*from], all[header]);
            let outside: Vec<_> = (0..all.len()).filter(enters).map(|from| all[from]).collect();
            outcome = outcome.and(look(load, &outside, calls));
        }
    }
    outcome
}

fn leads(from: BlockRef, to: BlockRef) -> bool {
    from.terminator().is_some_and(|op| op.successors().any(|next| next == to))
}

/// The blocks of a loop, which branch back to its first one in the end: no branch back to it, no loop.
fn inside(all: &[BlockRef], header: usize) -> Vec<bool> {
    let mut inside = vec![false; all.len()];
    let mut left: Vec<_> = (header..all.len()).filter(|&from| leads(all[from], all[header])).collect();
    while let Some(next) = left.pop() {
        inside[next] = true;
        let before = (0..all.len()).filter(|&from| next != header && !inside[from] && leads(all[from], all[next]));
        left.extend(before);
    }
    inside
}

/// The load of a loop that only polls.
fn poll<'c: 'a, 'a>(all: &[BlockRef<'c, 'a>], header: usize, inside: &[bool]) -> Option<OperationRef<'c, 'a>> {
    let comes_back = |from: usize| (1..=from).any(|to| to != header && inside[to] && leads(all[from], all[to]));
    let members: Vec<_> = (0..all.len()).filter(|&block| inside[block]).collect();
    if members.is_empty()
        || members[0] != header
        || all[header].argument_count() > 0
        || members.iter().any(|&from| comes_back(from))
    {
        return None;
    }
    let ops: Vec<_> = members.iter().flat_map(|&block| operations(all[block])).filter(|op| !is_quiet(*op)).collect();
    match ops[..] {
        [op] if name(op) == "llvm.load" && is_strong(op) && !is_private(operand(op, 0)) => {
            calls::size(result_type(op)).is_some_and(|bytes| bytes <= 8).then_some(op)
        }
        _ => None,
    }
}

/// Whether an op of a loop only computes, or tells of a round.
fn is_quiet(op: OperationRef) -> bool {
    let tells = || op.attribute("callee").ok().and_then(text::symbol).is_some_and(|callee| callee == check::TURN.name);
    match name(op) {
        "llvm.br" | "llvm.cond_br" | "llvm.switch" | "llvm.mlir.addressof" | "llvm.ptrtoint" | "llvm.inttoptr" => true,
        "llvm.call" => tells(),
        other => changes::is_arithmetic(other),
    }
}

fn look<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    outside: &[BlockRef<'c, 'a>],
    calls: &Calls<'c, 'a>,
) -> Result<(), Reported> {
    let (b, from, ty) = (Builder::before(op), operand(op, 0), result_type(op));
    super::own::align(op, from, ty, calls);
    let (slot, again, bytes) = (calls::slot(op, ty), calls::slot(op, b.int(8)), calls::bytes(&b, op, ty)?);
    for before in outside.iter().filter_map(BlockLike::terminator) {
        let b = Builder::before(before);
        b.store(b.value("llvm.mlir.constant", &[], b.int(8), &[("value", b.integer(8, 0))]), again, &[]);
    }
    let (order, scope) = (order(&b, op, "ordering")?, scope(&b, op)?);
    calls.call(&b, &check::LOOK, [slot, from, bytes, order, scope, again, calls.location(&b)]);
    b.replace(op, &[b.load(slot, ty, &[])]);
    Ok(())
}
