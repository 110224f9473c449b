//! Standard output that was closed before the program began (`>&-`).
//!
//! Rust opens /dev/null in its place before `main`, and what is written is lost without an error. So it is looked at
//! before that, and becomes a pipe that nobody reads.

use libc::{EBADF, F_GETFD, STDOUT_FILENO, close, dup2, fcntl, pipe};
use std::ffi::c_int;

#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

/// Runs before `main`: it may do nothing but system calls.
extern "C" fn look() {
    let mut ends: [c_int; 2] = [-1; 2];
    // SAFETY: calls with numbers, and memory of this function for two of them; nothing else uses files yet.
    unsafe {
        let is_closed = fcntl(STDOUT_FILENO, F_GETFD) < 0 && *libc::__errno_location() == EBADF;
        if is_closed && pipe(ends.as_mut_ptr()) == 0 {
            let [reads, writes] = ends;
            // Replaces the end that reads, where that has got this number.
            dup2(writes, STDOUT_FILENO);
            for end in [reads, writes].into_iter().filter(|end| *end != STDOUT_FILENO) {
                close(end);
            }
        }
    }
}
