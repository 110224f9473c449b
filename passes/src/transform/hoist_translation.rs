//! Computes the distance to each rank's heap once, as early as possible, and passes it to every op that translates.
//!
//! A translation adds `base[rank] - base[me]` to a pointer (T1). That distance depends on the context and the rank
//! alone and never changes (T3), so it is computed right after their definitions: out of every loop, once for all
//! ops of one context and rank, across acquires and waits too. Since `as_remote(p + i, r)` is `as_remote(p, r) + i`
//! (T2), this serves pointers that do vary in the loop.
//!
//! ```mlir
//! scf.for %i = %c0 to %n step %c1 {
//!   %v = symm.remote_load %ctx, %m[%i], %peer : memref<?xf32> -> f32
//! }
//! ```
//!
//! becomes
//!
//! ```mlir
//! %delta = symm.heap_delta %ctx, %peer
//! scf.for %i = %c0 to %n step %c1 {
//!   %v = symm.remote_load %ctx, %m[%i], %peer via %delta : memref<?xf32> -> f32
//! }
//! ```
//!
//! A rank that a loop computes from values defined outside of it, `(me + 1) % n`, is hoisted first. For most kernels
//! `loop-invariant-code-motion` has done so; it does not know the loops of unregistered dialects, such as Triton's.
//! Ranks and contexts that are computed after something that may write memory are hoisted too: there, on AMD, the
//! context table would be read by vector loads, because LLVM uses scalar loads only for memory that nothing before
//! them has written.
//!
//! Limits: only integer arithmetic of `arith` is hoisted, with divisions only by constants and by the number of ranks.
//! For a rank that a loop computes or a load returns, the distance is looked up there.

use crate::analysis::MOST_VALUES;
use crate::analysis::dominance::{block_of, later};
use crate::analysis::order::{is_quiet, only_reads};
use crate::ir::structure::is_loop;
use crate::ir::{Builder, constant_value, definition, lasting, move_after, name, symm_ops};
use crate::pass::{Ir, Pass};
use crate::registration::previous_in_block;
use melior::ir::{BlockLike, BlockRef, OperationRef, RegionLike, Value, ValueLike, operation::OperationLike};
use std::collections::HashMap;
use symm_dialect::ops::{HeapDelta, HeapDeltaParts, SymmOp};
use symm_dialect::shape::Shaped;
use symm_dialect::{is_current_rank, set_operand_group};

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-hoist-translation",
    summary: "Compute each translation's distance once, outside of loops (T2, T3)",
    options: &[],
    run: |root, _| Ok(run(root)),
};

/// What a distance depends on: the context, and the rank, by value where it is a constant.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Constant(usize, i64),
    Value(usize, usize),
}

fn run<'c, 'a>(root: OperationRef<'c, 'a>) -> Ir {
    symm_ops(root).into_iter().for_each(hoist_context);
    let mut distances: HashMap<Key, Value<'c, 'c>> = HashMap::new();
    for op in symm_ops(root) {
        let Some(ctx) = op.ctx() else { continue };
        if let SymmOp::HeapDelta(delta) = op {
            // One that lies where its context and rank become known comes before all that it can serve.
            if is_early(ctx, delta) {
                distances.entry(key(ctx, delta.rank())).or_insert(lasting(delta.result()));
            }
            let hoisted = distance(&mut distances, ctx, delta.rank());
            if hoisted != delta.result() {
                Builder::before(delta.operation()).replace(delta.operation(), &[hoisted]);
            }
            continue;
        }
        for (rank, delta) in op.translations() {
            let rank = op.operand_group(rank)[0];
            // A rank for each pointer has many distances.
            if op.operand_group(delta).is_empty() && Shaped::tensor(rank.r#type()).is_none() {
                let hoisted = distance(&mut distances, ctx, rank);
                set_operand_group(op, delta, &[hoisted]);
            }
        }
    }
    if distances.is_empty() { Ir::Kept } else { Ir::Changed }
}

/// Whether a distance is computed in the block that defines what it depends on.
fn is_early<'c: 'a, 'a>(ctx: Value<'c, 'a>, delta: HeapDelta<'c, 'a>) -> bool {
    let place = if constant_value(delta.rank()).is_some() { ctx } else { later(ctx, delta.rank()) };
    block_of(place).is_some_and(|block| delta.operation().block() == Some(block))
}

fn key(ctx: Value, rank: Value) -> Key {
    let address = |value: Value| value.to_raw().ptr as usize;
    match constant_value(rank) {
        Some(value) => Key::Constant(address(ctx), value),
        None => Key::Value(address(ctx), address(rank)),
    }
}

