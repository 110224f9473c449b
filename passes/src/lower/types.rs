//! Types below the dialect: a context is a pointer to its table; where there is one memory, memory spaces go.

use crate::ir::{blocks, collect, context, set_attribute, type_attribute};
use melior::Context;
use melior::dialect::llvm;
use melior::ir::attribute::TypeAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::r#type::{FunctionType, MemRefType, ShapedTypeLike};
use melior::ir::{Attribute, BlockLike, OperationRef, Type, TypeLike, ValueLike};
use symm_dialect::shape::Shaped;
use symm_dialect::symbol::inputs_and_results;

/// What becomes of the memory spaces of memrefs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Spaces {
    /// They stay.
    Keep,
    /// They go: there is one memory.
    Strip,
}

/// Converts the types of every value and signature below `root`.
pub fn convert<'c: 'a, 'a>(root: OperationRef<'c, 'a>, spaces: Spaces) {
    let mlir = context(root);
    let ctx = Type::parse(mlir, "!symm.ctx").expect("the dialect is registered");
    for op in collect(root) {
        for result in op.results() {
            result.set_type(convert_type(mlir, ctx, spaces, result.r#type()));
        }
        for block in blocks(op) {
            for index in 0..block.argument_count() {
                let Ok(argument) = block.argument(index) else { continue };
                argument.set_type(convert_type(mlir, ctx, spaces, argument.r#type()));
            }
        }
        for attribute in ["function_type", "type", "global_type"] {
            let Ok(ty) = op.attribute(attribute).and_then(TypeAttribute::try_from) else { continue };
            let converted = convert_type(mlir, ctx, spaces, ty.value());
            if converted != ty.value() {
                set_attribute(op, attribute, type_attribute(converted));
            }
        }
    }
}

fn convert_type<'c>(mlir: &'c Context, ctx: Type<'c>, spaces: Spaces, ty: Type<'c>) -> Type<'c> {
    if ty == ctx {
        return llvm::r#type::pointer(mlir, 0);
    }
    // Asked first: melior prints what it can't convert.
    if !ty.is_mem_ref() && !ty.is_function() {
        return ty;
    }
    if let Ok(memref) = MemRefType::try_from(ty) {
        let element = convert_type(mlir, ctx, spaces, memref.element());
        let space = memref.memory_space().filter(|_| spaces == Spaces::Keep);
        if element == memref.element() && space == memref.memory_space() {
            return ty;
        }
        return with(memref, element, space);
    }
    if let Ok(function) = FunctionType::try_from(ty) {
        let convert = |types: Vec<Type<'c>>| -> Vec<Type<'c>> {
            types.into_iter().map(|ty| convert_type(mlir, ctx, spaces, ty)).collect()
        };
        let (inputs, results) = inputs_and_results(function);
        return FunctionType::new(mlir, &convert(inputs), &convert(results)).into();
    }
    ty
}

/// The same memref in the memory that is meant where nothing is said.
pub fn without_space(memref: MemRefType) -> Type {
    with(memref, memref.element(), None)
}

/// The same memref of other elements in another memory space.
fn with<'c>(memref: MemRefType<'c>, element: Type<'c>, space: Option<Attribute<'c>>) -> Type<'c> {
    let shape: Vec<i64> = Shaped::memref(memref.into())
        .map_or_else(Vec::new, Shaped::dimensions)
        .iter()
        .map(|size| size.map_or(i64::MIN, u64::cast_signed))
        .collect();
    MemRefType::new(element, &shape, Some(memref.layout()), space).into()
}
