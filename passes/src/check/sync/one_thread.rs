//! Finds releases by one thread of what its block has written (O3), and releases it for the block.

use super::counter::is_own_memory;
use super::{FUNCTIONS, MOST_VALUES, find};
use crate::ir::{Builder, blocks, constant_value, definition, enclosing, name, operations, select};
use crate::order::{may_write_heap, releases};
use crate::search::{Direction, Meaning, Search};
use crate::uniform::{THREAD_OF_LAUNCH, is_reached_together};
use melior::ir::block::BlockArgument;
use melior::ir::{BlockLike, OperationRef, TypeLike, Value, ValueLike, operation::OperationLike};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::iter::successors;
use symm_dialect::diagnostic::Reported;
use symm_dialect::ops::{Group, Order, Scope, SymmOp};

type Writes<'c, 'a> = Search<Box<dyn Fn(OperationRef<'c, 'a>) -> Meaning + 'a>>;

/// The search for such releases.
pub struct OneThread<'c, 'a> {
    strict: bool,
    /// What is written before branches of one thread, for each condition that there is.
    writes: HashMap<String, Writes<'c, 'a>>,
    /// The branches that something was found in.
    found: HashSet<usize>,
    /// Whether a function has a relaxed access that a fence in front of it makes a signal.
    signals_behind_fences: HashMap<usize, bool>,
    /// The first op of a function's body in which a thread may wait apart from its block.
    first_waits: HashMap<usize, Option<OperationRef<'c, 'a>>>,
}

impl<'c: 'a, 'a> OneThread<'c, 'a> {
    pub fn new(strict: bool) -> Self {
        Self {
            strict,
            writes: HashMap::new(),
            found: HashSet::new(),
            signals_behind_fences: HashMap::new(),
            first_waits: HashMap::new(),
        }
    }

    /// Repairs the release of one op, if it is one that its block's writes need.
    pub fn check(&mut self, op: SymmOp<'c, 'a>) -> Result<(), Reported> {
        if !self.releases_alone(op) {
            return Ok(());
        }
        let op = op.operation();
        let Some(branch) = Branch::around(op) else { return Ok(()) };
        if self.found.contains(&branch.address()) || !self.writes_come_before(&branch) {
            return Ok(());
        }
        self.found.insert(branch.address());
        let message = "O3: one thread signals what the other threads of its block have written before, and nothing \
                       releases that; use group block";
        if !is_reached_together(branch.op) || self.may_wait_before(branch.op) {
            return find(op, self.strict, message, "");
        }
        find(op, self.strict, message, "; put a release fence of the block in front of the branch")?;
        let b = Builder::before(branch.op);
        let keywords = [("sem", Order::Release as i64), ("scope", Scope::Sys as i64), ("group", Group::Block as i64)];
        b.op("symm.fence", &[], &[], &keywords.map(|(name, value)| (name, b.integer(32, value))));
        // It is a barrier for all that comes behind it.
        self.writes.clear();
        Ok(())
    }

    /// Whether an op releases what its own thread has written, and nobody else's writes.
    fn releases_alone(&mut self, op: SymmOp<'c, 'a>) -> bool {
        match op {
            SymmOp::Signal(op) => op.group() == Group::Thread && releases(op.sem()),
            SymmOp::PutSignal(op) => op.group() == Group::Thread,
            SymmOp::AtomicRmw(op) => releases(op.sem()),
            SymmOp::AtomicCas(op) => releases(op.sem()),
            SymmOp::Barrier(op) => op.group() == Group::Thread,
            SymmOp::Fence(fence) => {
                let is_release = fence.group() == Group::Thread && releases(fence.sem()) && fence.scope() > Scope::Cta;
                is_release && self.has_signal_behind_fence(fence.operation())
            }
            _ => false,
        }
    }

    fn has_signal_behind_fence(&mut self, fence: OperationRef<'c, 'a>) -> bool {
        let Some(function) = enclosing(fence, FUNCTIONS) else { return false };
        let is_signal = |op| match SymmOp::cast(op) {
            Some(SymmOp::Signal(op)) => op.group() == Group::Thread && !releases(op.sem()),
            Some(SymmOp::AtomicRmw(op)) => !releases(op.sem()),
            Some(SymmOp::AtomicCas(op)) => !releases(op.sem()),
            Some(SymmOp::RemoteStore(op)) => op.volatile_(),
            _ => false,
        };
        *self
            .signals_behind_fences
            .entry(function.to_raw().ptr as usize)
            .or_insert_with(|| !select(function, |op| is_signal(op).then_some(())).is_empty())
    }

    /// Whether a thread may wait before it gets to a branch. A barrier there could then wait for a thread that waits for
    /// one behind the barrier, here or on another rank.
    fn may_wait_before(&mut self, branch: OperationRef<'c, 'a>) -> bool {
        let Some(function) = enclosing(branch, FUNCTIONS) else { return true };
        let [body] = blocks(function)[..] else { return true };
        let above = successors(Some(branch), OperationLike::parent_operation);
        let Some(top) = above.take_while(|op| *op != function).last() else { return true };
        let first = *self.first_waits.entry(function.to_raw().ptr as usize).or_insert_with(|| {
            let waits = |op: &OperationRef<'c, 'a>| !select(*op, |op| waits_apart(op).then_some(())).is_empty();
            operations(body).into_iter().find(waits)
        });
        first.is_some_and(|wait| if wait == top { top != branch } else { wait.is_before_in_block(top) })
    }

    /// Whether threads of the block write before a branch, and no barrier of the block lies in between.
    fn writes_come_before(&mut self, branch: &Branch<'c, 'a>) -> bool {
        let key = branch.key();
        let search = self
            .writes
            .entry(key.clone())
            .or_insert_with(|| Search::new(Direction::Before, false, Box::new(move |op| meaning(op, &key))));
        search.unordered(branch.op)
    }
}

