//! The C side: what `cpp/Symm.cpp` calls, and what it offers. All of this crate's `extern "C"` is here but what
//! `bytecode` and `crash` give to MLIR and LLVM.

use crate::attributes::Place;
use crate::diagnostic::Severity;
use crate::ops::SymmOp;
use crate::{canonicalize, fold, verify};
use melior::RewriterBase;
use melior::StringRef;
use melior::dialect::DialectHandle;
use melior::ir::{Attribute, AttributeLike, Location, OperationRef, ValueLike};
use mlir_sys::{
    MlirAttribute, MlirDialectHandle, MlirLocation, MlirOperation, MlirRewriterBase, MlirStringRef, MlirValue,
};
use std::panic::{AssertUnwindSafe, catch_unwind};

unsafe extern "C" {
    fn mlirGetDialectHandle__symm__() -> MlirDialectHandle;
    fn symmEmit(
        severity: i32,
        location: MlirLocation,
        message: MlirStringRef,
        has_note: bool,
        note_location: MlirLocation,
        note: MlirStringRef,
    );
    fn symmOperandSegments(op: MlirOperation) -> *const i32;
    fn symmCopyPropertiesToAttributes(root: MlirOperation);
}

pub fn dialect_handle() -> DialectHandle {
    // SAFETY: the function takes nothing and returns a handle to static data.
    unsafe { DialectHandle::from_raw(mlirGetDialectHandle__symm__()) }
}

pub fn emit(severity: Severity, location: Location, message: &str, note: Option<(Location, &str)>) {
    let (note_location, note_text) = note.unwrap_or((location, ""));
    // SAFETY: the locations live as long as their context, the strings as long as this call.
    unsafe {
        symmEmit(
            severity as i32,
            location.to_raw(),
            StringRef::new(message).to_raw(),
            note.is_some(),
            note_location.to_raw(),
            StringRef::new(note_text).to_raw(),
        );
    }
}

/// The sizes of the `groups` operand groups of an op of this dialect, where it keeps them; `None` where at most one
/// group varies in size.
pub fn operand_segments<'a>(op: OperationRef<'_, 'a>, groups: usize) -> Option<&'a [i32]> {
    // SAFETY: the sizes lie in the operation, one for each group of its definition.
    unsafe {
        let sizes = symmOperandSegments(op.to_raw());
        (!sizes.is_null()).then(|| std::slice::from_raw_parts(sizes, groups))
    }
}

/// Copies the properties of all operations of unregistered dialects below `root` to their attributes.
pub fn copy_properties_to_attributes(root: OperationRef) {
    // SAFETY: the operation is alive during the call, and nothing else holds attributes meanwhile.
    unsafe { symmCopyPropertiesToAttributes(root.to_raw()) }
}

/// Runs a hook for `op`; a panic in it becomes a diagnostic and `None`, because unwinding into C++ would abort.
fn guard<T>(op: MlirOperation, hook: impl FnOnce(SymmOp) -> T) -> Option<T> {
    // SAFETY: MLIR passes an operation that is alive during the call.
    let operation = unsafe { OperationRef::from_raw(op) };
    catch_unwind(AssertUnwindSafe(|| SymmOp::cast(operation).map(hook))).unwrap_or_else(|_| {
        crate::diagnostic::report(Severity::Error, operation, "hit a bug in the symm dialect; please report it");
        None
    })
}

#[unsafe(no_mangle)]
extern "C" fn symmVerify(op: MlirOperation) -> bool {
    guard(op, |op| verify::verify(op).is_ok()).unwrap_or(false)
}

#[unsafe(no_mangle)]
extern "C" fn symmVerifyAttribute(op: MlirOperation, name: MlirStringRef, attribute: MlirAttribute) -> bool {
    // SAFETY: MLIR passes an operation, a name and an attribute that are alive during the call.
    let (operation, name, attribute) =
        unsafe { (OperationRef::from_raw(op), StringRef::from_raw(name), Attribute::from_raw(attribute)) };
    name.as_str().is_ok_and(|name| verify::attribute::on_op(operation, name, attribute).is_ok())
}

#[unsafe(no_mangle)]
extern "C" fn symmVerifyValueAttribute(
    function: MlirOperation,
    is_result: bool,
    index: u32,
    name: MlirStringRef,
    attribute: MlirAttribute,
) -> bool {
    // SAFETY: MLIR passes an operation, a name and an attribute that are alive during the call.
    let (function, name, attribute) =
        unsafe { (OperationRef::from_raw(function), StringRef::from_raw(name), Attribute::from_raw(attribute)) };
    let place = if is_result { Place::Result } else { Place::Argument };
    let verify = |name| verify::attribute::on_value(function, place, index as usize, name, attribute);
    name.as_str().is_ok_and(|name| verify(name).is_ok())
}

/// # Safety
/// `value` and `attribute` point to writable null handles.
#[unsafe(no_mangle)]
unsafe extern "C" fn symmFold(op: MlirOperation, value: *mut MlirValue, attribute: *mut MlirAttribute) -> bool {
    guard(op, |op| match fold::fold(op) {
        None => false,
        Some(fold::Folded::Value(folded)) => {
            // SAFETY: as the caller promises.
            unsafe { *value = folded.to_raw() };
            true
        }
        Some(fold::Folded::Constant(folded)) => {
            // SAFETY: as the caller promises.
            unsafe { *attribute = folded.to_raw() };
            true
        }
    })
    .unwrap_or(false)
}

#[unsafe(no_mangle)]
extern "C" fn symmCanonicalize(op: MlirOperation, rewriter: MlirRewriterBase) -> bool {
    // SAFETY: MLIR passes a rewriter that is alive during the call.
    let rewriter = unsafe { RewriterBase::from_raw(rewriter) };
    guard(op, |op| canonicalize::canonicalize(op, rewriter)).unwrap_or(false)
}
