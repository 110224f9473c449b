//! Who does something: a rank's block, or one of its threads. And scopes: whom an op's order is for.

use std::fmt;

/// The number of a task in its program.
pub type TaskId = usize;

/// The block that stands for the host of a rank.
const HOST: u32 = u32::MAX;

/// A thread of a block, or a whole block where its ops are the block's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Task {
    /// The rank it runs on.
    pub rank: u32,
    /// The block, or Triton's program, within the rank.
    pub block: u32,
    /// The thread within the block; `None` for a whole block.
    pub thread: Option<u32>,
}

impl Task {
    /// A whole block.
    #[must_use]
    pub fn block(rank: u32, block: u32) -> Self {
        Self { rank, block, thread: None }
    }

    /// The thread of a rank's host, which is in no block.
    #[must_use]
    pub fn host(rank: u32) -> Self {
        Self { rank, block: HOST, thread: None }
    }

    /// Whether it is a rank's host.
    #[must_use]
    pub fn is_host(self) -> bool {
        self.block == HOST
    }

    /// A thread of a block.
    #[must_use]
    pub fn thread(rank: u32, block: u32, thread: u32) -> Self {
        Self { rank, block, thread: Some(thread) }
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_host() {
            return write!(f, "rank {} host", self.rank);
        }
        write!(f, "rank {} block {}", self.rank, self.block)?;
        self.thread.map_or(Ok(()), |thread| write!(f, " thread {thread}"))
    }
}

/// The tasks that an op's order reaches, from narrow to wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// The threads of the block.
    Cta,
    /// The blocks of a cluster. Which they are is not known here: it covers the block.
    Cluster,
    /// The blocks of the rank.
    Gpu,
    /// All ranks.
    Sys,
}

impl Scope {
    /// Whether an op of one task at this scope reaches another task.
    #[must_use]
    pub fn covers(self, from: Task, to: Task) -> bool {
        match self {
            Self::Cta | Self::Cluster => (from.rank, from.block) == (to.rank, to.block),
            Self::Gpu => from.rank == to.rank,
            Self::Sys => true,
        }
    }

    /// What the dialect calls it.
    #[must_use]
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Cta => "cta",
            Self::Cluster => "cluster",
            Self::Gpu => "gpu",
            Self::Sys => "sys",
        }
    }

    /// The narrowest scope that covers two tasks.
    #[must_use]
    pub fn between(one: Task, other: Task) -> Self {
        [Self::Cta, Self::Gpu].into_iter().find(|scope| scope.covers(one, other)).unwrap_or(Self::Sys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_covers_what_is_within_it() {
        let me = Task::thread(0, 1, 0);
        let near = [Task::thread(0, 1, 7), Task::thread(0, 2, 0), Task::thread(1, 1, 0)];
        let covered = |scope: Scope| near.map(|other| scope.covers(me, other));
        assert_eq!(covered(Scope::Cta), [true, false, false]);
        assert_eq!(covered(Scope::Gpu), [true, true, false]);
        assert_eq!(covered(Scope::Sys), [true, true, true]);
        assert_eq!(near.map(|other| Scope::between(me, other)), [Scope::Cta, Scope::Gpu, Scope::Sys]);
    }
}
