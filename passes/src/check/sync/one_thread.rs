//! The release by one thread or one warp of what its block has written (O3).

use super::find;
use crate::analysis::MOST_VALUES;
use crate::analysis::order::{barrier, same};
use crate::analysis::search::{Direction, Meaning, Search};
use crate::analysis::uniform::THREAD_OF_LAUNCH;
use crate::ir::structure::{self, FUNCTIONS, KERNELS, is_branch};
use crate::ir::{blocks, constant_value, definition, enclosing, name};
use melior::ir::attribute::DenseI32ArrayAttribute;
use melior::ir::block::BlockArgument;
use melior::ir::{BlockLike, OperationRef, Value, ValueLike, operation::OperationLike};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use symm_dialect::diagnostic::Reported;
use symm_dialect::ops::{Accessing, Group, Grouped, Releasing, SymmOp, Update};

/// The most threads that a warp has on any GPU.
const MOST_LANES: i64 = 64;

type Writes<'c, 'a> = Search<'c, 'a, Box<dyn Fn(OperationRef<'c, 'a>) -> Meaning + 'a>>;

/// The search for such releases.
pub struct OneThread<'c, 'a> {
    strict: bool,
    branches: Rc<Branches>,
    /// What the other threads have written before a branch of one thread, and before one of one warp.
    writes: HashMap<Group, Writes<'c, 'a>>,
    /// The branches that something was found in.
    found: HashSet<usize>,
}

impl<'c: 'a, 'a> OneThread<'c, 'a> {
    pub fn new(strict: bool) -> Self {
        Self { strict, branches: Rc::default(), writes: HashMap::new(), found: HashSet::new() }
    }

    /// Reports the release of one op, if it is one that its block's writes need.
    pub fn check(&mut self, op: SymmOp<'c, 'a>) -> Result<(), Reported> {
        let Some(release) = op.releasing().filter(|release| releases_for_less_than_block(*release)) else {
            return Ok(());
        };
        let operation = op.operation();
        let Some((branch, few)) = masked(op).or_else(|| self.branches.around(operation)) else { return Ok(()) };
        let Some(write) = self.write_before(branch, few) else { return Ok(()) };
        if !is_for(release, write) || !self.found.insert(branch.to_raw().ptr as usize) {
            return Ok(());
        }
        let (one, others) = if few == Group::Thread { ("thread", "threads") } else { ("warp", "warps") };
        let message = format!(
            "O3: one {one} signals what the other {others} of its block have written before, and nothing releases \
             that; use group block"
        );
        find(operation, self.strict, &message)
    }

    /// A write of the block's threads to another rank before a branch of a few of them, with no barrier of the block
    /// in between.
    fn write_before(&mut self, branch: OperationRef<'c, 'a>, few: Group) -> Option<OperationRef<'c, 'a>> {
        let search = self.writes.entry(few).or_insert_with(|| {
            let branches = Rc::clone(&self.branches);
            Search::new(Direction::Before, false, Box::new(move |op| meaning(op, few, &branches)))
        });
        search.unordered(branch)
    }
}

/// Whether an op signals, for its own thread or warp, a rank that it names or all of them.
fn releases_for_less_than_block(op: Releasing) -> bool {
    match op {
        Releasing::Signal(op) => op.group() != Group::Block && op.sem().releases(),
        Releasing::PutSignal(op) => op.group() != Group::Block,
        Releasing::AtomicRmw(op) => op.sem().releases(),
        Releasing::AtomicCas(op) => op.sem().releases(),
        Releasing::Barrier(op) => op.group() != Group::Block,
        // Whom a fence is for it does not say; the other is a host's.
        Releasing::Fence(_) | Releasing::BarrierAll(_) => false,
    }
}

