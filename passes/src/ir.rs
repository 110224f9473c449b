//! The small layer over melior that the passes share: walking IR, asking about it, changing it in place. [`Builder`]
//! makes what is new.

pub mod address;
mod builder;
pub mod ordering;
pub mod packets;
#[expect(unsafe_code, reason = "functions of MLIR's C API that melior does not have")]
mod raw;
pub mod records;
pub mod structure;
pub mod tags;
pub mod triton;
pub mod wait;

pub use builder::{Builder, Texts, argument};
pub use raw::{
    Aggregate, aggregate, dialects, erase_argument, fuse_locations, has_one_use, has_uses, lasting, lasting_op,
    move_after, mutable, name, owner, select, take_body, take_region,
};

use melior::Context;
use melior::ir::attribute::{IntegerAttribute, TypeAttribute};
use melior::ir::operation::{OperationLike, OperationMutLike, OperationResult};
use melior::ir::{Attribute, BlockLike, BlockRef, Location, OperationRef, RegionLike, Type, Value, ValueLike};
use symm_dialect::diagnostic::file_line_column;
use symm_dialect::lossy;
use symm_dialect::ops::SymmOp;

/// Whether an op calls a function, by its name or through a pointer.
pub fn is_call(op: OperationRef) -> bool {
    matches!(name(op), structure::CALL | "func.call_indirect" | "llvm.call" | "llvm.invoke")
}

/// The context of an operation, for as long as the operation may live.
pub fn context<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> &'c Context {
    symm_dialect::context(op.context())
}

/// Every operation below `root` and `root` itself, outer ones first.
pub fn collect<'c: 'a, 'a>(root: OperationRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    select(root, Some)
}

/// Every symm op below `root`, outer ones first.
pub fn symm_ops<'c: 'a, 'a>(root: OperationRef<'c, 'a>) -> Vec<SymmOp<'c, 'a>> {
    select(root, SymmOp::cast)
}

/// The blocks of an operation's regions.
pub fn blocks<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Vec<BlockRef<'c, 'a>> {
    let mut blocks = Vec::new();
    for region in OperationLike::regions(&op) {
        let mut next = region.first_block();
        while let Some(block) = next {
            blocks.push(block);
            next = block.next_in_region();
        }
    }
    blocks
}

/// The operations of a block, in order.
pub fn operations<'c: 'a, 'a>(block: BlockRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let mut operations = Vec::new();
    let mut next = block.first_operation();
    while let Some(op) = next {
        operations.push(op);
        next = op.next_in_block();
    }
    operations
}

/// The operation that defines a value, unless it is a block argument.
pub fn definition<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
    // melior's error for an argument prints it, which takes far longer than all else here.
    value.is_operation_result().then(|| OperationResult::try_from(value).ok())?.map(|result| result.owner())
}

/// The value of an integer constant.
pub fn constant_value(value: Value) -> Option<i64> {
    let op = definition(value)?;
    if !matches!(name(op), "arith.constant" | "llvm.mlir.constant") {
        return None;
    }
    Some(IntegerAttribute::try_from(op.attribute("value").ok()?).ok()?.value())
}

/// The number that all elements of a constant are.
pub fn splat_value<'c: 'a, 'a>(constant: OperationRef<'c, 'a>) -> Option<i64> {
    let value = constant.attribute("value").ok()?;
    lossy!("{value}").strip_prefix("dense<")?.split('>').next()?.parse().ok()
}

/// Sets an attribute of an operation.
pub fn set_attribute<'c: 'a, 'a>(op: OperationRef<'c, 'a>, name: &str, value: Attribute<'c>) {
    mutable(op).set_attribute(name, value);
}

/// Removes an attribute of an operation, if it has it.
pub fn remove_attribute<'c: 'a, 'a>(op: OperationRef<'c, 'a>, name: &str) {
    if op.has_attribute(name) {
        mutable(op).remove_attribute(name).expect("it has just been seen to have it");
    }
}

/// A type as an attribute.
pub fn type_attribute<'c>(ty: impl Into<Type<'c>>) -> Attribute<'c> {
    TypeAttribute::new(ty.into()).into()
}

/// A count, an index or a size of this process as the number that attributes and constants hold.
pub fn signed(number: usize) -> i64 {
    i64::try_from(number).expect("memory holds no more than an i64 counts")
}

/// The closest enclosing operation with one of these names.
pub fn enclosing<'c: 'a, 'a>(op: OperationRef<'c, 'a>, names: &[&str]) -> Option<OperationRef<'c, 'a>> {
    let mut parent = op.parent_operation();
    while let Some(op) = parent {
        if names.contains(&name(op)) {
            return Some(op);
        }
        parent = op.parent_operation();
    }
    None
}

/// Whether an operation is in a region of another one.
pub fn is_within<'c: 'a, 'a>(op: OperationRef<'c, 'a>, around: OperationRef<'c, 'a>) -> bool {
    std::iter::successors(op.parent_operation(), OperationRef::parent_operation).any(|parent| parent == around)
}

/// Whether an op is a `gpu.func` that can be launched.
pub fn is_kernel<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    name(op) == structure::GPU_FUNC && (op.has_attribute("gpu.kernel") || op.has_attribute("kernel"))
}

/// `file:line:col` of a location, or `unknown`.
pub fn location_text(location: Location) -> String {
    match file_line_column(location) {
        Some((file, line, column)) => format!("{file}:{line}:{column}"),
        None => "unknown".into(),
    }
}
