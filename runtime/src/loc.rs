//! Source locations as compiled code passes them.

use std::ffi::{CStr, c_char};
use std::marker::PhantomData;

/// A pointer to `file:line:col`, read only when it is needed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loc<'a> {
    text: *const c_char,
    lives: PhantomData<&'a CStr>,
}

impl<'a> Loc<'a> {
    /// # Safety
    /// `text` is null or a NUL-terminated string that lives for `'a`.
    pub(crate) unsafe fn new(text: *const c_char) -> Self {
        Self { text, lives: PhantomData }
    }

    pub(crate) fn bytes(self) -> &'a [u8] {
        if self.text.is_null() {
            return b"<unknown>";
        }
        // SAFETY: not null, so `new`'s caller promised a string.
        unsafe { CStr::from_ptr(self.text) }.to_bytes()
    }

    pub(crate) fn text(self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }

    /// The same for the same location of one program.
    pub(crate) fn key(self) -> usize {
        self.text as usize
    }
}

impl From<&'static CStr> for Loc<'static> {
    fn from(text: &'static CStr) -> Self {
        Self { text: text.as_ptr(), lives: PhantomData }
    }
}
