//! What the checks need of MLIR's C API beyond melior. All of the `unsafe` that deals with IR is here.

use melior::Context;
use melior::ir::{Module, OperationRef};
use mlir_sys::{
    MlirModule, MlirStringRef, mlirModuleCreateParse, mlirModuleFromOperation, mlirOperationClone, mlirOperationPrint,
    mlirOperationVerify, mlirOperationWriteBytecode,
};
use std::ffi::c_void;

/// MLIR reads bytecode in place and asks for this alignment, as a file's pages have it.
const PAGE: usize = 4096;

/// Parses and verifies text or bytecode.
pub fn parse<'c>(context: &'c Context, source: &[u8]) -> Option<Module<'c>> {
    // The lexer looks for a zero after the end.
    let mut pages = vec![Page([0; PAGE]); source.len() / PAGE + 1];
    let bytes = pages.as_mut_ptr().cast::<u8>();
    // SAFETY: there is room for the source and a zero; the module that comes back does not refer to the buffer: the
    // C API parses with no owner for it, which makes the reader copy what it keeps.
    unsafe {
        std::ptr::copy_nonoverlapping(source.as_ptr(), bytes, source.len());
        let text = MlirStringRef { data: bytes.cast(), length: source.len() };
        let raw = mlirModuleCreateParse(context.to_raw(), text);
        Module::from_option_raw(raw)
    }
}

#[derive(Clone)]
#[repr(align(4096))]
struct Page(#[allow(dead_code, reason = "read through a pointer")] [u8; PAGE]);

/// A copy of a module.
pub fn clone<'c>(module: &Module<'c>) -> Module<'c> {
    // SAFETY: the clone of a module is a module, and owned by what is returned.
    unsafe {
        let copy: MlirModule = mlirModuleFromOperation(mlirOperationClone(module.as_operation().to_raw()));
        Module::from_raw(copy)
    }
}

/// Whether an operation verifies; if not, diagnostics have said why.
pub fn verify(op: OperationRef) -> bool {
    // SAFETY: the operation is alive.
    unsafe { mlirOperationVerify(op.to_raw()) }
}

/// The text of an operation, in the form it would be written in.
pub fn print(op: OperationRef) -> Vec<u8> {
    let mut bytes = Vec::new();
    // SAFETY: the operation is alive; the callback gets the vector it expects.
    unsafe { mlirOperationPrint(op.to_raw(), Some(collect), (&raw mut bytes).cast()) };
    bytes
}

/// The generic form of an operation.
pub fn print_generic(op: OperationRef) -> Vec<u8> {
    let flags = melior::ir::operation::OperationPrintingFlags::new().print_generic_operation_form();
    let mut bytes = Vec::new();
    // SAFETY: the operation and the flags are alive; the callback gets the vector it expects.
    unsafe {
        mlir_sys::mlirOperationPrintWithFlags(op.to_raw(), flags.to_raw(), Some(collect), (&raw mut bytes).cast());
    }
    bytes
}

/// An operation as bytecode.
pub fn bytecode(op: OperationRef) -> Vec<u8> {
    let mut bytes = Vec::new();
    // SAFETY: the operation is alive; the callback gets the vector it expects.
    unsafe { mlirOperationWriteBytecode(op.to_raw(), Some(collect), (&raw mut bytes).cast()) };
    bytes
}

unsafe extern "C" fn collect(text: MlirStringRef, data: *mut c_void) {
    if text.length == 0 {
        return;
    }
    // SAFETY: every caller above passes a vector; the text lives during the call.
    unsafe {
        let bytes = &mut *data.cast::<Vec<u8>>();
        bytes.extend_from_slice(std::slice::from_raw_parts(text.data.cast(), text.length));
    }
}
