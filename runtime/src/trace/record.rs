//! Recording, with a buffer for each thread.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::{Event, Trace, TransferKind, What};
use crate::agent::Agent;
use crate::clock;
use crate::loc::Loc;
use crate::lock::lock;

/// The most events of a run, shared evenly by its processes: about 200 MB in all, which rank 0 gathers.
const MOST_EVENTS: usize = 1 << 20;
/// How many events of room a thread takes from its process at a time, so that threads seldom contend.
const ROOM_AT_A_TIME: usize = 64;

/// The process's events.
#[derive(Debug)]
pub(crate) struct Sink {
    gathered: Mutex<Gathered>,
    /// How many more events there is room for.
    room: Arc<AtomicUsize>,
}

#[derive(Debug, Default)]
struct Gathered {
    trace: Trace,
    /// The recorders of all threads, so that a thread's events are found even if it never ends.
    threads: Vec<Arc<Recorder>>,
}

/// Takes up to `wanted` of the room that is left.
fn take_room(room: &AtomicUsize, wanted: usize) -> usize {
    let taken = room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left - left.min(wanted)));
    taken.map_or(0, |left| left.min(wanted))
}

impl Sink {
    /// For one of this many processes.
    pub(crate) fn new(processes: usize) -> Self {
        let room = Arc::new(AtomicUsize::new(MOST_EVENTS / processes.max(1)));
        Self { gathered: Mutex::default(), room }
    }

    /// A recorder for one more thread.
    pub(crate) fn recorder(&self) -> Arc<Recorder> {
        let buffer = Buffer { left: Arc::clone(&self.room), ..Buffer::default() };
        let recorder = Arc::new(Recorder(Mutex::new(buffer)));
        lock(&self.gathered).threads.push(Arc::clone(&recorder));
        recorder
    }

    /// Adds events recorded elsewhere, as far as there is room.
    pub(crate) fn add(&self, mut part: Trace) {
        let kept = take_room(&self.room, part.events.len());
        part.dropped += (part.events.len() - kept) as u64;
        part.events.truncate(kept);
        lock(&self.gathered).trace.add(part);
    }

    /// Adds a thread's events, which had room reserved, and takes back the rest of its room.
    fn hand_in(&self, part: Trace, room: usize) {
        self.room.fetch_add(room, Ordering::Relaxed);
        lock(&self.gathered).trace.add(part);
    }

    /// All events; unfinished ones end now.
    pub(crate) fn take(&self) -> Trace {
        let now = clock::now();
        let Gathered { trace, threads } = std::mem::take(&mut *lock(&self.gathered));
        let parts = threads.iter().map(|thread| {
            let mut buffer = lock(&thread.0);
            // An event that lasts until the end of a failed run says most about the failure: there is always room for
            // it.
            buffer.room += buffer.open.len();
            for mut event in std::mem::take(&mut buffer.open) {
                event.end = now.max(event.start);
                buffer.push(event);
            }
            std::mem::take(&mut buffer.trace)
        });
        Trace::merge(std::iter::once(trace).chain(parts))
    }
}

/// A thread's events.
#[derive(Debug, Default)]
pub(crate) struct Recorder(Mutex<Buffer>);

#[derive(Debug, Default)]
struct Buffer {
    trace: Trace,
    /// How many more events this thread may record, and its process.
    room: usize,
    left: Arc<AtomicUsize>,
    /// Unfinished events, the outermost first.
    open: Vec<Event>,
    /// Locations by the address of their text, which compiled code keeps for the whole run.
    locs: HashMap<usize, Arc<str>>,
}

impl Buffer {
    fn loc(&mut self, loc: Loc<'_>) -> Arc<str> {
        Arc::clone(self.locs.entry(loc.key()).or_insert_with(|| loc.text().into()))
    }

    fn event(&mut self, agent: &Agent, [start, end]: [u64; 2], loc: Loc<'_>, what: impl FnOnce() -> What) -> Event {
        Event { rank: agent.rank, block: agent.block.get(), start, end, loc: self.loc(loc), what: what() }
    }

    fn push(&mut self, event: Event) {
        if self.room == 0 {
            self.room = take_room(&self.left, ROOM_AT_A_TIME);
        }
        if self.room > 0 {
            self.room -= 1;
            self.trace.events.push(event);
        } else {
            self.trace.dropped += 1;
        }
    }
}

impl Recorder {
    fn push(&self, agent: &Agent, times: [u64; 2], loc: Loc<'_>, what: impl FnOnce() -> What) {
        let mut buffer = lock(&self.0);
        let event = buffer.event(agent, times, loc, what);
        buffer.push(event);
    }
}

impl Agent {
    /// Records, when the run is traced, what this thread did from `start` until now.
    #[inline]
    pub(crate) fn record(&self, start: u64, loc: Loc<'_>, what: impl FnOnce() -> What) {
        if let Some(recorder) = &self.recorder {
            let end = clock::now();
            recorder.push(self, [start, end], loc, what);
        }
    }

    /// Records the moment at which a signal was sent.
    pub(crate) fn record_signal(&self, loc: Loc<'_>, what: impl FnOnce() -> What) {
        let now = clock::now();
        if let Some(recorder) = &self.recorder {
            recorder.push(self, [now, now], loc, what);
        }
    }

    /// Begins an event, which [`Self::end`] ends.
    pub(crate) fn begin(&self, loc: Loc<'_>, what: impl FnOnce() -> What) {
        self.begin_at(clock::now(), loc, what);
    }

    /// The same for one that began at `start`.
    pub(crate) fn begin_at(&self, start: u64, loc: Loc<'_>, what: impl FnOnce() -> What) {
        if let Some(recorder) = &self.recorder {
            let mut buffer = lock(&recorder.0);
            let event = buffer.event(self, [start, start], loc, what);
            buffer.open.push(event);
        }
    }

    /// Begins a transfer; `remote` is its address in the peer's heap.
    pub(crate) fn begin_transfer(&self, kind: TransferKind, peer: i32, remote: *const u8, bytes: u64, loc: Loc<'_>) {
        let offset = || self.world.heaps.locate(remote).map(|place| place.offset);
        self.begin(loc, || What::Transfer { kind, peer, offset: offset(), bytes });
    }

    /// Ends the event that began last.
    pub(crate) fn end(&self) {
        if let Some(recorder) = &self.recorder {
            let end = clock::now();
            let mut buffer = lock(&recorder.0);
            if let Some(event) = buffer.open.pop() {
                buffer.push(Event { end, ..event });
            }
        }
    }

    /// The wait that began last has seen its flag once more.
    pub(crate) fn still_sees(&self, value: u64) {
        if let Some(recorder) = &self.recorder
            && let Some(What::Wait { saw, .. }) = lock(&recorder.0).open.last_mut().map(|event| &mut event.what)
        {
            *saw = value;
        }
    }

    /// Drops the event that began last: it is recorded in another way.
    pub(crate) fn forget(&self) {
        if let Some(recorder) = &self.recorder {
            lock(&recorder.0).open.pop();
        }
    }

    /// Hands this thread's events to the process.
    pub(crate) fn flush(&self) {
        if let (Some(recorder), Some(sink)) = (&self.recorder, &self.world.trace) {
            let mut buffer = lock(&recorder.0);
            let part = std::mem::take(&mut buffer.trace);
            let room = std::mem::take(&mut buffer.room);
            drop(buffer);
            sink.hand_in(part, room);
        }
    }
}
