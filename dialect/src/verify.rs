//! Verifiers: what ODS's types and traits can't say. Messages begin with the label of the rule they keep.

use crate::diagnostic::{Reported, error};
use crate::ops::{Engine, Group, Order, RmwKind, SymmOp};
use crate::pointer::{Pointer, strides};
use crate::shape::{DYNAMIC, Shaped, integer_width, is_data, scalar};
use melior::ir::r#type::ShapedTypeLike;
use melior::ir::{Type, TypeLike, Value, ValueLike, operation::OperationLike};

type Verdict = Result<(), Reported>;

/// Checks one op; an error has been reported when it returns `Err`.
pub fn verify<'c: 'a, 'a>(op: SymmOp<'c, 'a>) -> Verdict {
    for (name, on_heap) in pointer_operands(op) {
        if let Some(pointer) = op.operand_group(name).first() {
            verify_pointer(op, name, *pointer, on_heap)?;
        }
    }
    if let Some(alignment) = alignment(op) {
        ensure(op, alignment > 0 && alignment & (alignment - 1) == 0, || {
            format!("takes an alignment that is a power of two, in bytes, got {alignment}")
        })?;
    }
    match op {
        SymmOp::Ctx(ctx) => ensure(op, ctx.rank().is_some() == ctx.num_ranks().is_some(), || {
            "takes both a rank and a number of ranks, or neither".into()
        }),
        SymmOp::HeapBase(base) => verify_pointer(op, "result", base.result(), true),
        SymmOp::RemoteLoad(load) => {
            let result = load.result().r#type();
            ensure(op, load.other().is_none_or(|other| other.r#type() == result), || {
                format!("takes an 'other' of the result's type {result}")
            })?;
            ensure(op, load.other().is_none() || load.mask().is_some(), || "takes 'other' only with a mask".into())?;
            verify_access(op, load.ptr(), &load.indices(), result, load.mask())
        }
        SymmOp::RemoteStore(store) => {
            verify_access(op, store.ptr(), &store.indices(), store.value().r#type(), store.mask())
        }
        SymmOp::Get(get) => verify_bulk(op, get.src(), get.dst()),
        SymmOp::Put(put) => verify_bulk(op, put.src(), put.dst()),
        SymmOp::Copy(copy) => verify_bulk(op, copy.src(), copy.dst()),
        SymmOp::PutSignal(put) => {
            verify_bulk(op, put.src(), put.dst())?;
            verify_flag(op, put.flag(), &put.indices(), put.value())
        }
        SymmOp::AtomicRmw(rmw) => {
            verify_rmw_type(op, rmw.kind(), rmw.value().r#type())?;
            verify_access(op, rmw.ptr(), &rmw.indices(), rmw.value().r#type(), rmw.mask())
        }
        SymmOp::AtomicCas(cas) => {
            let ty = cas.expected().r#type();
            ensure(op, is_flag_type(scalar(ty)), || format!("compares i32 or i64, got {ty}"))?;
            verify_access(op, cas.ptr(), &cas.indices(), ty, cas.mask())
        }
        SymmOp::Signal(signal) => {
            ensure(op, matches!(signal.sem(), Order::Relaxed | Order::Release), || {
                format!("O1: a signal is release or relaxed, got {}", signal.sem().keyword())
            })?;
            verify_flag(op, signal.flag(), &signal.indices(), signal.value())
        }
        SymmOp::Wait(wait) => {
            ensure(op, matches!(wait.sem(), Order::Relaxed | Order::Acquire), || {
                format!("O1: a wait is acquire or relaxed, got {}", wait.sem().keyword())
            })?;
            ensure(op, wait.timeout().is_some() == wait.satisfied().is_some(), || {
                "returns an i1 if it has a timeout, and nothing otherwise".into()
            })?;
            verify_flag(op, wait.flag(), &wait.indices(), wait.value())
        }
        SymmOp::Fence(fence) => {
            ensure(op, fence.sem() != Order::Relaxed, || "O1: a relaxed fence orders nothing".into())
        }
        SymmOp::Alloc(alloc) => verify_alloc(op, alloc.memory().r#type(), alloc.sizes().len()),
        SymmOp::Check(check) => verify_message(op, &check.message(), &check.values()),
        SymmOp::Print(print) => verify_message(op, &print.message(), &print.values()),
        SymmOp::Fault(fault) => {
            ensure(op, fault.values().len() <= 6, || "reports at most six values".into())?;
            verify_message(op, &fault.message(), &fault.values())
        }
        SymmOp::Rank(_)
        | SymmOp::NumRanks(_)
        | SymmOp::HeapDelta(_)
        | SymmOp::AsRemote(_)
        | SymmOp::Barrier(_)
        | SymmOp::BarrierAll(_)
        | SymmOp::Free(_) => Ok(()),
    }
}

fn ensure<'c: 'a, 'a>(op: SymmOp<'c, 'a>, holds: bool, message: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(error(op.operation(), &message())) }
}

/// The op's pointer operands, and whether each must lie on the symmetric heap (T1).
fn pointer_operands(op: SymmOp) -> impl Iterator<Item = (&'static str, bool)> {
    let names = ["ptr", "flag", "table", "src", "dst"];
    names.into_iter().map(move |name| {
        let local = matches!(
            (op, name),
            (SymmOp::Get(_), "dst") | (SymmOp::Put(_) | SymmOp::PutSignal(_), "src") | (SymmOp::Ctx(_), _)
        );
        (name, !local)
    })
}

fn alignment(op: SymmOp) -> Option<i64> {
    match op {
        SymmOp::RemoteLoad(op) => op.alignment(),
        SymmOp::RemoteStore(op) => op.alignment(),
        SymmOp::Get(op) => op.alignment(),
        SymmOp::Put(op) => op.alignment(),
        SymmOp::Copy(op) => op.alignment(),
        SymmOp::PutSignal(op) => op.alignment(),
        SymmOp::Alloc(op) => op.align(),
        _ => None,
    }
}

fn verify_pointer<'c: 'a, 'a>(op: SymmOp<'c, 'a>, name: &str, pointer: Value<'c, 'a>, on_heap: bool) -> Verdict {
    let ty = pointer.r#type();
    ensure(op, Pointer::of(ty).is_some(), || {
        format!("T1: '{name}' is a pointer (!llvm.ptr, memref, !tt.ptr or a tensor of !tt.ptr), got {ty}")
    })?;
    let space = Pointer::address_space(ty);
    let named = ty.to_string();
    let private = named.contains("address_space<workgroup>") || named.contains("address_space<private>");
    ensure(op, !on_heap || (space <= 1 && !private), || {
        format!("T1: '{name}' is on the symmetric heap, which is generic or global memory, got {ty}")
    })
}

fn is_flag_type(ty: Type) -> bool {
    matches!(integer_width(ty), Some(32 | 64))
}

/// `ptr[indices]` holds a `data`, and `mask` has its shape.
fn verify_access<'c: 'a, 'a>(
    op: SymmOp<'c, 'a>,
    ptr: Value<'c, 'a>,
    indices: &[Value<'c, 'a>],
    data: Type<'c>,
    mask: Option<Value<'c, 'a>>,
) -> Verdict {
    let pointer_type = ptr.r#type();
    let Some(pointer) = Pointer::of(pointer_type) else { return Ok(()) };
    verify_indices(op, pointer, indices)?;
    let element = scalar(data);
    ensure(op, is_data(element), || format!("accesses integers, floats and index, or vectors of them, got {data}"))?;
    if let Some(pointee) = pointer.pointee() {
        ensure(op, pointee == element, || format!("accesses {pointee} through {pointer_type}, got {data}"))?;
    }
    let vector = Shaped::vector(data);
    let tensor = Shaped::tensor(data);
    match pointer {
        Pointer::TritonTensor(pointers, _) => ensure(
            op,
            tensor.is_some_and(|data| data.is_shaped_like(pointers)),
            || format!("accesses a tensor shaped like {pointer_type}, got {data}"),
        )?,
        _ => ensure(op, tensor.is_none(), || format!("accesses a tensor through a tensor of pointers only, got {pointer_type}"))?,
    }
    if let (Some(_), Pointer::MemRef(_)) = (vector, pointer) {
        ensure(op, strides(pointer_type).last() == Some(&1), || {
            format!("accesses a vector where the innermost stride is 1, got {pointer_type}")
        })?;
    }
    if let Some(vector) = vector {
        ensure(op, vector.rank() == 1 && !data.is_scalable_vector(), || format!("accesses vectors of one fixed dimension, got {data}"))?;
    }
    mask.map_or(Ok(()), |mask| verify_mask(op, mask.r#type(), data))
}

fn verify_indices<'c: 'a, 'a>(op: SymmOp<'c, 'a>, pointer: Pointer<'c>, indices: &[Value<'c, 'a>]) -> Verdict {
    let expected = match pointer {
        Pointer::MemRef(memref) => memref.rank(),
        _ => 0,
    };
    ensure(op, indices.len() == expected, || {
        format!("takes one index for each dimension of a memref and none for other pointers: {expected}, got {}", indices.len())
    })
}

fn verify_mask<'c: 'a, 'a>(op: SymmOp<'c, 'a>, mask: Type<'c>, data: Type<'c>) -> Verdict {
    let is_bool = integer_width(scalar(mask)) == Some(1);
    let same_shape = match (Shaped::tensor(mask), Shaped::tensor(data)) {
        (Some(mask), Some(data)) => mask.is_shaped_like(data),
        (None, None) => Shaped::vector(mask)
            .is_none_or(|mask| Shaped::vector(data).is_some_and(|data| mask.is_shaped_like(data))),
        _ => false,
    };
    ensure(op, is_bool && same_shape, || format!("takes a mask of i1 shaped like {data}, got {mask}"))
}

