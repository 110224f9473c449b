//! Recording, with a buffer for each thread.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Event, Trace, TransferKind, What};
use crate::agent::Agent;
use crate::clock;
use crate::loc::Loc;

/// Most events that one block or one host thread records, so that an endless program does not fill the memory.
const MOST_EVENTS: usize = 1 << 20;

/// The process's events.
#[derive(Debug, Default)]
pub(crate) struct Sink(Mutex<Trace>);

impl Sink {
    pub(crate) fn take(&self) -> Trace {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A thread's events.
#[derive(Debug, Default)]
pub(crate) struct Recorder(RefCell<Buffer>);

#[derive(Debug, Default)]
struct Buffer {
    trace: Trace,
    /// Transfers that have begun: the start, and the rest of the event.
    open: Vec<(u64, Arc<str>, What)>,
    /// Locations by the address of their text, which compiled code keeps for the whole run.
    locs: HashMap<usize, Arc<str>>,
}

impl Buffer {
    fn loc(&mut self, loc: Loc<'_>) -> Arc<str> {
        Arc::clone(self.locs.entry(loc.key()).or_insert_with(|| loc.text().into()))
    }

    fn push(&mut self, event: Event) {
        if self.trace.events.len() < MOST_EVENTS {
            self.trace.events.push(event);
        } else {
            self.trace.dropped += 1;
        }
    }
}

impl Agent {
    /// Records, when the run is traced, what this thread did from `start` until now.
    #[inline]
    pub(crate) fn record(&self, start: u64, loc: Loc<'_>, what: impl FnOnce() -> What) {
        if let Some(recorder) = &self.recorder {
            let end = clock::now();
            let mut buffer = recorder.0.borrow_mut();
            let loc = buffer.loc(loc);
            buffer.push(Event { rank: self.rank, block: self.block.get(), start, end, loc, what: what() });
        }
    }

    /// Records the moment at which a signal was sent.
    pub(crate) fn record_signal(&self, loc: Loc<'_>, what: impl FnOnce() -> What) {
        let now = clock::now();
        if let Some(recorder) = &self.recorder {
            let mut buffer = recorder.0.borrow_mut();
            let loc = buffer.loc(loc);
            buffer.push(Event { rank: self.rank, block: self.block.get(), start: now, end: now, loc, what: what() });
        }
    }

    /// A transfer begins; `remote` is its address in the peer's heap.
    pub(crate) fn begin_transfer(&self, kind: TransferKind, peer: i32, remote: *const u8, bytes: u64, loc: Loc<'_>) {
        if let Some(recorder) = &self.recorder {
            let offset = self.world.heaps.locate(remote).map(|place| place.offset);
            let mut buffer = recorder.0.borrow_mut();
            let loc = buffer.loc(loc);
            buffer.open.push((clock::now(), loc, What::Transfer { kind, peer, offset, bytes }));
        }
    }

    /// The transfer that began last ends.
    pub(crate) fn end_transfer(&self) {
        if let Some(recorder) = &self.recorder {
            let end = clock::now();
            let mut buffer = recorder.0.borrow_mut();
            if let Some((start, loc, what)) = buffer.open.pop() {
                buffer.push(Event { rank: self.rank, block: self.block.get(), start, end, loc, what });
            }
        }
    }

    /// Hands this thread's events to the process.
    pub(crate) fn flush(&self) {
        if let (Some(recorder), Some(sink)) = (&self.recorder, &self.world.trace) {
            let part = std::mem::take(&mut recorder.0.borrow_mut().trace);
            let mut all = sink.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.events.extend(part.events);
            all.dropped += part.dropped;
        }
    }
}
