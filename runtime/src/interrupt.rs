//! Ends waits that their caller wants to end: an interpreter whose user has pressed Ctrl-C.

use std::cell::Cell;

use crate::error::Error;

thread_local! {
    static ASK: Cell<Option<fn() -> bool>> = const { Cell::new(None) };
}

/// Says how to learn whether a call of this thread is to end, for callers in a language that handles signals itself.
///
/// A call that waits asks ten times a second or more. Where the answer is yes it returns [`Error::Interrupted`], and
/// the run ends on all ranks: this rank may have been counted already by those that wait for it.
pub fn set_interrupt(ask: Option<fn() -> bool>) {
    ASK.set(ask);
}

/// An error if this thread's call is to end.
pub(crate) fn check() -> Result<(), Error> {
    if ASK.get().is_some_and(|ask| ask()) { Err(Error::Interrupted) } else { Ok(()) }
}
