//! Has Triton's pipeliner start the loads of later iterations early, in loops that load blocks from other ranks.
//!
//! A remote load takes a long time, and one block fills its share of the link only with about 64 KiB in flight. A
//! loop that loads, then stores, has one iteration in flight. Triton pipelines such a loop if it is told how deep:
//!
//! ```mlir
//! scf.for %i = %lo to %hi step %n : i32 {
//!   %v = symm.remote_load %ctx, %p, %peer : tensor<8192x!tt.ptr<f16>> -> tensor<8192xf16>
//!   "tt.store"(%q, %v) : (tensor<8192x!tt.ptr<f16>>, tensor<8192xf16>) -> ()
//! }
//! ```
//!
//! becomes
//!
//! ```mlir
//! %apart = …  // the range of all bytes loaded ends before that of all bytes stored begins, or the other way round
//! scf.if %apart {
//!   scf.for … { … } {tt.num_stages = 6 : i32}
//! } else {
//!   scf.for … { … }
//! }
//! ```
//!
//! as if written `tl.range(…, num_stages=6)`: loads go to shared memory, five iterations ahead.
//!
//! - **What is pipelined.** Innermost loops without a given number of stages that load blocks from another rank and may
//!   store. They hold only such accesses and arithmetic: nothing that waits, orders or updates (O4), nothing volatile
//!   or `cv`, no calls, and no `tt.dot`, for which Triton has its own rule. A loop in which only stores are remote is
//!   left alone, and so is a loop over the ranks or one of fewer than sixteen iterations.
//! - **Why it is right.** Loads of later iterations move above stores of earlier ones. The accesses are weak, so only
//!   the thread itself could notice, by reading what it has written. So the bytes loaded and the bytes stored, in all
//!   iterations, must be disjoint. The kernel tests that before the loop, on the addresses themselves: the test holds
//!   for any arguments, any peer, this rank too, and any offsets (`extent.rs` says which are followed). If an offset
//!   cannot be followed, or a load and a store plainly have the same address, the loop is left alone. A loop that
//!   stores nothing needs no test.
//! - **How deep.** Loads in flight occupy shared memory: 80 KiB, 15 iterations at most, and no more than about half of
//!   a multiprocessor's shared memory (128 KiB on `sm_90`). On H200s four programs read 176 GB/s with 80 KiB, 168 with
//!   96 or 112, and 122 with 48. If not even two iterations fit, the loop is left alone: one ahead is slower than none.
//!   `symm.num_stages` on the module, a launch's number, replaces the computed one, as far as shared memory allows;
//!   with 1 the loop is left alone.
//!
//! A remark names each such loop and its number of stages.
//!
//! Limits: NVIDIA GPUs from `sm_80` on.

use crate::analysis::MOST_VALUES;
use crate::analysis::extent::Extents;
use crate::analysis::order::{is_quiet, is_remote, is_volatile};
use crate::ir::structure::is_branch;
use crate::ir::{
    Builder, blocks, collect, constant_value, context, definition, lasting_op, name, operations, set_attribute,
};
use crate::pass::{Ir, Pass, Values};
use crate::registration::previous_in_block;
use crate::target::TARGET;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::r#type::IntegerType;
use melior::ir::{OperationRef, Type, Value, ValueLike, operation::OperationLike};
use symm_dialect::diagnostic::{Severity, report};
use symm_dialect::ops::{Accessing, Cache, SymmOp};
use symm_dialect::pointer::Pointer;
use symm_dialect::shape::{Shaped, byte_width};
use symm_dialect::{NUM_STAGES_ATTRIBUTE, module_integer};

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-pipeline-remote",
    summary: "Have Triton pipeline the loops that load blocks from other ranks",
    options: &[TARGET],
    run: |root, options| Ok(run(root, options)),
};

/// How Triton is told the number of stages of a loop.
const NUM_STAGES: &str = "tt.num_stages";

/// What else a loop's author may ask Triton for, with which stages have not been tried.
const ASKED: &[&str] = &[NUM_STAGES, "tt.warp_specialize", "tt.flatten", "tt.loop_unroll_factor"];

