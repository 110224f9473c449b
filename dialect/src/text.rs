//! MLIR's strings, which may be empty or hold any bytes: melior's conversions panic on both.

use melior::ir::{Attribute, AttributeLike, Identifier};
use mlir_sys::{
    MlirStringRef, mlirAttributeIsAFlatSymbolRef, mlirAttributeIsAString, mlirAttributeIsASymbolRef,
    mlirFlatSymbolRefAttrGetValue, mlirStringAttrGetValue, mlirSymbolRefAttrGetLeafReference,
    mlirSymbolRefAttrGetNumNestedReferences, mlirSymbolRefAttrGetRootReference,
};
use std::fmt::{self, Write as _};

/// An MLIR string; what is not UTF-8 in it becomes U+FFFD.
///
/// # Safety
/// The string is alive during the call.
pub(crate) unsafe fn text(string: MlirStringRef) -> String {
    if string.length == 0 {
        return String::new();
    }
    // SAFETY: as the caller promises; an empty string, which may have no address, has been seen to.
    let bytes = unsafe { std::slice::from_raw_parts(string.data.cast::<u8>(), string.length) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// The text of an identifier.
#[must_use]
pub fn identifier(identifier: Identifier) -> String {
    // SAFETY: the context keeps identifiers.
    unsafe { text(identifier.as_string_ref().to_raw()) }
}

/// The value of a string attribute; `None` for other attributes.
#[must_use]
pub fn string(attribute: Attribute) -> Option<String> {
    // SAFETY: the attribute is alive, and the context keeps its string.
    unsafe { mlirAttributeIsAString(attribute.to_raw()).then(|| text(mlirStringAttrGetValue(attribute.to_raw()))) }
}

/// The name in a reference to a symbol, `@name`; `None` for other attributes.
#[must_use]
pub fn symbol(attribute: Attribute) -> Option<String> {
    // SAFETY: the attribute is alive, and the context keeps its name.
    unsafe {
        let raw = attribute.to_raw();
        mlirAttributeIsAFlatSymbolRef(raw).then(|| text(mlirFlatSymbolRefAttrGetValue(raw)))
    }
}

/// The two names in a reference to a symbol of a symbol, `@module::@function`; `None` for other attributes.
#[must_use]
pub fn nested_symbol(attribute: Attribute) -> Option<(String, String)> {
    let raw = attribute.to_raw();
    // SAFETY: the attribute is alive, it is asked for names only where it has two, and the context keeps them.
    unsafe {
        (mlirAttributeIsASymbolRef(raw) && mlirSymbolRefAttrGetNumNestedReferences(raw) == 1)
            .then(|| (text(mlirSymbolRefAttrGetRootReference(raw)), text(mlirSymbolRefAttrGetLeafReference(raw))))
    }
}

/// `format!` for what MLIR prints: a type or attribute from bytecode may hold bytes that are not UTF-8, at which
/// melior's `Display` fails and `format!` would panic. The text ends there with U+FFFD.
#[macro_export]
macro_rules! lossy {
    ($($argument:tt)*) => {
        $crate::text::lossy(format_args!($($argument)*))
    };
}

/// What [`lossy!`](crate::lossy) does.
#[must_use]
pub fn lossy(arguments: fmt::Arguments) -> String {
    let mut text = String::new();
    if text.write_fmt(arguments).is_err() {
        text.push('\u{fffd}');
    }
    text
}
