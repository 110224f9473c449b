//! Repairs memory orders and scopes that are too weak between ranks (O1, O2).
//!
//! - **O2** A cross-rank atomic, signal or wait with a scope narrower than sys does not reach the other rank: the
//!   scope is widened to sys. A narrower fence is left alone, and covers nothing below.
//! - **O1** A relaxed `signal` with earlier accesses that no release fence covers is made release: after a write its
//!   peer may read old data, and after a read its peer may overwrite what has not been read yet. A relaxed `wait` with
//!   later accesses that no acquire fence covers may let them read old data: it is made acquire.
//!
//! A relaxed atomic update counts as a relaxed `signal` if the function also waits for a flag of the same array: it may
//! be a credit that gives a slot back. With `is_signal`, on a Triton kernel's signal to many ranks, it always does;
//! with `is_wait` it counts as a relaxed `wait`.
//!
//! A fence covers the signals and waits of its own group. `symm.barrier` is a release fence for the signals of its own
//! group after it, but no acquire fence for a wait before it: it acquires only through its own flags. If threads
//! synchronize (`gpu.barrier`, an op of a wider group) between a fence and a signal or wait of fewer threads, the fence
//! does not cover what the other threads did.
//!
//! Each repair is a remark at the op; with `strict=true` it is an error instead.
//!
//! ```mlir
//! symm.remote_store %ctx, %data[%i], %v, %peer : memref<64xf32>, f32
//! symm.signal set %ctx, %flag[%c0], %one, %peer sem relaxed scope gpu : memref<1xi32>, i32
//! // remark: O2: scope gpu does not reach another rank; widened to sys
//! // remark: O1: relaxed, but writes come before it without a release fence; made release
//! ```
//!
//! An operation counts as a write and a read, and so does a call, unless it is known not to access the heap. Memory of
//! the block or of the thread does not count.
//!
//! Limits: it looks at one function, along its structured control flow and its blocks, and not at its callers. In a
//! function of a `gpu.module` that is not a kernel, the start and the end count as accesses. Elsewhere the pipelines
//! run the pass again after `inline`; in a function that is not inlined, a relaxed signal or wait orders the function's
//! own accesses, and its callers' only if they have a fence.

use crate::analysis::order::{array, barrier, may_write_heap, only_reads_heap, set_keyword};
use crate::analysis::search::{Direction, Meaning, Search};
use crate::ir::{enclosing, name, structure, symm_ops};
use crate::pass::{Ir, OptionKind, Pass, PassOption, Values};
use melior::ir::{OperationRef, Value, ValueLike};
use std::collections::{HashMap, HashSet};
use symm_dialect::diagnostic::{Reported, Severity, error, report};
use symm_dialect::ops::{Group, Grouped, Order, Scope, SymmOp, Update, Wait, Waiting};

/// Whether what would be repaired is an error.
pub const STRICT: PassOption = PassOption {
    name: "strict",
    kind: OptionKind::Bool,
    initial: "false",
    help: "report an error instead of repairing",
};

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-check-memory-order",
    summary: "Widen scopes and strengthen orders that are too weak across ranks (O1, O2)",
    options: &[STRICT],
    run,
};

fn run(root: OperationRef, options: &Values) -> Result<Ir, Reported> {
    let repairs = Repairs { strict: options.flag("strict") };
    let ops = symm_ops(root);
    let flags = &Flags::of(&ops);
    let mut searches = HashMap::new();
    let mut unordered = |operation, direction, reads, group| {
        let look = Look { direction, reads, group };
        let search = || Search::new(direction, true, move |op| meaning(op, look, flags));
        searches.entry(look).or_insert_with(search).unordered(operation).is_some()
    };
    let mut outcome = Ok(Ir::Kept);
    for op in ops {
        let operation = op.operation();
        // A fence may be for the threads of one GPU; an access is for a peer.
        let scope = op.scope().filter(|_| op.reads() || op.writes()).unwrap_or(Scope::Sys);
        if scope < Scope::Sys {
            let message = format!("O2: scope {} does not reach another rank", scope.keyword());
            outcome = outcome.and(repairs.set(operation, "scope", Scope::Sys as i64, &message, "widened to sys"));
        }
        let (order, message, done) = match (flags.signal(op), order_of_wait(op)) {
            (Some((Order::Relaxed, group)), _) => {
                let message = if unordered(operation, Direction::Before, false, group) {
                    "O1: relaxed, but writes come before it without a release fence"
                } else if unordered(operation, Direction::Before, true, group) {
                    "O1: relaxed, but reads come before it without a release fence: a peer may overwrite what they read"
                } else {
                    continue;
                };
                (Order::Release, message, "made release")
            }
            (_, Some((Order::Relaxed, group))) if unordered(operation, Direction::After, true, group) => {
                (Order::Acquire, "O1: relaxed, but reads come after it without an acquire fence", "made acquire")
            }
            _ => continue,
        };
        outcome = outcome.and(repairs.set(operation, "sem", order as i64, message, done));
    }
    outcome
}

/// The arrays that the function waits for.
struct Flags(HashSet<usize>);