/// What an op is to a branch of one thread behind it.
fn meaning<'c: 'a, 'a>(op: OperationRef<'c, 'a>, key: &str) -> Meaning {
    let barrier_or = |group, otherwise| if group == Group::Block { Meaning::Fence } else { otherwise };
    match SymmOp::cast(op) {
        Some(SymmOp::Signal(op)) => barrier_or(op.group(), Meaning::Access),
        Some(SymmOp::PutSignal(op)) => barrier_or(op.group(), Meaning::Access),
        Some(SymmOp::Wait(op)) => barrier_or(op.group(), Meaning::Neutral),
        Some(SymmOp::Fence(op)) => barrier_or(op.group(), Meaning::Neutral),
        Some(SymmOp::Barrier(op)) => barrier_or(op.group(), Meaning::Neutral),
        Some(
            SymmOp::RemoteStore(_)
            | SymmOp::Put(_)
            | SymmOp::Get(_)
            | SymmOp::Copy(_)
            | SymmOp::AtomicRmw(_)
            | SymmOp::AtomicCas(_),
        ) => Meaning::Access,
        None if is_barrier(op) => Meaning::Fence,
        // The same thread's own writes.
        None if name(op) == "scf.if" && blocks(op).len() == 1 && Branch { op, taken: true }.key() == key => {
            Meaning::Skipped
        }
        None if may_write_heap(op) && !writes_own_memory(op) => Meaning::Access,
        _ => Meaning::Neutral,
    }
}

/// Whether an op of another dialect lets no thread of a block on before all are there. With operands it has a number of
/// its own, and threads that it counts.
fn is_barrier(op: OperationRef) -> bool {
    matches!(name(op), "gpu.barrier" | "nvvm.barrier" | "nvvm.barrier0" | "rocdl.barrier" | "rocdl.s.barrier")
        && op.operand_count() == 0
}

/// Whether a thread may wait in an op for what others do, while threads of its block do not.
fn waits_apart<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    match SymmOp::cast(op) {
        Some(SymmOp::Wait(op)) => op.group() != Group::Block,
        Some(SymmOp::Barrier(op)) => op.group() != Group::Block,
        Some(_) => false,
        None => name(op) == "scf.while" || op.has_attribute("callee"),
    }
}

/// Whether all memory that an op is given is the block's own.
fn writes_own_memory<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    let is_store = matches!(
        name(op),
        "memref.store"
            | "memref.atomic_rmw"
            | "affine.store"
            | "vector.store"
            | "vector.maskedstore"
            | "vector.transfer_write"
    );
    is_store && op.operands().filter(|operand| operand.r#type().is_mem_ref()).all(is_own_memory)
}

/// One way through an `scf.if`.
struct Branch<'c, 'a> {
    op: OperationRef<'c, 'a>,
    /// Whether it is the one for a condition that holds.
    taken: bool,
}

impl<'c: 'a, 'a> Branch<'c, 'a> {
    /// The closest branch around an op that one thread of a block takes, or of a warp.
    fn around(op: OperationRef<'c, 'a>) -> Option<Self> {
        let mut inner = op;
        while let Some(parent) = inner.parent_operation().filter(|parent| !FUNCTIONS.contains(&name(*parent))) {
            let taken = inner.block() == blocks(parent).first().copied();
            if name(parent) == "scf.if" && is_one(parent.operand(0).ok()?, taken, &mut MOST_VALUES.clone()) {
                return Some(Self { op: parent, taken });
            }
            inner = parent;
        }
        None
    }

    fn address(&self) -> usize {
        self.op.to_raw().ptr as usize
    }

    /// The same text for branches that the same threads take.
    fn key(&self) -> String {
        let mut key = self.taken.to_string();
        if let Ok(condition) = self.op.operand(0) {
            spell(condition, &mut key, &mut MOST_VALUES.clone());
        }
        key
    }
}