/// `src` and `dst` of a bulk copy, its count and its mask.
fn verify_bulk<'c: 'a, 'a>(op: SymmOp<'c, 'a>, src: Value<'c, 'a>, dst: Value<'c, 'a>) -> Verdict {
    let (from, to) = (src.r#type(), dst.r#type());
    let (Some(source), Some(target)) = (Pointer::of(from), Pointer::of(to)) else { return Ok(()) };
    let count = op.operand_group("count").len();
    let mask = op.operand_group("mask").first().copied();
    let element = op.operation().attribute("element").is_ok();
    let (engine, group) = engine_and_group(op);
    ensure(op, engine == Engine::Threads || group == Group::Block, || "drives the bulk copy engine for a block: group block".into())?;
    match (source, target) {
        (Pointer::MemRef(source), Pointer::MemRef(target)) => {
            ensure(op, count == 0 && !element, || "takes no count for memrefs, which are copied whole; use memref.subview".into())?;
            ensure(op, mask.is_none(), || "takes a mask with tensors of pointers only".into())?;
            let (shape, other) = (source.dimensions(), target.dimensions());
            let compatible = shape.len() == other.len()
                && shape.iter().zip(&other).all(|sizes| !matches!(sizes, (Some(source), Some(target)) if source != target));
            ensure(op, source.element() == target.element() && compatible, || {
                format!("copies between memrefs of one shape and element type, got {from} and {to}")
            })?;
            ensure(op, is_data(source.element()), || format!("copies integers, floats and index, got {from}"))
        }
        (Pointer::Llvm, Pointer::Llvm) | (Pointer::Triton(_), Pointer::Triton(_)) => {
            ensure(op, count == 1 && element, || "takes a count and an element type for pointers: count %n : index of f32".into())?;
            ensure(op, mask.is_none(), || "takes a mask with tensors of pointers only".into())
        }
        (Pointer::TritonTensor(source, _), Pointer::TritonTensor(target, _)) => {
            ensure(op, count == 0 && !element, || "takes no count for tensors of pointers; use a mask".into())?;
            ensure(op, source.is_shaped_like(target), || {
                format!("copies between tensors of pointers of one shape, got {from} and {to}")
            })?;
            mask.map_or(Ok(()), |mask| verify_mask(op, mask.r#type(), from))
        }
        _ => Err(error(op.operation(), &format!("copies between two memrefs, two pointers or two tensors of pointers, got {from} and {to}"))),
    }
}

fn engine_and_group(op: SymmOp) -> (Engine, Group) {
    match op {
        SymmOp::Get(op) => (op.engine(), op.group()),
        SymmOp::Put(op) => (op.engine(), op.group()),
        SymmOp::Copy(op) => (op.engine(), op.group()),
        SymmOp::PutSignal(op) => (op.engine(), op.group()),
        _ => (Engine::Threads, Group::Thread),
    }
}

fn verify_flag<'c: 'a, 'a>(
    op: SymmOp<'c, 'a>,
    flag: Value<'c, 'a>,
    indices: &[Value<'c, 'a>],
    value: Value<'c, 'a>,
) -> Verdict {
    let ty = flag.r#type();
    let Some(pointer) = Pointer::of(ty) else { return Ok(()) };
    ensure(op, !matches!(pointer, Pointer::TritonTensor(..)), || format!("takes one flag, not a tensor of them, got {ty}"))?;
    verify_indices(op, pointer, indices)?;
    let width = value.r#type();
    ensure(op, pointer.pointee().is_none_or(|pointee| pointee == width), || {
        format!("compares and sets a flag as what it is: {ty} holds no {width}")
    })
}

fn verify_rmw_type<'c: 'a, 'a>(op: SymmOp<'c, 'a>, kind: RmwKind, data: Type<'c>) -> Verdict {
    let element = scalar(data);
    let float = element.is_float() && element.float_width() >= 16;
    let vector = data.is_vector();
    let (fits, wanted) = match kind {
        RmwKind::FAdd => (float, "f16, bf16, f32 or f64"),
        RmwKind::Xchg => (is_flag_type(element) || float, "i32, i64 or a float"),
        _ => (is_flag_type(element), "i32 or i64"),
    };
    ensure(op, fits && !vector, || format!("{} takes {wanted}, got {data}", kind.keyword()))
}

