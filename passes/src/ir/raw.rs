//! What melior lacks, or ties to a life that is too short. All of this crate's unsafe code is here and in
//! `registration`.
//!
//! What is said here of lives rests on two facts. A pass owns all that is below its root operation while it runs, and
//! keeps no reference to what it erases; and the context, which keeps types, attributes, names and locations,
//! outlives the pass.

use melior::ir::block::BlockArgument;
use melior::ir::operation::{OperationLike, OperationMutLike, OperationRefMut, WalkOrder, WalkResult};
use melior::ir::{
    Attribute, BlockLike, BlockRef, Identifier, Location, OperationRef, Region, RegionLike, Type, TypeLike, Value,
    ValueLike,
};
use mlir_sys::{
    MlirDialectHandle, mlirAttributeGetNull, mlirLLVMArrayTypeGetElementType, mlirLLVMStructTypeGetElementType,
    mlirLLVMStructTypeGetNumElementTypes, mlirLLVMStructTypeIsOpaque, mlirLLVMStructTypeIsPacked,
    mlirOpOperandGetNextUse, mlirOpOperandIsNull, mlirOperationMoveAfter, mlirOperationMoveBefore, mlirRegionTakeBody,
    mlirTypeIsALLVMStructType, mlirValueGetFirstUse,
};
use symm_dialect::lossy;

/// The dialects that lowerings create ops of.
pub fn dialects() -> [MlirDialectHandle; 10] {
    // SAFETY: each of these returns a handle to static data.
    unsafe {
        [
            mlir_sys::mlirGetDialectHandle__arith__(),
            mlir_sys::mlirGetDialectHandle__cf__(),
            mlir_sys::mlirGetDialectHandle__func__(),
            mlir_sys::mlirGetDialectHandle__gpu__(),
            mlir_sys::mlirGetDialectHandle__llvm__(),
            mlir_sys::mlirGetDialectHandle__memref__(),
            mlir_sys::mlirGetDialectHandle__nvvm__(),
            mlir_sys::mlirGetDialectHandle__rocdl__(),
            mlir_sys::mlirGetDialectHandle__scf__(),
            symm_dialect::handle().to_raw(),
        ]
    }
}

/// The text of an operation's name.
pub fn name<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> &'a str {
    let name: Identifier<'c> = op.name();
    let text = name.as_string_ref().as_str().unwrap_or_default();
    // SAFETY: the context keeps the names of its operations as long as it lives.
    unsafe { std::mem::transmute::<&str, &'a str>(text) }
}

/// What `select` makes of the operations below `root` and of `root` itself, outer ones first. It sees each while the
/// walk is there: in a large module, looking at it later means to fetch it from memory once more.
pub fn select<'c: 'a, 'a, T>(
    root: OperationRef<'c, 'a>,
    mut select: impl FnMut(OperationRef<'c, 'a>) -> Option<T>,
) -> Vec<T> {
    let mut selected = Vec::new();
    root.walk(WalkOrder::PreOrder, |op| {
        // SAFETY: the operation lives as long as `root`, which holds it.
        selected.extend(select(unsafe { OperationRef::from_raw(op.to_raw()) }));
        WalkResult::Advance
    });
    selected
}

/// The operation, to be changed.
pub fn mutable<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> OperationRefMut<'c, 'a> {
    // SAFETY: the pass owns the operation; melior's own references to it are handles, through which nothing is
    // assumed to stay as it is.
    unsafe { OperationRefMut::from_raw(op.to_raw()) }
}

/// An operation that a pass has inserted, for as long as its module may live.
pub fn lasting_op<'c>(op: OperationRef<'c, '_>) -> OperationRef<'c, 'c> {
    // SAFETY: it belongs to the module now, which the pass keeps.
    unsafe { OperationRef::from_raw(op.to_raw()) }
}

/// The same value, for as long as its module may live.
pub fn lasting<'c>(value: Value<'c, '_>) -> Value<'c, 'c> {
    // SAFETY: it belongs to the module, which the pass keeps.
    unsafe { Value::from_raw(value.to_raw()) }
}

/// The block that an argument belongs to.
pub fn owner<'c: 'a, 'a>(argument: BlockArgument<'c, 'a>) -> BlockRef<'c, 'a> {
    // SAFETY: the owner of an argument lives as long as the argument.
    unsafe { BlockRef::from_raw(argument.owner().to_raw()) }
}

