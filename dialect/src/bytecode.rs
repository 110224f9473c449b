//! MLIR's bytecode, for readers of another MLIR version.

use crate::hooks::copy_properties_to_attributes;
use melior::ir::OperationRef;
use mlir_sys::{
    MlirStringRef, mlirBytecodeWriterConfigCreate, mlirBytecodeWriterConfigDesiredEmitVersion,
    mlirBytecodeWriterConfigDestroy, mlirOperationWriteBytecodeWithConfig,
};
use std::ffi::c_void;

/// The magic bytes of bytecode.
pub const MAGIC: &[u8] = b"ML\xefR";

/// The last version that writes all of an operation's attributes with their names. The next writes properties in the
/// order that the operation's definition has, which may be another in the reader's MLIR.
const BY_NAME: i64 = 4;

/// An operation as bytecode, all attributes with their names; `None` if MLIR cannot write it.
///
/// Operations of unregistered dialects get what were properties as attributes too.
#[must_use]
pub fn by_name(root: OperationRef) -> Option<Vec<u8>> {
    copy_properties_to_attributes(root);
    let mut bytes = Vec::new();
    // SAFETY: the operation and the configuration live as long as the call, and so do the bytes that `append` is given.
    let written = unsafe {
        let config = mlirBytecodeWriterConfigCreate();
        mlirBytecodeWriterConfigDesiredEmitVersion(config, BY_NAME);
        let written =
            mlirOperationWriteBytecodeWithConfig(root.to_raw(), config, Some(append), (&raw mut bytes).cast());
        mlirBytecodeWriterConfigDestroy(config);
        written
    };
    (written.value != 0).then_some(bytes)
}

unsafe extern "C" fn append(part: MlirStringRef, bytes: *mut c_void) {
    if part.length > 0 {
        // SAFETY: MLIR passes what it has written, and the bytes of the call above.
        unsafe {
            let part = std::slice::from_raw_parts(part.data.cast::<u8>(), part.length);
            (*bytes.cast::<Vec<u8>>()).extend_from_slice(part);
        }
    }
}
