//! What the operating system refuses.

use super::Error;
use std::error::Error as _;

impl Error {
    pub(crate) fn system(action: impl Into<String>) -> impl FnOnce(rustix::io::Errno) -> Self {
        let action = action.into();
        move |errno| Self::System { action, answer: errno.into() }
    }

    pub(crate) fn io(action: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let action = action.into();
        move |answer| Self::System { action, answer }
    }
}

/// Why a library cannot be loaded: the loader's own words, where it has any.
pub(crate) fn why(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// Which limit to raise: the system only says that one was reached.
pub(super) fn hint(answer: &std::io::Error) -> &'static str {
    match answer.raw_os_error() {
        Some(libc::EMFILE) => "; raise the limit on open files (ulimit -n)",
        Some(libc::ETOOMANYREFS) => "; this user has too many descriptors in flight: raise the limit (ulimit -n)",
        Some(libc::EAGAIN) => "; a limit is reached: on processes and threads (ulimit -u) or on addresses (ulimit -v)",
        Some(libc::EFBIG) => "; raise the limit on file size, which limits shared memory too (ulimit -f)",
        Some(libc::ENOMEM) => "; memory, or the limit on addresses (ulimit -v), is used up",
        _ => "",
    }
}
