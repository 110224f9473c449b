//! Finds the cheapest orders as strong as the program's: one fence for a run of signals or of waits.
//!
//! ```mlir
//! symm.signal set %ctx, %flag[%i], %v, %p : memref<8xi64>, i64
//! symm.signal set %ctx, %flag[%i], %v, %q : memref<8xi64>, i64
//! scf.for %r = %c0 to %n step %c1 : i32 {
//!   symm.signal set %ctx, %flag[%i], %v, %r : memref<8xi64>, i64
//! }
//! symm.wait %ctx, %flag[%j] ge %v : memref<8xi64>, i64
//! symm.wait %ctx, %flag[%k] ge %v : memref<8xi64>, i64
//! ```
//!
//! becomes
//!
//! ```mlir
//! symm.fence sem release
//! symm.signal set %ctx, %flag[%i], %v, %p sem relaxed : memref<8xi64>, i64
//! symm.signal set %ctx, %flag[%i], %v, %q sem relaxed : memref<8xi64>, i64
//! scf.for %r = %c0 to %n step %c1 : i32 {
//!   symm.signal set %ctx, %flag[%i], %v, %r sem relaxed : memref<8xi64>, i64
//! }
//! symm.wait %ctx, %flag[%j] ge %v sem relaxed : memref<8xi64>, i64
//! symm.wait %ctx, %flag[%k] ge %v sem relaxed : memref<8xi64>, i64
//! symm.fence sem acquire
//! ```
//!
//! What it does, and why that is right. Two ops are *next to each other* if every operation between them touches no
//! memory and waits for nobody. The pass moves nothing (O4): it only inserts fences and weakens orders.
//!
//! - **Signals.** The same signal to several ranks is a broadcast, whose signals are unordered among themselves
//!   (`symm.signal`). Nothing lies between them, so each releases what comes before the first: one release fence of the
//!   signalling threads in front of the first releases it for all (O1). Signals that differ in more than the rank are
//!   no broadcast: the second releases the first, which may reset a flag that the second hands over. Right after a
//!   release fence no other fence is needed.
//! - **Waits.** Consecutive waits with `ge` or `gt` are unordered among themselves (`symm.wait`), so one acquire fence
//!   after the last acquires what all of them have seen (O5). Waits with another comparison keep their acquire: without
//!   it the second could be satisfied by a value that the first one's sender has overwritten.
//! - **Groups.** A group signals and waits through its first thread, and a fence of the group is a fence of that
//!   thread, after a barrier that collects what the others did (O3). So a run belongs to one group, and its fence to
//!   the same group. Every thread of the group must reach it: the run has an op that all of them reach in the same
//!   block, or only uniform loops and branches surround it.
//! - **Fences** next to each other become one, if one is at least as strong as the other or both have the same scope.
//!   An acquire fence right after an acquire wait is removed: the wait itself acquires what it has seen (O5). The fence
//!   stays if it may acquire what something else has seen: if there is a relaxed wait or atomic, a volatile load or an
//!   unknown operation between the previous fence, or the start of the kernel, and the wait.
//!
//! A single release signal stays: what it releases may be in a caller, in an earlier kernel, or a read of memory that
//! the peer may now overwrite. An op in a region or block keeps its order too, unless the pass can tell that it follows
//! the fence directly.
//!
//! If an acquire costs no more than its poll, as in Triton kernels on NVIDIA GPUs, a fence after several waits costs
//! more than their acquires: `fence-waits=false` leaves waits alone.
//!
//! Limits: runs in one block, with `scf.for`, `scf.while`, `affine.for` and `scf.if` in it that hold nothing else;
//! an `scf.if` alone starts no run, because its other branch would not need the fence. Waits with a timeout,
//! `put_signal`, atomics and scopes narrower than sys are left alone: run `symm-check-memory-order` first.

mod fences;

use crate::analysis::acquires::may_see_flags;
use crate::analysis::order::{is_quiet, same, set_keyword};
use crate::analysis::uniform::is_reached_together;
use crate::ir::structure::{is_branch, is_loop};
use crate::ir::{Builder, blocks, collect, constant_value, definition, is_kernel, operations, owner};
use crate::pass::{self, Ir, Pass, PassOption};
use crate::registration::previous_in_block;
use fences::{Done, covers, make_fence};
use melior::ir::block::BlockArgument;
use melior::ir::{BlockLike, BlockRef, OperationRef, Value, operation::OperationLike};
use std::collections::HashMap;
use symm_dialect::ops::{Accessing, Comparison, Fence, Group, Grouped, Order, Scope, Signal, SymmOp, Wait};

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-infer-order",
    summary: "Find the cheapest orders as strong as the program's: one fence for a run of signals or waits",
    options: &[PassOption {
        name: "fence-waits",
        kind: pass::OptionKind::Bool,
        initial: "true",
        help: "replace the acquires of several waits by one fence",
    }],
    run: |root, options| Ok(run(root, options.flag("fence-waits"))),
};