/// Writes down how a value is computed.
fn spell<'c: 'a, 'a>(value: Value<'c, 'a>, text: &mut String, left: &mut u32) {
    *left = left.saturating_sub(1);
    let made = definition(value).filter(|op| {
        let (dialect, rest) = name(*op).split_once('.').unwrap_or_default();
        let is_fixed = dialect == "gpu" && matches!(rest, "thread_id" | "block_dim" | "lane_id");
        *left > 0 && op.result_count() == 1 && (is_fixed || matches!(dialect, "arith" | "index"))
    });
    let Some(op) = made else {
        write!(text, " {:?}", value.to_raw().ptr).expect("a String takes all");
        return;
    };
    write!(text, " ({}", name(op)).expect("a String takes all");
    for attribute in ["predicate", "pred", "value", "dimension"] {
        if let Ok(attribute) = op.attribute(attribute) {
            write!(text, " {attribute}").expect("a String takes all");
        }
    }
    for operand in op.operands() {
        spell(operand, text, left);
    }
    text.push(')');
}

/// Whether one thread alone finds that a condition holds, or, unless `holds`, that it does not.
fn is_one<'c: 'a, 'a>(condition: Value<'c, 'a>, holds: bool, left: &mut u32) -> bool {
    let Some(one_less) = left.checked_sub(1) else { return false };
    *left = one_less;
    let Some(op) = definition(condition) else { return false };
    let operands: Vec<_> = op.operands().collect();
    match (name(op), operands.as_slice()) {
        ("arith.cmpi" | "index.cmp", [lhs, rhs]) => {
            let Some(predicate) = Predicate::of(op) else { return false };
            let predicate = if holds { predicate } else { predicate.negated() };
            predicate.leaves_one(*lhs, *rhs) || predicate.swapped().leaves_one(*rhs, *lhs)
        }
        // Both hold, or neither does.
        ("arith.andi", [one, other]) if holds => is_one(*one, true, left) || is_one(*other, true, left),
        ("arith.ori", [one, other]) if !holds => is_one(*one, false, left) || is_one(*other, false, left),
        ("arith.andi" | "arith.ori", [one, other]) => is_one(*one, holds, left) && is_one(*other, holds, left),
        ("arith.xori", [one, other]) if constant_value(*other).is_some_and(|value| value != 0) => {
            is_one(*one, !holds, left)
        }
        _ => false,
    }
}

/// How two numbers compare, signed or not.
#[derive(Clone, Copy, PartialEq)]
enum Predicate {
    Equal,
    Differ,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Predicate {
    /// That of a comparison.
    fn of(op: OperationRef) -> Option<Self> {
        // `0 : i64` of arith, `#index<cmp_predicate eq>` of index.
        let text = op.attribute("predicate").or_else(|_| op.attribute("pred")).ok()?.to_string();
        let word = text.trim_start_matches("#index<cmp_predicate ").trim_end_matches('>').split(' ').next()?;
        Some(match word {
            "0" | "eq" => Self::Equal,
            "1" | "ne" => Self::Differ,
            "2" | "6" | "slt" | "ult" => Self::Less,
            "3" | "7" | "sle" | "ule" => Self::LessOrEqual,
            "4" | "8" | "sgt" | "ugt" => Self::Greater,
            "5" | "9" | "sge" | "uge" => Self::GreaterOrEqual,
            _ => return None,
        })
    }

    /// What holds where this does not.
    fn negated(self) -> Self {
        match self {
            Self::Equal => Self::Differ,
            Self::Differ => Self::Equal,
            Self::Less => Self::GreaterOrEqual,
            Self::LessOrEqual => Self::Greater,
            Self::Greater => Self::LessOrEqual,
            Self::GreaterOrEqual => Self::Less,
        }
    }

    /// What holds of the second number and the first.
    fn swapped(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            same => same,
        }
    }

    /// Whether the thread's number, or what is made of it, and another number compare like this for one thread.
    fn leaves_one<'c: 'a, 'a>(self, number: Value<'c, 'a>, other: Value<'c, 'a>) -> bool {
        let is_one = match self {
            Self::Equal => true,
            Self::Less => constant_value(other) == Some(1),
            Self::LessOrEqual => constant_value(other) == Some(0),
            Self::Differ | Self::Greater | Self::GreaterOrEqual => false,
        };
        is_one && super::reaches(number, &is_thread_number)
    }
}

/// Whether a value is the number of a thread in its block or warp, or that in the grid.
fn is_thread_number(value: Value) -> bool {
    if let Some(op) = definition(value) {
        let name = name(op);
        return matches!(name, "gpu.thread_id" | "gpu.lane_id" | "gpu.global_id")
            || name.starts_with("nvvm.read.ptx.sreg.tid.")
            || name.starts_with("rocdl.workitem.id.");
    }
    // Asked first: melior prints what it can't convert.
    value.is_block_argument()
        && BlockArgument::try_from(value).is_ok_and(|argument| {
            let parent = crate::ir::owner(argument).parent_operation();
            parent.is_some_and(|parent| name(parent) == "gpu.launch")
                && THREAD_OF_LAUNCH.contains(&argument.argument_number())
        })
}
