//! Records when the programs of a Triton or Gluon kernel and their ops begin and end, for a timeline.
//!
//! ```mlir
//! symm.signal set %ctx, %flag, %v, %peer : !tt.ptr<i64>, i64
//! ```
//!
//! becomes
//!
//! ```mlir
//! %address = …                              // of the flag in the peer's heap
//! %record = symm.trace_begin %ctx, "signal 0 set"(%address, %none, %v) group block
//! symm.signal set %ctx, %flag, %v, %peer : !tt.ptr<i64>, i64
//! symm.trace_end %record
//! ```
//!
//! The text is the op's name, how many bytes of data it moves (`<` before it where a mask may leave some out), and for
//! what signals or waits how. The values are an address, by which the host knows the rank and the flag (of data, the
//! start of the peer's heap); for a block of ranks a bit for each; and the value of a flag. A kernel is recorded from
//! its start to each of its returns, if its context is made of its arguments. A signal to a block of ranks is an atomic
//! that releases, and whose result is not used.
//!
//! It comes last before the lowering, so that the recorded program is the one that runs without it.
//!
//! A loop that only looks at a block of flags is `wait_all` or `wait_any`. Its values are the lowest address, the
//! distance to the highest with the number of flags above bit 40, and what the flags are compared with.
//!
//! Limits: what another `while` loop looks at in its condition is a wait of the kernel's own, and not recorded; neither
//! are an atomic `or`, by which kernels look at flags, and kernels with a loop that Triton divides among warps. The end
//! of a load or a copy is when its accesses were issued. Of several flags of a signal the one with the lowest address
//! counts; of a block of ranks, those below 64. A kernel whose context is made of more than its arguments is recorded
//! from there on, if nothing but loads and arithmetic comes before it.

mod several;

use crate::analysis::order::{is_quiet, only_reads};
use crate::ir::records::{begin, end};
use crate::ir::triton::words::{constant_like, element_wise, lowest, reduced};
use crate::ir::{
    Builder, blocks, collect, context, enclosing, has_uses, lasting, name, operations, structure, symm_ops,
};
use crate::pass::{Ir, Pass};
use melior::dialect::arith::CmpiPredicate;
use melior::ir::{OperationRef, Type, Value, ValueLike, block::BlockArgument, operation::OperationLike};
use several::record_waits;
use symm_dialect::ops::{Accessing, AtomicRmw, Group, HeapBaseParts, HeapDeltaParts, Order, RmwKind, SymmOp};
use symm_dialect::pointer::Pointer;
use symm_dialect::shape::{Shaped, byte_width, integer_width, scalar};

/// The pass record.
pub const PASS: Pass = Pass {
    flag: "symm-trace-programs",
    summary: "Record when the programs of a Triton kernel and their ops begin and end",
    options: &[],
    run: |root, _| Ok(run(root)),
};

/// A loop that Triton divides among partitions of the warps.
const SPECIALIZED: &str = "tt.warp_specialize";
/// An atomic of more elements than this is data, and no signal.
const MOST_FLAGS: u64 = 64;

fn run(root: OperationRef) -> Ir {
    for function in collect(root).into_iter().filter(|op| name(*op) == structure::TRITON_FUNC) {
        let below = collect(function);
        let ops = symm_ops(function);
        if ops.is_empty() || below.iter().any(|op| op.has_attribute(SPECIALIZED)) {
            continue;
        }
        for op in &ops {
            if !is_polled(op.operation()) {
                record(*op);
            }
        }
        record_waits(&below);
        record_program(function, &ops, &below);
    }
    Ir::Changed
}

/// Whether an op is in the condition of a `while` loop.
fn is_polled<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    let mut inner = op;
    while let Some(around) = inner.parent_operation() {
        let is_condition = |block: &_| operations(*block).into_iter().any(|op| op.to_raw().ptr == inner.to_raw().ptr);
        if name(around) == "scf.while" && blocks(around).first().is_some_and(is_condition) {
            return true;
        }
        inner = around;
    }
    false
}