/// The bytes of a block that are to be under way.
const BYTES_UNDER_WAY: u64 = 80 << 10;

const MOST_AHEAD: u64 = 15;
const FEWEST_AHEAD: u64 = 2;

/// How many iterations a loop has to have, where that is known: with fewer the stages are not filled for long.
const FEWEST_TRIPS: i64 = 16;

/// The ops of Triton that an address is made with.
const ADDRESSING: &[&str] = &[
    "tt.addptr",
    "tt.broadcast",
    "tt.expand_dims",
    "tt.get_num_programs",
    "tt.get_program_id",
    "tt.make_range",
    "tt.splat",
];

fn run(root: OperationRef, options: &Values) -> Ir {
    let capability = options.text("target").strip_prefix("cuda:").and_then(|number| number.parse().ok());
    let Some(shared) = capability.and_then(shared_memory) else { return Ir::Kept };
    let mut outcome = Ir::Kept;
    for op in collect(root).into_iter().filter(|op| name(*op) == "scf.for") {
        if !ASKED.iter().any(|attribute| op.has_attribute(attribute)) && stage(op, shared) {
            outcome = Ir::Changed;
        }
    }
    outcome
}

/// The bytes of shared memory that stages may take on a GPU of this compute capability; `None` where there are no
/// asynchronous copies to it.
fn shared_memory(capability: u32) -> Option<u64> {
    match capability {
        ..80 => None,
        80 | 87 => Some(96 << 10),
        86 | 89 | 120.. => Some(64 << 10),
        _ => Some(128 << 10),
    }
}

/// Where an access is to, besides its pointer.
#[derive(Clone, Copy, PartialEq)]
enum Side<'c, 'a> {
    /// Where the pointer says.
    Near,
    /// At a distance from there.
    Far(Value<'c, 'a>),
    /// At a distance that is not known yet.
    Unknown,
}

/// An access of a loop.
#[derive(Clone, Copy)]
struct Access<'c, 'a> {
    pointer: Value<'c, 'a>,
    side: Side<'c, 'a>,
    mask: Option<Value<'c, 'a>>,
}

/// What a loop does to memory.
#[derive(Default)]
struct Traffic<'c, 'a> {
    loads: Vec<Access<'c, 'a>>,
    stores: Vec<Access<'c, 'a>>,
    /// Whether a load may be from another rank.
    is_remote: bool,
}

/// Gives a loop stages, if it is better with them; whether it has.
fn stage<'c: 'a, 'a>(op: OperationRef<'c, 'a>, shared: u64) -> bool {
    let Some(traffic) = traffic(op).filter(|traffic| traffic.is_remote) else { return false };
    let bytes: u64 = traffic.loads.iter().map(|load| bytes_at(load.pointer)).sum();
    let Some(stages) = stages(op, bytes, shared) else { return false };
    let set = |op| {
        let ty = IntegerType::new(context(op), 32).into();
        set_attribute(op, NUM_STAGES, IntegerAttribute::new(ty, stages.cast_signed()).into());
    };
    let what = format!("is given {stages} stages of {bytes} bytes");
    if traffic.stores.is_empty() {
        report(Severity::Remark, op, &what);
        set(op);
        return true;
    }
    let last = previous_in_block(op);
    let Some(is_apart) = is_apart(op, &traffic) else {
        // What has been computed for it so far.
        while let Some(unused) = previous_in_block(op).filter(|unused| Some(*unused) != last) {
            Builder::before(op).erase(unused);
        }
        return false;
    };
    report(Severity::Remark, op, &format!("{what} if the bytes it loads and the bytes it stores do not overlap"));
    let types: Vec<Type> = op.results().map(|result| result.r#type()).collect();
    let copy = |b: &Builder<'c>| lasting_op(b.copy(op));
    let early = |b: &Builder<'c>| {
        let pipelined = copy(b);
        set(pipelined);
        pipelined
    };
    let b = Builder::before(op);
    let results = b.choose_op(is_apart, &types, early, copy);
    b.replace(op, &results);
    true
}

