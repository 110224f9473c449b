//! Streams and events of a rank's device.

use std::ffi::c_void;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::{Alone, Arg, Graph, Grid, Kernel, Seat};
use crate::agent::Agent;
use crate::clock;
use crate::control::HostState;
use crate::driver::gpu::api;
use crate::error::Error;
use crate::loc::Loc;
use crate::lock::lock;

/// A queue of work on a rank's device. The work is done in order; calls return before it is done, unless they say
/// otherwise.
///
/// The CPU has no queues: there every call returns when its work is done.
///
/// A rank makes one call at a time, and a call on a stream is one of them:
///
/// ```compile_fail
/// fn shared_by_threads<T: Sync>() {}
/// shared_by_threads::<symm_runtime::Stream>();
/// ```
#[derive(Debug)]
pub struct Stream {
    seat: Seat,
    raw: api::Stream,
    /// Whether dropping this destroys the stream.
    owned: bool,
    /// A rank makes one call at a time.
    alone: Alone,
}

impl Stream {
    pub(super) fn own(seat: &Seat) -> Self {
        Self { seat: seat.clone(), raw: seat.world.driver.own(seat.rank).stream, owned: false, alone: Alone::default() }
    }

    pub(super) fn borrowed(seat: &Seat, handle: usize) -> Self {
        Self { seat: seat.clone(), raw: api::Stream(handle), owned: false, alone: Alone::default() }
    }

    #[track_caller]
    pub(super) fn create(seat: &Seat) -> Result<Self, Error> {
        let raw =
            seat.act(|agent, _| agent.world.driver.queues().map_or(Ok(api::Stream(0)), api::Queues::create_stream))?;
        Ok(Self { seat: seat.clone(), raw, owned: true, alone: Alone::default() })
    }

    /// The driver's handle as a number: `CUstream`, `hipStream_t`; 0 on the CPU.
    #[must_use]
    pub fn handle(&self) -> usize {
        self.raw.0
    }

    /// Calls the vendor's library, where there is one.
    #[track_caller]
    fn ask<R: Default>(&self, ask: impl FnOnce(&dyn api::Queues) -> Result<R, Error>) -> Result<R, Error> {
        self.seat.act(|agent, _| agent.world.driver.queues().map_or_else(|| Ok(R::default()), ask))
    }

    /// The same, where it has to be there.
    #[track_caller]
    fn ask_gpu<R>(&self, ask: impl FnOnce(&dyn api::Queues) -> Result<R, Error>) -> Result<R, Error> {
        let no_graphs = || Error::Unsupported {
            what: "graphs",
            driver: "cpu",
            mend: "there every call does its work immediately, so repeat the calls",
        };
        self.seat.act(|agent, _| ask(agent.world.driver.queues().ok_or_else(no_graphs)?))
    }

    /// Waits until all work is done.
    ///
    /// # Errors
    /// [`Error::Gpu`] or [`Error::Fault`] when a kernel has failed, which ends the run on all ranks;
    /// [`Error::Stopped`] when the run has failed elsewhere, after which a kernel may never end.
    #[track_caller]
    pub fn synchronize(&self) -> Result<(), Error> {
        self.seat.act_or_end(|agent, loc| {
            if agent.world.driver.queues().is_none() {
                return Ok(());
            }
            agent.show_waiting(loc);
            let waited = agent.world.driver.wait(agent, self.raw, None);
            agent.set_host(HostState::Running);
            waited
        })
    }

    /// Whether all work is done.
    ///
    /// # Errors
    /// [`Error::Gpu`] when a kernel has failed.
    #[track_caller]
    pub fn is_done(&self) -> Result<bool, Error> {
        self.seat.act(|agent, _| agent.world.driver.queues().map_or(Ok(true), |api| api.is_done(self.raw)))
    }

    /// A barrier on the device between the streams of all ranks: what follows it on any rank sees what preceded it on
    /// every rank. Collective; a rank's barriers run one after the other, even in several streams.
    ///
    /// It can be captured in a graph. On the CPU it is [`super::Rank::barrier`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] on HIP.
    #[track_caller]
    pub fn barrier(&self) -> Result<(), Error> {
        self.seat.act(|agent, loc| agent.world.driver.barrier(agent, self.raw, loc))
    }

