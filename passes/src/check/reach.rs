//! Rejects accesses of other dialects to a rank that is far where they are made (S1, N4).
//!
//! Nothing is mapped at the address that `symm.as_remote` gives of a far rank. Where `symm.is_near` has said that a
//! rank is far, an access through that address is an error; the address itself is none.
//!
//! ```mlir
//! %near = symm.is_near %ctx, %peer
//! %q = symm.as_remote %ctx, %p, %peer : !llvm.ptr
//! scf.if %near {
//!   %v = llvm.load %q : !llvm.ptr -> f32
//! } else {
//!   %w = llvm.load %q : !llvm.ptr -> f32  // error in a module with symm.engine
//! }
//! ```
//!
//! A rank is the same if it is the same value or an equal constant. The condition may be negated, or a part of an `and`
//! or `or`. The pass looks at `scf.if`, at blocks that only one branch leads to, and at the masks of Triton's accesses.
//!
//! Limits: it follows pointers through views and offsets, not through loops, calls and choices. Where it is not certain
//! it says nothing.

use crate::analysis::MOST_VALUES;
use crate::analysis::accesses::{self, passes_on};
use crate::analysis::dominance::is_behind_branch;
use crate::ir::structure::is_branch;
use crate::ir::triton::{is_step, spreads};
use crate::ir::{blocks, collect, constant_value, definition, name, operations, symm_ops};
use crate::pass::{Ir, Pass, Values};
use melior::dialect::arith::CmpiPredicate;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockLike, BlockRef, OperationRef, RegionLike, Value, ValueLike};
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::ops::{AsRemote, SymmOp};
use symm_dialect::shape::integer_width;
use symm_dialect::{ENGINE_ATTRIBUTE, is_current_rank, module_has};

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-check-reach",
    summary: "Reject accesses through symm.as_remote to a rank that is far there (N4)",
    options: &[],
    run,
};

/// Triton's accesses, and where their masks are among the operands.
const TRITON: [(&str, Option<usize>); 4] =
    [("tt.load", Some(1)), ("tt.store", Some(2)), ("tt.atomic_rmw", Some(2)), ("tt.atomic_cas", None)];

fn run(root: OperationRef, _: &Values) -> Result<Ir, Reported> {
    // Without an engine every rank is near.
    let has_engine = root.has_attribute(ENGINE_ATTRIBUTE) || module_has(&root, ENGINE_ATTRIBUTE);
    if !has_engine || !symm_ops(root).into_iter().any(|op| matches!(op, SymmOp::IsNear(_))) {
        return Ok(Ir::Kept);
    }
    let mut outcome = Ok(Ir::Kept);
    for op in collect(root) {
        if accessed(op).into_iter().filter_map(translation).any(|remote| is_far(op, remote)) {
            let complaint = "S1: an access through as_remote of a rank that is far here, as is_near says (N4): its \
                             heap is not mapped, so use symm's ops";
            outcome = Err(error(op, complaint));
        }
    }
    outcome
}

/// The pointers that an op of another dialect accesses memory through.
fn accessed<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Vec<Value<'c, 'a>> {
    let operands = op.operands();
    if TRITON.iter().any(|(access, _)| *access == name(op)) {
        return operands.take(1).collect();
    }
    match accesses::of(name(op)) {
        Some(access) => match access.operands {
            Some(known) => operands.skip(known.pointer).take(1).collect(),
            None => operands.collect(),
        },
        None => Vec::new(),
    }
}

/// The op that has translated the pointer that this one points into.
fn translation<'c: 'a, 'a>(pointer: Value<'c, 'a>) -> Option<AsRemote<'c, 'a>> {
    let mut value = pointer;
    for _ in 0..MOST_VALUES {
        let op = definition(value)?;
        if let Some(SymmOp::AsRemote(op)) = SymmOp::cast(op) {
            return Some(op);
        }
        // What is added to a number may be a distance to other memory.
        let is_offset = matches!(name(op), "arith.addi" | "llvm.add");
        if is_offset || !passes_on(name(op)) && !is_step(op) {
            return None;
        }
        value = op.operands().next()?;
    }
    None
}

