//! Standard output that nobody reads: closed before a tool began (`>&-`), or by its reader meanwhile (`| head -1`).

use rustix::io::{Errno, fcntl_getfd};
use rustix::stdio::{dup2_stdout, raw_stdout, stdout};
use std::os::fd::{AsRawFd as _, IntoRawFd as _};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether it was closed before the tool began.
static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Replaces one that is closed by a pipe without a reader, so that writing fails.
///
/// Rust opens /dev/null there before `main`, and what is written is lost without an error: this is to run before that,
/// from a tool's `.init_array`.
pub extern "C" fn replace_output() {
    if fcntl_getfd(stdout()) != Err(Errno::BADF) {
        return;
    }
    WAS_CLOSED.store(true, Ordering::Relaxed);
    let Ok((reads, writes)) = rustix::pipe::pipe() else { return };
    // This closes the end that reads, where that has got the number.
    let _ = dup2_stdout(&writes);
    for end in [reads, writes] {
        if end.as_raw_fd() == raw_stdout() {
            // It is what standard output is now.
            let _ = end.into_raw_fd();
        }
    }
}

/// Whether there was a standard output when the tool began.
pub(crate) fn was_open() -> bool {
    !WAS_CLOSED.load(Ordering::Relaxed)
}

/// Whether an error, in words, is that the reader of standard output has left, as `head` does: it has what it wants,
/// and the tool ends without a word.
#[must_use]
pub fn has_reader_left(error: &str) -> bool {
    was_open() && error.ends_with(&std::io::Error::from(Errno::PIPE).to_string())
}
