//! What kernels have recorded in their rank's trace buffer, as events.
//!
//! Its layout is [`symm_abi::trace`]. It is read after each launch, and now and then during a long kernel: after a
//! failure the device may be unreadable.

use std::ffi::CString;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::api::Stream;
use super::clock::{Clock, Reading, to_host};
use super::report::Sites;
use super::{Local, Shared, for_a_look};
use crate::agent::{Agent, coordinates};
use crate::clock;
use crate::error::Error;
use crate::lock::lock;
use crate::trace::{Event, FlagAddress, Sink, Trace, TransferKind, What};
use crate::world::World;
use symm_abi::kernel::parts;
use symm_abi::trace::{self, BEGIN, BLOCK_SHIFT, CLOCK, END, PLACE, RECORD_WORDS, SignalKind};

/// Records of one launch that are kept.
const ROOM: u64 = 1 << 16;
/// The time from a launch to the first reading of its records, and the longest between two.
const FIRST_LOOK: Duration = Duration::from_millis(100);
const LAST_LOOK: Duration = Duration::from_secs(1);

type Record = [u64; RECORD_WORDS];

/// A rank's trace buffer, with its device's clock.
#[derive(Debug)]
pub(super) struct Tracing {
    /// The buffer, in device memory.
    pub(super) buffer: u64,
    pub(super) clock: Clock,
    /// For reading memory while kernels run.
    pub(super) looks: Stream,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The clocks before the launch.
    reading: Option<Reading>,
    /// The running launch, until all of its records have been read.
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    kernel: String,
    grid: [i64; 3],
    /// What the last reading found.
    found: Records,
    look_at: Instant,
    pause: Duration,
}

/// Records, and how many did not fit.
#[derive(Debug, Default)]
struct Records {
    records: Vec<Record>,
    dropped: u64,
}

/// What making events needs.
struct Making<'a> {
    world: &'a World,
    rank: u32,
    kernel: &'a str,
    grid: [i64; 3],
    sites: &'a Sites,
    readings: [Reading; 2],
}

impl Tracing {
    /// Notes the launch of a kernel that records.
    pub(super) fn launched(&self, kernel: &str, grid: [i64; 3]) {
        let (found, look_at) = (Records::default(), Instant::now() + FIRST_LOOK);
        let running = Running { kernel: kernel.to_owned(), grid, found, look_at, pause: FIRST_LOOK };
        lock(&self.state).running = Some(running);
    }
}

impl Shared {
    /// A trace buffer and a clock for a rank, if its kernels were compiled to record.
    pub(super) fn tracing(&self, local: &Local) -> Result<Option<Tracing>, Error> {
        let tells = |image: &[u8]| image.windows(CLOCK.len()).any(|bytes| bytes == CLOCK.as_bytes());
        let Some(code) = self.code.iter().find(|code| tells(&code.image)) else { return Ok(None) };
        let module = self.load(local.device, code, &mut |_| Ok(()))?;
        let clock = Clock::new(self, self.api.function(module, &CString::new(CLOCK).expect("a symbol"))?)?;
        let no_clock = |_: &Error| self.api.free_host(clock.memory());
        let looks = self.api.create_stream().inspect_err(no_clock)?;
        let no_stream = |error: &Error| {
            self.api.destroy_stream(looks);
            no_clock(error);
        };
        let bytes = (ROOM + 1) * size_of::<Record>() as u64;
        let buffer = self.api.alloc(bytes, local.stream).inspect_err(no_stream)?;
        Ok(Some(Tracing { buffer, clock, looks, state: Mutex::default() }))
    }