/// Whether the rank is certainly far where `op` accesses its memory. Where it is near as well nothing gets.
fn is_far<'c: 'a, 'a>(op: OperationRef<'c, 'a>, remote: AsRemote<'c, 'a>) -> bool {
    // A rank is near to itself.
    if is_current_rank(remote.ctx(), remote.rank()) {
        return false;
    }
    let mut known = Vec::new();
    let mask = TRITON.iter().find(|(access, _)| *access == name(op)).and_then(|(_, mask)| *mask);
    known.extend(mask.and_then(|mask| op.operand(mask).ok()).and_then(|mask| says(remote, mask, true)));
    let mut inner = op;
    while let (Some(block), Some(around)) = (inner.block(), inner.parent_operation()) {
        known.extend(branches_before(remote, block));
        if is_branch(around) {
            let is_then = blocks(around).first() == Some(&block);
            known.extend(around.operand(0).ok().and_then(|condition| says(remote, condition, is_then)));
        }
        inner = around;
    }
    !known.is_empty() && known.iter().all(|is_near| !is_near)
}

/// What the branches that lead to a block say of a rank: whether it is near.
fn branches_before<'c: 'a, 'a>(remote: AsRemote<'c, 'a>, block: BlockRef<'c, 'a>) -> Vec<bool> {
    let first = block.parent_region().and_then(|region| region.first_block());
    let mut known = Vec::new();
    for from in std::iter::successors(first, BlockLike::next_in_region) {
        let end = operations(from).last().copied().filter(|end| matches!(name(*end), "cf.cond_br" | "llvm.cond_br"));
        let Some(condition) = end.and_then(|end| end.operand(0).ok()) else { continue };
        for (successor, truth) in [(0, true), (1, false)] {
            known.extend(says(remote, condition, truth).filter(|_| is_behind_branch(block, from, successor)));
        }
    }
    known
}

/// What it says of a rank that a condition is true, or is not: whether the rank is near. A number is true if it is not
/// zero. Of a condition that is made of too many nothing is known.
fn says<'c: 'a, 'a>(remote: AsRemote<'c, 'a>, condition: Value<'c, 'a>, truth: bool) -> Option<bool> {
    let mut left = MOST_VALUES;
    let mut open = vec![(condition, truth)];
    while let Some((condition, truth)) = open.pop() {
        left = left.checked_sub(1)?;
        let Some(op) = definition(condition) else { continue };
        if let Some(SymmOp::IsNear(asked)) = SymmOp::cast(op) {
            if is_same_context(asked.ctx(), remote.ctx()) && is_same(asked.rank(), remote.rank()) {
                return Some(truth);
            }
            continue;
        }
        match name(op) {
            "arith.andi" if truth => open.extend(op.operands().map(|each| (each, true))),
            "arith.ori" if !truth => open.extend(op.operands().map(|each| (each, false))),
            "arith.xori" | "arith.cmpi" => open.extend(compared(op, truth)),
            name if matches!(name, "arith.extui" | "arith.extsi") || spreads(name) => {
                open.extend(op.operands().map(|each| (each, truth)));
            }
            _ => {}
        }
    }
    None
}

/// Of a value that is compared with a constant: that value, and whether it is true if the comparison is, or is not.
fn compared<'c: 'a, 'a>(op: OperationRef<'c, 'a>, truth: bool) -> Option<(Value<'c, 'a>, bool)> {
    let operands = [op.operand(0).ok()?, op.operand(1).ok()?];
    let (index, constant) =
        operands.iter().enumerate().find_map(|(index, each)| Some((index, constant_value(*each)?)))?;
    let value = operands[1 - index];
    let is_bit = integer_width(value.r#type()) == Some(1);
    if name(op) == "arith.xori" {
        return is_bit.then_some((value, truth != (constant != 0)));
    }
    let predicate = IntegerAttribute::try_from(op.attribute("predicate").ok()?).ok()?.value();
    let is_equal = match predicate {
        _ if predicate == CmpiPredicate::Eq as i64 => truth,
        _ if predicate == CmpiPredicate::Ne as i64 => !truth,
        _ => return None,
    };
    // What is not one bit may differ from one that is not zero, and be another such.
    let is_extended = || definition(value).is_some_and(|op| name(op) == "arith.extui") && constant == 1;
    let is_known = constant == 0 || is_equal || is_bit || is_extended();
    is_known.then_some((value, (constant != 0) == is_equal))
}

/// Whether two contexts are one: of the same table.
fn is_same_context<'c: 'a, 'a>(one: Value<'c, 'a>, other: Value<'c, 'a>) -> bool {
    let table = |ctx| match definition(ctx).and_then(SymmOp::cast) {
        Some(SymmOp::Ctx(made)) if made.rank().is_none() => Some(made.table()),
        _ => None,
    };
    one == other || table(one).is_some_and(|mine| table(other) == Some(mine))
}

/// Whether two ranks are one: the same value or an equal constant.
fn is_same<'c: 'a, 'a>(one: Value<'c, 'a>, other: Value<'c, 'a>) -> bool {
    one == other || constant_value(one).is_some_and(|rank| constant_value(other) == Some(rank))
}
