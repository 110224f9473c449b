//! Merges signals to the same flag of the same rank.
//!
//! ```mlir
//! symm.signal add %ctx, %flag[%i], %a, %peer : memref<4xi64>, i64
//! symm.signal add %ctx, %flag[%i], %b, %peer sem relaxed : memref<4xi64>, i64
//! ```
//!
//! becomes
//!
//! ```mlir
//! %sum = arith.addi %a, %b : i64
//! symm.signal add %ctx, %flag[%i], %sum, %peer : memref<4xi64>, i64
//! ```
//!
//! | first, then | becomes |
//! |---|---|
//! | `add a`, `add b` | `add a + b` |
//! | `set a`, `add b` | `set a + b` |
//! | `set a`, `set b`; `add a`, `set b` | `set b` |
//!
//! The order is the stronger of the two, the scope the wider one.
//!
//! Why this is right: nothing between the two signals touches memory, so the merged program does what the original does
//! when both arrive at the same moment: every behaviour of the merged program is one of the original. What is lost is
//! the value in between, which a wait might have seen. No wait can rely on seeing it, not even one with `eq`: it
//! polls from time to time, and nothing holds the second signal back until it has. Both release the same accesses, so
//! one signal with the stronger order is enough. With `group block` (or `warp`) both signals are the group's, and the
//! merged one makes the barrier (O3).
//!
//! Limits: both signals belong to one group and one block, and have the same `flag`, `indices` and `rank` as values or
//! as equal constants (run `cse` first; the pipelines do). An access, wait, fence, call or region in between keeps them
//! apart, and so does a signal to another flag, which may alias this one. `put_signal` is left alone.
//! `symm-infer-order` merges fences. Of two `symm.barrier` in a row neither is dropped: ranks count their barriers, and
//! on another rank the same two may have something in between.

use crate::analysis::order::{is_quiet, join, same, set_keyword};
use crate::ir::{Builder, blocks, collect, constant_value, fuse_locations, operations};
use crate::pass::{Ir, Pass};
use melior::ir::{BlockRef, Location, OperationRef, Value, ValueLike, operation::OperationLike};
use symm_dialect::ops::{Signal, SignalKind, SymmOp};
use symm_dialect::set_operand_group;
use symm_dialect::shape::integer_width;

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-coalesce-signals",
    summary: "Merge signals to the same flag of the same rank",
    options: &[],
    run: |root, _| Ok(run(root)),
};

fn run(root: OperationRef) -> Ir {
    // All blocks first: the walk may not meet a signal that is gone.
    let all: Vec<BlockRef> = collect(root).into_iter().flat_map(blocks).collect();
    let merged = all.into_iter().map(run_on_block).sum::<usize>();
    if merged == 0 { Ir::Kept } else { Ir::Changed }
}

/// How many signals it has merged into others.
fn run_on_block<'c: 'a, 'a>(block: BlockRef<'c, 'a>) -> usize {
    let (mut before, mut count): (Option<Merged>, usize) = (None, 0);
    for op in operations(block) {
        if let Some(SymmOp::Signal(signal)) = SymmOp::cast(op) {
            match &mut before {
                Some(merged) if is_same_place(merged.signal, signal) => {
                    merged.add(signal);
                    count += 1;
                }
                _ => {
                    before.replace(Merged { signal, locations: Vec::new() }).iter().for_each(Merged::finish);
                }
            }
        } else if !is_quiet(op) {
            before.take().iter().for_each(Merged::finish);
        }
    }
    before.iter().for_each(Merged::finish);
    count
}

/// The signal that is left of several.
struct Merged<'c, 'a> {
    signal: Signal<'c, 'a>,
    /// Where the others were.
    locations: Vec<Location<'c>>,
}

impl<'c: 'a, 'a> Merged<'c, 'a> {
    /// Makes the next signal do what these did before it.
    fn add(&mut self, signal: Signal<'c, 'a>) {
        self.locations.push(self.signal.operation().location());
        merge(self.signal, signal);
        self.signal = signal;
    }

    fn finish(&self) {
        if !self.locations.is_empty() {
            fuse_locations(self.signal.operation(), &self.locations);
        }
    }
}

/// Whether two signals are sent by the same threads to the same flag of the same rank.
fn is_same_place<'c: 'a, 'a>(first: Signal<'c, 'a>, second: Signal<'c, 'a>) -> bool {
    let (indices, others) = (first.indices(), second.indices());
    first.group() == second.group()
        && first.value().r#type() == second.value().r#type()
        && first.ctx() == second.ctx()
        && first.flag() == second.flag()
        && same(first.rank(), second.rank())
        && indices.len() == others.len()
        && indices.into_iter().zip(others).all(|(one, other)| same(one, other))
}

/// Makes `second` do what `first` did before it.
fn merge<'c: 'a, 'a>(first: Signal<'c, 'a>, second: Signal<'c, 'a>) {
    let op = second.operation();
    if second.kind() == SignalKind::Add {
        let sum = sum(&Builder::before(op), first.value(), second.value());
        set_operand_group(SymmOp::Signal(second), "value", &[sum]);
        set_keyword(op, "kind", first.kind() as i64);
    }
    set_keyword(op, "sem", join(first.sem(), second.sem()) as i64);
    set_keyword(op, "scope", first.scope().max(second.scope()) as i64);
    Builder::before(op).erase(first.operation());
}

/// The sum of two values as the flag counts: it wraps around.
fn sum<'c>(b: &Builder<'c>, first: Value<'c, '_>, second: Value<'c, '_>) -> Value<'c, 'c> {
    let ty = first.r#type();
    match (constant_value(first), constant_value(second)) {
        (Some(one), Some(other)) if integer_width(ty) == Some(32) =>
        {
            #[expect(clippy::cast_possible_truncation, reason = "it wraps around, as the flag does")]
            b.constant(ty, i64::from(one.wrapping_add(other) as i32))
        }
        (Some(one), Some(other)) => b.constant(ty, one.wrapping_add(other)),
        _ => b.add(first, second),
    }
}
