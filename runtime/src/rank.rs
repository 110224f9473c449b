//! One rank, as its caller sees it: its memory, the other ranks, its device.

mod graph;
mod kernel;
mod stream;

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;

pub use graph::Graph;
pub use kernel::{Arg, Grid, Kernel, Module};
pub use stream::{Event, Stream};

use crate::agent::Agent;
use crate::call_site;
use crate::collective;
use crate::driver::gpu::DeviceCode;
use crate::driver::gpu::api::Queues;
use crate::error::Error;
use crate::heap::HeapAddress;
use crate::join::Session;
use crate::loc::Loc;
use crate::world::World;

/// The handle by which calls act for a rank of this process.
#[derive(Debug, Clone)]
pub(crate) struct Seat {
    pub(crate) world: Arc<World>,
    pub(crate) rank: u32,
}

impl Seat {
    /// Acts for the rank on the calling thread, unless the run has failed or the rank has left it; errors tell the
    /// place of the caller's caller.
    #[track_caller]
    pub(crate) fn act<R>(&self, body: impl FnOnce(&Agent, Loc<'static>) -> Result<R, Error>) -> Result<R, Error> {
        let loc = call_site::here();
        if self.world.failed() {
            return Err(self.world.stopped());
        }
        if self.has_left() {
            return Err(Error::Program(format!("rank {} has left the run", self.rank)));
        }
        Agent::act(&self.world, self.rank, |agent| body(agent, loc).map_err(|error| agent.returned(loc, error)))
    }

    /// Frees what the rank has on its device, even if the run has failed.
    pub(crate) fn end(&self, end: impl FnOnce(&dyn Queues)) -> Result<(), Error> {
        Agent::act(&self.world, self.rank, |agent| {
            if let Some(queues) = agent.world.driver.queues() {
                end(queues);
            }
            Ok(())
        })
    }

    /// Like [`Seat::act`], but a fault of the system or the device ends the run: other ranks would wait for this one.
    #[track_caller]
    pub(crate) fn act_or_end<R>(
        &self,
        body: impl FnOnce(&Agent, Loc<'static>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        self.act(body).inspect_err(|error| {
            let ends = matches!(error.cause(), Error::System { .. } | Error::Gpu { .. } | Error::Fault { .. });
            if self.world.joined && ends {
                self.world.fail(self.rank, Error::Program(error.to_string()));
            }
        })
    }
}

impl Agent {
    /// An error on its way to the caller.
    fn returned(&self, loc: Loc<'_>, error: Error) -> Error {
        match error {
            Error::Stopped { .. } | Error::Interrupted { .. } | Error::At { .. } => error,
            error => Error::At { place: self.place(loc), source: Box::new(error) },
        }
    }
}

/// One rank. [`crate::run`] gives it to the host function, [`crate::join`] to its caller.
///
/// Calls marked *collective* must be made by every rank, in the same order and with the same values. They return when
/// all ranks have arrived, or with [`Error::CollectiveMismatch`] on all ranks when the calls differ, or with
/// [`Error::Stopped`] when the run has failed. A rank makes one call at a time.
///
/// Addresses are of the process, or of the device if there is one. Kernels access a symmetric heap directly, the host
/// through [`Rank::read`] and [`Rank::write`].
#[derive(Debug)]
pub struct Rank {
    pub(crate) seat: Seat,
    /// What this process shares until all of its ranks have left; `None` for a rank of [`crate::run`].
    pub(crate) session: Option<Arc<Session>>,
    /// A rank makes one call at a time.
    pub(crate) alone: Alone,
}

/// A marker that makes a type `!Sync`: no two threads may use its values at the same time.
pub(crate) type Alone = PhantomData<Cell<()>>;

/// Keeps the heaps of a run mapped: see [`Rank::memory`].
#[derive(Debug, Clone)]
pub struct Memory {
    _world: Arc<World>,
}

impl Rank {
    pub(crate) fn new(world: &Arc<World>, rank: u32, session: Option<Arc<Session>>) -> Self {
        Self { seat: Seat { world: Arc::clone(world), rank }, session, alone: PhantomData }
    }

    fn world(&self) -> &World {
        &self.seat.world
    }

