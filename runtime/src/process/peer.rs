//! The process at the other end of a connection.

use std::fmt;
use std::os::fd::{AsFd, AsRawFd};

/// In place of the number of a process that a network reaches: it may be another host's.
const OF_NETWORK: i32 = -1;

/// User and process at the other end, as this process knows them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer {
    user: u32,
    /// 0 where this process cannot see it, as in another container.
    pub(super) pid: i32,
}

impl Peer {
    /// `None` when the system does not know it.
    pub(super) fn of(connection: impl AsFd) -> Option<Self> {
        let mut credentials = libc::ucred { pid: 0, uid: 0, gid: 0 };
        let mut bytes = size_of::<libc::ucred>() as libc::socklen_t;
        // rustix cannot express a process without a number.
        // SAFETY: a buffer for the answer, and its size.
        let failed = unsafe {
            let fd = connection.as_fd().as_raw_fd();
            let place = (&raw mut credentials).cast();
            libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_PEERCRED, place, &raw mut bytes)
        };
        let whole = failed == 0 && bytes as usize == size_of::<libc::ucred>();
        whole.then_some(Self { user: credentials.uid, pid: credentials.pid })
    }

    /// A process at the other end of a network.
    pub(super) fn of_network() -> Self {
        Self { user: rustix::process::geteuid().as_raw(), pid: OF_NETWORK }
    }

    /// Whether it belongs to the user of these ranks.
    pub(super) fn is_ours(self) -> bool {
        self.user == rustix::process::geteuid().as_raw()
    }
}

/// A process in words.
pub(crate) struct Process(pub(crate) i32);

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("a process of another PID namespace"),
            OF_NETWORK => f.write_str("a process that the network reaches"),
            pid => write!(f, "process {pid}"),
        }
    }
}
