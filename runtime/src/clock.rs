//! `CLOCK_MONOTONIC` in nanoseconds: the same in every process of a host.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Now.
pub(crate) fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// The time from `start`, in [`now`]'s nanoseconds, until now.
pub(crate) fn since(start: u64) -> Duration {
    Duration::from_nanos(now().saturating_sub(start))
}
