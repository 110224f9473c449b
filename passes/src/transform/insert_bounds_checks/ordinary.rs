//! What ops of other dialects touch of another rank's heap: through pointers that `symm.as_remote` has translated.

use super::{Access, Extent};
use crate::analysis::accesses::{self, Moved, Operands, passes_on};
use crate::ir::{definition, name, owner};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::block::BlockArgument;
use melior::ir::r#type::ShapedTypeLike;
use melior::ir::{BlockLike, OperationRef, Type, Value, ValueLike, operation::OperationLike};
use symm_dialect::ops::{AsRemote, SymmOp};
use symm_dialect::pointer::{Pointer, is_llvm_pointer, layout};
use symm_dialect::shape::{Shaped, is_data, natural_alignment, scalar};

/// How many ops a pointer is followed back through.
const MOST_STEPS: usize = 256;

/// What an op accesses through translated pointers, each with its translation.
pub fn accesses<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Vec<(AsRemote<'c, 'a>, Access<'c, 'a>)> {
    touched(op).into_iter().filter_map(|access| Some((translation(access.pointer)?, access))).collect()
}

/// The stretches of memory that an op accesses.
fn touched<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Vec<Access<'c, 'a>> {
    let operands: Vec<_> = op.operands().collect();
    if name(op) == "memref.copy" {
        return operands.iter().filter_map(|end| whole(*end)).collect();
    }
    let Some(Operands { pointer, trailing, moved }) = accesses::of(name(op)).and_then(|access| access.operands) else {
        return Vec::new();
    };
    let moved = match moved {
        Moved::Result => op.results().next().map(|result| result.r#type()),
        Moved::Operand(index) => operands.get(index).map(ValueLike::r#type),
    };
    let (Some(moved), Some(at)) = (moved.filter(|ty| has_size(*ty)), operands.get(pointer)) else { return Vec::new() };
    if !has_place(at.r#type()) {
        return Vec::new();
    }
    let indices = operands[pointer + 1..operands.len() - trailing].to_vec();
    // What vectors are aligned to is the target's matter, where the op does not say it.
    let natural = if Shaped::vector(moved).is_some() { scalar(moved) } else { moved };
    let alignment = alignment(op).unwrap_or_else(|| natural_alignment(natural));
    vec![Access { pointer: *at, indices, extent: Extent::Value(moved), alignment }]
}

/// The alignment that an op says.
fn alignment<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Option<i64> {
    let attribute = op.attribute("alignment").ok()?;
    IntegerAttribute::try_from(attribute).ok().map(|alignment| alignment.value())
}

/// All of a memref.
fn whole<'c: 'a, 'a>(memref: Value<'c, 'a>) -> Option<Access<'c, 'a>> {
    let access = Access { pointer: memref, indices: Vec::new(), extent: Extent::MemRef(memref), alignment: 1 };
    has_place(memref.r#type()).then_some(access)
}

/// Whether the size of a value in memory is known here.
fn has_size(ty: Type) -> bool {
    is_data(scalar(ty)) || is_llvm_pointer(ty)
}

/// Whether it is known here where the elements of a pointer's type lie.
fn has_place(ty: Type) -> bool {
    match Pointer::of(ty) {
        Some(Pointer::Llvm) => true,
        Some(Pointer::MemRef(memref)) => is_data(memref.element()) && layout(ty).is_some(),
        _ => false,
    }
}

/// The op that has translated what a pointer is made of.
fn translation<'c: 'a, 'a>(pointer: Value<'c, 'a>) -> Option<AsRemote<'c, 'a>> {
    let mut value = pointer;
    for _ in 0..MOST_STEPS {
        let Some(op) = definition(value) else {
            value = before_loop(value)?;
            continue;
        };
        if let Some(SymmOp::AsRemote(op)) = SymmOp::cast(op) {
            return Some(op);
        }
        if !passes_on(name(op)) {
            return None;
        }
        value = op.operands().next()?;
    }
    None
}

/// What a value that a loop carries is before the first iteration.
fn before_loop<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    let argument = value.is_block_argument().then(|| BlockArgument::try_from(value).ok())??;
    let around = owner(argument).parent_operation().filter(|op| name(*op) == "scf.for")?;
    // Its operands are two bounds and a step, its arguments begin with the counter.
    around.operands().nth(2 + argument.argument_number()).filter(|_| argument.argument_number() > 0)
}