    /// Empties the trace buffer of a rank, and reads its clock for the first time.
    pub(super) fn start_tracing(&self, local: &Local) -> Result<(), Error> {
        let Some(tracing) = &local.tracing else { return Ok(()) };
        let mut head: Record = [0; RECORD_WORDS];
        head[trace::ROOM] = ROOM;
        // SAFETY: the buffer has this many bytes and starts with this many words, and nothing uses it yet.
        unsafe {
            self.api.clear(tracing.buffer, (ROOM as usize + 1) * size_of::<Record>(), local.stream)?;
            self.api.copy(tracing.buffer, head.as_ptr() as u64, size_of_val(&head), local.stream)?;
        }
        self.drain(local.stream, |_| Ok(()))?;
        lock(&tracing.state).reading = Some(tracing.clock.read(self, local)?);
        Ok(())
    }

    /// Frees what a rank has for its trace.
    pub(super) fn end_tracing(&self, local: &Local) {
        if let Some(tracing) = &local.tracing {
            // Whatever fails here has failed before, and the process ends.
            let _ = self.api.free(tracing.buffer, local.stream);
            self.api.destroy_stream(tracing.looks);
            self.api.free_host(tracing.clock.memory());
        }
    }

    /// Reads what a running kernel has recorded so far, if it is time to.
    pub(super) fn look(&self, local: &Local) {
        let Some(tracing) = &local.tracing else { return };
        let mut state = lock(&tracing.state);
        if let Some(running) = state.running.as_mut().filter(|running| Instant::now() >= running.look_at) {
            if let Ok(found) = self.records(tracing, tracing.looks) {
                running.found = found;
            }
            running.pause = (running.pause * 2).min(LAST_LOOK);
            running.look_at = Instant::now() + running.pause;
        }
    }

    /// Makes events of what finished kernels have recorded, and empties the buffer.
    pub(super) fn collect(&self, local: &Local, agent: &Agent) -> Result<(), Error> {
        let (Some(tracing), Some(sink)) = (&local.tracing, &agent.world.trace) else { return Ok(()) };
        let mut state = lock(&tracing.state);
        let (Some(first), Some(running)) = (state.reading, state.running.take()) else { return Ok(()) };
        let found = self.records(tracing, local.stream)?;
        let used = size_of_val(found.records.as_slice());
        const { assert!(trace::ASKED == 0, "the first word") };
        // SAFETY: the buffer's first word and its records; nothing is in the stream that uses them. A record that is
        // taken and not written yet has to be zero: a failed run's are read while kernels write.
        unsafe {
            self.api.clear(tracing.buffer, size_of::<u64>(), local.stream)?;
            if used > 0 {
                self.api.clear(tracing.buffer + size_of::<Record>() as u64, used, local.stream)?;
            }
        }
        let last = tracing.clock.read(self, local)?;
        state.reading = Some(last);
        self.hand_over(sink, (&agent.world, agent.rank, local), &running, &found, [first, last]);
        Ok(())
    }

    /// Makes events of what kernels have recorded that have failed or will not end.
    pub(super) fn collect_failed(&self, world: &World, sink: &Sink) {
        let locals: Vec<_> =
            lock(&self.local).iter().map(|(rank, local)| (*rank, std::sync::Arc::clone(local))).collect();
        for (rank, local) in locals {
            let Some(tracing) = &local.tracing else { continue };
            let mut state = lock(&tracing.state);
            let (Some(reading), Some(running)) = (state.reading, state.running.take()) else { continue };
            let now = self.api.make_current(local.device).and_then(|()| self.records(tracing, tracing.looks));
            let found = now.as_ref().unwrap_or(&running.found);
            self.hand_over(sink, (world, rank, &local), &running, found, [reading; 2]);
        }
    }

    fn hand_over(
        &self,
        sink: &Sink,
        (world, rank, local): (&World, u32, &Local),
        running: &Running,
        found: &Records,
        readings: [Reading; 2],
    ) {
        let Some(loaded) = self.module(local.device, parts(&running.kernel).0) else { return };
        let (kernel, grid, sites) = (running.kernel.as_str(), running.grid, &loaded.sites);
        let making = Making { world, rank, kernel, grid, sites, readings };
        let error = readings[0].error.max(readings[1].error);
        sink.add(Trace {
            events: found.records.iter().filter_map(|record| making.event(record)).collect(),
            dropped: found.dropped,
            clock_errors: [(rank, error)].into(),
        });
    }

