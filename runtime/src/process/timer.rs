//! A deadline for others. Time in which this process itself was stopped does not count.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// The longest time between two looks of a process that runs.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// The most that counts between two looks: if more has passed, a signal had stopped this process, as a shell does to a
/// job.
const MOST: Duration = Duration::from_secs(1);

/// A deadline, which must be polled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timer {
    left: Duration,
    looked: Instant,
}

impl Timer {
    pub(super) fn new(time: Duration) -> Self {
        Self { left: time, looked: Instant::now() }
    }

    pub(super) fn left(&mut self) -> Duration {
        let now = Instant::now();
        self.left = self.left.saturating_sub((now - self.looked).min(MOST));
        self.looked = now;
        self.left
    }

    pub(super) fn is_over(&mut self) -> bool {
        self.left().is_zero()
    }

    /// Sleeps before another attempt; false when there is no time for one.
    pub(super) fn pause(&mut self, pause: Duration) -> bool {
        let left = self.left();
        std::thread::sleep(left.min(pause));
        !left.is_zero()
    }

    /// Waits a little for something to become readable or writable; false when the time is over.
    pub(super) fn wait_for(&mut self, fd: impl AsFd, flags: PollFlags) -> rustix::io::Result<bool> {
        let left = self.left();
        let timeout = Timespec::try_from(left.min(LOOK_EVERY)).expect("a short time");
        match poll(&mut [PollFd::new(&fd, flags)], Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(!left.is_zero()),
            Err(errno) => Err(errno),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_time_is_one() {
        let mut timer = Timer::new(Duration::MAX);
        assert!(!timer.is_over() && timer.left() > Duration::MAX / 2);
        assert!(Timer::new(Duration::ZERO).is_over());
    }

    #[test]
    fn time_in_which_this_process_was_stopped_does_not_count() {
        let mut timer = Timer::new(Duration::from_secs(30));
        timer.looked = Instant::now().checked_sub(Duration::from_secs(3600)).unwrap();
        assert!(timer.left() >= Duration::from_secs(29));
    }
}
