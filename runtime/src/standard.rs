//! Standard input and outputs of a process that closed them (`2>&-`): its next descriptors would get their numbers, and
//! what a library prints there would reach a heap or another rank.

use std::io::Write as _;
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd};

use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, fcntl_getfd};
use rustix::stdio::{raw_stderr, stderr, stdin, stdout};

use crate::error::Error;

/// Opens /dev/null in place of a closed one, as Rust programs do before `main`.
pub(crate) fn keep_apart() -> Result<(), Error> {
    let closed = |fd: BorrowedFd| fcntl_getfd(fd) == Err(Errno::BADF);
    while [stdin(), stdout(), stderr()].into_iter().any(closed) {
        let null = open("/dev/null", OFlags::RDWR, Mode::empty())
            .map_err(Error::system("open /dev/null in place of a standard input or output that is closed"))?;
        // Another thread may have taken the number meanwhile.
        if null.as_raw_fd() <= raw_stderr() {
            // It stays open.
            let _ = null.into_raw_fd();
        }
    }
    Ok(())
}

/// Writes a message to standard error, at once: those of several processes do not mix within a line. A failure to write
/// is ignored.
pub(crate) fn say(message: &str) {
    let _ = std::io::stderr().write_all(format!("{message}\n").as_bytes());
}
