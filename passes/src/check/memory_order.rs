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
//! An operation that is not known to touch no memory of the heap counts as a write and a read, as does a call.
//!
//! Limits: it looks at one function, along its structured control flow and its blocks, and so not at what the callers
//! do. In a function of a `gpu.module` that is no kernel, its start and its end count as an access. Elsewhere the
//! pipelines look again behind `inline`; in a function that is not inlined, a relaxed signal or wait publishes or lets
//! in what the function itself does, and nothing of its callers' without a fence.

use crate::ir::{blocks, enclosing, name, operations, symm_ops};
use crate::order::{is_bulk_load, is_bulk_store, is_quiet, set_keyword};
use crate::pass::{Ir, Kind, Pass, PassOption, Values};
use crate::registration::previous_in_block;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockLike, BlockRef, OperationRef};
use std::collections::{HashMap, HashSet};
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
    let mut searches: HashMap<Look, Search> = HashMap::new();
    let mut unordered = |operation, direction, group| {
        let look = Look { direction, group };
        searches.entry(look).or_insert_with(|| Search::new(look)).unordered(operation)
    };
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
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Direction {
    Before,
    After,
}

/// How to look: which way, and for which group of threads.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
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
        // They read and write, and their own order is not that of the signal or wait.
        Some(SymmOp::AtomicRmw(_) | SymmOp::AtomicCas(_)) => Meaning::Access,
        Some(_) => Meaning::Neutral,
        None if only_reads(name(op)) && !before => Meaning::Access,
        None if only_reads(name(op)) || is_quiet(op) || touches_no_heap(op) => Meaning::Neutral,
        None => Meaning::Access,
    }
}

/// Whether an op of another dialect reads memory and writes none.
fn only_reads(name: &str) -> bool {
    let (dialect, rest) = name.split_once('.').unwrap_or_default();
    let is_load = match dialect {
        "affine" => matches!(rest, "load" | "vector_load"),
        "llvm" | "memref" | "tt" => rest == "load",
        "ttg" => rest == "async_copy_global_to_local",
        "vector" => matches!(rest, "load" | "maskedload" | "transfer_read" | "gather" | "expandload"),
        _ => false,
    };
    is_load || is_bulk_load(name)
}

/// Whether an op of another dialect that is no load touches no memory that another rank may see, apart from what its
/// regions hold. An op that is not known here does.
fn touches_no_heap<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    let name = name(op);
    let (dialect, rest) = name.split_once('.').unwrap_or_default();
    match dialect {
        // Triton's dialects for GPUs are about shared and tensor memory.
        "cf" | "scf" | "ttg" => true,
        "affine" => matches!(rest, "for" | "if" | "parallel"),
        "func" => matches!(rest, "return" | "constant"),
        "gpu" => {
            matches!(rest, "return" | "launch" | "terminator" | "barrier" | "shuffle" | "all_reduce" | "yield")
                || matches!(rest, "subgroup_reduce" | "printf")
        }
        "llvm" => {
            matches!(rest, "return" | "br" | "cond_br" | "switch" | "unreachable" | "alloca")
                || matches!(rest, "extractvalue" | "insertvalue")
        }
        "memref" => {
            matches!(rest, "alloc" | "alloca" | "dealloc" | "alloca_scope" | "alloca_scope.return" | "prefetch")
                || matches!(rest, "assume_alignment")
        }
        "vector" => !matches!(rest, "store" | "maskedstore" | "transfer_write" | "scatter" | "compressstore"),
        "tt" => {
            matches!(rest, "return" | "dot" | "dot_scaled" | "scan" | "scan.return" | "histogram" | "gather")
                || matches!(rest, "unsplat" | "mulhiui" | "precise_sqrt" | "precise_divf" | "print" | "assert")
                || matches!(rest, "make_tensor_ptr" | "make_tensor_descriptor" | "advance")
                || matches!(rest, "elementwise_inline_asm" | "extern_elementwise") && is_pure(op)
        }
        "ttng" => !is_bulk_store(name),
        _ => false,
    }
}

/// Whether an op of Triton's says of its text or its callee that it does nothing but compute.
fn is_pure<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    op.attribute("pure").is_ok_and(|pure| pure.to_string() == "true")
}

/// How a stretch of code ended the search.
#[derive(Clone, Copy, PartialEq)]
enum Found {
    Access,
    Fence,
    End,
}

/// Ops whose body runs again and again: its other iterations lie beyond this one.
const LOOPS: &[&str] = &["scf.for", "scf.while", "affine.for", "scf.parallel", "scf.forall"];

/// Ops whose end is the end of the search.
const FUNCTIONS: &[&str] = &["func.func", "gpu.func", "llvm.func", "tt.func", "gpu.launch"];

/// Whether only kernels call a function. They are not looked at, and may do anything before it and after it: `inline`
/// leaves calls in GPU functions as they are.
fn is_device_function<'c: 'a, 'a>(function: OperationRef<'c, 'a>) -> bool {
    let is_kernel = function.has_attribute("gpu.kernel") || name(function) == "gpu.launch";
    !is_kernel && enclosing(function, &["gpu.module"]).is_some()
}

