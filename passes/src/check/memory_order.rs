//! Repairs memory orders that publish nothing and scopes that reach nobody (O1, O2).
//!
//! - **O2** A cross-rank atomic, signal, wait or fence with a scope narrower than sys does not reach the other rank:
//!   the scope is widened to sys.
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

use crate::ir::{blocks, collect, name, operations};
use crate::order::set_keyword;
use crate::pass::{Kind, Pass, PassOption, Values};
use melior::ir::operation::OperationLike;
use melior::ir::{BlockLike, OperationRef};
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

fn run<'c, 'a>(root: OperationRef<'c, 'a>, options: &Values) -> Result<(), Reported> {
    let repairs = Repairs { strict: options.flag("strict") };
    let mut outcome = Ok(());
    for operation in collect(root) {
        let Some(op) = SymmOp::cast(operation) else { continue };
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
                op.sem() == Order::Relaxed && unordered(operation, Direction::Before, op.group()),
                Order::Release,
                "O1: relaxed, but writes come before it without a release fence",
                "made release",
            ),
            SymmOp::Wait(op) => (
                op.sem() == Order::Relaxed && unordered(operation, Direction::After, op.group()),
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
    ) -> Result<(), Reported> {
        if self.strict {
            return Err(error(op, message));
        }
        report(Severity::Remark, op, &format!("{message}; {done}"));
        set_keyword(op, attribute, value);
        Ok(())
    }
}

/// Which way to look from an op.
#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Before,
    After,
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

fn meaning<'c: 'a, 'a>(op: OperationRef<'c, 'a>, direction: Direction, group: Group) -> Meaning {
    let before = direction == Direction::Before;
    match SymmOp::cast(op) {
        Some(SymmOp::Fence(fence)) => {
            let wanted = if before { Order::Release } else { Order::Acquire };
            let covers = fence.sem() == wanted || fence.sem() == Order::AcqRel;
            // A group signals and waits through its first thread: fences of the others order nothing for it (O3).
            if fence.scope() == Scope::Sys && fence.group() == group && covers {
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
            | "linalg.fill" | "linalg.generic" | "linalg.matmul" | "func.call" | "llvm.call" | "tt.store" | "tt.call" => Meaning::Access,
            "memref.load" | "vector.load" | "vector.maskedload" | "llvm.load" | "affine.load" | "tt.load" if !before => {
                Meaning::Access
            }
            _ => Meaning::Neutral,
        },
    }
}

/// Whether a path from `op` in a direction meets an access before it meets a fence.
fn unordered<'c: 'a, 'a>(op: OperationRef<'c, 'a>, direction: Direction, group: Group) -> bool {
    Search { direction, group, seen: HashSet::new() }.from_op(op)
}

struct Search {
    direction: Direction,
    group: Group,
    seen: HashSet<usize>,
}

/// How a stretch of code ended the search.
#[derive(PartialEq)]
enum Found {
    Access,
    Fence,
    End,
}

impl Search {
    /// Searches from just beyond `op` to the ends of its function.
    fn from_op<'c: 'a, 'a>(&mut self, op: OperationRef<'c, 'a>) -> bool {
        let step = |op: OperationRef<'c, 'a>| match self.direction {
            Direction::Before => crate::registration::previous_in_block(op),
            Direction::After => op.next_in_block(),
        };
        match self.stretch(std::iter::successors(step(op), |op| step(*op)).collect()) {
            Found::Access => return true,
            Found::Fence => return false,
            Found::End => {}
        }
        let Some(block) = op.block() else { return false };
        self.beyond_block(block)
    }

    /// Searches the ways that lead out of a block.
    fn beyond_block<'c: 'a, 'a>(&mut self, block: melior::ir::BlockRef<'c, 'a>) -> bool {
        if !self.seen.insert(block.to_raw().ptr as usize) {
            return false;
        }
        let neighbours: Vec<_> = match self.direction {
            Direction::Before => (0..block.predecessor_count()).filter_map(|i| block.predecessor(i).ok()).collect(),
            Direction::After => (0..block.successor_count()).filter_map(|i| block.successor(i).ok()).collect(),
        };
        for neighbour in neighbours {
            let mut ops = operations(neighbour);
            if self.direction == Direction::Before {
                ops.reverse();
            }
            match self.stretch(ops) {
                Found::Access => return true,
                Found::Fence => {}
                Found::End => {
                    if self.beyond_block(neighbour) {
                        return true;
                    }
                }
            }
        }
        let Some(parent) = block.parent_operation() else { return false };
        if ["func.func", "gpu.func", "llvm.func", "tt.func", "gpu.launch"].contains(&name(parent)) {
            return false;
        }
        // A loop: its other iterations lie beyond this one.
        if ["scf.for", "scf.while", "affine.for", "scf.parallel", "scf.forall"].contains(&name(parent))
            && self.stretch(vec![parent]) == Found::Access
        {
            return true;
        }
        self.from_op(parent)
    }

    /// What a run of operations, in the order of the search, meets first.
    fn stretch<'c: 'a, 'a>(&mut self, ops: Vec<OperationRef<'c, 'a>>) -> Found {
        for op in ops {
            match meaning(op, self.direction, self.group) {
                Meaning::Access => return Found::Access,
                Meaning::Fence => return Found::Fence,
                // An access in a nested region counts; a fence there may not be reached.
                Meaning::Neutral => {
                    for block in blocks(op) {
                        let mut nested = operations(block);
                        if self.direction == Direction::Before {
                            nested.reverse();
                        }
                        if self.stretch(nested) == Found::Access {
                            return Found::Access;
                        }
                    }
                }
            }
        }
        Found::End
    }
}
