//! Records when blocks and the ops that may take long begin and end, for the timeline of a GPU.
//!
//! These are kernels, waits, barriers, signals, fences and bulk copies. The runtime makes events of the records
//! (abi/src/trace.rs).
//!
//! ```mlir
//! symm.put %ctx, %src, %dst, %peer group block : memref<64xf32>, memref<64xf32>
//! ```
//!
//! becomes
//!
//! ```mlir
//! %record = symm.trace_begin %ctx, "put"(%address, %rank, %bytes) group block
//! symm.put %ctx, %src, %dst, %peer group block : memref<64xf32>, memref<64xf32>
//! symm.trace_end %record
//! ```
//!
//! and each `gpu.module` gets a kernel `_symm_clock(ctx, words, rounds)`, by which the runtime learns how the device's
//! clock runs: each time the first word has become one more, it writes the time into the record after it.
//!
//! Limits: a block ends when its first thread does, and a kernel without a context has no blocks; the end of a copy is
//! when its last access was issued; what a wait saw is what the flag holds right after it. It comes last before the
//! lowering, so that the recorded program is the one that runs without it.

use crate::contract::{compare, signal_kind};
use crate::ir::address::{self, as_word};
use crate::ir::records::{begin, end};
use crate::ir::wait::bounded_wait;
use crate::ir::{
    Builder, argument, blocks, collect, enclosing, is_kernel, name, signed, structure, symm_ops, type_attribute,
};
use crate::pass::{Ir, Pass};
use melior::dialect::arith::CmpiPredicate;
use melior::ir::r#type::FunctionType;
use melior::ir::{
    Block, BlockLike, OperationRef, Region, RegionLike, Type, Value, ValueLike, operation::OperationLike,
};
use symm_abi::WORD_BYTES;
use symm_abi::trace::{CLOCK, CLOCK_RECORD, Event};
use symm_dialect::ops::{Comparison, Fence, Group, Grouped, SymmOp, Wait};
use symm_dialect::pointer::Pointer;
use symm_dialect::symbol::symbol;

/// How long it looks, in nanoseconds, before it gives up.
const CLOCK_PATIENCE: i64 = 100_000_000;

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-insert-trace",
    summary: "Record when blocks, copies, signals and waits begin and end",
    options: &[],
    run: |root, _| Ok(run(root)),
};

fn run(root: OperationRef) -> Ir {
    // The pass has run already.
    if collect(root).into_iter().any(|op| is_kernel(op) && symbol(op).as_deref() == Some(CLOCK)) {
        return Ir::Kept;
    }
    for op in symm_ops(root) {
        let is_memory = |value: Value| {
            let kind = Pointer::of(value.r#type());
            kind.is_none() || matches!(kind, Some(Pointer::Llvm | Pointer::MemRef(_)))
        };
        let is_device = enclosing(op.operation(), &[structure::GPU_MODULE]).is_some();
        if is_device && op.operation().operands().all(is_memory) {
            record(op);
        }
    }
    for op in collect(root) {
        if is_kernel(op) {
            record_block(op);
        } else if name(op) == structure::GPU_MODULE {
            add_clock(op);
        }
    }
    Ir::Changed
}

/// Puts an op between the begin and the end of its record, or of two: data and signal.
fn record<'c: 'a, 'a>(op: SymmOp<'c, 'a>) {
    let b = Builder::before(op.operation());
    let at = |pointer, indices: &[Value<'c, '_>]| as_word(&b, address::element(&b, pointer, indices));
    let start = |pointer| as_word(&b, pointer);
    let bytes =
        |pointer, count: Option<Value<'c, 'a>>, ty: Option<Type<'c>>| address::bytes(&b, pointer, count.zip(ty));
    let peer = |rank| b.as_i64(rank);
    let value = |value| b.as_i64(value);
    // The timeline leaves out accesses of single threads, packets, and what is a host's.
    let Some(grouped) = op.grouped() else { return };
    match grouped {
        Grouped::Put(put) => {
            let moved = bytes(put.src(), put.count(), put.element());
            between(op, &b, Event::Put, &[start(put.dst()), peer(put.rank()), moved], put.group());
        }
        Grouped::Get(get) => {
            let moved = bytes(get.src(), get.count(), get.element());
            between(op, &b, Event::Get, &[start(get.src()), peer(get.rank()), moved], get.group());
        }
        Grouped::Copy(copy) => {
            let moved = bytes(copy.src(), copy.count(), copy.element());
            between(op, &b, Event::Copy, &[start(copy.dst()), peer(copy.to()), moved], copy.group());
        }
        Grouped::PutSignal(put) => {
            let flag = at(put.flag(), &put.indices());
            let what = Event::PutSignal(signal_kind(put.kind()));
            between(op, &b, what, &[flag, peer(put.rank()), value(put.value())], put.group());
            let moved = bytes(put.src(), put.count(), put.element());
            between(op, &b, Event::Put, &[start(put.dst()), peer(put.rank()), moved], put.group());
        }
        Grouped::Signal(signal) => {
            let flag = at(signal.flag(), &signal.indices());
            let what = Event::Signal(signal_kind(signal.kind()));
            between(op, &b, what, &[flag, peer(signal.rank()), value(signal.value())], signal.group());
        }
        Grouped::Wait(wait) => {
            let flag = at(wait.flag(), &wait.indices());
            let what = Event::Wait { compare: compare(wait.comparison()), unsigned: wait.is_unsigned() };
            let values = [flag, value(wait.value())];
            end_wait(wait, begin(&b, wait.ctx(), what.to_string(), &values, wait.group()));
        }
        Grouped::Barrier(barrier) => between(op, &b, Event::Barrier, &[], barrier.group()),
        Grouped::Fence(fence) => record_fence(&b, fence),
        Grouped::TraceBegin(_) => {}
    }
}