/// In how many stages a loop is best made; `None` if it is left alone.
fn stages<'c: 'a, 'a>(op: OperationRef<'c, 'a>, bytes: u64, shared: u64) -> Option<u64> {
    if bytes == 0 {
        return None;
    }
    // Triton has a buffer for each stage but the last, from which an iteration takes what it has loaded.
    if let Some(asked) = module_integer(&op, NUM_STAGES_ATTRIBUTE) {
        let stages = u64::try_from(asked).ok()?.min(shared / bytes + 1);
        return (stages > 1).then_some(stages);
    }
    if trips(op).is_some_and(|trips| trips < FEWEST_TRIPS) || op.operands().nth(1).is_some_and(counts_ranks) {
        return None;
    }
    let ahead = (BYTES_UNDER_WAY.min(shared) / bytes).min(MOST_AHEAD);
    (ahead >= FEWEST_AHEAD).then_some(ahead + 1)
}

/// How many iterations a loop has, where its bounds are constants.
fn trips<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Option<i64> {
    let mut ends = op.operands().take(3).map(|end| constant_value(uncast(end)));
    let (lower, upper, step) = (ends.next()??, ends.next()??, ends.next()??);
    upper.checked_sub(lower)?.checked_add(step.checked_sub(1)?)?.checked_div(step)
}

/// A value before it was cast to what it is already.
fn uncast<'c: 'a, 'a>(value: Value<'c, 'a>) -> Value<'c, 'a> {
    let from = definition(value).filter(|op| name(*op) == "arith.bitcast").and_then(|op| op.operands().next());
    from.map_or(value, uncast)
}

/// Whether a loop's upper bound is made of the number of ranks, and else of this rank and constants.
fn counts_ranks<'c: 'a, 'a>(bound: Value<'c, 'a>) -> bool {
    fn leaves<'c: 'a, 'a>(value: Value<'c, 'a>, left: &mut u32, has_count: &mut bool) -> bool {
        let (Some(op), Some(one_less)) = (definition(value), left.checked_sub(1)) else { return false };
        *left = one_less;
        if let Some(op) = SymmOp::cast(op) {
            let is_count = matches!(op, SymmOp::NumRanks(_));
            *has_count |= is_count;
            return is_count || matches!(op, SymmOp::Rank(_));
        }
        name(op).starts_with("arith.") && op.operands().all(|operand| leaves(operand, left, has_count))
    }
    let (mut left, mut has_count) = (32, false);
    leaves(bound, &mut left, &mut has_count) && has_count
}

/// Whether no iteration of a loop loads what one stores, found out before it; `None` where that can't be.
fn is_apart<'c: 'a, 'a>(op: OperationRef<'c, 'a>, traffic: &Traffic<'c, 'a>) -> Option<Value<'c, 'c>> {
    let pairs = || traffic.loads.iter().flat_map(|load| traffic.stores.iter().map(move |store| (load, store)));
    if pairs()
        .any(|(load, store)| load.side == store.side && is_same(load.pointer, store.pointer, &mut { MOST_VALUES }))
    {
        return None;
    }
    let mut extents = Extents::of(op);
    let mut touched = |accesses: &[Access<'c, 'a>]| {
        let each = |access: &Access<'c, 'a>| match access.side {
            Side::Near => extents.of_access(access.pointer, None, access.mask),
            Side::Far(distance) => extents.of_access(access.pointer, Some(distance), access.mask),
            Side::Unknown => None,
        };
        accesses.iter().map(each).collect::<Option<Vec<_>>>()
    };
    let (read, written) = (touched(&traffic.loads)?, touched(&traffic.stores)?);
    let pairs = read.iter().flat_map(|load| written.iter().map(|store| (*load, *store)));
    let mut facts = extents.conditions().to_vec();
    facts.extend(pairs.map(|(load, store)| extents.are_apart(load, store)));
    let b = Builder::before(op);
    facts.into_iter().reduce(|one, other| b.binary("arith.andi", one, other))
}

