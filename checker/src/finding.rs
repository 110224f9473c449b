//! What is found, told apart.

use crate::clock::Epoch;
use crate::op::Site;
use crate::task::Task;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// What is wrong. Each has the rule of docs/memory-model.md that it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Two accesses of one place, one of them a weak one and one of them a write, that nothing orders.
    Race,
    /// Writes of one value by one op of several tasks, that nothing orders: which comes last does not matter.
    SameValue,
    /// A write over what another task reads, and nothing tells the writer that it has been read: no credit.
    WriteAfterRead,
    /// What tells the other task that data is there does not release.
    MissingRelease,
    /// It releases, at a scope that does not reach the other task.
    NarrowRelease,
    /// The other task sees it and does not acquire.
    MissingAcquire,
    /// It acquires, at a scope that does not reach the first task.
    NarrowAcquire,
    /// Two atomics of one place whose scopes do not both cover the two tasks, or of other bytes: neither is atomic.
    NarrowAtomic,
    /// A wait that another event than the one that is meant has satisfied.
    WrongEvent,
    /// A flag that was what a wait waits for, and is past it before the wait has looked.
    PassedBy,
    /// A flag that one task sets and another one adds to.
    SetAgainstAdd,
    /// No task can go on.
    Deadlock,
    /// No task can go on, and the flag or the packet of a wait was never signalled or sent by anybody.
    NeverSignalled,
    /// No task can go on, and blocks that might do not fit on the device.
    TooManyBlocks,
    /// Some tasks are at a barrier that others of its group do not come to.
    BarrierDivergence,
    /// A signal to a flag that nobody looks at.
    NeverWaited,
    /// A read of memory that nothing has been written to.
    NeverWritten,
    /// An access of memory that was freed.
    Freed,
    /// An access of memory that was never allocated.
    OutOfHeap,
    /// A packet over one that nobody is known to have received.
    PacketOverwritten,
    /// A check of the program itself.
    FailedCheck,
    /// What ends a process: a division by zero, an access of memory that is not there, a trap.
    Fault,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 22] = [
        Self::Race,
        Self::SameValue,
        Self::WriteAfterRead,
        Self::MissingRelease,
        Self::NarrowRelease,
        Self::MissingAcquire,
        Self::NarrowAcquire,
        Self::NarrowAtomic,
        Self::WrongEvent,
        Self::PassedBy,
        Self::SetAgainstAdd,
        Self::Deadlock,
        Self::NeverSignalled,
        Self::TooManyBlocks,
        Self::BarrierDivergence,
        Self::NeverWaited,
        Self::NeverWritten,
        Self::Freed,
        Self::OutOfHeap,
        Self::PacketOverwritten,
        Self::FailedCheck,
        Self::Fault,
    ];

    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Race => "race",
            Self::SameValue => "same-value",
            Self::WriteAfterRead => "write-after-read",
            Self::MissingRelease => "missing-release",
            Self::NarrowRelease => "narrow-release",
            Self::MissingAcquire => "missing-acquire",
            Self::NarrowAcquire => "narrow-acquire",
            Self::NarrowAtomic => "narrow-atomic",
            Self::WrongEvent => "wrong-event",
            Self::PassedBy => "passed-by",
            Self::SetAgainstAdd => "set-against-add",
            Self::Deadlock => "deadlock",
            Self::NeverSignalled => "never-signalled",
            Self::TooManyBlocks => "too-many-blocks",
            Self::BarrierDivergence => "barrier-divergence",
            Self::NeverWaited => "never-waited",
            Self::NeverWritten => "never-written",
            Self::Freed => "freed",
            Self::OutOfHeap => "out-of-heap",
            Self::PacketOverwritten => "packet-overwritten",
            Self::FailedCheck => "failed-check",
            Self::Fault => "fault",
        }
    }

    /// What it means, in a sentence.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Race => "Two accesses to one place, at least one of them a write, and nothing orders them.",
            Self::SameValue => {
                "An op of several threads writes one value to one place; which comes last does not matter."
            }
            Self::WriteAfterRead => "A place is written again, and nothing tells the writer that it has been read.",
            Self::MissingRelease => {
                "The signal that announces the data does not release, so the data may come after it."
            }
            Self::NarrowRelease => {
                "The signal that announces the data releases at a scope that does not reach the reader."
            }
            Self::MissingAcquire => {
                "The wait sees the signal and does not acquire, so reads after it may come before it."
            }
            Self::NarrowAcquire => "The wait acquires at a scope that does not reach the writer.",
            Self::NarrowAtomic => "Two atomics on one place that are not atomic with respect to each other.",
            Self::WrongEvent => "A wait is satisfied by another event than the one that is meant.",
            Self::PassedBy => "A flag had the value that a wait waits for, and had passed it before the wait looked.",
            Self::SetAgainstAdd => "One task sets a flag that another one adds to, so that one of the two is lost.",
            Self::Deadlock => "No task can go on.",
            Self::NeverSignalled => "No task can go on: nobody has signalled the flag, or sent the packet.",
            Self::TooManyBlocks => "Blocks on the device wait for blocks that do not fit on it.",
            Self::BarrierDivergence => "Some tasks of a group are at a barrier that others do not reach.",
            Self::NeverWaited => "A flag is signalled, and nobody waits for it or reads it.",
            Self::NeverWritten => "Memory is read that has not been written.",
            Self::Freed => "Memory is accessed that was freed.",
            Self::OutOfHeap => "Memory is accessed that was never allocated.",
            Self::PacketOverwritten => "A packet overwrites one that may not have been received.",
            Self::FailedCheck => "A check of the program failed.",
            Self::Fault => "A task did something that ends a process.",
        }
    }

    /// The rule that it is about; empty where none has a label.
    #[must_use]
    pub fn rule(self) -> &'static str {
        match self {
            Self::MissingRelease | Self::MissingAcquire | Self::WriteAfterRead | Self::Race | Self::SameValue => "O1",
            Self::NarrowRelease | Self::NarrowAcquire | Self::NarrowAtomic => "O2",
            Self::BarrierDivergence => "O3",
            Self::TooManyBlocks => "O5",
            Self::PassedBy => "O6",
            Self::PacketOverwritten => "P1",
            _ => "",
        }
    }

    /// Whether it is about what has not come until an execution's end.
    #[must_use]
    pub fn is_of_what_did_not_come(self) -> bool {
        use Kind::{BarrierDivergence, Deadlock, NeverSignalled, NeverWaited, PassedBy, TooManyBlocks};
        matches!(self, BarrierDivergence | Deadlock | NeverSignalled | NeverWaited | PassedBy | TooManyBlocks)
    }

    /// Whether it is a note: odd, and no fault of this execution.
    #[must_use]
    pub fn is_note(self) -> bool {
        matches!(self, Self::NeverWaited | Self::SameValue)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A task at a place of its program.
#[derive(Debug, Clone)]
pub struct At {
    /// Who.
    pub task: Task,
    /// Where.
    pub site: Site,
    /// What it does there.
    pub what: String,
    /// Which of its steps that is, in the execution that was looked at; all steps of a loop are one place.
    pub step: Option<Epoch>,
}

impl At {
    /// All that makes two of them the same.
    fn place(&self) -> (Task, &Site, &str) {
        (self.task, &self.site, &self.what)
    }
}

impl PartialEq for At {
    fn eq(&self, other: &Self) -> bool {
        self.place() == other.place()
    }
}

impl Eq for At {}

impl Hash for At {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.place().hash(state);
    }
}

impl PartialOrd for At {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for At {
    fn cmp(&self, other: &Self) -> Ordering {
        self.place().cmp(&other.place())
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Finding {
    /// What.
    pub kind: Kind,
    /// The tasks and places that take part; of a race the earlier access first, of a missing credit the read.
    pub at: Vec<At>,
    /// What is missing, or how to mend it.
    pub help: String,
}

impl Finding {
    /// What it has in common with others that are the same mistake: the kind and the places.
    #[must_use]
    pub fn key(&self) -> (Kind, Vec<Site>) {
        let mut sites: Vec<_> = self.at.iter().map(|at| at.site.clone()).collect();
        sites.sort();
        sites.dedup();
        (self.kind, sites)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = self.kind.rule();
        let label = if rule.is_empty() { String::new() } else { format!(" ({rule})") };
        writeln!(f, "{}: {}{label}", if self.kind.is_note() { "note" } else { "error" }, self.kind)?;
        for at in &self.at {
            writeln!(f, "  {}: {}: {}", at.site, at.task, at.what)?;
        }
        if self.help.is_empty() { Ok(()) } else { writeln!(f, "  {}", self.help) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_different() {
        let mut names = Kind::ALL.map(Kind::name).to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Kind::ALL.len());
    }
}