/// What an op is to a branch of a few threads after it.
fn meaning<'c: 'a, 'a>(op: OperationRef<'c, 'a>, few: Group, branches: &Branches) -> Meaning {
    // One thread may be of the only warp, which comes together.
    let is_together = |group: Group| group > few;
    let is_write = match SymmOp::cast(op) {
        Some(symm) => {
            let is_fence = symm.grouped().is_some_and(|grouped| match grouped {
                // Threads that tell a flag of their own what they have written.
                Grouped::Signal(signal) => {
                    is_together(signal.group()) || signal.sem().releases() && branches.around(op).is_none()
                }
                Grouped::PutSignal(put) => is_together(put.group()) || branches.around(op).is_none(),
                Grouped::Wait(wait) => is_together(wait.group()),
                Grouped::Fence(fence) => is_together(fence.group()),
                Grouped::Barrier(barrier) => is_together(barrier.group()),
                Grouped::Get(_) | Grouped::Put(_) | Grouped::Copy(_) | Grouped::TraceBegin(_) => false,
            });
            if is_fence {
                return Meaning::Fence;
            }
            written_rank(symm).is_some()
        }
        // A barrier with operands has a number of its own, and threads that it counts.
        None => match barrier(name(op)) {
            Some(group) => {
                let is_whole = name(op) != "nvvm.barrier" || op.operand_count() == 0;
                return if is_whole && is_together(group) { Meaning::Fence } else { Meaning::Neutral };
            }
            None => false,
        },
    };
    if is_write && SymmOp::cast(op).and_then(masked).is_none() && branches.around(op).is_none() {
        return Meaning::Access;
    }
    Meaning::Neutral
}

/// The rank that an op of every thread writes to.
fn written_rank<'c: 'a, 'a>(op: SymmOp<'c, 'a>) -> Option<Value<'c, 'a>> {
    match op.accessing()? {
        Accessing::RemoteStore(op) => Some(op.rank()),
        Accessing::Put(op) => Some(op.rank()),
        // What a copy or an atomic is for, and whether a peer reads this rank's memory, one kernel does not show.
        Accessing::Get(_)
        | Accessing::Copy(_)
        | Accessing::AtomicRmw(_)
        | Accessing::AtomicCas(_)
        | Accessing::RemoteLoad(_)
        | Accessing::Signal(_)
        | Accessing::PutSignal(_)
        | Accessing::Wait(_)
        | Accessing::PutPacket(_)
        | Accessing::WaitPacket(_)
        | Accessing::TryPacket(_) => None,
    }
}

/// Whether a release is sure to be meant for a write: it tells the rank that was written to, or all.
fn is_for<'c: 'a, 'a>(release: Releasing<'c, 'a>, write: OperationRef<'c, 'a>) -> bool {
    let Some(to) = SymmOp::cast(write).and_then(written_rank) else { return false };
    match release {
        Releasing::Signal(op) => same(op.rank(), to),
        Releasing::PutSignal(op) => same(op.rank(), to),
        Releasing::AtomicRmw(op) => same(op.rank(), to),
        Releasing::AtomicCas(op) => same(op.rank(), to),
        Releasing::Barrier(_) => true,
        Releasing::Fence(_) | Releasing::BarrierAll(_) => false,
    }
}

/// An atomic under a mask that leaves a few threads of a block, and how few.
fn masked<'c: 'a, 'a>(op: SymmOp<'c, 'a>) -> Option<(OperationRef<'c, 'a>, Group)> {
    let mask = match op.update()? {
        Update::AtomicRmw(op) => op.mask(),
        Update::AtomicCas(op) => op.mask(),
        Update::Signal(_) | Update::PutSignal(_) | Update::PutPacket(_) => None,
    }?;
    let few = few(mask, true, threads_around(op.operation()), &mut MOST_VALUES.clone())?;
    Some((op.operation(), few))
}

/// What is known of the ways through the `scf.if`s of a program: how few threads take one.
#[derive(Default)]
struct Branches {
    known: RefCell<HashMap<(usize, bool), Option<Group>>>,
}

impl Branches {
    /// The closest branch around an op that one thread of a block takes, or one warp.
    fn around<'c: 'a, 'a>(&self, op: OperationRef<'c, 'a>) -> Option<(OperationRef<'c, 'a>, Group)> {
        let mut inner = op;
        while let Some(parent) = inner.parent_operation().filter(|parent| !FUNCTIONS.contains(&name(*parent))) {
            if is_branch(parent) {
                let taken = inner.block() == blocks(parent).first().copied();
                let key = (parent.to_raw().ptr as usize, taken);
                let few = *self.known.borrow_mut().entry(key).or_insert_with(|| {
                    let condition = parent.operand(0).ok()?;
                    few(condition, taken, threads_around(parent), &mut MOST_VALUES.clone())
                });
                if let Some(few) = few {
                    return Some((parent, few));
                }
            }
            inner = parent;
        }
        None
    }
}

