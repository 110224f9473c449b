//! Verifiers: what ODS's types and traits can't say. Messages begin with the label of the rule they keep.

mod access;
pub mod attribute;
mod bulk;
mod flag;
mod message;
mod packet;

use crate::access::range;
use crate::diagnostic::{Reported, error};
use crate::lossy;
use crate::ops::{Access, Action, Arity, Order, Question, SymmOp};
use crate::pointer::{Pointer, is_block_memory, layout};
use crate::shape::{DYNAMIC, is_data};
use melior::ir::r#type::{MemRefType, ShapedTypeLike};
use melior::ir::{Type, TypeLike, Value, ValueLike};
use symm_abi::heap::HEAP_ALIGN;

type Verdict = Result<(), Reported>;

/// The same as a signed number, as attributes have it.
const HEAP_ALIGNMENT: i64 = HEAP_ALIGN.cast_signed();

/// Checks one op; an error has been reported when it returns `Err`.
pub fn verify<'c: 'a, 'a>(op: SymmOp<'c, 'a>) -> Verdict {
    verify_operand_counts(op)?;
    for (name, on_heap) in pointer_operands(op) {
        if let Some(pointer) = op.operand_group(name).first() {
            verify_pointer(op, name, *pointer, on_heap)?;
        }
    }
    if let Some(alignment) = alignment(op) {
        let kept = alignment > 0 && alignment & (alignment - 1) == 0 && alignment <= HEAP_ALIGNMENT;
        ensure(op, kept, || {
            lossy!("T4: takes an alignment in bytes that is a power of two up to {HEAP_ALIGNMENT}, got {alignment}")
        })?;
    }
    if let Some((src, dst)) = op.ends() {
        bulk::verify(op, src.pointer, dst.pointer)?;
    }
    match op.question() {
        Ok(Question::Ctx(ctx)) => ensure(op, ctx.rank().is_some() == ctx.num_ranks().is_some(), || {
            "takes both a rank and a number of ranks, or neither".into()
        }),
        Ok(Question::HeapBase(base)) => {
            verify_pointer(op, "result", base.result(), true)?;
            let ty = base.result().r#type();
            ensure(op, matches!(Pointer::of(ty), Some(Pointer::Llvm | Pointer::Triton(_))), || {
                lossy!("T1: 'result' is one pointer without a shape, got {ty}")
            })
        }
        // ODS fully checks the other questions.
        Ok(_) => Ok(()),
        Err(action) => verify_action(op, action),
    }
}

fn verify_action<'c: 'a, 'a>(op: SymmOp<'c, 'a>, action: Action<'c, 'a>) -> Verdict {
    match action {
        Action::AsRemote(_) => access::rank(op),
        Action::RemoteLoad(load) => access::load(load),
        Action::RemoteStore(store) => access::store(store),
        Action::AtomicRmw(rmw) => access::rmw(rmw),
        Action::AtomicCas(cas) => access::cas(cas),
        Action::PutSignal(put) => flag::verify(op, put.flag(), &put.indices(), put.value()),
        Action::Signal(signal) => flag::signal(signal),
        Action::Wait(wait) => flag::wait(wait),
        Action::WaitPacket(wait) => {
            flag::deadline(op, Some(wait.slots()))?;
            packet::wait(wait)
        }
        Action::TryPacket(look) => {
            flag::deadline(op, Some(look.slots()))?;
            packet::look(look)
        }
        Action::Barrier(_) => flag::deadline(op, None),
        Action::PutPacket(put) => packet::put(put),
        Action::Fence(fence) => {
            ensure(op, fence.sem() != Order::Relaxed, || "O1: a relaxed fence orders nothing".into())
        }
        Action::Alloc(alloc) => {
            verify_pointer(op, "memory", alloc.memory(), true)?;
            verify_alloc(op, alloc.memory().r#type(), alloc.sizes().len())
        }
        Action::Free(free) => verify_pointer(op, "memory", free.memory(), true),
        Action::Check(check) => message::verify(op, &check.message(), &check.values()),
        Action::Print(print) => message::verify(op, &print.message(), &print.values()),
        Action::Fault(fault) => message::fault(fault),
        Action::TraceBegin(begin) => message::trace_begin(begin),
        Action::TraceEnd(end) => message::trace_end(end),
        // The ends of a copy are checked above.
        Action::Get(_) | Action::Put(_) | Action::Copy(_) | Action::BarrierAll(_) => Ok(()),
    }
}

/// Every operand of the definition is there once: ODS counts them all together where there are segments, and would
/// let one be missing if another is there twice.
fn verify_operand_counts<'c: 'a, 'a>(op: SymmOp<'c, 'a>) -> Verdict {
    let groups = op.operands();
    for (index, group) in groups.iter().enumerate().filter(|(_, group)| group.arity == Arity::One) {
        let count = range(op.operation(), groups, index).len();
        ensure(op, count == 1, || lossy!("takes one operand '{}', got {count}", group.name))?;
    }
    Ok(())
}

fn ensure<'c: 'a, 'a>(op: SymmOp<'c, 'a>, holds: bool, message: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(error(op.operation(), &message())) }
}

/// The op's pointer operands, and whether each must lie on the symmetric heap (T1).
fn pointer_operands(op: SymmOp) -> impl Iterator<Item = (&'static str, bool)> {
    let names = ["ptr", "flag", "slots", "table", "src", "dst"];
    names.into_iter().map(move |name| {
        let access = op.accesses().iter().find(|access| access.pointer == name);
        (name, access.map_or(!matches!(op, SymmOp::Ctx(_)), Access::is_on_heap))
    })
}

fn alignment(op: SymmOp) -> Option<i64> {
    if let SymmOp::Alloc(alloc) = op { alloc.align() } else { op.alignment() }
}

fn verify_pointer<'c: 'a, 'a>(op: SymmOp<'c, 'a>, name: &str, pointer: Value<'c, 'a>, on_heap: bool) -> Verdict {
    let ty = pointer.r#type();
    ensure(op, Pointer::of(ty).is_some(), || {
        lossy!("T1: '{name}' is a pointer (!llvm.ptr, memref, !tt.ptr or a tensor of !tt.ptr), got {ty}")
    })?;
    ensure(op, !ty.is_mem_ref() || layout(ty).is_some(), || {
        lossy!("T1: '{name}' is a memref with an offset and strides, got {ty}")
    })?;
    let space = Pointer::address_space(ty);
    ensure(op, !on_heap || (space <= 1 && !is_block_memory(ty)), || {
        lossy!("T1: '{name}' is on the symmetric heap, which is generic or global memory, got {ty}")
    })
}

fn verify_alloc<'c: 'a, 'a>(op: SymmOp<'c, 'a>, ty: Type<'c>, sizes: usize) -> Verdict {
    let Some(Pointer::MemRef(memref)) = Pointer::of(ty) else { return Ok(()) };
    let plain = MemRefType::try_from(ty).is_ok_and(|ty| ty.affine_map().is_identity());
    ensure(op, plain, || lossy!("allocates a contiguous memref, got {ty}"))?;
    let dynamic = memref.dimensions().iter().filter(|size| **size == DYNAMIC).count();
    ensure(op, sizes == dynamic, || lossy!("takes one size for each '?' of {ty}: {dynamic}, got {sizes}"))?;
    ensure(op, is_data(memref.element()), || lossy!("allocates integers, floats and index, got {ty}"))
}