    /// Copies between host memory, heaps and device memory.
    ///
    /// # Safety
    /// Both ranges are valid for `bytes` bytes until the stream has done the copy, and nothing else uses `dst` until
    /// then.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    #[track_caller]
    pub unsafe fn copy(&self, dst: *mut u8, src: *const u8, bytes: usize) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        self.seat.act(|agent, _| unsafe { agent.world.driver.copy(agent.rank, dst, src, bytes, self.raw) })
    }

    /// Launches a kernel.
    ///
    /// If its blocks wait for each other or for other ranks, `grid` must say so: then all of them are on the device at
    /// the same time, or the launch is refused with the numbers.
    ///
    /// # Safety
    /// The kernel takes these arguments and may run with them: it touches only memory that exists, and that no rank
    /// frees until the stream has passed the kernel.
    ///
    /// # Errors
    /// [`Error::BadLaunch`]; [`Error::Stopped`] when the run has failed.
    #[track_caller]
    pub unsafe fn launch(&self, kernel: &Kernel, grid: &Grid, args: &[Arg]) -> Result<(), Error> {
        let values: Box<[Arg]> = args.into();
        let pointers: Box<[*const c_void]> = values.iter().map(Arg::pointer).collect();
        // SAFETY: the caller's promise; the values live until the kernel has them.
        let launched = unsafe { self.launch_with(kernel, grid, &pointers) };
        if launched.is_err() {
            // On the CPU, blocks of a failed run may stay forever in a kernel that reads them.
            std::mem::forget((values, pointers));
        }
        launched
    }

    /// The same with a pointer to each argument's value, as C passes them.
    ///
    /// # Safety
    /// As for [`Stream::launch`]. The values are valid until the call returns; after an error forever.
    ///
    /// # Errors
    /// As for [`Stream::launch`].
    #[track_caller]
    pub unsafe fn launch_with(&self, kernel: &Kernel, grid: &Grid, args: &[*const c_void]) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        self.seat.act(|agent, loc| unsafe { kernel.launch(agent, grid, args, self.raw, loc) })
    }

    /// Marks the end of what this stream has been given so far.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    #[track_caller]
    pub fn record(&self, event: &Event) -> Result<(), Error> {
        *lock(&event.recorded) = Some(Instant::now());
        self.ask(|api| event.raw.map_or(Ok(()), |raw| api.record(raw, self.raw)))
    }

    /// Makes later work in this stream wait for an event.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    #[track_caller]
    pub fn wait_for(&self, event: &Event) -> Result<(), Error> {
        self.ask(|api| event.raw.map_or(Ok(()), |raw| api.await_event(self.raw, raw)))
    }

    /// From here on, what this thread gives the stream is recorded and not executed, until [`Stream::end_capture`].
    /// Launches, copies, events and [`Stream::barrier`] can be recorded; calls that wait or allocate cannot.
    ///
    /// # Errors
    /// [`Error::Unsupported`] on the CPU.
    #[track_caller]
    pub fn begin_capture(&self) -> Result<(), Error> {
        self.ask_gpu(|api| api.begin_capture(self.raw))
    }

    /// Ends the recording; the graph can be launched any number of times.
    ///
    /// # Errors
    /// [`Error::Gpu`] when something was called that cannot be recorded; [`Error::Unsupported`] on the CPU.
    #[track_caller]
    pub fn end_capture(&self) -> Result<Graph, Error> {
        Ok(Graph::new(&self.seat, self.ask_gpu(|api| api.end_capture(self.raw))?))
    }

    /// Executes what was recorded.
    ///
    /// # Safety
    /// All recorded work may be executed again: see [`Stream::launch`] and [`Stream::copy`].
    ///
    /// # Errors
    /// [`Error::Gpu`].
    #[track_caller]
    pub unsafe fn launch_graph(&self, graph: &Graph) -> Result<(), Error> {
        self.ask(|api| api.launch_graph(graph.raw, self.raw))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.owned {
            let failed = self.seat.world.failed();
            // If this fails, the device has failed, which has been reported. On HIP it may wait for the stream's work,
            // after a failure perhaps forever.
            let _ = self.seat.end(|api| {
                if !failed || !matches!(api.is_done(self.raw), Ok(false)) {
                    api.destroy_stream(self.raw);
                }
            });
        }
    }
}

impl Agent {
    /// Shows that this host thread waits for its device: the report of a run that does not end then names the launch.
    fn show_waiting(&self, loc: Loc<'_>) {
        let host = &self.area().host;
        if host.kernel.get().is_empty() {
            self.show_on_device(loc);
            return;
        }
        host.since.store(clock::now(), Ordering::Relaxed);
        self.set_host(HostState::InLaunch);
    }
}

/// A point in a stream's work.
#[derive(Debug)]
pub struct Event {
    seat: Seat,
    /// None on the CPU.
    raw: Option<api::Event>,
    /// When it was recorded; on the CPU, this is also when it happened.
    recorded: Mutex<Option<Instant>>,
    /// A rank makes one call at a time.
    alone: Alone,
}

impl Event {
    #[track_caller]
    pub(super) fn create(seat: &Seat) -> Result<Self, Error> {
        let raw = seat.act(|agent, _| agent.world.driver.queues().map(api::Queues::create_event).transpose())?;
        Ok(Self { seat: seat.clone(), raw, recorded: Mutex::default(), alone: Alone::default() })
    }

    fn at(&self) -> Option<Instant> {
        *lock(&self.recorded)
    }

    #[track_caller]
    fn ask<R>(&self, or: R, ask: impl FnOnce(&dyn api::Queues, api::Event) -> Result<R, Error>) -> Result<R, Error> {
        self.seat.act(|agent, _| match (agent.world.driver.queues(), self.raw) {
            (Some(api), Some(raw)) => ask(api, raw),
            _ => Ok(or),
        })
    }

    /// Whether it has happened; also true before it is recorded.
    ///
    /// # Errors
    /// [`Error::Gpu`] when a kernel before it has failed.
    #[track_caller]
    pub fn has_happened(&self) -> Result<bool, Error> {
        self.ask(true, |api, raw| api.has_happened(raw))
    }

    /// Milliseconds on the device's clock from an earlier event to this one. Both have happened.
    ///
    /// # Errors
    /// [`Error::Gpu`] when one has not.
    #[track_caller]
    pub fn milliseconds_since(&self, earlier: &Self) -> Result<f32, Error> {
        let between = match (self.at(), earlier.at()) {
            (Some(to), Some(from)) => to.saturating_duration_since(from).as_secs_f32() * 1e3,
            _ => 0.0,
        };
        self.ask(between, |api, raw| earlier.raw.map_or(Ok(0.0), |from| api.elapsed(from, raw)))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // As for streams.
        let _ = self.seat.end(|api| {
            if let Some(raw) = self.raw {
                api.destroy_event(raw);
            }
        });
    }
}
