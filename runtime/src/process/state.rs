//! Whether a process of this host is stopped: it answers nobody, but has not ended.

use std::fmt;

/// What another process is doing, as far as this one can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessState {
    /// Stopped by a signal, such as SIGSTOP or the terminal's.
    Stopped,
    /// Running, waiting or gone.
    Other,
}

impl fmt::Display for ProcessState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stopped => "stopped by a signal such as SIGSTOP; `kill -CONT` resumes it",
            Self::Other => "busy, or hangs",
        })
    }
}

/// The state of process `pid`, as far as it can be seen from here.
pub(crate) fn of(pid: i32) -> ProcessState {
    // With another PID namespace, /proc would show another process.
    let own =
        std::fs::read_link("/proc/self").is_ok_and(|own| own.as_os_str() == std::process::id().to_string().as_str());
    let stat =
        if own { std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default() } else { String::new() };
    // The name of the program is in parentheses and may contain any characters.
    let stopped = stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'));
    if stopped { ProcessState::Stopped } else { ProcessState::Other }
}

/// What identifies the PID namespace of this process; 0 if unknown.
pub(crate) fn namespace() -> u64 {
    rustix::fs::stat("/proc/self/ns/pid").map_or(0, |stat| stat.st_ino)
}