fn run(root: OperationRef, fences_waits: bool) -> Ir {
    let mut pass = InferOrder { known: HashMap::new(), let_in: HashMap::new(), fences_waits, outcome: Ir::Kept };
    for block in blocks(root) {
        pass.run_on_block(block);
    }
    pass.outcome
}

/// What an operation is to the operations around it in its block.
#[derive(Clone, Copy)]
enum Kind<'c, 'a> {
    /// It touches no memory.
    Quiet,
    /// A signal, or a loop or branch that holds only the same one, for any ranks.
    Signals(Signal<'c, 'a>),
    /// A wait, or a loop or branch that holds such only.
    Waits(Wait<'c, 'a>),
    Fence(Fence<'c, 'a>),
    /// Anything else.
    Other,
}

impl<'c: 'a, 'a> Kind<'c, 'a> {
    fn of(op: SymmOp<'c, 'a>) -> Self {
        let Some(grouped) = op.grouped() else { return if op.is_pure() { Self::Quiet } else { Self::Other } };
        match grouped {
            Grouped::Signal(signal) if signal.scope() == Scope::Sys => Self::Signals(signal),
            Grouped::Wait(wait) if wait.scope() == Scope::Sys && wait.timeout().is_none() => Self::Waits(wait),
            Grouped::Fence(fence) => Self::Fence(fence),
            Grouped::Signal(_)
            | Grouped::Wait(_)
            | Grouped::PutSignal(_)
            | Grouped::Barrier(_)
            | Grouped::Get(_)
            | Grouped::Put(_)
            | Grouped::Copy(_)
            | Grouped::TraceBegin(_) => Self::Other,
        }
    }
}

struct InferOrder<'c, 'a> {
    /// The kinds of the operations with regions, which take a look at all they hold.
    known: HashMap<usize, Kind<'c, 'a>>,
    /// For ops that were looked at, and groups: whether all is let in that was seen before them.
    let_in: HashMap<(usize, Group), bool>,
    fences_waits: bool,
    outcome: Ir,
}