fn verify_alloc<'c: 'a, 'a>(op: SymmOp<'c, 'a>, ty: Type<'c>, sizes: usize) -> Verdict {
    let Some(Pointer::MemRef(memref)) = Pointer::of(ty) else { return Ok(()) };
    verify_pointer_type_is_plain(op, ty)?;
    let dynamic = memref.dimensions().iter().filter(|size| **size == DYNAMIC).count();
    ensure(op, sizes == dynamic, || format!("takes one size for each '?' of {ty}: {dynamic}, got {sizes}"))?;
    ensure(op, is_data(memref.element()), || format!("allocates integers, floats and index, got {ty}"))
}

fn verify_pointer_type_is_plain<'c: 'a, 'a>(op: SymmOp<'c, 'a>, ty: Type<'c>) -> Verdict {
    let plain = !ty.to_string().contains("strided<") && !ty.to_string().contains("affine_map<");
    ensure(op, plain && Pointer::address_space(ty) <= 1, || format!("allocates a contiguous memref in global memory, got {ty}"))
}

/// One `{}` for each value, and values that can be printed.
fn verify_message<'c: 'a, 'a>(op: SymmOp<'c, 'a>, message: &str, values: &[Value<'c, 'a>]) -> Verdict {
    let plain = message.replace("{{", "").replace("}}", "");
    let places = plain.matches("{}").count();
    let stray = plain.replace("{}", "").contains(['{', '}']);
    ensure(op, !stray, || "takes a message in which braces are {} for a value, {{ or }}".into())?;
    ensure(op, places == values.len(), || format!("prints as many values as its message has {{}}: {places}, got {}", values.len()))?;
    let unprintable = values.iter().map(|value| value.r#type()).find(|ty| !is_data(*ty) && Pointer::of(*ty).is_none());
    ensure(op, unprintable.is_none(), || format!("prints integers, floats, index and pointers, got {}", unprintable.map_or_else(String::new, |ty| ty.to_string())))
}
