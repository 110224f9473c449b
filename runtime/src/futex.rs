//! Sleeping on a word of shared memory.

use std::sync::atomic::AtomicU32;
use std::time::Duration;

use rustix::thread::futex::{self, Flags, Timespec};

/// Sleeps while `word` is `seen`, until a [`wake`], at most `limit`. It may return early, so callers check again.
pub(crate) fn sleep(word: &AtomicU32, seen: u32, limit: Option<Duration>) {
    let limit = limit.map(|limit| Timespec {
        tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(limit.subsec_nanos()),
    });
    // Whatever the outcome, errors included, the caller checks the word again.
    let _ = futex::wait(word, Flags::empty(), seen, limit.as_ref());
}

/// Wakes everyone who sleeps on `word`, in any process.
pub(crate) fn wake(word: &AtomicU32) {
    // It fails only for an address that is not mapped, and a reference is.
    let _ = futex::wake(word, Flags::empty(), i32::MAX.cast_unsigned());
}