/// Whether two values are one, or computed from one in the same way: nothing has been merged yet.
fn is_same<'c: 'a, 'a>(one: Value<'c, 'a>, other: Value<'c, 'a>, left: &mut u32) -> bool {
    if one == other {
        return true;
    }
    let (Some(first), Some(second), Some(one_less)) = (definition(one), definition(other), left.checked_sub(1)) else {
        return false;
    };
    *left = one_less;
    (name(first).starts_with("arith.") || ADDRESSING.contains(&name(first)))
        && name(first) == name(second)
        && one.r#type() == other.r#type()
        && first.attributes().eq(second.attributes())
        // What a Triton op holds besides its attributes, since its dialect is not registered.
        && ["axis", "end", "start"].into_iter().all(|held| first.attribute(held).ok() == second.attribute(held).ok())
        && first.operand_count() == second.operand_count()
        && first.operands().zip(second.operands()).all(|(one, other)| is_same(one, other, left))
}

/// What a loop does to memory; `None` if it does more than load and store.
fn traffic<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Option<Traffic<'c, 'a>> {
    let mut traffic = Traffic::default();
    for inner in blocks(op).into_iter().flat_map(operations).flat_map(collect) {
        let operand = |index| inner.operands().nth(index);
        match SymmOp::cast(inner) {
            Some(op) => match op.accessing() {
                Some(access) => traffic.access(access)?,
                None if op.is_pure() => {}
                None => return None,
            },
            None if is_quiet(inner) || is_branch(inner) => {}
            None if name(inner) == "tt.load" && !is_volatile(inner) => {
                traffic.load(operand(0)?, Side::Near, operand(1));
            }
            None if name(inner) == "tt.store" => traffic.store(operand(0)?, Side::Near, operand(2)),
            None => return None,
        }
    }
    Some(traffic)
}

impl<'c: 'a, 'a> Traffic<'c, 'a> {
    /// Notes what an op loads and stores; `None` if it does more.
    fn access(&mut self, access: Accessing<'c, 'a>) -> Option<()> {
        let at = |distance: Option<Value<'c, 'a>>| distance.map_or(Side::Unknown, Side::Far);
        match access {
            Accessing::RemoteLoad(load) if load.volatile_() || load.cache() == Some(Cache::Cv) => return None,
            Accessing::RemoteLoad(load) => self.load(load.ptr(), at(load.delta()), load.mask()),
            Accessing::RemoteStore(store) => self.store(store.ptr(), at(store.delta()), store.mask()),
            Accessing::Get(get) => self.copy((get.src(), at(get.delta())), (get.dst(), Side::Near), get.mask()),
            Accessing::Put(put) => self.copy((put.src(), Side::Near), (put.dst(), at(put.delta())), put.mask()),
            Accessing::Copy(copy) => {
                self.copy((copy.src(), at(copy.from_delta())), (copy.dst(), at(copy.to_delta())), copy.mask());
            }
            Accessing::PutSignal(_)
            | Accessing::Signal(_)
            | Accessing::Wait(_)
            | Accessing::AtomicRmw(_)
            | Accessing::AtomicCas(_)
            | Accessing::PutPacket(_)
            | Accessing::WaitPacket(_)
            | Accessing::TryPacket(_) => return None,
        }
        Some(())
    }

    fn load(&mut self, pointer: Value<'c, 'a>, side: Side<'c, 'a>, mask: Option<Value<'c, 'a>>) {
        self.is_remote |= side != Side::Near || is_remote(pointer);
        self.loads.push(Access { pointer, side, mask });
    }

    fn store(&mut self, pointer: Value<'c, 'a>, side: Side<'c, 'a>, mask: Option<Value<'c, 'a>>) {
        self.stores.push(Access { pointer, side, mask });
    }

    fn copy(
        &mut self,
        (source, from): (Value<'c, 'a>, Side<'c, 'a>),
        (target, to): (Value<'c, 'a>, Side<'c, 'a>),
        mask: Option<Value<'c, 'a>>,
    ) {
        self.load(source, from, mask);
        self.store(target, to, mask);
    }
}

/// The bytes of the block that a tensor of pointers points to; 0 for one pointer.
fn bytes_at(pointer: Value) -> u64 {
    let ty = pointer.r#type();
    let Some(tensor) = Shaped::tensor(ty) else { return 0 };
    let elements: u64 = tensor.dimensions().into_iter().flatten().product();
    elements * Pointer::of(ty).and_then(Pointer::pointee).map_or(0, byte_width)
}
