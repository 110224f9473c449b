//! What happened when: every rank's launches, transfers, signals and waits, for Perfetto.

mod arrows;
mod chrome;
mod record;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::heap::HeapAddress;
pub(crate) use record::{Recorder, Sink};

/// Everything that was recorded in a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// In no particular order.
    pub events: Vec<Event>,
    /// Events dropped because a process, or on a GPU a launch, recorded too many. The earliest are kept.
    pub dropped: u64,
    /// For each rank on a GPU, the error of its blocks' times in nanoseconds: their clock is not the host's.
    pub clock_errors: BTreeMap<u32, u64>,
}

/// Something that a rank's host thread or a block did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The rank.
    pub rank: u32,
    /// The block, counted x first; `None` for the host thread.
    pub block: Option<u32>,
    /// Start in nanoseconds of `CLOCK_MONOTONIC`, the same for all processes of a host.
    pub start: u64,
    /// End in the same clock; equal to `start` for a signal on the CPU, for which only one moment is known.
    pub end: u64,
    /// `file:line:col`.
    pub loc: Arc<str>,
    /// What it did.
    pub what: What,
}

/// What an event was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum What {
    /// A kernel launch, on a host thread.
    Launch {
        /// The kernel.
        kernel: Arc<str>,
        /// Blocks in its grid.
        blocks: u32,
    },
    /// A block, from its first instruction to its last.
    Block {
        /// The kernel.
        kernel: Arc<str>,
        /// Coordinates of the block.
        coords: [i64; 3],
    },
    /// `symm.barrier_all`.
    Barrier,
    /// [`crate::Rank::broadcast`].
    Broadcast {
        /// Bytes.
        bytes: u64,
    },
    /// `symm.barrier` of a block on a GPU. On the CPU it shows as its signals and waits.
    DeviceBarrier,
    /// `symm.fence` of a block on a GPU.
    Fence {
        /// Order and scope, such as `release sys`.
        order: String,
    },
    /// `symm.alloc`.
    Alloc {
        /// Bytes.
        bytes: u64,
    },
    /// `symm.free`.
    Free,
    /// A copy between the host and a heap.
    HostCopy {
        /// Bytes.
        bytes: u64,
    },
    /// An access to another rank's heap.
    Transfer {
        /// The kind of access.
        kind: TransferKind,
        /// The other rank.
        peer: i32,
        /// Where in its heap; `None` outside every heap.
        offset: Option<u64>,
        /// Bytes.
        bytes: u64,
    },
    /// `symm.signal`; the flag was written at its end.
    Signal {
        /// The flag.
        flag: Option<FlagAddress>,
        /// The rank that was signalled.
        peer: i32,
        /// Whether the flag was set or added to.
        op: SignalOp,
        /// Its value after the signal; unknown for an addition on a GPU.
        value: Option<u64>,
    },
    /// `symm.wait`.
    Wait {
        /// The flag.
        flag: Option<FlagAddress>,
        /// Comparison and expected value, such as `>= 3`.
        condition: String,
        /// The value that ended the wait.
        saw: u64,
        /// False when the wait gave up.
        satisfied: bool,
    },
}

/// A kind of access to another rank's heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TransferKind {
    /// `symm.put`.
    Put,
    /// `symm.get`.
    Get,
    /// `symm.copy`.
    Copy,
    /// `symm.remote_load`.
    Load,
    /// `symm.remote_store`.
    Store,
    /// `symm.atomic_rmw` and `symm.atomic_cas`.
    Atomic,
}

impl From<symm_abi::trace::Transfer> for TransferKind {
    fn from(transfer: symm_abi::trace::Transfer) -> Self {
        use symm_abi::trace::Transfer;
        match transfer {
            Transfer::Put => Self::Put,
            Transfer::Get => Self::Get,
            Transfer::Copy => Self::Copy,
            Transfer::Load => Self::Load,
            Transfer::Store => Self::Store,
            Transfer::Atomic => Self::Atomic,
        }
    }
}

/// What a signal does to its flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SignalOp {
    /// Sets it.
    Set,
    /// Adds to it.
    Add,
}

impl From<symm_abi::trace::SignalKind> for SignalOp {
    fn from(kind: symm_abi::trace::SignalKind) -> Self {
        match kind {
            symm_abi::trace::SignalKind::Set => Self::Set,
            symm_abi::trace::SignalKind::Add => Self::Add,
        }
    }
}

/// Where a flag is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FlagAddress {
    /// The rank whose heap it is in.
    pub rank: u32,
    /// Bytes from that heap's start.
    pub offset: u64,
}

impl FlagAddress {
    pub(crate) fn of(address: Option<HeapAddress>) -> Option<Self> {
        address.map(|HeapAddress { rank, offset }| Self { rank, offset })
    }
}

impl Trace {
    /// The events of several processes together.
    #[must_use]
    pub fn merge(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self::default();
        parts.into_iter().for_each(|part| all.add(part));
        all
    }

    pub(crate) fn add(&mut self, part: Self) {
        self.events.extend(part.events);
        self.dropped += part.dropped;
        for (rank, error) in part.clock_errors {
            let known = self.clock_errors.entry(rank).or_default();
            *known = error.max(*known);
        }
    }
}