/// Whether an op makes a context.
fn is_context(op: OperationRef) -> bool {
    matches!(SymmOp::cast(op), Some(SymmOp::Ctx(_)))
}

/// What a record says of an op.
struct Record<'c> {
    what: String,
    address: Value<'c, 'c>,
    peers: Value<'c, 'c>,
    value: Value<'c, 'c>,
}

/// Puts an op between the begin and the end of its record.
fn record<'c: 'a, 'a>(op: SymmOp<'c, 'a>) {
    let b = &Builder::before(op.operation());
    let described = match op.accessing() {
        Some(access) => described(access),
        // All else takes no time between ranks, is a host's, or has other means.
        None => matches!(op, SymmOp::Barrier(_)).then(|| ("barrier", String::new(), None, None)),
    };
    let Some((called, how, flag, value)) = described else { return };
    let what = format!("{called} {}{}{how}", bytes(op), if how.is_empty() { "" } else { " " });
    let (address, peers) = place(b, op, flag);
    let value = value.map_or_else(|| b.i64(0), |value| word_of(b, op, value));
    between(b, op, Record { what, address, peers, value });
}

/// What a record has of an access: what it is called, how it is done, its flag, and the value of that; `None` for what
/// only looks.
fn described<'c: 'a, 'a>(access: Accessing<'c, 'a>) -> Option<Described<'c, 'a>> {
    Some(match access {
        Accessing::RemoteLoad(_) => ("load", String::new(), None, None),
        Accessing::RemoteStore(_) => ("store", String::new(), None, None),
        Accessing::Get(_) => ("get", String::new(), None, None),
        Accessing::Put(_) => ("put", String::new(), None, None),
        Accessing::Copy(_) => ("copy", String::new(), None, None),
        Accessing::AtomicCas(_) => ("atomic_cas", String::new(), None, None),
        // A look at flags.
        Accessing::AtomicRmw(atomic) if atomic.kind() == RmwKind::Or => return None,
        Accessing::AtomicRmw(atomic) => match atomic_kind(atomic.kind(), atomic.ptr()) {
            Some(how) => {
                let called = if is_signal(atomic) { "signal" } else { "atomic" };
                (called, how.to_owned(), Some(atomic.ptr()), Some(atomic.value()))
            }
            None => ("atomic", String::new(), None, None),
        },
        Accessing::Signal(signal) => {
            ("signal", signal.kind().keyword().to_owned(), Some(signal.flag()), Some(signal.value()))
        }
        Accessing::PutSignal(put) => {
            ("put_signal", put.kind().keyword().to_owned(), Some(put.flag()), Some(put.value()))
        }
        Accessing::Wait(wait) => {
            let unsigned = if wait.is_unsigned() { "unsigned " } else { "" };
            let how = format!("{unsigned}{}", wait.comparison().keyword());
            ("wait", how, Some(wait.flag()), Some(wait.value()))
        }
        Accessing::PutPacket(put) => ("put_packet", "packet".to_owned(), Some(put.slots()), put.epoch()),
        Accessing::WaitPacket(wait) => ("wait_packet", "packet".to_owned(), Some(wait.slots()), wait.epoch()),
        Accessing::TryPacket(_) => return None,
    })
}

