//! The memory that all ranks share besides the heaps: the host barrier, what each rank and block is doing, the fault.
//!
//! Everything is an atomic, so a process that dies leaves nothing locked. Text is for reports and may be torn when
//! read while written; nothing depends on it.

use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};

use crate::memory::{Shared, View};

/// Most blocks of one launch on one rank: each is a thread.
pub const MAX_BLOCKS: u32 = 8192;

/// The mapped control memory: a [`Header`] and a [`RankArea`] for each rank.
pub(crate) type Control = View<Header, RankArea>;

/// A value on its own cache line.
#[repr(C, align(128))]
#[derive(Debug)]
pub(crate) struct Line<T>(pub(crate) T);

/// State shared by all ranks.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Header {
    /// Host barriers completed; a futex.
    pub(crate) generation: Line<AtomicU32>,
    /// Hosts that have arrived in the current host barrier.
    pub(crate) arrived: Line<AtomicU32>,
    /// Incremented when a fault is complete or a rank returns; a futex for supervisors.
    pub(crate) events: Line<AtomicU32>,
    /// Host threads and blocks that are neither parked nor waiting for something, on all ranks.
    pub(crate) runnable: Line<AtomicI32>,
    /// Processes that have closed the heaps of all others; a futex.
    pub(crate) closed: Line<AtomicU32>,
    pub(crate) fault: FaultSlot,
    pub(crate) engine: EngineSlot,
    /// What one rank broadcasts to all others, a piece at a time.
    pub(crate) mail: [AtomicU64; MAIL_WORDS],
}

/// Words of a piece of a broadcast.
pub(crate) const MAIL_WORDS: usize = 8192;

/// What rank 0 tells the others so that their engines meet.
#[repr(C, align(128))]
#[derive(Debug)]
pub(crate) struct EngineSlot {
    /// One of [`ENGINE_UNKNOWN`], [`ENGINE_KNOWN`], [`ENGINE_FAILED`].
    pub(crate) state: AtomicU32,
    pub(crate) id: [AtomicU64; ENGINE_ID_WORDS],
}

/// Words of what an engine calls a run.
pub(crate) const ENGINE_ID_WORDS: usize = 16;
pub(crate) const ENGINE_UNKNOWN: u32 = 0;
pub(crate) const ENGINE_KNOWN: u32 = 1;
pub(crate) const ENGINE_FAILED: u32 = 2;

/// The first fault of the run.
#[repr(C, align(128))]
#[derive(Debug)]
pub(crate) struct FaultSlot {
    /// One of [`NO_FAULT`], [`FAULT_CLAIMED`], [`FAULT_COMPLETE`].
    pub(crate) state: AtomicU32,
    /// The rank whose process has the whole error.
    pub(crate) rank: AtomicU32,
    pub(crate) summary: Text<1024>,
}

pub(crate) const NO_FAULT: u32 = 0;
/// Only the thread that claimed the slot writes it.
pub(crate) const FAULT_CLAIMED: u32 = 1;
pub(crate) const FAULT_COMPLETE: u32 = 2;

/// State of one rank. Only that rank's threads write it, except for `parked`.
#[repr(C, align(128))]
#[derive(Debug)]
pub(crate) struct RankArea {
    /// Waiters of any rank parked on flags in this rank's heap.
    pub(crate) parked: Line<AtomicU32>,
    /// Blocks of the current launch that have not finished.
    pub(crate) live: Line<AtomicU32>,
    /// Threads that are still to be started for it.
    pub(crate) wanted: Line<AtomicU32>,
    /// Incremented whenever a block enters or leaves a parked wait, ends, or the host changes state.
    pub(crate) transitions: Line<AtomicU64>,
    pub(crate) host: HostSlot,
    /// The rank's last two collective operations, by parity of their number.
    pub(crate) posts: [Post; 2],
    pub(crate) blocks: [BlockSlot; MAX_BLOCKS as usize],
}

/// What a rank's host thread is doing.
#[repr(C, align(128))]
#[derive(Debug)]
pub(crate) struct HostSlot {
    /// A [`HostState`].
    pub(crate) state: AtomicU32,
    /// The rank's process.
    pub(crate) pid: AtomicU32,
    /// 1 once the identity of the rank's device is known.
    pub(crate) identified: AtomicU32,
    /// Two words; zero without one.
    pub(crate) identity: [AtomicU64; 2],
    /// The PID namespace of `pid`; 0 if it is not known.
    pub(crate) namespace: AtomicU64,
    /// In a collective operation: the number of its barrier, which also selects the rank's post.
    pub(crate) generation: AtomicU32,
    pub(crate) post: AtomicU32,
    /// When this state began, in monotonic nanoseconds.
    pub(crate) since: AtomicU64,
    /// Grid of the current launch.
    pub(crate) grid: [AtomicU32; 3],
    pub(crate) kernel: Text<64>,
    pub(crate) loc: Text<128>,
}