    /// This rank, from 0.
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.seat.rank
    }

    /// How many ranks there are.
    #[must_use]
    pub fn num_ranks(&self) -> u32 {
        self.world().num_ranks()
    }

    /// Bytes of each rank's heap, the first [`crate::RESERVED_BYTES`] of which belong to symm.
    #[must_use]
    pub fn heap_size(&self) -> u64 {
        self.world().heaps.size()
    }

    /// The context table on the host: `[rank, num_ranks, base_0 …]`. Valid as long as the rank.
    #[must_use]
    pub fn ctx(&self) -> *const i64 {
        self.world().local_rank(self.rank()).table.as_ptr()
    }

    /// The address of the context table that kernels take: in the device's memory, or on the CPU [`Rank::ctx`].
    #[must_use]
    pub fn device_ctx(&self) -> u64 {
        self.world().driver.own(self.rank()).table
    }

    /// The address of each rank's heap in this process, in the order of ranks.
    #[must_use]
    pub fn heap_bases(&self) -> &[i64] {
        &self.world().local_rank(self.rank()).table[2..]
    }

    /// Whether an address is in this rank's heap, so that it has a counterpart on every rank.
    #[must_use]
    pub fn is_symmetric(&self, pointer: *const u8) -> bool {
        self.world().heaps.locate(pointer).is_some_and(|found| found.rank == self.rank())
    }

    /// The counterpart on `rank` of an address in this rank's heap (rule T1).
    ///
    /// # Errors
    /// [`Error::NotSymmetric`], [`Error::NoSuchRank`].
    #[track_caller]
    pub fn as_remote(&self, pointer: *const u8, rank: u32) -> Result<*mut u8, Error> {
        self.seat.act(|agent, _| {
            let heaps = &agent.world.heaps;
            let found = heaps.locate(pointer).filter(|found| found.rank == agent.rank);
            let address = pointer as u64;
            let offset = found.ok_or(Error::NotSymmetric { address, bytes: 1, what: "this rank's heap" })?.offset;
            agent.check_rank(rank)?;
            Ok(heaps.pointer(HeapAddress { rank, offset }))
        })
    }

    /// Allocates `bytes` zeroed bytes at the same offset in every rank's heap. Collective.
    ///
    /// `align` is in bytes, a power of two of at most 2 MiB; 0 means [`crate::DEFAULT_ALIGN`].
    ///
    /// # Errors
    /// [`Error::HeapExhausted`] and [`Error::BadAlignment`], on all ranks alike: they may go on.
    ///
    /// ```
    /// # use symm_runtime::{Config, Error, Failure, Ranks, run};
    /// run(&Config::new(Ranks::Threads(2)), |rank| {
    ///     let data = rank.alloc(1 << 20, 0)?;
    ///     assert!(rank.is_symmetric(data));
    ///     let too_much = rank.alloc(1 << 40, 0).unwrap_err();
    ///     assert!(matches!(too_much.cause(), Error::HeapExhausted { asked: 0x100_0000_0000, .. }));
    ///     rank.free(data)
    /// })?;
    /// # Ok::<(), Failure>(())
    /// ```
    #[track_caller]
    pub fn alloc(&self, bytes: u64, align: u64) -> Result<*mut u8, Error> {
        self.seat.act_or_end(|agent, loc| collective::alloc(agent, bytes, align, loc))
    }

    /// Frees what [`Rank::alloc`] returned. Collective. Null frees nothing; if one rank passes null, all must.
    ///
    /// # Errors
    /// [`Error::NotAllocated`].
    #[track_caller]
    pub fn free(&self, pointer: *mut u8) -> Result<(), Error> {
        self.seat.act(|agent, loc| collective::free(agent, pointer, loc))
    }

    /// Waits on the host for all ranks. Collective. It does not wait for the ranks' streams: see
    /// [`Stream::barrier`].
    ///
    /// # Errors
    /// Those of every collective call.
    #[track_caller]
    pub fn barrier(&self) -> Result<(), Error> {
        self.seat.act(collective::barrier_all)
    }

    /// Whether the run goes on, for a caller that waits by other means.
    ///
    /// # Errors
    /// [`Error::Stopped`] when it has failed.
    #[track_caller]
    pub fn check(&self) -> Result<(), Error> {
        self.seat.act(|_, _| Ok(()))
    }

    /// Copies the bytes of `root` to every rank. Collective.
    ///
    /// ```
    /// # use symm_runtime::{Config, Failure, Ranks, run};
    /// run(&Config::new(Ranks::Threads(3)), |rank| {
    ///     let mut word = [rank.rank() as u8; 5];
    ///     rank.broadcast(2, &mut word)?;
    ///     assert_eq!(word, [2; 5]);
    ///     Ok(())
    /// })?;
    /// # Ok::<(), Failure>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchRank`].
    #[track_caller]
    pub fn broadcast(&self, root: u32, bytes: &mut [u8]) -> Result<(), Error> {
        self.seat.act(|agent, loc| {
            agent.check_rank(root)?;
            collective::broadcast(agent, root, bytes, loc)
        })
    }

    /// Copies from a heap, this rank's or another's, after the work in its own stream ([`Rank::stream`]); returns when
    /// it is done. Concurrent writes may be torn between bytes, but are no data race.
    ///
    /// # Errors
    /// [`Error::NotSymmetric`] when not all of it is in one heap.
    #[track_caller]
    pub fn read(&self, from: *const u8, into: &mut [u8]) -> Result<(), Error> {
        self.seat.act_or_end(|agent, _| {
            let from = agent.in_heap(from, into.len())?;
            // SAFETY: in a mapped heap, as just checked; the slice has as many bytes.
            unsafe { agent.world.driver.read_now(agent, into.as_mut_ptr(), from, into.len()) }
        })
    }

    /// Copies into a heap, in the same way.
    ///
    /// ```
    /// # use symm_runtime::{Config, Failure, Ranks, run};
    /// run(&Config::new(Ranks::Threads(2)), |rank| {
    ///     let mail = rank.alloc(8, 0)?;
    ///     let neighbour = 1 - rank.rank();
    ///     rank.write(rank.as_remote(mail, neighbour)?, &[rank.rank() as u8; 8])?;
    ///     rank.barrier()?;
    ///     let mut got = [0; 8];
    ///     rank.read(mail, &mut got)?;
    ///     assert_eq!(got, [neighbour as u8; 8]);
    ///     Ok(())
    /// })?;
    /// # Ok::<(), Failure>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotSymmetric`] when not all of it is in one heap.
    #[track_caller]
    pub fn write(&self, to: *mut u8, from: &[u8]) -> Result<(), Error> {
        self.seat.act_or_end(|agent, _| {
            let to = agent.in_heap(to, from.len())?;
            // SAFETY: in a mapped heap, as just checked; the slice has as many bytes.
            unsafe { agent.world.driver.write_now(agent, to, from.as_ptr(), from.len()) }
        })
    }

    /// Keeps the heaps mapped as long as the value lives, even after the rank has left, for callers that have handed
    /// out addresses in them. After that, writes there reach no other rank. [`Rank::leave`] still closes heaps of other
    /// processes that were opened through the vendor's handles (`SYMM_IPC`).
    #[must_use]
    pub fn memory(&self) -> Memory {
        Memory { _world: Arc::clone(&self.seat.world) }
    }

    /// The rank's own stream, which it has from the start.
    #[must_use]
    pub fn stream(&self) -> Stream {
        Stream::own(&self.seat)
    }

    /// Another stream on the rank's device.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    #[track_caller]
    pub fn create_stream(&self) -> Result<Stream, Error> {
        Stream::create(&self.seat)
    }

    /// A stream that was created elsewhere: `CUstream` or `hipStream_t` as a number. The CPU ignores the number.
    ///
    /// # Safety
    /// It is a stream of this rank's device and outlives what is returned.
    #[must_use]
    pub unsafe fn borrow_stream(&self, handle: usize) -> Stream {
        Stream::borrowed(&self.seat, handle)
    }

    /// A point in a stream's work, which [`Stream::record`] sets.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    #[track_caller]
    pub fn create_event(&self) -> Result<Event, Error> {
        Event::create(&self.seat)
    }

    /// Loads code on the rank's device; the same code is loaded once. Call it before kernels that wait for others run
    /// there: loading may wait for them.
    ///
    /// # Errors
    /// [`Error::Gpu`] with the compiler's words; [`Error::Unsupported`] on the CPU, see [`Kernel::host`].
    #[track_caller]
    pub fn load(&self, code: &DeviceCode) -> Result<Module, Error> {
        Module::load(&self.seat, code)
    }
}

impl Agent {
    fn check_rank(&self, rank: u32) -> Result<(), Error> {
        let num_ranks = self.world.num_ranks();
        if rank < num_ranks { Ok(()) } else { Err(Error::NoSuchRank { rank, num_ranks }) }
    }

    /// The address `at` of this many bytes in one heap.
    fn in_heap(&self, at: *const u8, bytes: usize) -> Result<*mut u8, Error> {
        let heaps = &self.world.heaps;
        let whole = heaps.locate(at).filter(|found| (bytes as u64) <= heaps.size() - found.offset);
        let no = Error::NotSymmetric { address: at as u64, bytes: bytes as u64, what: "one rank's heap" };
        whole.map(|found| heaps.pointer(found)).ok_or(no)
    }
}