type Described<'c, 'a> = (&'static str, String, Option<Value<'c, 'a>>, Option<Value<'c, 'a>>);

/// What an atomic does to flags, if its elements are few enough to be some.
fn atomic_kind(kind: RmwKind, pointer: Value) -> Option<&'static str> {
    let count = Shaped::tensor(pointer.r#type()).map_or(1, elements);
    match kind {
        RmwKind::Add if count <= MOST_FLAGS => Some("add"),
        RmwKind::Xchg if count <= MOST_FLAGS => Some("set"),
        _ => None,
    }
}

/// Whether an atomic is a signal to a block of ranks: it releases, and nothing asks what was there.
fn is_signal(atomic: AtomicRmw) -> bool {
    let is_to_several = Shaped::tensor(atomic.rank().r#type()).is_some();
    is_to_several && atomic.sem() == Order::Release && !has_uses(atomic.result())
}

fn elements(tensor: Shaped) -> u64 {
    tensor.dimensions().iter().map(|size| size.unwrap_or(1)).product()
}

/// How many bytes of data an op moves, as text.
fn bytes<'c: 'a, 'a>(op: SymmOp<'c, 'a>) -> String {
    let pointer = ["src", "ptr", "slots"].iter().find_map(|group| op.operand_group(group).first().copied());
    let Some(pointer) = pointer else { return "0".to_owned() };
    let Some(element) = Pointer::of(pointer.r#type()).and_then(Pointer::pointee) else {
        return "0".to_owned();
    };
    let count = Shaped::tensor(pointer.r#type()).map_or(1, elements);
    let most = if op.operand_group("mask").is_empty() { "" } else { "<" };
    format!("{most}{}", count * byte_width(element))
}

/// The address that an op goes to, and a bit for each rank of a block of them.
fn place<'c: 'a, 'a>(
    b: &Builder<'c>,
    op: SymmOp<'c, 'a>,
    flag: Option<Value<'c, 'a>>,
) -> (Value<'c, 'c>, Value<'c, 'c>) {
    let ctx = op.ctx().expect("what is recorded has a context");
    let rank = ["rank", "to"].iter().find_map(|group| op.operand_group(group).first().copied());
    let local = flag.map(|flag| lowest_of(b, op, flag));
    match (rank, local) {
        (None, local) => (local.unwrap_or_else(|| b.i64(0)), b.i64(0)),
        (Some(ranks), local) if Shaped::tensor(ranks.r#type()).is_some() => {
            (local.unwrap_or_else(|| b.i64(0)), bits_of(b, op, lasting(ranks)))
        }
        (Some(rank), Some(local)) => {
            let delta = match op.operand_group("delta").first() {
                Some(delta) => lasting(*delta),
                None => b.make_value(&HeapDeltaParts { ctx, rank }, b.int(64)),
            };
            (b.add(local, delta), b.i64(0))
        }
        (Some(rank), None) => {
            let words = Type::parse(b.context, "!tt.ptr<i64>").expect("a type of an unregistered dialect");
            let base = b.make_value(&HeapBaseParts { ctx, rank }, words);
            (b.value("tt.ptr_to_int", &[base], b.int(64), &[]), b.i64(0))
        }
    }
}

/// The lowest address among an op's pointers to flags.
fn lowest_of<'c: 'a, 'a>(b: &Builder<'c>, op: SymmOp<'c, 'a>, pointer: Value<'c, 'a>) -> Value<'c, 'c> {
    let ty = element_wise(pointer.r#type(), b.int(64));
    let addresses = b.value("tt.ptr_to_int", &[pointer], ty, &[]);
    lowest(b, unmasked(b, op, addresses, -1))
}

/// A bit for each rank of a tensor of ranks.
fn bits_of<'c: 'a, 'a>(b: &Builder<'c>, op: SymmOp<'c, 'a>, ranks: Value<'c, 'c>) -> Value<'c, 'c> {
    let (ty, truth) = (element_wise(ranks.r#type(), b.int(64)), element_wise(ranks.r#type(), b.int(1)));
    let wide = b.value("arith.extui", &[ranks], ty, &[]);
    let below = ("predicate", b.integer(64, CmpiPredicate::Ult as i64));
    let is_known = b.value("arith.cmpi", &[wide, constant_like(b, 64, ty)], truth, &[below]);
    let zero = constant_like(b, 0, ty);
    let shift = b.value("arith.select", &[is_known, wide, zero], ty, &[]);
    let bit = b.binary("arith.shli", constant_like(b, 1, ty), shift);
    let bits = b.value("arith.select", &[is_known, bit, zero], ty, &[]);
    reduced(b, unmasked(b, op, bits, 0), "arith.ori")
}

/// A value of a flag, `i64`; of several, the least as unsigned numbers.
fn word_of<'c: 'a, 'a>(b: &Builder<'c>, op: SymmOp<'c, 'a>, value: Value<'c, 'a>) -> Value<'c, 'c> {
    let ty = element_wise(value.r#type(), b.int(64));
    let is_unsigned = matches!(op, SymmOp::Wait(wait) if wait.is_unsigned());
    let word = match integer_width(scalar_of(value.r#type())) {
        Some(64) => lasting(value),
        Some(_) => b.value(if is_unsigned { "arith.extui" } else { "arith.extsi" }, &[value], ty, &[]),
        None => constant_like(b, 0, ty),
    };
    lowest(b, unmasked(b, op, word, -1))
}

fn scalar_of(ty: Type) -> Type {
    if Shaped::tensor(ty).is_some() { scalar(ty) } else { ty }
}

/// Words, and `otherwise` where the op's mask is false.
fn unmasked<'c: 'a, 'a>(b: &Builder<'c>, op: SymmOp<'c, 'a>, words: Value<'c, 'c>, otherwise: i64) -> Value<'c, 'c> {
    let ty = words.r#type();
    let Some(mask) = op.operand_group("mask").first().copied() else { return words };
    let truth = element_wise(ty, b.int(1));
    let mask = if mask.r#type() == truth { lasting(mask) } else { return words };
    b.value("arith.select", &[mask, words, constant_like(b, otherwise, ty)], ty, &[])
}

fn between<'c: 'a, 'a>(b: &Builder<'c>, op: SymmOp<'c, 'a>, record: Record<'c>) {
    let ctx = op.ctx().expect("what is recorded has a context");
    let values = [record.address, record.peers, record.value];
    let begun = begin(b, ctx, record.what, &values, Group::Block);
    end(&Builder::after(op.operation()), begun, Vec::new());
}

/// Records a kernel from its start, or from where its context is made, to each of its returns.
fn record_program<'c: 'a, 'a>(function: OperationRef<'c, 'a>, ops: &[SymmOp<'c, 'a>], below: &[OperationRef<'c, 'a>]) {
    let Some(entry) = blocks(function).first().copied() else { return };
    let is_argument = |value: Value<'c, 'a>| {
        value.is_block_argument() && BlockArgument::try_from(value).is_ok_and(|argument| argument.owner() == entry)
    };
    let is_of_arguments = |op: &OperationRef<'c, 'a>| op.operands().all(is_argument);
    let contexts = || ops.iter().map(|op| op.operation()).filter(|op| is_context(*op));
    let made = contexts().find(is_of_arguments);
    let record = if let Some(made) = made {
        if enclosing(made, &[structure::TRITON_FUNC, "ttg.warp_specialize"]) != Some(function) {
            return;
        }
        let b = &Builder::at_start(context(function), entry, function.location());
        let ctx = b.copy(made).result(0).expect("a context").into();
        begin(b, ctx, "kernel 0".to_owned(), &[], Group::Block)
    } else {
        let passes = |op: &OperationRef<'c, 'a>| is_quiet(*op) || only_reads(name(*op)) || is_context(*op);
        let early: Vec<_> = operations(entry).into_iter().take_while(passes).collect();
        let Some(made) = contexts().find(|made| early.contains(made)) else { return };
        let b = &Builder::at(context(function), made, function.location());
        let ctx = b.copy(made).result(0).expect("a context").into();
        begin(b, ctx, "kernel 0".to_owned(), &[], Group::Block)
    };
    for last in below.iter().filter(|op| name(**op) == "tt.return") {
        end(&Builder::before(*last), record, Vec::new());
    }
}
