//! Has Triton's pipeliner start the loads of later iterations early, in loops that move data between ranks.
//!
//! A remote access takes a long time, and one block fills its share of the link only with about 64 KiB under way. A
//! loop that loads, then stores, has one iteration under way. Triton pipelines such a loop if it is told how deep:
//!
//! ```mlir
//! scf.for %i = %lo to %hi step %n : i32 {
//!   %v = symm.remote_load %ctx, %p, %peer : tensor<8192x!tt.ptr<f16>> -> tensor<8192xf16>
//!   "tt.store"(%q, %v) : (tensor<8192x!tt.ptr<f16>>, tensor<8192xf16>) -> ()
//! }
//! ```
//!
//! becomes the same with `{tt.num_stages = 8 : i32}`, as if written `tl.range(…, num_stages=8)`: loads go to shared
//! memory, five iterations ahead.
//!
//! - **What is pipelined.** Innermost loops that load blocks and may store, to or from another rank, whose number of
//!   stages is not given, and which hold such accesses and arithmetic only: nothing that waits, orders or updates (O4),
//!   nothing volatile or `cv`, no calls, and no `tt.dot`, for which Triton has its own rule.
//! - **Why it is right.** Loads of later iterations go above stores of earlier ones. Accesses of one thread are weak,
//!   so all that could tell is that thread reading what it has written: no load may be of the memory that a store is
//!   to. That is so where they are of different arguments of the kernel, however far their pointers have been moved.
//! - **How deep.** What is under way lies in shared memory: 80 KiB, 15 iterations at most, and no more than half of a
//!   multiprocessor's shared memory or a little above (128 KiB on `sm_90`). On H200s four programs read 176 GB/s with
//!   80 KiB, 168 with 96 or 112, and 122 with 48. Where not even two iterations fit, the loop is left alone: one ahead
//!   is slower than none.
//!
//! Limits: NVIDIA GPUs from `sm_80` on. Two arguments that are parts of one tensor, which overlap other than element by
//! element, have to be told apart by a `num_stages` of one's own.

use crate::ir::{blocks, collect, definition, name, operations, owner, set_attribute};
use crate::lower::triton::PASS as LOWER;
use crate::order::is_quiet;
use crate::pass::{Ir, Pass, Values};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::block::BlockArgument;
use melior::ir::r#type::IntegerType;
use melior::ir::{BlockLike, OperationRef, Value, ValueLike, operation::OperationLike};
use symm_dialect::lossy;
use symm_dialect::ops::{Cache, SymmOp};
use symm_dialect::pointer::Pointer;
use symm_dialect::shape::{Shaped, byte_width};

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-pipeline-remote",
    summary: "Have Triton pipeline the loops that move blocks of data between ranks",
    options: &[LOWER.options[1]],
    run: |root, options| Ok(run(root, options)),
};

/// How Triton is told the number of stages of a loop.
const NUM_STAGES: &str = "tt.num_stages";

/// The bytes of a block that are to be under way.
const BYTES_UNDER_WAY: u64 = 80 << 10;

/// What makes a pointer of a pointer, its first operand.
const MOVES: &[&str] = &["tt.addptr", "tt.splat", "tt.broadcast", "tt.expand_dims", "tt.bitcast", "ttg.convert_layout"];

const MOST_AHEAD: u64 = 15;
const FEWEST_AHEAD: u64 = 2;

