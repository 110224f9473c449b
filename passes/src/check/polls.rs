//! Warns of loops that poll memory with plain loads in a Triton kernel.
//!
//! ```mlir
//! scf.while : () -> () {
//!   %v = symm.remote_load %ctx, %flag, %peer : !tt.ptr<i32> -> i32  // warning
//!   %go_on = arith.cmpi ne, %v, %one : i32
//!   scf.condition(%go_on)
//! } do {
//!   scf.yield
//! }
//! ```
//!
//! Triton's compilers assume that a plain load from one address gives the same value until the thread itself writes
//! there. They load once; a loop that does nothing else then never ends, so they treat it as unreachable and remove it.
//! `symm.wait` polls, and acquires what was released.
//!
//! A loop polls if it only loads and computes, and its condition depends on a load from a fixed address: for a remote
//! load in any case, for a Triton load if nothing else that the condition depends on changes.
//!
//! Limits: `scf.while`; volatile loads are left alone.

use crate::analysis::order::{is_quiet, is_remote, is_volatile};
use crate::ir::structure::is_branch;
use crate::ir::{blocks, collect, definition, is_within, name, operations, owner};
use crate::pass::{Ir, Pass};
use melior::ir::block::BlockArgument;
use melior::ir::{BlockLike, OperationRef, Value, ValueLike, operation::OperationLike};
use std::collections::HashSet;
use symm_dialect::diagnostic::{Severity, report};
use symm_dialect::ops::{Accessing, Cache, SymmOp};

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-check-polls",
    summary: "Warn of loops that poll memory with plain loads in a Triton kernel",
    options: &[],
    run: |root, _| {
        for op in collect(root) {
            if name(op) == "scf.while" {
                check(op);
            }
        }
        Ok(Ir::Kept)
    },
};

fn check<'c: 'a, 'a>(around: OperationRef<'c, 'a>) {
    let inner: Vec<_> = blocks(around).into_iter().flat_map(operations).flat_map(collect).collect();
    if !inner.iter().all(|op| is_plain_load(*op) || is_quiet(*op) || is_branch(*op)) {
        return;
    }
    let Some(condition) = inner.iter().find(|op| name(**op) == "scf.condition") else { return };
    let Some(go_on) = condition.operands().next() else { return };
    let mut seen = Seen { around, known: HashSet::new(), loads: Vec::new(), changes: false };
    seen.look_at(go_on);
    for load in seen.loads.iter().copied() {
        let pointer = load.operands().nth(usize::from(SymmOp::cast(load).is_some()));
        if SymmOp::cast(load).is_some() || pointer.is_some_and(is_remote) || !seen.changes {
            let complaint = "polls memory in a loop with a plain load: compilers load once, or drop the loop; use \
                             wait, which polls until the flag is as asked and acquires what was released";
            report(Severity::Warning, load, complaint);
        }
    }
}

fn is_plain_load<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    let Some(symm) = SymmOp::cast(op) else { return name(op) == "tt.load" && !is_volatile(op) };
    match symm.accessing() {
        Some(Accessing::RemoteLoad(load)) => !load.volatile_() && load.cache() != Some(Cache::Cv),
        // They return nothing that was read, or read it as a flag.
        Some(
            Accessing::RemoteStore(_)
            | Accessing::Get(_)
            | Accessing::Put(_)
            | Accessing::Copy(_)
            | Accessing::AtomicRmw(_)
            | Accessing::AtomicCas(_)
            | Accessing::Signal(_)
            | Accessing::PutSignal(_)
            | Accessing::Wait(_)
            | Accessing::PutPacket(_)
            | Accessing::WaitPacket(_)
            | Accessing::TryPacket(_),
        )
        | None => false,
    }
}

/// What a loop's condition is made of.
struct Seen<'c, 'a> {
    around: OperationRef<'c, 'a>,
    known: HashSet<usize>,
    /// The loads from one place.
    loads: Vec<OperationRef<'c, 'a>>,
    /// Whether something else changes from one iteration to the next.
    changes: bool,
}

impl<'c: 'a, 'a> Seen<'c, 'a> {
    fn look_at(&mut self, value: Value<'c, 'a>) {
        if !self.known.insert(value.to_raw().ptr as usize) {
            return;
        }
        let Some(op) = definition(value) else { return self.look_at_sources(value) };
        if !is_within(op, self.around) {
            return;
        }
        if is_plain_load(op) {
            if op.operands().all(|operand| is_fixed(operand, self.around)) {
                self.loads.push(op);
            } else {
                self.changes = true;
            }
            return;
        }
        // What is made of a carried value changes, unless that value is what was loaded.
        op.operands().for_each(|operand| self.look_at(operand));
    }

    /// What an argument of the loop's regions may be.
    fn look_at_sources(&mut self, value: Value<'c, 'a>) {
        let Some(argument) = BlockArgument::try_from(value).ok().filter(|_| value.is_block_argument()) else { return };
        let block = owner(argument);
        if block.parent_operation() != Some(self.around) {
            return;
        }
        let number = argument.argument_number();
        let regions = blocks(self.around);
        // The first region is given what the second one yields, the second one what follows the condition.
        let (from, skipped) = if regions.first() == Some(&block) { (regions.last(), 0) } else { (regions.first(), 1) };
        let source = from.and_then(|block| operations(*block).last().copied());
        let Some(next) = source.and_then(|op| op.operands().nth(number + skipped)) else { return };
        let is_loaded = definition(next).is_some_and(is_plain_load);
        let is_handed_on = definition(next).is_none();
        self.changes |= !is_loaded && !is_handed_on;
        self.look_at(next);
    }
}

/// Whether a value is the same in all iterations.
fn is_fixed<'c: 'a, 'a>(value: Value<'c, 'a>, around: OperationRef<'c, 'a>) -> bool {
    match definition(value) {
        Some(op) => {
            !is_within(op, around)
                || !is_plain_load(op)
                    && op.region_count() == 0
                    && op.operands().all(|operand| is_fixed(operand, around))
        }
        None => BlockArgument::try_from(value)
            .ok()
            .is_some_and(|argument| owner(argument).parent_operation() != Some(around)),
    }
}