    /// Reads the buffer.
    fn records(&self, tracing: &Tracing, stream: Stream) -> Result<Records, Error> {
        let asked = self.look_at(vec![0_u64], tracing.buffer, stream)?[0];
        let mut records = vec![[0_u64; RECORD_WORDS]; asked.min(ROOM) as usize];
        if !records.is_empty() {
            records = self.look_at(records, tracing.buffer + size_of::<Record>() as u64, stream)?;
        }
        Ok(Records { records, dropped: asked.saturating_sub(ROOM) })
    }

    /// Fills `into` from `from` on the device.
    fn look_at<T>(&self, mut into: Vec<T>, from: u64, stream: Stream) -> Result<Vec<T>, Error> {
        // SAFETY: the buffer has this many bytes of words, and so has the vector, which outlives the copy or is leaked.
        let copied = unsafe { self.api.copy(into.as_mut_ptr() as u64, from, size_of_val(into.as_slice()), stream) };
        match copied.and_then(|()| self.drain(stream, for_a_look())) {
            Ok(()) => Ok(into),
            Err(error) => {
                std::mem::forget(into);
                Err(error)
            }
        }
    }
}

impl Making<'_> {
    /// The event of a record; `None` if the record is not written yet.
    fn event(&self, record: &Record) -> Option<Event> {
        let site = self.sites.get(record[PLACE] & ((1 << BLOCK_SHIFT) - 1))?;
        let block = (record[PLACE] >> BLOCK_SHIFT) as u32;
        let recorded = trace::Event::parse(&site.message)?;
        let [begin, end] = [record[BEGIN], record[END]];
        if begin == 0 {
            return None;
        }
        let start = to_host(begin, self.readings);
        let end = if end == 0 { clock::now() } else { to_host(end, self.readings) }.max(start);
        let start = if matches!(recorded, trace::Event::PutSignal(_)) { end } else { start };
        let what = self.what(recorded, block, record);
        Some(Event { rank: self.rank, block: Some(block), start, end, loc: site.location.as_str().into(), what })
    }

    /// What was recorded, with the record's values.
    fn what(&self, recorded: trace::Event<'_>, block: u32, record: &Record) -> What {
        let [address, first, second] = [0, 1, 2].map(|index| record[trace::VALUES + index]);
        let [saw, satisfied] = [0, 1].map(|index| record[trace::LATE_VALUES + index]);
        let offset = || self.world.heaps.locate(address as *const u8).map(|found| found.offset);
        let peer = first.cast_signed() as i32;
        let transfer = |kind| What::Transfer { kind, peer, offset: offset(), bytes: second };
        let flag_of = |rank| offset().map(|offset| FlagAddress { rank, offset });
        match recorded {
            trace::Event::Block => What::Block { kernel: self.kernel.into(), coords: coordinates(block, self.grid) },
            trace::Event::Barrier => What::DeviceBarrier,
            trace::Event::Fence(order) => What::Fence { order: order.into() },
            trace::Event::Put => transfer(TransferKind::Put),
            trace::Event::Get => transfer(TransferKind::Get),
            trace::Event::Copy => transfer(TransferKind::Copy),
            trace::Event::Signal(kind) | trace::Event::PutSignal(kind) => {
                let flag = u32::try_from(peer).ok().and_then(flag_of);
                let value = (kind == SignalKind::Set).then_some(second);
                What::Signal { flag, peer, op: kind.into(), value }
            }
            trace::Event::Wait { compare, unsigned } => {
                let expected = if unsigned { first.to_string() } else { first.cast_signed().to_string() };
                let condition = format!("{compare} {expected}");
                What::Wait { flag: flag_of(self.rank), condition, saw, satisfied: satisfied != 0 }
            }
        }
    }
}
