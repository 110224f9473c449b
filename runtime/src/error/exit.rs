//! How processes end.

use std::fmt;

/// How a started process failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankExit {
    /// The rank.
    pub rank: u32,
    /// How it ended.
    pub how: Exit,
}

/// The end of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
    /// It did not end after another rank had failed, and was killed.
    Straggler,
    /// The same, and a signal such as SIGSTOP had stopped it.
    Stopped,
}

impl fmt::Display for RankExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.how {
            Exit::Code(code) => write!(f, "rank {} exited with code {code}", self.rank),
            Exit::Signal(signal) => write!(f, "rank {} was killed by signal {signal}", self.rank),
            Exit::Straggler => write!(f, "rank {} did not end after another had failed, and was killed", self.rank),
            Exit::Stopped => {
                write!(f, "rank {} had been stopped by a signal when another failed, and was killed", self.rank)
            }
        }
    }
}