/// What LLVM keeps as one value of several.
pub enum Aggregate<'c> {
    /// A structure: its fields, and whether they lie without gaps.
    Structure(Vec<Type<'c>>, bool),
    /// An array: its element, and how many there are.
    Array(Type<'c>, u32),
}

/// What a type of the LLVM dialect is made of, if it is a structure or an array.
pub fn aggregate(ty: Type) -> Option<Aggregate> {
    // SAFETY: each question is asked of a type that has been seen to have an answer.
    unsafe {
        if mlirTypeIsALLVMStructType(ty.to_raw()) {
            let is_opaque = mlirLLVMStructTypeIsOpaque(ty.to_raw());
            let count = if is_opaque { 0 } else { mlirLLVMStructTypeGetNumElementTypes(ty.to_raw()) };
            let field = |index| Type::from_raw(mlirLLVMStructTypeGetElementType(ty.to_raw(), index));
            let is_packed = !is_opaque && mlirLLVMStructTypeIsPacked(ty.to_raw());
            return Some(Aggregate::Structure((0..count).map(field).collect(), is_packed));
        }
        // The number of elements is in the text only.
        let text = lossy!("{ty}");
        let count = text.strip_prefix("!llvm.array<")?.split(' ').next()?.parse().ok()?;
        Some(Aggregate::Array(Type::from_raw(mlirLLVMArrayTypeGetElementType(ty.to_raw())), count))
    }
}

/// Whether any operation takes a value.
pub fn has_uses(value: Value) -> bool {
    // SAFETY: the value is alive; only the presence of a use is asked for.
    unsafe { !mlirOpOperandIsNull(mlirValueGetFirstUse(value.to_raw())) }
}

/// Whether exactly one operand is a value.
pub fn has_one_use(value: Value) -> bool {
    // SAFETY: the value is alive, and so are its uses.
    unsafe {
        let first = mlirValueGetFirstUse(value.to_raw());
        !mlirOpOperandIsNull(first) && mlirOpOperandIsNull(mlirOpOperandGetNextUse(first))
    }
}

/// Erases an argument without uses.
pub fn erase_argument<'c: 'a, 'a>(argument: BlockArgument<'c, 'a>) {
    assert!(!has_uses(argument.into()), "an argument that is erased has no uses");
    // SAFETY: it has no uses, and callers keep no copy of `argument`.
    unsafe { owner(argument).erase_argument(argument.argument_number()) };
}

/// Moves an operation after the definition of a value that dominates it.
pub fn move_after<'c: 'a, 'a>(op: OperationRef<'c, 'a>, value: Value<'c, 'a>) {
    if let Some(made) = super::definition(value) {
        // SAFETY: both operations are alive and in blocks.
        unsafe { mlirOperationMoveAfter(op.to_raw(), made.to_raw()) };
        return;
    }
    let Ok(argument) = BlockArgument::try_from(value) else { return };
    if let Some(first) = owner(argument).first_operation() {
        // SAFETY: as above.
        unsafe { mlirOperationMoveBefore(op.to_raw(), first.to_raw()) };
    }
}

/// Takes the blocks out of an operation's first region.
pub fn take_body<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Region<'c> {
    take_region(op, 0)
}

/// Takes the blocks out of one of an operation's regions.
pub fn take_region<'c: 'a, 'a>(op: OperationRef<'c, 'a>, index: usize) -> Region<'c> {
    let region = OperationLike::region(&op, index).expect("the operation has that region");
    let body = Region::new();
    // SAFETY: both regions are alive; the blocks are `body`'s from now on.
    unsafe { mlirRegionTakeBody(body.to_raw(), region.to_raw()) };
    body
}

/// Makes `op` stand for others, too, which come before it. All at once: a fused location holds all of its parts.
pub fn fuse_locations<'c: 'a, 'a>(op: OperationRef<'c, 'a>, others: &[Location<'c>]) {
    // SAFETY: a location without metadata has the null attribute.
    let nothing = unsafe { Attribute::from_raw(mlirAttributeGetNull()) };
    let fused = Location::fused(super::context(op), &[others, &[op.location()]].concat(), nothing);
    mutable(op).set_location(fused);
}
