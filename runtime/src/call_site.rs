//! Where in its caller's code this crate was called. Errors name it.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, CString};
use std::panic::Location;
use std::sync::{LazyLock, Mutex};

use crate::loc::Loc;
use crate::lock::lock;

thread_local! {
    static CALL: RefCell<String> = const { RefCell::new(String::new()) };
    static SET: Cell<Option<&'static CStr>> = const { Cell::new(None) };
    /// The locations that this thread has been at, as text by address.
    static KNOWN: RefCell<HashMap<usize, &'static CStr>> = RefCell::default();
}

/// Says where the calls of this thread come from, such as `train.py:41`, for callers in a language other than Rust;
/// `None` uses what Rust knows. Texts are kept forever, so pass one for each line of code.
pub fn set_call_site(site: Option<&str>) {
    SET.set(site.map(interned));
}

/// Says what this thread calls in its caller's words, such as `World.barrier`, so that errors name it; empty uses this
/// crate's own words. Ranks that meet must agree on these words, too.
pub fn set_call(call: &str) {
    // A thread that is ending has lost its local data.
    let _ = CALL.try_with(|said| *said.borrow_mut() = visible(call));
}

/// What this thread calls, or empty.
pub(crate) fn call() -> String {
    // At the end of a thread, its local data is gone before its last calls.
    CALL.try_with(|call| call.borrow().clone()).unwrap_or_default()
}

/// Says that this thread's calls come from a language other than Rust, and from no known call site until
/// [`set_call_site`] says where.
pub fn set_foreign() {
    if SET.get().is_none() {
        SET.set(Some(c""));
    }
}

/// Where the call is that the calling function tracks.
#[track_caller]
pub(crate) fn here() -> Loc<'static> {
    let at: &'static Location<'static> = Location::caller();
    let text = || interned(&format!("{}:{}:{}", at.file(), at.line(), at.column()));
    let known = || {
        let at = std::ptr::from_ref(at) as usize;
        // As above.
        KNOWN.try_with(|known| *known.borrow_mut().entry(at).or_insert_with(text)).unwrap_or_else(|_| text())
    };
    Loc::from(SET.get().unwrap_or_else(known))
}

/// The text with control characters escaped as Rust escapes them.
fn visible(text: &str) -> String {
    let escape = |char: char| if char.is_control() { char.escape_default().to_string() } else { char.to_string() };
    text.chars().map(escape).collect()
}

/// The text as a string that lives forever: recorders know a call site by its address.
fn interned(site: &str) -> &'static CStr {
    static SITES: LazyLock<Mutex<HashSet<&'static CStr>>> = LazyLock::new(Mutex::default);
    // An error's call site is part of one line, and a string of C ends at a zero.
    let text = CString::new(visible(site)).unwrap_or_default();
    let mut sites = lock(&SITES);
    if let Some(known) = sites.get(text.as_c_str()) {
        return known;
    }
    let text: &'static CStr = Box::leak(text.into_boxed_c_str());
    sites.insert(text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_sites_are_the_callers() {
        let (line, text) = (line!(), here().text());
        assert_eq!(text, format!("{}:{line}:38", file!()));
        set_call_site(Some("train.py:41"));
        assert_eq!((here().text().as_str(), here().key()), ("train.py:41", here().key()));
        set_foreign();
        assert_eq!(here().text(), "train.py:41");
        set_call_site(Some("é\na\0b"));
        assert_eq!(here().text(), "é\\na\\u{0}b");
        set_call_site(None);
        assert!(here().text().starts_with(file!()));
        set_foreign();
        assert_eq!(here().text(), "");
    }
}