/// States of a host thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum HostState {
    Starting,
    Running,
    InCollective,
    InLaunch,
    Returned,
    /// Waits for its device.
    OnDevice,
    /// Is in the last barrier, and its caller has moved on: no thread waits here.
    Leaving,
}

impl HostSlot {
    pub(crate) fn state(&self) -> HostState {
        match self.state.load(Ordering::Acquire) {
            0 => HostState::Starting,
            1 => HostState::Running,
            2 => HostState::InCollective,
            3 => HostState::InLaunch,
            5 => HostState::OnDevice,
            6 => HostState::Leaving,
            _ => HostState::Returned,
        }
    }

    pub(crate) fn grid(&self) -> [i64; 3] {
        std::array::from_fn(|i| i64::from(self.grid[i].load(Ordering::Relaxed)))
    }
}

/// A rank's part in a collective operation, for the others to compare.
#[repr(C, align(128))]
#[derive(Debug)]
pub(crate) struct Post {
    pub(crate) op: AtomicU32,
    pub(crate) size: AtomicU64,
    pub(crate) align: AtomicU64,
    /// The caller's words for it, or empty.
    pub(crate) call: Text<128>,
    pub(crate) loc: Text<128>,
}

/// What a block is doing.
#[repr(C, align(128))]
#[derive(Debug)]
pub(crate) struct BlockSlot {
    /// One of [`BLOCK_IDLE`], [`BLOCK_RUNNING`], [`BLOCK_WAITING`].
    pub(crate) state: AtomicU32,
    /// Comparison code and width in bits, as in [`crate::condition::Condition::encode`].
    pub(crate) condition: AtomicU32,
    /// The rank whose heap holds the flag; [`NO_RANK`] when it is in no heap.
    pub(crate) flag_rank: AtomicU32,
    /// 1 when the wait has a timeout.
    pub(crate) gives_up: AtomicU32,
    pub(crate) flag_offset: AtomicU64,
    pub(crate) expected: AtomicU64,
    /// When it began to run or to wait, in monotonic nanoseconds.
    pub(crate) since: AtomicU64,
    pub(crate) loc: Text<72>,
}

pub(crate) const BLOCK_IDLE: u32 = 0;
pub(crate) const BLOCK_RUNNING: u32 = 1;
/// In a wait; the fields below are valid.
pub(crate) const BLOCK_WAITING: u32 = 2;
pub(crate) const NO_RANK: u32 = u32::MAX;

// SAFETY: repr(C), atomics only, alignment 128.
unsafe impl Shared for Header {}
// SAFETY: repr(C), atomics only, alignment 128.
unsafe impl Shared for RankArea {}

/// Up to `N` bytes of text. A longer text keeps its end, the informative part of `dir/file:line:col`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Text<const N: usize> {
    bytes: [TextByte; N],
}

type TextByte = std::sync::atomic::AtomicU8;

impl<const N: usize> Text<N> {
    /// No text.
    pub(crate) fn new() -> Self {
        Self { bytes: std::array::from_fn(|_| TextByte::new(0)) }
    }

    pub(crate) fn set(&self, text: &[u8]) {
        let end = &text[text.len().saturating_sub(N)..];
        for (to, &from) in self.bytes.iter().zip(end) {
            to.store(from, Ordering::Relaxed);
        }
        if let Some(stop) = self.bytes.get(end.len()) {
            stop.store(0, Ordering::Relaxed);
        }
    }

    /// The bytes, as they are now.
    pub(crate) fn bytes(&self) -> impl Iterator<Item = u8> {
        self.bytes.iter().map(|byte| byte.load(Ordering::Relaxed)).take_while(|&byte| byte != 0)
    }

    pub(crate) fn get(&self) -> String {
        String::from_utf8_lossy(&self.bytes().collect::<Vec<u8>>()).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_keeps_the_end() {
        let text = Text::<8>::new();
        assert_eq!(text.get(), "");
        text.set(b"heat.mlir:41:7");
        assert_eq!(text.get(), "lir:41:7");
        text.set(b"a:1:2");
        assert_eq!(text.get(), "a:1:2");
    }
}
