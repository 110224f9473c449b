//! Repairs memory orders that publish nothing and scopes that reach nobody (O1, O2).
//!
//! - **O2** A cross-rank atomic, signal or wait with a scope narrower than sys does not reach the other rank: the
//!   scope is widened to sys. A narrower fence is left alone, and covers nothing below.
//! - **O1** A relaxed `signal` with writes before it that no release fence covers lets its peer read old data: it is
//!   made release. A relaxed `wait` with reads after it that no acquire fence covers may read old data: it is made
//!   acquire.
//!
//! Each repair is a remark at the op; with `strict=true` it is an error instead.
//!
//! ```mlir
//! symm.remote_store %ctx, %v, %data[%i], %peer : f32, memref<64xf32>
//! symm.signal set %ctx, %flag[%c0], %one, %peer sem relaxed scope gpu : memref<1xi32>, i32
//! // remark: O2: scope gpu does not reach another rank; widened to sys
//! // remark: O1: relaxed, but writes come before it without a release fence; made release
//! ```
//!
//! Limits: it looks at one function, along its structured control flow and its blocks; a call counts as an access.

use crate::ir::{blocks, name, operations, symm_ops};
use crate::order::set_keyword;
use crate::pass::{Ir, Kind, Pass, PassOption, Values};
use crate::registration::previous_in_block;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockLike, BlockRef, OperationRef};
use std::collections::HashSet;
use symm_dialect::diagnostic::{Reported, Severity, error, report};
use symm_dialect::ops::{Group, Order, Scope, SymmOp};

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-check-memory-order",
    summary: "Widen scopes and strengthen orders that would be wrong across ranks (O1, O2)",
    options: &[PassOption {
        name: "strict",
        kind: Kind::Bool,
        initial: "false",
        help: "report an error instead of repairing",
    }],
    run,
};

fn run(root: OperationRef, options: &Values) -> Result<Ir, Reported> {
    let repairs = Repairs { strict: options.flag("strict") };
    let mut outcome = Ok(Ir::Kept);
    for op in symm_ops(root) {
        let operation = op.operation();
        let scope = match op {
            SymmOp::AtomicRmw(op) => op.scope(),
            SymmOp::AtomicCas(op) => op.scope(),
            SymmOp::Signal(op) => op.scope(),
            SymmOp::Wait(op) => op.scope(),
            SymmOp::PutSignal(op) => op.scope(),
            _ => Scope::Sys,
        };
        if scope < Scope::Sys {
            let message = format!("O2: scope {} does not reach another rank", scope.keyword());
            outcome = outcome.and(repairs.set(operation, "scope", Scope::Sys as i64, &message, "widened to sys"));
        }
        let (wrong, order, message, done) = match op {
            SymmOp::Signal(op) => (
                op.sem() == Order::Relaxed
                    && unordered(operation, Look { direction: Direction::Before, group: op.group() }),
                Order::Release,
                "O1: relaxed, but writes come before it without a release fence",
                "made release",
            ),
            SymmOp::Wait(op) => (
                op.sem() == Order::Relaxed
                    && unordered(operation, Look { direction: Direction::After, group: op.group() }),
                Order::Acquire,
                "O1: relaxed, but reads come after it without an acquire fence",
                "made acquire",
            ),
            _ => continue,
        };
        if wrong {
            outcome = outcome.and(repairs.set(operation, "sem", order as i64, message, done));
        }
    }
    outcome
}

struct Repairs {
    strict: bool,
}

impl Repairs {
    /// Sets an enum attribute with a remark, or reports an error under `strict`.
    fn set<'c: 'a, 'a>(
        &self,
        op: OperationRef<'c, 'a>,
        attribute: &str,
        value: i64,
        message: &str,
        done: &str,
    ) -> Result<Ir, Reported> {
        if self.strict {
            return Err(error(op, message));
        }
        report(Severity::Remark, op, &format!("{message}; {done}"));
        set_keyword(op, attribute, value);
        Ok(Ir::Changed)
    }
}

/// Which way to look from an op.
#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Before,
    After,
}

/// How to look: which way, and for which group of threads.
#[derive(Clone, Copy)]
struct Look {
    direction: Direction,
    group: Group,
}

/// What one op means to the search.
enum Meaning {
    /// The access that must be ordered.
    Access,
    /// A fence that orders it: the search ends on this path.
    Fence,
    /// Nothing.
    Neutral,
}

