//! Verifiers: what ODS's types and traits can't say. Messages begin with the label of the rule they keep.

mod packet;

use crate::access::{range, ty as attribute_type};
use crate::diagnostic::{Reported, error};
use crate::lossy;
use crate::ops::{Access, Arity, Engine, Group, Order, RmwKind, SymmOp};
use crate::pointer::{Pointer, is_block_memory, layout, strides};
use crate::shape::{DYNAMIC, Shaped, byte_width, float_width, integer_width, is_data, scalar};
use crate::{HEAP_SIZE_ATTRIBUTE, HEAP_STRIDE_ATTRIBUTE, NUM_RANKS_ATTRIBUTE, TABLE_IN_HEAP_ATTRIBUTE};
use melior::ir::attribute::{AttributeLike, IntegerAttribute};
use melior::ir::r#type::{MemRefType, ShapedTypeLike};
use melior::ir::{Attribute, OperationRef, Type, TypeLike, Value, ValueLike, operation::OperationLike};
use symm_abi::heap::HEAP_ALIGN;
use symm_abi::{fault, trace};

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
        verify_bulk(op, src.pointer, dst.pointer)?;
    }
    match op {
        SymmOp::Ctx(ctx) => ensure(op, ctx.rank().is_some() == ctx.num_ranks().is_some(), || {
            "takes both a rank and a number of ranks, or neither".into()
        }),
        SymmOp::HeapBase(base) => {
            verify_pointer(op, "result", base.result(), true)?;
            let ty = base.result().r#type();
            ensure(op, matches!(Pointer::of(ty), Some(Pointer::Llvm | Pointer::Triton(_))), || {
                lossy!("T1: 'result' is one pointer without a shape, got {ty}")
            })
        }
        SymmOp::RemoteLoad(load) => {
            let result = load.result().r#type();
            ensure(op, load.other().is_none_or(|other| other.r#type() == result), || {
                lossy!("takes an 'other' of the result's type {result}")
            })?;
            ensure(op, load.other().is_none() || load.mask().is_some(), || "takes 'other' only with a mask".into())?;
            verify_access(op, load.ptr(), &load.indices(), result, load.mask())
        }
        SymmOp::RemoteStore(store) => {
            verify_access(op, store.ptr(), &store.indices(), store.value().r#type(), store.mask())
        }
        SymmOp::PutSignal(put) => verify_flag(op, put.flag(), &put.indices(), put.value()),
        SymmOp::AtomicRmw(rmw) => {
            verify_rmw_type(op, rmw.kind(), rmw.value().r#type())?;
            verify_access(op, rmw.ptr(), &rmw.indices(), rmw.value().r#type(), rmw.mask())
        }
        SymmOp::AtomicCas(cas) => {
            let ty = cas.expected().r#type();
            let fits = is_flag_type(scalar(ty)) || is_wide_float(scalar(ty));
            ensure(op, fits && !ty.is_vector(), || lossy!("compares i32, i64, f32 or f64, got {ty}"))?;
            verify_access(op, cas.ptr(), &cas.indices(), ty, cas.mask())
        }
        SymmOp::Signal(signal) => {
            ensure(op, matches!(signal.sem(), Order::Relaxed | Order::Release), || {
                lossy!("O1: a signal is release or relaxed, got {}", signal.sem().keyword())
            })?;
            verify_flag(op, signal.flag(), &signal.indices(), signal.value())
        }
        SymmOp::Wait(wait) => {
            ensure(op, matches!(wait.sem(), Order::Relaxed | Order::Acquire), || {
                lossy!("O1: a wait is acquire or relaxed, got {}", wait.sem().keyword())
            })?;
            ensure(op, wait.timeout().is_some() == wait.satisfied().is_some(), || {
                "returns an i1 if it has a timeout, and nothing otherwise".into()
            })?;
            ensure(op, wait.timeout().is_none() || wait.deadline().is_none(), || {
                "has a timeout or a deadline, not both".into()
            })?;
            let extras = [("tag", wait.tag().is_some()), ("limit", wait.limit().is_some()), ("log", wait.logs())];
            verify_deadline(op, Some(wait.flag()), wait.deadline(), extras)?;
            verify_flag(op, wait.flag(), &wait.indices(), wait.value())
        }
        SymmOp::WaitPacket(wait) => {
            let extras = [("tag", wait.tag().is_some()), ("limit", wait.limit().is_some()), ("log", wait.logs())];
            verify_deadline(op, Some(wait.slots()), wait.deadline(), extras)?;
            packet::verify(op)
        }
        SymmOp::Barrier(wait) => {
            let extras = [("tag", wait.tag().is_some()), ("limit", wait.limit().is_some()), ("log", wait.logs())];
            verify_deadline(op, None, wait.deadline(), extras)
        }
        SymmOp::PutPacket(_) | SymmOp::TryPacket(_) => packet::verify(op),
        SymmOp::Fence(fence) => {
            ensure(op, fence.sem() != Order::Relaxed, || "O1: a relaxed fence orders nothing".into())
        }
        SymmOp::Alloc(alloc) => {
            verify_pointer(op, "memory", alloc.memory(), true)?;
            verify_alloc(op, alloc.memory().r#type(), alloc.sizes().len())
        }
        SymmOp::Free(free) => verify_pointer(op, "memory", free.memory(), true),
        SymmOp::Check(check) => verify_message(op, &check.message(), &check.values()),
        SymmOp::Print(print) => verify_message(op, &print.message(), &print.values()),
        SymmOp::Fault(fault) => {
            ensure(op, fault.values().len() <= fault::MOST_VALUES, || {
                format!("reports at most {} values", fault::MOST_VALUES)
            })?;
            verify_message(op, &fault.message(), &fault.values())
        }
        SymmOp::TraceBegin(begin) => ensure(op, begin.values().len() <= trace::MOST_VALUES, || {
            format!("records at most {} values when something begins", trace::MOST_VALUES)
        }),
        SymmOp::TraceEnd(end) => ensure(op, end.values().len() <= trace::MOST_LATE_VALUES, || {
            format!("records at most {} values when something ends", trace::MOST_LATE_VALUES)
        }),
        // ODS says all that is to be said of the others.
        _ => Ok(()),
    }
}

/// A deadline is the address of its record, for flags and slots in Triton kernels: programs have timeouts.
fn verify_deadline<'c: 'a, 'a>(
    op: SymmOp<'c, 'a>,
    waited_for: Option<Value<'c, 'a>>,
    deadline: Option<Value<'c, 'a>>,
    extras: [(&str, bool); 3],
) -> Verdict {
    let Some(deadline) = deadline else {
        let extra = extras.into_iter().find_map(|(name, is_there)| is_there.then_some(name));
        return ensure(op, extra.is_none(), || {
            format!("has a {}, but no deadline whose record it would be in", extra.unwrap_or_default())
        });
    };
    let ty = deadline.r#type();
    let is_record = matches!(Pointer::of(ty), Some(Pointer::Triton(_)))
        && Pointer::of(ty).and_then(Pointer::pointee).and_then(integer_width) == Some(64);
    ensure(op, is_record, || lossy!("takes as deadline a !tt.ptr<i64>, the address of its record, got {ty}"))?;
    let Some(waited_for) = waited_for.map(|value| value.r#type()) else { return Ok(()) };
    let is_triton = matches!(Pointer::of(waited_for), Some(Pointer::Triton(_) | Pointer::TritonTensor(..)));
    ensure(op, is_triton, || lossy!("S1: has a deadline for Triton's pointers only, got {waited_for}: take timeout"))
}

/// Checks one attribute of this dialect on an op of any dialect.
pub fn verify_attribute<'c: 'a, 'a>(op: OperationRef<'c, 'a>, name: &str, attribute: Attribute<'c>) -> Verdict {
    let integer = |width| {
        let integer = IntegerAttribute::try_from(attribute).ok();
        integer.filter(|integer| integer_width(integer.r#type()) == Some(width)).map(|integer| integer.value())
    };
    let complaint = match name {
        NUM_RANKS_ATTRIBUTE if integer(32).is_none_or(|ranks| ranks <= 0) => "an i32 above 0",
        HEAP_STRIDE_ATTRIBUTE if integer(64).is_none_or(|stride| stride <= 0 || stride % HEAP_ALIGNMENT != 0) => {
            "an i64 in bytes, above 0 and a multiple of 2 MiB (T4, T5)"
        }
        HEAP_SIZE_ATTRIBUTE if integer(64).is_none_or(|size| size <= 0) => "an i64 in bytes, above 0",
        TABLE_IN_HEAP_ATTRIBUTE if !attribute.is_unit() || !has_fixed_range(op) => {
            "a unit, on a module with 'symm.num_ranks' and 'symm.heap_stride' (T5)"
        }
        _ => return Ok(()),
    };
    Err(error(op, &lossy!("takes a '{name}' that is {complaint}, got {attribute}")))
}

/// Whether a module says how many heaps there are and how far apart.
fn has_fixed_range<'c: 'a, 'a>(module: OperationRef<'c, 'a>) -> bool {
    let value = |name| module.attribute(name).and_then(IntegerAttribute::try_from).map(|value| value.value());
    let (Ok(ranks), Ok(stride)) = (value(NUM_RANKS_ATTRIBUTE), value(HEAP_STRIDE_ATTRIBUTE)) else { return false };
    ranks.checked_mul(stride).is_some_and(|bytes| bytes > 0 && bytes <= 1 << 60)
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

fn is_flag_type(ty: Type) -> bool {
    matches!(integer_width(ty), Some(32 | 64))
}

fn is_wide_float(ty: Type) -> bool {
    matches!(float_width(ty), Some(32 | 64))
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
    ensure(op, is_data(element), || lossy!("accesses integers, floats and index, or vectors of them, got {data}"))?;
    let fits = matches!(pointer, Pointer::Llvm) || pointer.pointee() == Some(element);
    ensure(op, fits, || lossy!("accesses elements as what they are: {pointer_type} holds no {element}"))?;
    let vector = Shaped::vector(data);
    let tensor = Shaped::tensor(data);
    match pointer {
        Pointer::TritonTensor(pointers, _) => {
            ensure(op, tensor.is_some_and(|data| data.is_shaped_like(pointers)), || {
                lossy!("accesses a tensor shaped like {pointer_type}, got {data}")
            })?;
        }
        _ => ensure(op, tensor.is_none(), || {
            lossy!("accesses a tensor through a tensor of pointers only, got {pointer_type}")
        })?,
    }
    if let (Some(_), Pointer::MemRef(_)) = (vector, pointer) {
        ensure(op, strides(pointer_type).last() == Some(&1), || {
            lossy!("accesses a vector where the innermost stride is 1, got {pointer_type}")
        })?;
    }
    if let Some(vector) = vector {
        ensure(op, vector.rank() == 1 && !data.is_scalable_vector(), || {
            lossy!("accesses vectors of one fixed dimension, got {data}")
        })?;
        // In memory an i1 takes a byte, in a vector a bit.
        ensure(op, integer_width(element) != Some(1), || {
            lossy!("accesses no vectors of i1, got {data}: extend it to i8, of which memory holds one for each i1")
        })?;
    }
    mask.map_or(Ok(()), |mask| verify_mask(op, mask.r#type(), data))
}

fn verify_indices<'c: 'a, 'a>(op: SymmOp<'c, 'a>, pointer: Pointer<'c>, indices: &[Value<'c, 'a>]) -> Verdict {
    let expected = match pointer {
        Pointer::MemRef(memref) => memref.rank(),
        _ => 0,
    };
    ensure(op, indices.len() == expected, || {
        lossy!(
            "takes one index for each dimension of a memref and none for other pointers: {expected}, got {}",
            indices.len()
        )
    })
}

fn verify_mask<'c: 'a, 'a>(op: SymmOp<'c, 'a>, mask: Type<'c>, data: Type<'c>) -> Verdict {
    let is_bool = integer_width(scalar(mask)) == Some(1);
    let same_shape = match (Shaped::tensor(mask), Shaped::tensor(data)) {
        (Some(mask), Some(data)) => mask.is_shaped_like(data),
        (None, None) => {
            Shaped::vector(mask).is_none_or(|mask| Shaped::vector(data).is_some_and(|data| mask.is_shaped_like(data)))
        }
        _ => false,
    };
    ensure(op, is_bool && same_shape, || lossy!("takes a mask of i1 shaped like {data}, got {mask}"))
}

/// `src` and `dst` of a bulk copy, its count and its mask.
fn verify_bulk<'c: 'a, 'a>(op: SymmOp<'c, 'a>, src: Value<'c, 'a>, dst: Value<'c, 'a>) -> Verdict {
    let (from, to) = (src.r#type(), dst.r#type());
    let (Some(source), Some(target)) = (Pointer::of(from), Pointer::of(to)) else { return Ok(()) };
    let (count, mask) = (usize::from(op.count().is_some()), op.mask());
    let element = op.operation().attribute("element").is_ok();
    ensure(op, op.engine() != Some(Engine::Bulk) || op.group() == Some(Group::Block), || {
        "drives the bulk copy engine for a block: group block".into()
    })?;
    match (source, target) {
        (Pointer::MemRef(source), Pointer::MemRef(target)) => {
            ensure(op, count == 0 && !element, || {
                "takes no count for memrefs, which are copied whole; use memref.subview".into()
            })?;
            ensure(op, mask.is_none(), || "takes a mask with tensors of pointers only".into())?;
            let (shape, other) = (source.dimensions(), target.dimensions());
            let compatible = shape.len() == other.len()
                && shape
                    .iter()
                    .zip(&other)
                    .all(|sizes| !matches!(sizes, (Some(source), Some(target)) if source != target));
            ensure(op, source.element() == target.element() && compatible, || {
                lossy!("copies between memrefs of one shape and element type, got {from} and {to}")
            })?;
            ensure(op, is_data(source.element()), || lossy!("copies integers, floats and index, got {from}"))
        }
        // One element, as Triton has it.
        (Pointer::Triton(_), Pointer::Triton(_)) if count == 0 && !element => {
            let pointee = source.pointee().filter(|pointee| Some(*pointee) == target.pointee());
            ensure(op, pointee.is_some(), || lossy!("copies elements as what they are, got {from} and {to}"))?;
            let is_bool = mask.is_none_or(|mask| integer_width(mask.r#type()) == Some(1));
            ensure(op, is_bool, || "takes an i1 as the mask of one element".into())
        }
        (Pointer::Llvm, Pointer::Llvm) | (Pointer::Triton(_), Pointer::Triton(_)) => {
            ensure(op, count == 1 && element, || {
                "takes a count and an element type for pointers: count %n : index of f32".into()
            })?;
            ensure(op, mask.is_none(), || "takes a mask with tensors of pointers only".into())?;
            let element = attribute_type(op.operation(), "element");
            let moved = element.filter(|element| is_data(*element));
            ensure(op, moved.is_some(), || {
                lossy!(
                    "copies integers, floats and index, got {}",
                    element.map_or_else(String::new, |ty| lossy!("{ty}"))
                )
            })?;
            let fits = |pointer: Pointer<'c>| matches!(pointer, Pointer::Llvm) || pointer.pointee() == moved;
            ensure(op, fits(source) && fits(target), || lossy!("copies elements as what they are, got {from} and {to}"))
        }
        (Pointer::TritonTensor(source, pointer), Pointer::TritonTensor(target, other)) => {
            ensure(op, count == 0 && !element, || "takes no count for tensors of pointers; use a mask".into())?;
            ensure(op, source.is_shaped_like(target) && pointer == other, || {
                lossy!("copies between tensors of pointers of one shape and element type, got {from} and {to}")
            })?;
            mask.map_or(Ok(()), |mask| verify_mask(op, mask.r#type(), from))
        }
        _ => Err(error(
            op.operation(),
            &lossy!("copies between two memrefs, two pointers or two tensors of pointers, got {from} and {to}"),
        )),
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
    ensure(op, !matches!(pointer, Pointer::TritonTensor(..)), || {
        lossy!("takes one flag, not a tensor of them, got {ty}")
    })?;
    verify_indices(op, pointer, indices)?;
    let width = value.r#type();
    ensure(op, pointer.pointee().is_none_or(|pointee| pointee == width), || {
        lossy!("compares and sets a flag as what it is: {ty} holds no {width}")
    })
}

fn verify_rmw_type<'c: 'a, 'a>(op: SymmOp<'c, 'a>, kind: RmwKind, data: Type<'c>) -> Verdict {
    let element = scalar(data);
    let float = float_width(element).is_some_and(|width| width >= 16);
    let vector = data.is_vector();
    let (fits, wanted) = match kind {
        RmwKind::FAdd => (float, "f16, bf16, f32 or f64"),
        RmwKind::Xchg => (is_flag_type(element) || float, "i32, i64, f16, bf16, f32 or f64"),
        RmwKind::Min | RmwKind::Max => (is_flag_type(element) || is_wide_float(element), "i32, i64, f32 or f64"),
        _ => (is_flag_type(element), "i32 or i64"),
    };
    ensure(op, fits && !vector, || lossy!("{} takes {wanted}, got {data}", kind.keyword()))
}

fn verify_alloc<'c: 'a, 'a>(op: SymmOp<'c, 'a>, ty: Type<'c>, sizes: usize) -> Verdict {
    let Some(Pointer::MemRef(memref)) = Pointer::of(ty) else { return Ok(()) };
    let plain = MemRefType::try_from(ty).is_ok_and(|ty| ty.affine_map().is_identity());
    ensure(op, plain, || lossy!("allocates a contiguous memref, got {ty}"))?;
    let dynamic = memref.dimensions().iter().filter(|size| **size == DYNAMIC).count();
    ensure(op, sizes == dynamic, || lossy!("takes one size for each '?' of {ty}: {dynamic}, got {sizes}"))?;
    ensure(op, is_data(memref.element()), || lossy!("allocates integers, floats and index, got {ty}"))
}

/// One `{}` for each value, and values that can be printed.
fn verify_message<'c: 'a, 'a>(op: SymmOp<'c, 'a>, message: &str, values: &[Value<'c, 'a>]) -> Verdict {
    let plain = message.replace("{{", "").replace("}}", "");
    let places = plain.matches("{}").count();
    let stray = plain.replace("{}", "").contains(['{', '}']);
    ensure(op, !stray, || "takes a message in which braces are {} for a value, {{ or }}".into())?;
    ensure(op, places == values.len(), || {
        lossy!("prints as many values as its message has {{}}: {places}, got {}", values.len())
    })?;
    let printable = |ty: Type<'c>| match Pointer::of(ty) {
        Some(pointer) => !matches!(pointer, Pointer::TritonTensor(..)),
        None => is_data(ty) && !(ty.is_float() && byte_width(ty) == 1),
    };
    match values.iter().map(ValueLike::r#type).find(|ty| !printable(*ty)) {
        None => Ok(()),
        Some(ty) => Err(error(
            op.operation(),
            &lossy!("prints integers, floats of 16 bits or more, index and pointers, got {ty}"),
        )),
    }
}