impl<'c: 'a, 'a> InferOrder<'c, 'a> {
    fn run_on_block(&mut self, block: BlockRef<'c, 'a>) {
        // What has been met since the last operation that is `Other`.
        let mut stretch = Vec::new();
        for op in operations(block) {
            match self.kind(op) {
                Kind::Quiet => {}
                Kind::Other => {
                    self.run_on_stretch(&stretch);
                    stretch.clear();
                    for block in blocks(op) {
                        self.run_on_block(block);
                    }
                }
                kind => stretch.push((op, kind)),
            }
        }
        self.run_on_stretch(&stretch);
    }

    fn kind(&mut self, op: OperationRef<'c, 'a>) -> Kind<'c, 'a> {
        if let Some(op) = SymmOp::cast(op) {
            return Kind::of(op);
        }
        if is_quiet(op) {
            return Kind::Quiet;
        }
        if !is_loop(op) && !is_branch(op) {
            return Kind::Other;
        }
        let address = op.to_raw().ptr as usize;
        if let Some(kind) = self.known.get(&address) {
            return *kind;
        }
        let kind = self.kind_of_body(op);
        self.known.insert(address, kind);
        kind
    }

    /// The kind of a loop or branch.
    fn kind_of_body(&mut self, op: OperationRef<'c, 'a>) -> Kind<'c, 'a> {
        let mut all = Kind::Quiet;
        for inner in blocks(op).into_iter().flat_map(operations) {
            all = match (all, self.kind(inner)) {
                (kind, Kind::Quiet) | (Kind::Quiet, kind @ (Kind::Signals(_) | Kind::Waits(_))) => kind,
                (Kind::Signals(one), Kind::Signals(other)) if is_broadcast(one, other) => all,
                (Kind::Waits(one), Kind::Waits(other)) if is_gather(one, other) => all,
                _ => return Kind::Other,
            };
        }
        match all {
            // From one time around the loop to the next, too, nothing but the rank may change.
            Kind::Signals(signal) if is_loop(op) && !is_fixed_in(signal, op) => Kind::Other,
            Kind::Waits(wait) if is_loop(op) && !is_gather(wait, wait) => Kind::Other,
            kind => kind,
        }
    }

    /// Rewrites signals, waits and fences that are next to each other.
    fn run_on_stretch(&mut self, stretch: &[Step<'c, 'a>]) {
        let mut done = Done::default();
        let mut rest = stretch;
        while let Some(&(op, kind)) = rest.first() {
            let (count, group) = match kind {
                Kind::Signals(first) => (
                    count(rest, |kind| matches!(kind, Kind::Signals(other) if is_broadcast(first, other))),
                    first.group(),
                ),
                Kind::Waits(first) => (
                    count(rest, |kind| matches!(kind, Kind::Waits(other) if is_gather(first, other))).max(1),
                    first.group(),
                ),
                Kind::Fence(fence) => {
                    if self.is_covered(done.last(), fence) {
                        Builder::before(op).erase(op);
                        self.outcome = Ir::Changed;
                    } else if done.push_fence(op, fence) {
                        self.outcome = Ir::Changed;
                    }
                    rest = &rest[1..];
                    continue;
                }
                Kind::Quiet | Kind::Other => unreachable!("not part of a stretch"),
            };
            let (run, after) = rest.split_at(count);
            rest = after;
            let is_signal = matches!(kind, Kind::Signals(_));
            let members: Vec<OperationRef> =
                run.iter().flat_map(|(op, _)| members(*op)).filter(|op| is_ordered(*op)).collect();
            let fenced = is_signal && matches!(done.last(), Some((_, Kind::Fence(fence))) if covers(*fence, group));
            let is_kept = members.is_empty() || !(is_signal || self.fences_waits);
            if is_kept || !(fenced || is_worth_a_fence(run, members.len()) && is_reached(run, group)) {
                done.extend(run);
                continue;
            }
            self.outcome = Ir::Changed;
            for member in &members {
                set_keyword(*member, "sem", Order::Relaxed as i64);
            }
            if is_signal && !fenced {
                let fence = make_fence(run[0].0, members[0], Order::Release, group);
                done.push_fence(fence.operation(), fence);
            }
            done.extend(run);
            if !is_signal {
                let next = run.last().and_then(|(op, _)| op.next_in_block()).expect("a terminator comes after a wait");
                let fence = make_fence(next, members[members.len() - 1], Order::Acquire, group);
                done.push_fence(fence.operation(), fence);
            }
        }
        done.finish();
    }

    /// Whether an acquire fence does again what the wait before it has just done (O5), and nothing else.
    fn is_covered(&mut self, before: Option<&Step<'c, 'a>>, fence: Fence<'c, 'a>) -> bool {
        let Some((op, Kind::Waits(wait))) = before else { return false };
        !is_loop(*op)
            && !is_branch(*op)
            && wait.sem().acquires()
            && fence.sem() == Order::Acquire
            && fence.group() == wait.group()
            && self.all_is_let_in(*op, fence.group())
    }

    /// Whether nothing that ran before `op` leaves it to a later fence of the group to let in what it has seen. The
    /// polls of a wait may acquire one by one: then they do not act as a fence for the relaxed reads before them.
    fn all_is_let_in(&mut self, op: OperationRef<'c, 'a>, group: Group) -> bool {
        let (mut at, mut passed) = (op, Vec::new());
        let answer = loop {
            let key = (at.to_raw().ptr as usize, group);
            if let Some(known) = self.let_in.get(&key) {
                break *known;
            }
            passed.push(key);
            if let Some(before) = previous_in_block(at) {
                if let Some(SymmOp::Fence(fence)) = SymmOp::cast(before)
                    && fence.sem().acquires()
                    && fence.scope() == Scope::Sys
                    && fence.group() == group
                {
                    break true;
                }
                if collect(before).into_iter().any(needs_fence) {
                    break false;
                }
                at = before;
                continue;
            }
            let Some(block) = at.block() else { break false };
            if block.predecessor_count() > 0 {
                break false;
            }
            match block.parent_operation() {
                Some(parent) if is_kernel(parent) => break true,
                // What runs before the body of a loop is also the rest of the body.
                Some(parent)
                    if is_branch(parent) || is_loop(parent) && !collect(parent).into_iter().any(needs_fence) =>
                {
                    at = parent;
                }
                _ => break false,
            }
        };
        self.let_in.extend(passed.into_iter().map(|key| (key, answer)));
        answer
    }
}