fn meaning<'c: 'a, 'a>(op: OperationRef<'c, 'a>, look: Look) -> Meaning {
    let before = look.direction == Direction::Before;
    match SymmOp::cast(op) {
        Some(SymmOp::Fence(fence)) => {
            let wanted = if before { Order::Release } else { Order::Acquire };
            let covers = fence.sem() == wanted || fence.sem() == Order::AcqRel;
            // A group signals and waits through its first thread: fences of the others order nothing for it (O3).
            if fence.scope() == Scope::Sys && fence.group() == look.group && covers {
                Meaning::Fence
            } else {
                Meaning::Neutral
            }
        }
        Some(SymmOp::RemoteStore(_) | SymmOp::Put(_) | SymmOp::Get(_) | SymmOp::Copy(_) | SymmOp::PutSignal(_)) => {
            Meaning::Access
        }
        Some(SymmOp::RemoteLoad(_)) if !before => Meaning::Access,
        Some(SymmOp::Barrier(_) | SymmOp::BarrierAll(_)) => Meaning::Fence,
        Some(_) => Meaning::Neutral,
        None => match name(op) {
            "memref.store" | "vector.store" | "vector.maskedstore" | "llvm.store" | "affine.store" | "memref.copy"
            | "linalg.fill" | "linalg.generic" | "linalg.matmul" | "func.call" | "llvm.call" | "tt.store"
            | "tt.call" => Meaning::Access,
            "memref.load" | "vector.load" | "vector.maskedload" | "llvm.load" | "affine.load" | "tt.load"
                if !before =>
            {
                Meaning::Access
            }
            _ => Meaning::Neutral,
        },
    }
}

/// How a stretch of code ended the search.
#[derive(PartialEq)]
enum Found {
    Access,
    Fence,
    End,
}

/// Ops whose body runs again and again: its other iterations lie beyond this one.
const LOOPS: &[&str] = &["scf.for", "scf.while", "affine.for", "scf.parallel", "scf.forall"];

/// Ops whose end is the end of the search.
const FUNCTIONS: &[&str] = &["func.func", "gpu.func", "llvm.func", "tt.func", "gpu.launch"];

/// Whether a path from `op` in a direction meets an access before it meets a fence, up to the ends of its function.
fn unordered<'c: 'a, 'a>(op: OperationRef<'c, 'a>, look: Look) -> bool {
    let mut seen = HashSet::new();
    // Where paths go on: just beyond an op, or at the near end of a block.
    let mut beyond = vec![op];
    let mut open: Vec<BlockRef> = Vec::new();
    loop {
        let (block, found) = if let Some(op) = beyond.pop() {
            let Some(block) = op.block() else { continue };
            (block, stretch(step(op, look), look))
        } else if let Some(block) = open.pop() {
            (block, stretch(near_end(block, look), look))
        } else {
            return false;
        };
        match found {
            Found::Access => return true,
            Found::Fence => continue,
            Found::End => {}
        }
        let neighbours: Vec<_> = match look.direction {
            Direction::Before => (0..block.predecessor_count()).filter_map(|i| block.predecessor(i).ok()).collect(),
            Direction::After => (0..block.successor_count()).filter_map(|i| block.successor(i).ok()).collect(),
        };
        open.extend(neighbours.into_iter().filter(|block| seen.insert(block.to_raw().ptr as usize)));
        let Some(parent) = block.parent_operation() else { continue };
        if FUNCTIONS.contains(&name(parent)) || !seen.insert(parent.to_raw().ptr as usize) {
            continue;
        }
        if LOOPS.contains(&name(parent)) && nested(parent, look) {
            return true;
        }
        beyond.push(parent);
    }
}

/// The next op in a direction, in one block.
fn step<'c: 'a, 'a>(op: OperationRef<'c, 'a>, look: Look) -> Option<OperationRef<'c, 'a>> {
    match look.direction {
        Direction::Before => previous_in_block(op),
        Direction::After => op.next_in_block(),
    }
}

/// The first op of a block in a direction.
fn near_end<'c: 'a, 'a>(block: BlockRef<'c, 'a>, look: Look) -> Option<OperationRef<'c, 'a>> {
    match look.direction {
        Direction::Before => block.terminator().or_else(|| operations(block).pop()),
        Direction::After => block.first_operation(),
    }
}

/// What the ops of a block, from one on, meet first.
fn stretch<'c: 'a, 'a>(first: Option<OperationRef<'c, 'a>>, look: Look) -> Found {
    let mut next = first;
    while let Some(op) = next {
        match meaning(op, look) {
            Meaning::Access => return Found::Access,
            Meaning::Fence => return Found::Fence,
            Meaning::Neutral if nested(op, look) => return Found::Access,
            Meaning::Neutral => next = step(op, look),
        }
    }
    Found::End
}

/// Whether an access in the regions of `op` is met: one there counts, but a fence there may not be reached.
fn nested<'c: 'a, 'a>(op: OperationRef<'c, 'a>, look: Look) -> bool {
    blocks(op).into_iter().any(|block| stretch(near_end(block, look), look) == Found::Access)
}