/// The distance of a context and a rank, made where both are first known.
fn distance<'c, 'a>(
    distances: &mut HashMap<Key, Value<'c, 'c>>,
    ctx: Value<'c, 'a>,
    rank: Value<'c, 'a>,
) -> Value<'c, 'c> {
    let constant = constant_value(rank);
    *distances.entry(key(ctx, rank)).or_insert_with(|| {
        let mlir = symm_dialect::context(ctx.context());
        if constant.is_none() {
            let mut left = MOST_VALUES;
            hoist_rank(ctx, rank, &mut left);
        }
        let (place, rank) = match constant {
            Some(value) => {
                let builder = Builder::after_value(mlir, ctx);
                let rank = builder.i32(value);
                (rank, rank)
            }
            None => (lasting(later(ctx, rank)), lasting(rank)),
        };
        let builder = Builder::after_value(mlir, place);
        if is_current_rank(ctx, rank) {
            return builder.i64(0);
        }
        builder.make_value(&HeapDeltaParts { ctx, rank }, builder.int(64))
    })
}

/// Moves a context as a rank that is computed: each of symm's functions that is called may have made its own.
fn hoist_context<'c: 'a, 'a>(op: SymmOp<'c, 'a>) {
    let made = op.operation();
    if !matches!(op, SymmOp::Ctx(_)) {
        return;
    }
    let Some(place) = made.operands().reduce(later) else { return };
    if is_in_inner_loop(made, place) || is_after_a_write(made, place) {
        move_after(made, place);
    }
}

/// Ops that a rank may be computed with, which may be done where the loop around them is not reached.
const ARITHMETIC: &[&str] = &[
    "addi", "subi", "muli", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui", "cmpi", "select", "extsi",
    "extui", "trunci", "constant",
];

/// How many ops are looked at between two.
const MOST_OPS: u32 = 256;

/// Moves the computation of a rank out of the loops that it does not depend on, and before what may write memory,
/// after the context at most.
fn hoist_rank<'c: 'a, 'a>(ctx: Value<'c, 'a>, rank: Value<'c, 'a>, left: &mut u32) {
    let (Some(op), Some(one_less)) = (definition(rank), left.checked_sub(1)) else { return };
    *left = one_less;
    if !is_hoistable(op) || later(ctx, rank) == ctx {
        return;
    }
    let mut place = ctx;
    for operand in op.operands() {
        hoist_rank(ctx, operand, left);
        place = later(place, operand);
    }
    if is_in_inner_loop(op, place) || is_after_a_write(op, place) {
        move_after(op, place);
    }
}

fn is_hoistable<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    if let Some(op) = SymmOp::cast(op) {
        return matches!(op, SymmOp::Rank(_) | SymmOp::NumRanks(_));
    }
    match name(op).strip_prefix("arith.") {
        Some("remsi" | "remui" | "divsi" | "divui") => op.operands().nth(1).is_some_and(is_not_zero),
        Some(rest) => ARITHMETIC.contains(&rest),
        None => false,
    }
}

fn is_not_zero<'c: 'a, 'a>(value: Value<'c, 'a>) -> bool {
    let is_count = definition(value).and_then(SymmOp::cast).is_some_and(|op| matches!(op, SymmOp::NumRanks(_)));
    is_count || constant_value(value).is_some_and(|value| value > 0)
}

/// Whether there is a loop around `op` that is not around the definition of `place`, which dominates it.
fn is_in_inner_loop<'c: 'a, 'a>(op: OperationRef<'c, 'a>, place: Value<'c, 'a>) -> bool {
    let outside = block_of(place);
    let mut inner = op;
    while inner.block() != outside {
        let Some(parent) = inner.parent_operation() else { return false };
        if is_loop(parent) {
            return true;
        }
        inner = parent;
    }
    false
}

/// Whether something between the definition of `place`, which dominates `op`, and `op` may write memory. Where other
/// blocks of one region lie between them, `op` stays.
fn is_after_a_write<'c: 'a, 'a>(op: OperationRef<'c, 'a>, place: Value<'c, 'a>) -> bool {
    let (outside, made) = (block_of(place), definition(place));
    let mut left = MOST_OPS;
    let mut inner = op;
    loop {
        while let Some(before) = previous_in_block(inner).filter(|before| Some(*before) != made) {
            left -= 1;
            if left == 0 || !(is_quiet(before) || only_reads(name(before))) {
                return true;
            }
            inner = before;
        }
        if inner.block() == outside {
            return false;
        }
        if region_of(inner.block()) == region_of(outside) {
            return false;
        }
        let Some(parent) = inner.parent_operation() else { return false };
        inner = parent;
    }
}

/// The region of a block, as an address.
fn region_of(block: Option<BlockRef>) -> Option<usize> {
    Some(block?.parent_region()?.to_raw().ptr as usize)
}