/// Whether two signals differ in the rank alone, and perhaps in their order.
fn is_broadcast<'c: 'a, 'a>(one: Signal<'c, 'a>, other: Signal<'c, 'a>) -> bool {
    let (values, others) = (all_but_rank(one), all_but_rank(other));
    one.kind() == other.kind()
        && one.group() == other.group()
        && values.len() == others.len()
        && values.into_iter().zip(others).all(|(one, other)| same(one, other))
}

fn all_but_rank<'c: 'a, 'a>(signal: Signal<'c, 'a>) -> Vec<Value<'c, 'a>> {
    [&[signal.ctx(), signal.flag(), signal.value()], signal.indices().as_slice()].concat()
}

/// Whether what a signal says, apart from the rank, is known before the loop `op` around it.
fn is_fixed_in<'c: 'a, 'a>(signal: Signal<'c, 'a>, op: OperationRef<'c, 'a>) -> bool {
    let is_inside = |value| {
        let mut around = match definition(value) {
            Some(made) => made.parent_operation(),
            None => BlockArgument::try_from(value).ok().and_then(|argument| owner(argument).parent_operation()),
        };
        while let Some(parent) = around.filter(|parent| *parent != op) {
            around = parent.parent_operation();
        }
        around.is_some()
    };
    all_but_rank(signal).into_iter().all(|value| constant_value(value).is_some() || !is_inside(value))
}

/// Whether consecutive waits may be satisfied in any order.
fn is_gather<'c: 'a, 'a>(one: Wait<'c, 'a>, other: Wait<'c, 'a>) -> bool {
    let counts = |wait: Wait| matches!(wait.comparison(), Comparison::Ge | Comparison::Gt);
    counts(one) && counts(other) && one.group() == other.group()
}

type Step<'c, 'a> = (OperationRef<'c, 'a>, Kind<'c, 'a>);

/// How many steps from the first on are of a kind.
fn count<'c: 'a, 'a>(steps: &[Step<'c, 'a>], is_of_kind: impl Fn(Kind<'c, 'a>) -> bool) -> usize {
    steps.iter().take_while(|(_, kind)| is_of_kind(*kind)).count()
}

/// The signals or waits that a step consists of.
fn members<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let mut all = collect(op);
    all.retain(|op| matches!(SymmOp::cast(*op), Some(SymmOp::Signal(_) | SymmOp::Wait(_))));
    all
}

/// Whether a signal releases or a wait acquires.
fn is_ordered<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    SymmOp::cast(op).and_then(SymmOp::sem).is_some_and(|sem| sem != Order::Relaxed)
}

/// Whether one fence is cheaper than the orders of `count` operations.
fn is_worth_a_fence(run: &[Step], count: usize) -> bool {
    let loops = run.iter().any(|(op, _)| is_loop(*op));
    (count > 1 || loops) && run.iter().any(|(op, _)| !is_branch(*op))
}

/// Whether all threads of the group reach the place of the run.
fn is_reached(run: &[Step], group: Group) -> bool {
    group == Group::Thread
        || run.iter().any(|(op, _)| !is_loop(*op) && !is_branch(*op))
        || is_reached_together(run[0].0)
}

/// Whether an operation may see what another rank has released and leave it to a later fence to let it in.
fn needs_fence<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    let Some(symm) = SymmOp::cast(op) else { return may_see_flags(op) };
    // A fence or a barrier leaves nothing to a later one; nothing is known of others that are not accesses.
    let Some(access) = symm.accessing() else { return !symm.is_pure() && !symm.acquires() && !symm.releases() };
    match access {
        Accessing::Wait(wait) => !wait.sem().acquires(),
        Accessing::AtomicRmw(atomic) => !atomic.sem().acquires(),
        Accessing::AtomicCas(atomic) => !atomic.sem().acquires(),
        // What a volatile load sees may be a flag: it counts as a relaxed wait.
        Accessing::RemoteLoad(load) => load.volatile_(),
        Accessing::Signal(_)
        | Accessing::RemoteStore(_)
        | Accessing::Put(_)
        | Accessing::Get(_)
        | Accessing::Copy(_) => false,
        Accessing::PutSignal(_) | Accessing::PutPacket(_) | Accessing::WaitPacket(_) | Accessing::TryPacket(_) => true,
    }
}