/// The search in one direction for one group, with what it has found so far: every stretch of code is walked once, for
/// all signals or waits behind it.
struct Search {
    look: Look,
    /// What the ops from this one on meet first, up to the end of its block.
    stretches: HashMap<usize, Found>,
    /// Whether a path that leaves this block meets an access before it meets a fence.
    leaving: HashMap<usize, bool>,
}

impl Search {
    fn new(look: Look) -> Self {
        Self { look, stretches: HashMap::new(), leaving: HashMap::new() }
    }

    /// Whether a path from `op` meets an access before it meets a fence, up to the ends of its function.
    fn unordered<'c: 'a, 'a>(&mut self, op: OperationRef<'c, 'a>) -> bool {
        let Some(block) = op.block() else { return false };
        match self.stretch(self.step(op)) {
            Found::Access => true,
            Found::Fence => false,
            Found::End => self.leave(block),
        }
    }

    /// The same from the far end of a block.
    fn leave<'c: 'a, 'a>(&mut self, block: BlockRef<'c, 'a>) -> bool {
        // Blocks whose far end is reached, each with the one that it was reached from.
        let mut reached = vec![(block, 0)];
        let mut seen = HashSet::from([key(block)]);
        let mut next = 0;
        while let Some(&(block, _)) = reached.get(next) {
            let known = self.leaving.get(&key(block)).copied();
            let (is_access, ends) =
                if known.is_some() { (known == Some(true), Vec::new()) } else { self.around(block) };
            if is_access {
                // It is also what those meet from which this one was reached.
                let mut at = next;
                loop {
                    self.leaving.insert(key(reached[at].0), true);
                    if at == 0 {
                        return true;
                    }
                    at = reached[at].1;
                }
            }
            reached.extend(ends.into_iter().filter(|end| seen.insert(key(*end))).map(|end| (end, next)));
            next += 1;
        }
        // None of them has a way to an access.
        self.leaving.extend(reached.into_iter().map(|(block, _)| (key(block), false)));
        false
    }

    /// What lies right beyond the far end of a block: whether an access does, or else whose far ends are reached.
    fn around<'c: 'a, 'a>(&mut self, block: BlockRef<'c, 'a>) -> (bool, Vec<BlockRef<'c, 'a>>) {
        let mut ends = Vec::new();
        let neighbours: Vec<_> = match self.look.direction {
            Direction::Before => (0..block.predecessor_count()).filter_map(|i| block.predecessor(i).ok()).collect(),
            Direction::After => (0..block.successor_count()).filter_map(|i| block.successor(i).ok()).collect(),
        };
        let is_outermost = neighbours.is_empty();
        for neighbour in neighbours {
            match self.stretch(self.near_end(neighbour)) {
                Found::Access => return (true, ends),
                Found::Fence => {}
                Found::End => ends.push(neighbour),
            }
        }
        let Some(parent) = block.parent_operation() else { return (false, ends) };
        if FUNCTIONS.contains(&name(parent)) {
            return (is_outermost && is_device_function(parent), ends);
        }
        if LOOPS.contains(&name(parent)) && self.nested(parent) {
            return (true, ends);
        }
        match self.stretch(self.step(parent)) {
            Found::Access => return (true, ends),
            Found::Fence => {}
            Found::End => ends.extend(parent.block()),
        }
        (false, ends)
    }

    /// The next op, in one block.
    fn step<'c: 'a, 'a>(&self, op: OperationRef<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
        match self.look.direction {
            Direction::Before => previous_in_block(op),
            Direction::After => op.next_in_block(),
        }
    }

    /// The first op of a block.
    fn near_end<'c: 'a, 'a>(&self, block: BlockRef<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
        match self.look.direction {
            Direction::Before => block.terminator().or_else(|| operations(block).pop()),
            Direction::After => block.first_operation(),
        }
    }

    /// What the ops of a block, from one on, meet first.
    fn stretch<'c: 'a, 'a>(&mut self, first: Option<OperationRef<'c, 'a>>) -> Found {
        let (mut next, mut passed) = (first, Vec::new());
        let found = loop {
            let Some(op) = next else { break Found::End };
            let at = op.to_raw().ptr as usize;
            if let Some(found) = self.stretches.get(&at) {
                break *found;
            }
            passed.push(at);
            match meaning(op, self.look) {
                Meaning::Access => break Found::Access,
                Meaning::Fence => break Found::Fence,
                Meaning::Neutral if self.nested(op) => break Found::Access,
                Meaning::Neutral => next = self.step(op),
            }
        };
        self.stretches.extend(passed.into_iter().map(|at| (at, found)));
        found
    }

    /// Whether an access in the regions of `op` is met: one there counts, but a fence there may not be reached.
    fn nested<'c: 'a, 'a>(&mut self, op: OperationRef<'c, 'a>) -> bool {
        blocks(op).into_iter().any(|block| self.stretch(self.near_end(block)) == Found::Access)
    }
}

fn key(block: BlockRef) -> usize {
    block.to_raw().ptr as usize
}