fn run(root: OperationRef, options: &Values) -> Ir {
    let capability = options.text("target").strip_prefix("cuda:").and_then(|number| number.parse().ok());
    let Some(shared) = capability.and_then(shared_memory) else { return Ir::Kept };
    let mut outcome = Ir::Kept;
    for op in collect(root).into_iter().filter(|op| name(*op) == "scf.for" && !op.has_attribute(NUM_STAGES)) {
        if let Some(stages) = stages(op, shared) {
            let ty = IntegerType::new(crate::ir::context(op), 32).into();
            set_attribute(op, NUM_STAGES, IntegerAttribute::new(ty, stages.cast_signed()).into());
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

/// What a loop does to memory: the pointers, and whether the access says itself that it is remote.
#[derive(Default)]
struct Traffic<'c, 'a> {
    loads: Vec<(Value<'c, 'a>, bool)>,
    stores: Vec<(Value<'c, 'a>, bool)>,
}

/// In how many stages a loop is best made; `None` if it is left alone.
fn stages<'c: 'a, 'a>(op: OperationRef<'c, 'a>, shared: u64) -> Option<u64> {
    let Traffic { loads, stores } = traffic(op)?;
    let bytes: u64 = loads.iter().map(|(pointer, _)| bytes_at(*pointer)).sum();
    if bytes == 0 {
        return None;
    }
    let origins = |accesses: Vec<(Value<'c, 'a>, bool)>| {
        let origin = |(pointer, is_remote)| origin(pointer).map(|(argument, moved)| (argument, moved || is_remote));
        accesses.into_iter().map(origin).collect::<Option<Vec<_>>>()
    };
    let (read, written) = (origins(loads)?, origins(stores)?);
    let is_remote = read.iter().chain(&written).any(|(_, is_remote)| *is_remote);
    let is_own = read.iter().any(|(argument, _)| written.iter().any(|(other, _)| argument == other));
    if !is_remote || is_own {
        return None;
    }
    // Triton has a buffer for each stage but the last, from which an iteration takes what it has loaded.
    let ahead = (BYTES_UNDER_WAY.min(shared) / bytes).min(MOST_AHEAD);
    (ahead >= FEWEST_AHEAD).then_some(ahead + 1)
}

/// What a loop does to memory; `None` if it does more than load and store.
fn traffic<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Option<Traffic<'c, 'a>> {
    let mut traffic = Traffic::default();
    for inner in blocks(op).into_iter().flat_map(operations).flat_map(collect) {
        match SymmOp::cast(inner) {
            Some(SymmOp::RemoteLoad(load)) if !load.volatile_() && load.cache() != Some(Cache::Cv) => {
                traffic.loads.push((load.ptr(), true));
            }
            Some(SymmOp::RemoteStore(store)) => traffic.stores.push((store.ptr(), true)),
            Some(SymmOp::Get(get)) => traffic.copy(get.src(), get.dst()),
            Some(SymmOp::Put(put)) => traffic.copy(put.src(), put.dst()),
            Some(SymmOp::Copy(copy)) => traffic.copy(copy.src(), copy.dst()),
            _ if is_quiet(inner) || name(inner) == "scf.if" => {}
            None if name(inner) == "tt.load" && !is_volatile(inner) => {
                traffic.loads.push((inner.operands().next()?, false));
            }
            None if name(inner) == "tt.store" => traffic.stores.push((inner.operands().next()?, false)),
            _ => return None,
        }
    }
    Some(traffic)
}

impl<'c, 'a> Traffic<'c, 'a> {
    fn copy(&mut self, source: Value<'c, 'a>, target: Value<'c, 'a>) {
        self.loads.push((source, true));
        self.stores.push((target, true));
    }
}

/// Whether a load of Triton's is made where and when the program says, past the caches: volatile, or `cv`.
fn is_volatile<'c: 'a, 'a>(load: OperationRef<'c, 'a>) -> bool {
    let text = |name| load.attribute(name).map_or_else(|_| String::new(), |attribute| lossy!("{attribute}"));
    text("isVolatile") == "true" || text("cache") == "7 : i32" || text("cachePolicy").contains("cache_modifier = cv")
}

/// The bytes of the block that a tensor of pointers points to; 0 for one pointer.
fn bytes_at(pointer: Value) -> u64 {
    let ty = pointer.r#type();
    let Some(tensor) = Shaped::tensor(ty) else { return 0 };
    let elements: u64 = tensor.dimensions().into_iter().flatten().product();
    elements * Pointer::of(ty).and_then(Pointer::pointee).map_or(0, byte_width)
}

/// The argument of the kernel that a pointer has been made of, by its number, and whether it is one to another rank's
/// memory; `None` where that can't be seen.
fn origin<'c: 'a, 'a>(pointer: Value<'c, 'a>) -> Option<(usize, bool)> {
    let (root, is_remote) = follow(pointer);
    let argument = BlockArgument::try_from(root).ok().filter(|_| root.is_block_argument())?;
    let block = owner(argument);
    match block.parent_operation() {
        Some(function) if name(function) == "tt.func" => Some((argument.argument_number(), is_remote)),
        // Carried around a loop, which may move it and nothing else.
        Some(around) if name(around) == "scf.for" => {
            let number = argument.argument_number().checked_sub(1)?;
            // In Triton's text `scf` is unknown, and so is which op ends a block.
            let (next, _) = follow(operations(block).last()?.operands().nth(number)?);
            (next == root).then_some(())?;
            let (argument, before) = origin(around.operands().nth(3 + number)?)?;
            Some((argument, is_remote || before))
        }
        _ => None,
    }
}

/// What a pointer has been moved, or made a tensor, from, and whether to another rank's memory.
fn follow<'c: 'a, 'a>(pointer: Value<'c, 'a>) -> (Value<'c, 'a>, bool) {
    let (mut value, mut is_remote) = (pointer, false);
    while let Some(op) = definition(value) {
        value = match SymmOp::cast(op) {
            Some(SymmOp::AsRemote(remote)) => {
                is_remote = true;
                remote.ptr()
            }
            None if MOVES.contains(&name(op)) => match op.operands().next() {
                Some(from) => from,
                None => break,
            },
            _ => break,
        };
    }
    (value, is_remote)
}
