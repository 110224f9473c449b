//! Standard output that was closed before a tool began (`>&-`).

use rustix::io::{Errno, fcntl_getfd};
use rustix::stdio::{dup2_stdout, raw_stdout, stdout};
use std::os::fd::{AsRawFd as _, IntoRawFd as _};

/// Replaces it by a pipe without a reader, so that writing fails.
///
/// Rust opens /dev/null there before `main`, and what is written is lost without an error: this is to run before that,
/// from a tool's `.init_array`.
pub extern "C" fn replace_output() {
    if fcntl_getfd(stdout()) != Err(Errno::BADF) {
        return;
    }
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
