//! Reading operands and attributes of an op by their place in its definition.

use crate::hooks::operand_segments;
use crate::ops::{Arity, Operands};
use melior::ir::attribute::{IntegerAttribute, TypeAttribute};
use melior::ir::{OperationRef, Type, Value, operation::OperationLike};
use std::ops::Range;

/// The attribute that holds how many values each operand stands for.
pub const SEGMENTS: &str = "operandSegmentSizes";

/// Where the values of operand group `index` lie in the operand list.
pub fn range(op: OperationRef, groups: &[Operands], index: usize) -> Range<usize> {
    if let Some(segments) = operand_segments(op, groups.len()) {
        let size = |size: &i32| usize::try_from(*size).unwrap_or(0);
        let start = segments[..index].iter().map(size).sum();
        return start..start + size(&segments[index]);
    }
    let unfixed = groups.iter().filter(|group| group.arity != Arity::One).count();
    let extra = (op.operand_count() + unfixed).saturating_sub(groups.len());
    let size = |group: &Operands| if group.arity == Arity::One { 1 } else { extra };
    let start = groups[..index].iter().map(size).sum();
    start..start + size(&groups[index])
}

pub fn all<'c: 'a, 'a>(op: OperationRef<'c, 'a>, groups: &[Operands], index: usize) -> Vec<Value<'c, 'a>> {
    range(op, groups, index).filter_map(|index| op.operand(index).ok()).collect()
}

pub fn one<'c: 'a, 'a>(op: OperationRef<'c, 'a>, groups: &[Operands], index: usize) -> Value<'c, 'a> {
    let position = range(op, groups, index).start;
    op.operand(position).expect("ODS has verified that the operand is there")
}

pub fn optional<'c: 'a, 'a>(op: OperationRef<'c, 'a>, groups: &[Operands], index: usize) -> Option<Value<'c, 'a>> {
    range(op, groups, index).next().and_then(|index| op.operand(index).ok())
}

pub fn result<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Value<'c, 'a> {
    OperationLike::result(&op, 0).expect("ODS has verified that the result is there").into()
}

pub fn optional_result<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Option<Value<'c, 'a>> {
    // melior's error for an index out of range prints the operation, which verifies it, which would lead back here.
    if op.result_count() == 0 { None } else { Some(result(op)) }
}

pub fn integer<'c: 'a, 'a>(op: OperationRef<'c, 'a>, name: &str) -> Option<i64> {
    let attribute = IntegerAttribute::try_from(op.attribute(name).ok()?).ok()?;
    Some(attribute.value())
}

pub fn ty<'c: 'a, 'a>(op: OperationRef<'c, 'a>, name: &str) -> Option<Type<'c>> {
    Some(TypeAttribute::try_from(op.attribute(name).ok()?).ok()?.value())
}

pub fn string<'c: 'a, 'a>(op: OperationRef<'c, 'a>, name: &str) -> String {
    op.attribute(name).ok().and_then(crate::text::string).unwrap_or_default()
}

pub fn case<T: Copy>(all: &[T], value: i64) -> Option<T> {
    usize::try_from(value).ok().and_then(|value| all.get(value)).copied()
}