impl Flags {
    fn of(ops: &[SymmOp]) -> Self {
        Self(ops.iter().filter_map(|op| Some(key(wait(*op)?.flag()))).collect())
    }

    /// The order of a signal, or of an atomic update of a flag, and the group that does it.
    fn signal(&self, op: SymmOp) -> Option<(Order, Group)> {
        let (flag, order) = match op.update()? {
            Update::Signal(op) => return Some((op.sem(), op.group())),
            Update::AtomicRmw(update) if update.is_signal() => return Some((update.sem(), group(op))),
            Update::AtomicRmw(op) => (op.ptr(), op.sem()),
            Update::AtomicCas(op) => (op.ptr(), op.sem()),
            // The order of the first is its own, and a packet needs nobody's (P1).
            Update::PutSignal(_) | Update::PutPacket(_) => return None,
        };
        self.0.contains(&key(flag)).then(|| (order, group(op)))
    }
}

/// The group that does an atomic update: a Triton program is one thread to its author, whose fences are the block's.
fn group(op: SymmOp) -> Group {
    match enclosing(op.operation(), &[structure::TRITON_FUNC]) {
        Some(_) => Group::Block,
        None => Group::Thread,
    }
}

/// The order of a wait for flags, and the group that waits.
fn order_of_wait(op: SymmOp) -> Option<(Order, Group)> {
    match op.update() {
        Some(Update::AtomicRmw(update)) => update.is_wait().then(|| (update.sem(), group(op))),
        _ => wait(op).map(|wait| (wait.sem(), wait.group())),
    }
}

/// A wait for a flag; the others that wait have an order of their own.
fn wait<'c: 'a, 'a>(op: SymmOp<'c, 'a>) -> Option<Wait<'c, 'a>> {
    match op.waiting()? {
        Waiting::Wait(wait) => Some(wait),
        Waiting::WaitPacket(_)
        | Waiting::Barrier(_)
        | Waiting::BarrierAll(_)
        | Waiting::Alloc(_)
        | Waiting::Free(_) => None,
    }
}

fn key(flag: Value) -> usize {
    array(flag).to_raw().ptr as usize
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

/// How to look: which way, whether for reads too, and for which group of threads.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Look {
    direction: Direction,
    reads: bool,
    group: Group,
}

fn meaning<'c: 'a, 'a>(op: OperationRef<'c, 'a>, look: Look, flags: &Flags) -> Meaning {
    match SymmOp::cast(op) {
        Some(op) => meaning_of_symm(op, look, flags),
        None => match barrier(name(op)) {
            Some(group) => together(op, group, look),
            None if look.reads && only_reads_heap(op) || may_write_heap(op) => Meaning::Access,
            None => Meaning::Neutral,
        },
    }
}

fn meaning_of_symm<'c: 'a, 'a>(op: SymmOp<'c, 'a>, look: Look, flags: &Flags) -> Meaning {
    let before = look.direction == Direction::Before;
    let meets = |group| together(op.operation(), group, look);
    match op.grouped() {
        // A group signals and waits through its first thread: fences of the others order nothing for it (O3).
        Some(Grouped::Fence(fence)) => {
            let wanted = if before { Order::Release } else { Order::Acquire };
            let covers = fence.sem() == wanted || fence.sem() == Order::AcqRel;
            let is_fence = fence.scope() == Scope::Sys && fence.group() == look.group && covers;
            return if is_fence { Meaning::Fence } else { meets(fence.group()) };
        }
        Some(Grouped::Barrier(barrier)) if before && barrier.group() == look.group => return Meaning::Fence,
        Some(Grouped::Barrier(barrier)) => return meets(barrier.group()),
        Some(Grouped::Signal(signal)) => return meets(signal.group()),
        Some(Grouped::Wait(wait)) => return meets(wait.group()),
        // The order of a put_signal is its own, and not that of the signal or wait.
        Some(Grouped::PutSignal(_) | Grouped::Get(_) | Grouped::Put(_) | Grouped::Copy(_) | Grouped::TraceBegin(_))
        | None => {}
    }
    // All ranks' host threads meet.
    if matches!(op, SymmOp::BarrierAll(_)) {
        return Meaning::Fence;
    }
    // A packet needs no order (P1), but a signal may say that its slot has been read.
    if op.slots().is_some() && op.polls() && before && look.reads {
        return Meaning::Access;
    }
    if before && flags.signal(op).is_some() || !before && order_of_wait(op).is_some() {
        return meets(Group::Thread);
    }
    // The order of an atomic is its own, too.
    let is_access = op.accesses_data() && (op.writes() || look.reads && op.reads());
    if is_access { Meaning::Access } else { Meaning::Neutral }
}

/// What it means that the threads of a group come together in an op: to fewer threads, that others come in.
fn together<'c: 'a, 'a>(op: OperationRef<'c, 'a>, group: Group, look: Look) -> Meaning {
    // A Triton program is one thread to its author, whose fences are those of all its threads.
    if group > look.group && enclosing(op, &[structure::TRITON_FUNC]).is_none() {
        Meaning::Barrier
    } else {
        Meaning::Neutral
    }
}