/// The threads of the blocks that run an op, where the kernel says so.
fn threads_around(op: OperationRef) -> Option<i64> {
    let kernel = enclosing(op, KERNELS)?;
    let array = |name| DenseI32ArrayAttribute::try_from(kernel.attribute(name).ok()?).ok();
    if name(kernel) == structure::LAUNCH {
        let before = usize::try_from(array("operandSegmentSizes")?.element(0).ok()?).ok()? + 3;
        return (before..before + 3).map(|index| constant_value(kernel.operand(index).ok()?)).product();
    }
    let sizes = array("known_block_size")?;
    (0..sizes.len()).map(|index| sizes.element(index).ok().map(i64::from)).product()
}

/// Whether one thread of a block alone, or one warp, finds that a condition holds, or, unless `holds`, that it does
/// not. Blocks of so few threads have no others.
fn few<'c: 'a, 'a>(condition: Value<'c, 'a>, holds: bool, threads: Option<i64>, left: &mut u32) -> Option<Group> {
    *left = left.checked_sub(1)?;
    let op = definition(condition)?;
    let operands: Vec<_> = op.operands().collect();
    match (name(op), operands.as_slice()) {
        ("arith.cmpi" | "index.cmp", [lhs, rhs]) => {
            let predicate = Predicate::of(op)?;
            let predicate = if holds { predicate } else { predicate.negated() };
            let (one, other) = (predicate.leaves(*lhs, *rhs), predicate.swapped().leaves(*rhs, *lhs));
            let (count, few) = one.or(other)?;
            threads.is_none_or(|threads| threads > count).then_some(few)
        }
        // Both hold, or neither does.
        ("arith.andi", [one, other]) if holds => {
            let one = few(*one, true, threads, left);
            one.into_iter().chain(few(*other, true, threads, left)).min()
        }
        ("arith.ori", [one, other]) if !holds => {
            let one = few(*one, false, threads, left);
            one.into_iter().chain(few(*other, false, threads, left)).min()
        }
        ("arith.andi" | "arith.ori", [one, other]) => {
            Some(few(*one, holds, threads, left)?.max(few(*other, holds, threads, left)?))
        }
        ("arith.xori", [one, other]) if constant_value(*other).is_some_and(|value| value != 0) => {
            few(*one, !holds, threads, left)
        }
        _ => None,
    }
}

/// How two numbers compare, signed or not.
#[derive(Clone, Copy, PartialEq)]
pub enum Predicate {
    Equal,
    Differ,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Predicate {
    /// That of a comparison.
    pub fn of(op: OperationRef) -> Option<Self> {
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
    pub fn swapped(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            same => same,
        }
    }

    /// How many threads of a block or of a warp, no more than a warp has, find that their number, or what is made of
    /// it, and another number compare like this.
    fn leaves<'c: 'a, 'a>(self, number: Value<'c, 'a>, other: Value<'c, 'a>) -> Option<(i64, Group)> {
        let first = match self {
            Self::Equal => 1,
            Self::Less => constant_value(other)?,
            Self::LessOrEqual => constant_value(other)?.checked_add(1)?,
            Self::Differ | Self::Greater | Self::GreaterOrEqual => return None,
        };
        let unit = unit(number, &mut MOST_VALUES.clone())?;
        let count = first.checked_mul(unit)?;
        let few = if count == 1 { Group::Thread } else { Group::Warp };
        (1..=MOST_LANES).contains(&count).then_some((count, few))
    }
}

/// How many threads of a block have one number, at most: 1 for that of the thread and what is made of it, more for that
/// of its warp.
pub fn unit<'c: 'a, 'a>(number: Value<'c, 'a>, left: &mut u32) -> Option<i64> {
    *left = left.checked_sub(1)?;
    if is_thread_number(number) {
        return Some(1);
    }
    let op = definition(number)?;
    let by = |op: OperationRef| op.operand(1).ok().and_then(constant_value);
    let times = match name(op) {
        "gpu.subgroup_id" | "nvvm.read.ptx.sreg.warpid" => return Some(MOST_LANES),
        "arith.divui" | "arith.divsi" | "index.divu" | "index.divs" => by(op)?,
        "arith.shrui" | "arith.shrsi" | "index.shru" | "index.shrs" => 1_i64.checked_shl(by(op)?.try_into().ok()?)?,
        name if name.starts_with("arith.") || name.starts_with("index.") => 1,
        _ => return None,
    };
    op.operands().filter_map(|operand| unit(operand, left)).min()?.checked_mul(times)
}

/// Whether a value is the number of a thread in its block or warp, or that in the grid.
pub fn is_thread_number(value: Value) -> bool {
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
            parent.is_some_and(|parent| name(parent) == structure::LAUNCH)
                && THREAD_OF_LAUNCH.contains(&argument.argument_number())
        })
}