/// A fence has no context; the kernel that it is in may have one.
fn record_fence<'c: 'a, 'a>(b: &Builder<'c>, fence: Fence<'c, 'a>) {
    if let Some(ctx) = context_of(fence.operation()) {
        let order = format!("{} {}", fence.sem().keyword(), fence.scope().keyword());
        let record = begin(b, ctx, Event::Fence(&order).to_string(), &[], fence.group());
        end(&Builder::after(fence.operation()), record, Vec::new());
    }
}

fn between<'c: 'a, 'a>(op: SymmOp<'c, 'a>, b: &Builder<'c>, what: Event, values: &[Value<'c, 'c>], group: Group) {
    let ctx = op.ctx().expect("what has a peer has a context");
    let record = begin(b, ctx, what.to_string(), values, group);
    end(&Builder::after(op.operation()), record, Vec::new());
}

/// Only the thread that has the record looks at the flag.
fn end_wait<'c: 'a, 'a>(wait: Wait<'c, 'a>, record: Value<'c, 'c>) {
    let b = Builder::after(wait.operation());
    b.when(b.compare(CmpiPredicate::Ne, record, b.i64(0)), |b| {
        let ty = wait.value().r#type();
        let alignment = b.integer(64, symm_dialect::shape::byte_width(ty).cast_signed());
        let flag = address::element(b, wait.flag(), &wait.indices());
        let saw = b.as_i64(b.load(flag, ty, &[("volatile_", b.unit()), ("alignment", alignment)]));
        let satisfied = wait.satisfied().map_or_else(|| b.i64(1), |satisfied| as_word(b, satisfied));
        end(b, record, vec![saw, satisfied]);
    });
}

/// The context among the arguments of the function around an op.
fn context_of<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Option<Value<'c, 'a>> {
    context_argument(enclosing(op, &[structure::GPU_FUNC, structure::FUNC])?)
}

fn context_argument<'c: 'a, 'a>(function: OperationRef<'c, 'a>) -> Option<Value<'c, 'a>> {
    let entry = *blocks(function).first()?;
    let arguments = (0..entry.argument_count()).filter_map(|index| entry.argument(index).ok());
    arguments.map(Value::from).find(|argument| argument.r#type() == context_type(function))
}

fn context_type<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Type<'c> {
    Type::parse(crate::ir::context(op), "!symm.ctx").expect("the type of contexts")
}

fn record_block<'c: 'a, 'a>(kernel: OperationRef<'c, 'a>) {
    let (Some(ctx), Some(entry)) = (context_argument(kernel), blocks(kernel).first().copied()) else { return };
    let b = Builder::at_start(crate::ir::context(kernel), entry, kernel.location());
    let record = begin(&b, ctx, Event::Block.to_string(), &[], Group::Block);
    for block in blocks(kernel) {
        if let Some(last) = block.terminator().filter(|op| name(*op) == structure::GPU_RETURN) {
            end(&Builder::before(last), record, Vec::new());
        }
    }
}

/// Adds the kernel that tells the clock to a `gpu.module`.
fn add_clock<'c: 'a, 'a>(module: OperationRef<'c, 'a>) {
    let body = blocks(module)[0];
    let top = Builder::at_start(crate::ir::context(module), body, module.location());
    let inputs = [context_type(module), top.ptr(), top.int(64)];
    let region = Region::new();
    let block = region.append_block(Block::new(&inputs.map(|ty| (ty, module.location()))));
    let b = Builder::at_end(top.context, block, module.location());
    let [ctx, words, rounds] = [0, 1, 2].map(|index| argument(block, index));
    let record = as_word(&b, b.byte_offset_constant(words, signed(WORD_BYTES * CLOCK_RECORD)));
    b.for_each(b.i64(0), rounds, |b, round| {
        let is_next = (Comparison::Ge, b.add(round, b.i64(1)));
        let asked = bounded_wait(ctx, words, is_next, b.i64(CLOCK_PATIENCE));
        let seen = b.make_value(&asked, b.int(1));
        b.when(seen, |b| end(b, record, Vec::new()));
    });
    b.op(structure::GPU_RETURN, &[], &[], &[]);
    let attributes = [
        ("sym_name", top.string(CLOCK)),
        ("function_type", type_attribute(FunctionType::new(top.context, &inputs, &[]))),
        ("gpu.kernel", top.unit()),
    ];
    top.op_with_regions(structure::GPU_FUNC, &[], &[], &attributes, vec![region]);
}
