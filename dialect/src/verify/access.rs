//! Loads, stores and atomics: their elements, indices and masks.

use super::{Verdict, ensure, flag};
use crate::lossy;
use crate::ops::{AtomicCas, AtomicRmw, RemoteLoad, RemoteStore, RmwKind, SymmOp};
use crate::pointer::{Pointer, strides};
use crate::shape::{Shaped, float_width, integer_width, is_data, scalar};
use melior::ir::r#type::ShapedTypeLike;
use melior::ir::{Type, TypeLike, Value, ValueLike};

/// Checks a load, which may say what it gives where its mask is false.
pub fn load<'c: 'a, 'a>(load: RemoteLoad<'c, 'a>) -> Verdict {
    let (op, result) = (SymmOp::RemoteLoad(load), load.result().r#type());
    ensure(op, load.other().is_none_or(|other| other.r#type() == result), || {
        lossy!("takes an 'other' of the result's type {result}")
    })?;
    ensure(op, load.other().is_none() || load.mask().is_some(), || "takes 'other' only with a mask".into())?;
    verify(op, load.ptr(), &load.indices(), result, load.mask())
}

/// Checks a store.
pub fn store<'c: 'a, 'a>(store: RemoteStore<'c, 'a>) -> Verdict {
    verify(SymmOp::RemoteStore(store), store.ptr(), &store.indices(), store.value().r#type(), store.mask())
}

/// Checks an update, whose kind decides what it may be of.
pub fn rmw<'c: 'a, 'a>(rmw: AtomicRmw<'c, 'a>) -> Verdict {
    let (op, ty) = (SymmOp::AtomicRmw(rmw), rmw.value().r#type());
    rmw_type(op, rmw.kind(), ty)?;
    flag::deadline(op, Some(rmw.ptr()))?;
    verify(op, rmw.ptr(), &rmw.indices(), ty, rmw.mask())
}

/// Checks a compare-and-swap.
pub fn cas<'c: 'a, 'a>(cas: AtomicCas<'c, 'a>) -> Verdict {
    let (op, ty) = (SymmOp::AtomicCas(cas), cas.expected().r#type());
    let is_narrow = integer_width(scalar(ty)) == Some(16);
    let fits = is_narrow || is_flag_type(scalar(ty)) || is_wide_float(scalar(ty));
    ensure(op, fits && !ty.is_vector(), || lossy!("compares i16, i32, i64, f32 or f64, got {ty}"))?;
    flag::deadline(op, Some(cas.ptr()))?;
    verify(op, cas.ptr(), &cas.indices(), ty, cas.mask())
}

/// A rank, or one for each pointer of a tensor. The ops that access a flag, slots or two ends take one, as ODS says.
pub fn rank(op: SymmOp) -> Verdict {
    let first = |name| op.operand_group(name).first().map(ValueLike::r#type);
    let (Some(rank), Some(ptr)) = (first("rank"), first("ptr")) else { return Ok(()) };
    let fits = match (Shaped::tensor(rank), Pointer::of(ptr)) {
        (None, _) => integer_width(rank) == Some(32),
        (Some(ranks), Some(Pointer::TritonTensor(pointers, _))) => {
            integer_width(scalar(rank)) == Some(32) && ranks.is_shaped_like(pointers)
        }
        _ => false,
    };
    ensure(op, fits, || {
        lossy!("takes a rank of i32, or a tensor of them shaped like a tensor of pointers, got {rank}")
    })?;
    let has_distance = !op.operand_group("delta").is_empty();
    ensure(op, !(has_distance && rank.is_ranked_tensor()), || "takes no distance with a rank for each pointer".into())
}

/// `ptr[at]` holds a `data`, and the mask `lanes` has its shape.
pub fn verify<'c: 'a, 'a>(
    op: SymmOp<'c, 'a>,
    ptr: Value<'c, 'a>,
    at: &[Value<'c, 'a>],
    data: Type<'c>,
    lanes: Option<Value<'c, 'a>>,
) -> Verdict {
    let pointer_type = ptr.r#type();
    let Some(pointer) = Pointer::of(pointer_type) else { return Ok(()) };
    rank(op)?;
    indices(op, pointer, at)?;
    let element = scalar(data);
    ensure(op, is_data(element), || lossy!("accesses integers, floats and index, or vectors of them, got {data}"))?;
    let fits = matches!(pointer, Pointer::Llvm) || pointer.pointee() == Some(element);
    ensure(op, fits, || lossy!("accesses elements with their own type: {pointer_type} does not hold {element}"))?;
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
            lossy!("does not access vectors of i1, got {data}: extend it to i8, an i1 takes a byte in memory")
        })?;
    }
    lanes.map_or(Ok(()), |lanes| mask(op, lanes.r#type(), data))
}

/// One index for each dimension of a memref.
pub fn indices<'c: 'a, 'a>(op: SymmOp<'c, 'a>, pointer: Pointer<'c>, at: &[Value<'c, 'a>]) -> Verdict {
    let expected = match pointer {
        Pointer::MemRef(memref) => memref.rank(),
        _ => 0,
    };
    ensure(op, at.len() == expected, || {
        lossy!(
            "takes one index for each dimension of a memref and none for other pointers: {expected}, got {}",
            at.len()
        )
    })
}

/// A mask of `i1` shaped like the data.
pub fn mask<'c: 'a, 'a>(op: SymmOp<'c, 'a>, mask: Type<'c>, data: Type<'c>) -> Verdict {
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

fn rmw_type<'c: 'a, 'a>(op: SymmOp<'c, 'a>, kind: RmwKind, data: Type<'c>) -> Verdict {
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

fn is_flag_type(ty: Type) -> bool {
    matches!(integer_width(ty), Some(32 | 64))
}

fn is_wide_float(ty: Type) -> bool {
    matches!(float_width(ty), Some(32 | 64))
}
