//! A process forked from a rank is no part of the run: it neither acts for its parent nor keeps the parent's
//! connections open, by which others see that the parent is alive.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::sync::Once;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

/// How many of a process's connections its children close at most: those of a run's ranks, and as many others.
const MOST: usize = 512;
/// No descriptor.
const NONE: i32 = -1;

/// How many forks lie between this process and the first one that used symm.
static FORKS: AtomicU32 = AtomicU32::new(0);
static KEPT: [AtomicI32; MOST] = [const { AtomicI32::new(NONE) }; MOST];
/// A socket without a peer, which replaces a child's connections so that their numbers stay taken.
static UNCONNECTED: AtomicI32 = AtomicI32::new(NONE);

/// The process in which something was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origin(u32);

impl Origin {
    pub(crate) fn here() -> Self {
        watch();
        Self(FORKS.load(Ordering::Relaxed))
    }

    /// Whether this process descends from that one.
    #[inline]
    pub(crate) fn is_a_parent(self) -> bool {
        FORKS.load(Ordering::Relaxed) != self.0
    }
}

/// A descriptor that children close.
#[derive(Debug)]
pub(crate) struct Kept(OwnedFd);

impl Kept {
    pub(crate) fn new(fd: OwnedFd) -> Self {
        watch();
        // If there are more than fit, a child keeps the last ones open.
        let _ = KEPT.iter().find(|slot| exchange(slot, NONE, fd.as_raw_fd()));
        Self(fd)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // Before it is closed: the number may then be another's.
        let fd = self.0.as_raw_fd();
        let _ = KEPT.iter().find(|slot| exchange(slot, fd, NONE));
    }
}

impl AsFd for Kept {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn exchange(slot: &AtomicI32, from: i32, to: i32) -> bool {
    slot.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
}

/// From here on, children are handled.
fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Without it children keep their connections, and a death is noticed only when they end.
        if let Ok(socket) = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None) {
            UNCONNECTED.store(socket.into_raw_fd(), Ordering::Release);
        }
        // SAFETY: the handler makes system calls and touches atomics only, as a child of a program with threads may.
        // It fails only without memory; then children are not handled.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
}

extern "C" fn in_child() {
    FORKS.fetch_add(1, Ordering::Relaxed);
    let unconnected = UNCONNECTED.load(Ordering::Acquire);
    for slot in &KEPT {
        let fd = slot.swap(NONE, Ordering::AcqRel);
        if fd != NONE && unconnected != NONE {
            // SAFETY: both are descriptors of this process, and whoever owns the second still does.
            unsafe { libc::dup3(unconnected, fd, libc::O_CLOEXEC) };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_child_has_no_connection_and_another_origin() {
        let ((a, b), here) = (UnixStream::pair().unwrap(), Origin::here());
        let (kept, plain) = (Kept::new(a.into()), b.try_clone().unwrap());
        // SAFETY: the child makes system calls only.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let mut byte = [0_u8];
            let lost = rustix::net::recv(&kept, &mut byte, rustix::net::RecvFlags::DONTWAIT)
                .is_err_and(|errno| errno != rustix::io::Errno::AGAIN);
            // SAFETY: ends the child.
            unsafe { libc::_exit(i32::from(!lost || !here.is_a_parent())) };
        }
        let mut status = -1;
        // SAFETY: a number of this function's.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!(status, 0);
        assert!(!here.is_a_parent());
        rustix::net::send(&kept, b"x", rustix::net::SendFlags::empty()).unwrap();
        drop((kept, plain, b));
    }

    #[test]
    fn what_is_closed_is_forgotten() {
        let (a, _b) = UnixStream::pair().unwrap();
        let kept = Kept::new(a.into());
        let fd = kept.as_fd().as_raw_fd();
        let is_known = || KEPT.iter().any(|slot| slot.load(Ordering::Relaxed) == fd);
        assert!(is_known());
        drop(kept);
        assert!(!is_known());
    }
}
