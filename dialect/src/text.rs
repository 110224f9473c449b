//! MLIR's strings, which may be empty or hold any bytes: melior's conversions panic on both.

use melior::ir::{Attribute, AttributeLike};
use mlir_sys::{MlirStringRef, mlirAttributeIsAString, mlirStringAttrGetValue};

/// A string of MLIR's; what is not UTF-8 in it becomes U+FFFD.
///
/// # Safety
/// The string is alive during the call.
#[must_use]
pub unsafe fn text(string: MlirStringRef) -> String {
    if string.length == 0 {
        return String::new();
    }
    // SAFETY: as the caller promises; an empty string, which may have no address, has been seen to.
    let bytes = unsafe { std::slice::from_raw_parts(string.data.cast::<u8>(), string.length) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// The value of a string attribute; `None` for other attributes.
#[must_use]
pub fn string(attribute: Attribute) -> Option<String> {
    // SAFETY: the attribute is alive, and the context keeps its string.
    unsafe { mlirAttributeIsAString(attribute.to_raw()).then(|| text(mlirStringAttrGetValue(attribute.to_raw()))) }
}
