//! Bulk copies: what both ends are, how much is copied, and by whom.

use super::{Verdict, access, ensure};
use crate::access::ty as attribute_type;
use crate::diagnostic::error;
use crate::lossy;
use crate::ops::{Engine, Group, SymmOp};
use crate::pointer::Pointer;
use crate::shape::{integer_width, is_data};
use melior::ir::r#type::ShapedTypeLike;
use melior::ir::{Value, ValueLike, operation::OperationLike};

/// `src` and `dst` of a bulk copy, its count and its mask.
pub fn verify<'c: 'a, 'a>(op: SymmOp<'c, 'a>, src: Value<'c, 'a>, dst: Value<'c, 'a>) -> Verdict {
    let (from, to) = (src.r#type(), dst.r#type());
    let (Some(source), Some(target)) = (Pointer::of(from), Pointer::of(to)) else { return Ok(()) };
    let (count, mask) = (usize::from(op.count().is_some()), op.mask());
    let element = op.operation().attribute("element").is_ok();
    ensure(op, op.engine() != Some(Engine::Bulk) || op.group() == Some(Group::Block), || {
        "takes engine bulk only with group block".into()
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
            ensure(op, pointee.is_some(), || lossy!("copies elements of one type, got {from} and {to}"))?;
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
            ensure(op, fits(source) && fits(target), || lossy!("copies elements of one type, got {from} and {to}"))
        }
        (Pointer::TritonTensor(source, pointer), Pointer::TritonTensor(target, other)) => {
            ensure(op, count == 0 && !element, || "takes no count for tensors of pointers; use a mask".into())?;
            ensure(op, source.is_shaped_like(target) && pointer == other, || {
                lossy!("copies between tensors of pointers of one shape and element type, got {from} and {to}")
            })?;
            mask.map_or(Ok(()), |mask| access::mask(op, mask.r#type(), from))
        }
        _ => Err(error(
            op.operation(),
            &lossy!("copies between two memrefs, two pointers or two tensors of pointers, got {from} and {to}"),
        )),
    }
}
