//! Signals of a group that need no barrier of their own: the group has come together before them, for a fence or
//! another signal, and none of its threads has touched memory since.
//!
//! ```mlir
//! symm.fence sem release group block
//! symm.signal set %ctx, %flag[%i], %v, %p sem relaxed group block : memref<8xi64>, i64
//! symm.signal set %ctx, %flag[%i], %v, %q sem relaxed group block : memref<8xi64>, i64
//! ```
//!
//! becomes a barrier, then a fence and two stores by the first thread.
//!
//! What a barrier before the second signal would add to what the first thread knows is what the others did after the
//! first one (O3): nothing. A signal that releases is such a one only after another release, because AMD's waves
//! bring what they wrote to L2 before the barrier.
//!
//! Limits: in one block, with branches and loops in it; what lies between is known to touch no memory.

use crate::analysis::order::is_quiet;
use crate::ir::structure::{is_branch, is_loop};
use crate::ir::{blocks, operations, select};
use melior::ir::{BlockRef, OperationRef};
use std::collections::HashSet;
use symm_dialect::ops::{Group, Grouped, Order, SymmOp};

/// The operations that need no barrier.
#[derive(Default)]
pub struct Gathered {
    signals: HashSet<usize>,
}

/// The group that is together, and whether what its threads wrote is on its way out.
#[derive(Clone, Copy, PartialEq)]
struct Together {
    group: Group,
    released: bool,
}

impl Gathered {
    /// Looks for them in everything below `root`.
    pub fn new<'c: 'a, 'a>(root: OperationRef<'c, 'a>) -> Self {
        let mut found = Self::default();
        for block in blocks(root) {
            found.run_on_block(block, None);
        }
        found
    }

    /// Whether `op` is a signal that needs no barrier.
    pub fn contains(&self, op: OperationRef) -> bool {
        self.signals.contains(&key(op))
    }

    /// Goes through a block that is entered by threads that are `together`; how they leave it.
    fn run_on_block<'c: 'a, 'a>(
        &mut self,
        block: BlockRef<'c, 'a>,
        mut together: Option<Together>,
    ) -> Option<Together> {
        for op in operations(block) {
            together = match SymmOp::cast(op) {
                Some(op) => self.run_on_symm(op, together),
                None if is_quiet(op) => together,
                None => self.run_on_regions(op, together),
            };
        }
        together
    }

    /// Who is together after an op.
    fn run_on_symm<'c: 'a, 'a>(&mut self, op: SymmOp<'c, 'a>, together: Option<Together>) -> Option<Together> {
        let Some(grouped) = op.grouped() else { return together.filter(|_| op.is_pure()) };
        match grouped {
            Grouped::Signal(signal) if signal.group() != Group::Thread => {
                let released = signal.sem() == Order::Release;
                let before = together.filter(|before| before.group == signal.group());
                let known = before.filter(|before| before.released || !released);
                if known.is_some() {
                    self.signals.insert(key(op.operation()));
                }
                Some(known.unwrap_or(Together { group: signal.group(), released }))
            }
            Grouped::Fence(fence) if fence.group() != Group::Thread => {
                Some(Together { group: fence.group(), released: fence.sem().releases() })
            }
            Grouped::Signal(_)
            | Grouped::Fence(_)
            | Grouped::Wait(_)
            | Grouped::PutSignal(_)
            | Grouped::Barrier(_)
            | Grouped::Get(_)
            | Grouped::Put(_)
            | Grouped::Copy(_)
            | Grouped::TraceBegin(_) => None,
        }
    }

    fn run_on_regions<'c: 'a, 'a>(&mut self, op: OperationRef<'c, 'a>, together: Option<Together>) -> Option<Together> {
        let (is_branch, is_loop) = (is_branch(op), is_loop(op));
        // A loop is entered from its own end, too.
        let entry = together.filter(|together| is_branch || is_loop && together.outlast(op));
        let kept = blocks(op).into_iter().fold(is_branch || is_loop, |kept, body| {
            let is_kept = self.run_on_block(body, entry) == entry;
            kept && is_kept
        });
        entry.filter(|_| kept)
    }
}

impl Together {
    /// Whether nothing in a loop changes that threads are together.
    fn outlast(self, op: OperationRef) -> bool {
        select(op, |inner| (!self.outlast_one(inner)).then_some(())).is_empty()
    }

    fn outlast_one(self, op: OperationRef) -> bool {
        if let Some(SymmOp::Signal(signal)) = SymmOp::cast(op) {
            return signal.group() == self.group && (self.released || signal.sem() == Order::Relaxed);
        }
        is_quiet(op) || is_loop(op) || is_branch(op)
    }
}

fn key(op: OperationRef) -> usize {
    op.to_raw().ptr as usize
}
