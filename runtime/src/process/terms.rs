//! The messages of processes that meet.

use std::fmt::Write;
use std::hash::{DefaultHasher, Hasher};

use serde::{Deserialize, Serialize};

use super::environment::Bootstrap;
use super::rendezvous::Offer;
use crate::error::Error;

/// Incremented whenever the messages or the control memory change.
pub(super) const VERSION: u32 = 11;
/// The longest value, in characters, that is sent in full.
const MOST_TEXT: usize = 256;

/// A rank's greeting. Fields that another version lacks are 0: the version is compared first.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Hello {
    version: u32,
    pub(super) rank: u32,
    pub(super) num_ranks: u32,
    /// What distinguishes the launcher's run from others, where the place of meeting does not.
    run: String,
    /// The fingerprint's parts, by name.
    program: String,
    options: Vec<(String, String)>,
    /// Sent for a dead rank by its launcher: the rank may have sent nothing itself.
    pub(super) died: bool,
    /// Whether the rank says next why it cannot take part: it may not know yet what it would run.
    declines: bool,
}

/// A rank's message when it is ready.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Ready {
    /// Its heap is attached.
    Brings(Memory),
    /// Why it cannot take part.
    Declines(String),
}

/// What a rank has created for the run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Memory {
    heap_size: u64,
    trace: bool,
    device: String,
}

/// Rank 0's answer.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    /// The control memory and all heaps are attached.
    Welcome,
    Refused(String),
}

impl Hello {
    pub(super) fn new(bootstrap: &Bootstrap) -> Self {
        let Bootstrap { rank, num_ranks, ref fingerprint, ref options, .. } = *bootstrap;
        let run = bootstrap.network.as_ref().map_or_else(String::new, |_| bootstrap.run.clone());
        let options = options.iter().map(|(name, value)| (name.clone(), short(value.clone()))).collect();
        let mut program = String::new();
        for byte in fingerprint {
            write!(program, "{byte:02x}").expect("writing to a String");
        }
        let program = if program.is_empty() { "none".to_owned() } else { short(program) };
        Self { version: VERSION, rank, num_ranks, run, program, options, died: false, declines: false }
    }

    /// The message for a rank that has died.
    pub(super) fn of_dead(bootstrap: &Bootstrap) -> Self {
        Self { died: true, ..Self::new(bootstrap) }
    }

    /// The message for a rank that cannot take part.
    pub(super) fn of_declining(bootstrap: &Bootstrap) -> Self {
        Self { declines: true, ..Self::new(bootstrap) }
    }

    /// Whether another rank has been started by the same launcher's run; an error if not.
    pub(super) fn compare_runs(&self, ours: &Self) -> Result<(), Error> {
        if self.run == ours.run {
            return Ok(());
        }
        differ(self.rank, ours.rank, self.version(), ours.version())?;
        let run = |hello: &Self| [("the launcher's run", hello.run.clone())];
        differ(self.rank, ours.rank, run(self), run(ours))
    }

    fn version(&self) -> [(&'static str, String); 1] {
        [("the version of symm's bootstrap", self.version.to_string())]
    }

    /// Whether another rank belongs to the same run.
    pub(super) fn compare(&self, ours: &Self) -> Result<(), Error> {
        differ(self.rank, ours.rank, self.version(), ours.version())?;
        let ranks = |hello: &Self| [("the number of ranks", hello.num_ranks.to_string())];
        differ(self.rank, ours.rank, ranks(self), ranks(ours))?;
        if self.declines {
            return Ok(());
        }
        let program = |hello: &Self| [("the program", hello.program.clone())];
        differ(self.rank, ours.rank, program(self), program(ours))?;
        let value = |hello: &Self, what: &str| {
            let found = hello.options.iter().find(|(name, _)| name == what);
            found.map_or_else(|| "not given".to_owned(), |(_, value)| value.clone())
        };
        for (what, _) in self.options.iter().chain(&ours.options) {
            differ(self.rank, ours.rank, [(what, value(self, what))], [(what, value(ours, what))])?;
        }
        Ok(())
    }
}

/// A value to compare; a long one becomes its beginning, its length and a hash.
fn short(value: String) -> String {
    if value.len() <= MOST_TEXT {
        return value;
    }
    let mut hash = DefaultHasher::new();
    hash.write(value.as_bytes());
    let begins: String = value.chars().take(MOST_TEXT / 4).collect();
    format!("{begins}… ({} characters, hash {:016x})", value.chars().count(), hash.finish())
}

impl Memory {
    pub(super) fn of(offer: &Offer) -> Self {
        Self { heap_size: offer.heap_size, trace: offer.trace, device: offer.device.to_owned() }
    }

    /// Whether what `rank` has created matches what rank 0 has.
    pub(super) fn compare(&self, rank: u32, ours: &Self) -> Result<(), Error> {
        let terms = |memory: &Self| {
            [
                ("the heap's size", memory.heap_size.to_string()),
                ("whether to trace", memory.trace.to_string()),
                ("the driver", memory.device.clone()),
            ]
        };
        differ(rank, 0, terms(self), terms(ours))
    }
}

/// Compares terms with the same names.
fn differ<const N: usize>(
    rank: u32,
    other: u32,
    theirs: [(&str, String); N],
    ours: [(&str, String); N],
) -> Result<(), Error> {
    for ((what, theirs), (_, ours)) in theirs.into_iter().zip(ours) {
        if theirs != ours {
            return Err(Error::RunMismatch { rank, other, what: what.to_owned(), theirs, ours });
        }
    }
    Ok(())
}
