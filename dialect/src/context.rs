//! A `&Context` from the handle that operations, types and values give.

use melior::{Context, ContextRef};
use std::cell::RefCell;
use std::collections::HashMap;

thread_local! {
    static WORDS: RefCell<HashMap<usize, &'static ContextRef<'static>>> = RefCell::default();
}

/// The context of a handle.
///
/// `ContextRef::to_ref` returns a reference into the handle itself, usually a temporary; this reference stays valid as
/// long as the context does. It keeps one word for each context that a thread ever uses.
#[must_use]
pub fn context(handle: ContextRef<'_>) -> &Context {
    // SAFETY: `handle` is alive while its raw form is read.
    let raw = unsafe { handle.to_ref() }.to_raw();
    // SAFETY: the handle is stored as it is; what it points to is used only while `handle` may live.
    let keep = || &*Box::leak(Box::new(unsafe { ContextRef::from_raw(raw) }));
    let word = WORDS.with_borrow_mut(|words| *words.entry(raw.ptr as usize).or_insert_with(keep));
    // SAFETY: the word is never freed, and the context lives as long as `handle` may.
    unsafe { word.to_ref() }
}
