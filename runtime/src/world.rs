//! Everything that the threads of one process share during a run.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::allocator::Allocator;
use crate::check::Checks;
use crate::control::{Control, FAULT_CLAIMED, FAULT_COMPLETE, NO_FAULT};
use crate::driver::Driver;
use crate::error::Error;
use crate::far::Far;
use crate::fork::Origin;
use crate::futex;
use crate::heap::HeapMap;
use crate::interrupt;
use crate::lock::lock;
use crate::process::state;
use crate::report;
use crate::trace::Sink;
use symm_abi::heap::RESERVED_BYTES;

/// How long a rank may take to write down its fault before it counts as dead.
pub(crate) const WRITES_FAULT_IN: Duration = Duration::from_secs(1);
/// How long the others have to close the heap of this process at the end of a run.
const PARTS_IN: Duration = Duration::from_secs(2);
/// How long an engine may wait for the others at the end of a run: they all have come to it.
const ENGINE_ENDS_IN: Duration = Duration::from_secs(30);

/// A run, as one process sees it.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) control: Control,
    pub(crate) heaps: HeapMap,
    pub(crate) driver: Box<dyn Driver>,
    /// The engine that reaches ranks whose heaps are not mapped, if there is one.
    pub(crate) far: Option<Far>,
    pub(crate) checks: Checks,
    pub(crate) trace: Option<Sink>,
    /// Whether all that the program printed in this process could be written.
    pub(crate) printed: Mutex<std::io::Result<()>>,
    /// The number of cores that this process may use.
    pub(crate) cores: i32,
    /// Whether the ranks' host threads belong to the caller: then a fault is returned to it.
    pub(crate) joined: bool,
    /// See [`crate::Config::helpers_signal`].
    pub(crate) helpers_signal: bool,
    origin: Origin,
    local: Vec<LocalRank>,
    fault: Mutex<Option<Error>>,
}

/// How a world is used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mode {
    pub(crate) trace: bool,
    pub(crate) joined: bool,
    pub(crate) helpers_signal: bool,
}

/// A rank whose host thread is in this process.
#[derive(Debug)]
pub(crate) struct LocalRank {
    pub(crate) rank: u32,
    /// The context table.
    pub(crate) table: Box<[i64]>,
    pub(crate) allocator: Mutex<Allocator>,
    /// Collective operations called so far.
    pub(crate) collectives: AtomicU64,
    /// Whether a thread is in a call for it: there may be only one.
    pub(crate) busy: AtomicBool,
    /// Whether its leave is pending.
    pub(crate) leaves: AtomicBool,
}

impl World {
    /// A world in which this process hosts the ranks `local`.
    pub(crate) fn new(
        control: Control,
        heaps: HeapMap,
        far: Option<Far>,
        local: &[u32],
        driver: Box<dyn Driver>,
        Mode { trace, joined, helpers_signal }: Mode,
    ) -> Result<Self, Error> {
        let local = local.iter().map(|&rank| {
            let table = heaps.table(rank);
            driver.start(rank, &table, trace)?;
            let host = &control.areas()[rank as usize].host;
            host.pid.store(std::process::id(), Ordering::Relaxed);
            host.namespace.store(state::namespace(), Ordering::Relaxed);
            let allocator = Mutex::new(Allocator::new(heaps.size(), RESERVED_BYTES));
            let (collectives, busy, leaves) = Default::default();
            Ok(LocalRank { rank, table, allocator, collectives, busy, leaves })
        });
        let local = local.collect::<Result<Vec<_>, Error>>()?;
        let processes = control.areas().len() / local.len().max(1);
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get().try_into().unwrap_or(i32::MAX));
        Ok(Self {
            control,
            heaps,
            driver,
            far,
            checks: Checks::default(),
            trace: trace.then(|| Sink::new(processes)),
            printed: Mutex::new(Ok(())),
            cores,
            joined,
            helpers_signal,
            origin: Origin::here(),
            local,
            fault: Mutex::new(None),
        })
    }

    pub(crate) fn num_ranks(&self) -> u32 {
        self.control.areas().len() as u32
    }

    /// Whether this process was forked from the one that is part of the run: it may look, and change nothing.
    #[inline]
    pub(crate) fn is_a_parents(&self) -> bool {
        self.origin.is_a_parent()
    }

    /// The ranks whose host threads are in this process.
    pub(crate) fn local(&self) -> &[LocalRank] {
        &self.local
    }

    /// The local rank `rank`, which must be one.
    pub(crate) fn local_rank(&self, rank: u32) -> &LocalRank {
        &self.local[(rank - self.local[0].rank) as usize]
    }

    /// Whether there are enough cores for spinning: at least as many as running threads.
    #[inline]
    pub(crate) fn cores_suffice(&self) -> bool {
        self.control.runnable.0.load(Ordering::Relaxed) <= self.cores
    }

    /// Ends the run with `error` on every rank, unless another fault came first.
    pub(crate) fn fail(&self, rank: u32, error: Error) {
        if self.is_a_parents() {
            return;
        }
        // The first one counts.
        self.listen();
        let slot = &self.control.fault;
        let claim = slot.state.compare_exchange(NO_FAULT, FAULT_CLAIMED, Ordering::AcqRel, Ordering::Relaxed);
        if claim.is_err() {
            return;
        }
        slot.rank.store(rank, Ordering::Relaxed);
        let summary = error.to_string().lines().next().unwrap_or_default().to_owned();
        slot.summary.set(summary.as_bytes());
        *lock(&self.fault) = Some(error);
        // First: whoever sees that it is complete may end the process.
        if let Some(far) = &self.far {
            far.tell(rank, &summary);
        }
        slot.state.store(FAULT_COMPLETE, Ordering::Release);
        self.announce();
        // Wakes threads in host barriers: they check whether the run has failed.
        futex::wake(&self.control.generation.0);
    }

    /// Takes over a fault that another rank has reported through the engine, and answers those that ask what this rank
    /// does.
    pub(crate) fn listen(&self) {
        let Some(far) = &self.far else { return };
        far.answer(|| report::of_this_process(self));
        let Some((rank, summary)) = far.heard() else { return };
        let slot = &self.control.fault;
        let claim = slot.state.compare_exchange(NO_FAULT, FAULT_CLAIMED, Ordering::AcqRel, Ordering::Relaxed);
        if claim.is_ok() {
            slot.rank.store(rank, Ordering::Relaxed);
            slot.summary.set(summary.as_bytes());
            slot.state.store(FAULT_COMPLETE, Ordering::Release);
        }
    }

    /// The error of a thread that stops because of another's fault.
    pub(crate) fn stopped(&self) -> Error {
        let slot = &self.control.fault;
        let start = Instant::now();
        while slot.state.load(Ordering::Acquire) != FAULT_COMPLETE && start.elapsed() < WRITES_FAULT_IN {
            std::thread::yield_now();
        }
        let own = lock(&self.fault).as_ref().map(ToString::to_string);
        Error::Stopped { rank: slot.rank.load(Ordering::Relaxed), summary: own.unwrap_or_else(|| slot.summary.get()) }
    }

    /// Whether the run has ended with a fault.
    #[inline]
    pub(crate) fn failed(&self) -> bool {
        self.control.fault.state.load(Ordering::Relaxed) != NO_FAULT
    }

    /// The fault, in full where this process knows it; `None` while there is none or it is still being written.
    pub(crate) fn fault(&self) -> Option<Error> {
        let slot = &self.control.fault;
        if slot.state.load(Ordering::Acquire) != FAULT_COMPLETE {
            return None;
        }
        let own = lock(&self.fault).take();
        Some(own.unwrap_or_else(|| self.stopped()))
    }

    /// Closes the heaps of other processes once all ranks have returned, and waits until those have closed this one's:
    /// before that it may not be freed. A process that has died or is stopped does not close it; then this process's
    /// heap is freed when it ends. `asks` says that the calling thread asks whether to stop waiting.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub(crate) fn part(&self, asks: bool) -> Result<(), Error> {
        let memory = self.heaps.memory();
        if !memory.has_others() || self.failed() {
            return Ok(());
        }
        let end = Instant::now() + ENGINE_ENDS_IN;
        let closed = memory.close_others(&|| {
            if asks {
                interrupt::check()?;
            }
            let late = || Error::Program("the engine does not end".to_owned());
            if Instant::now() < end { self.far.as_ref().map_or(Ok(()), Far::goes_on) } else { Err(late()) }
        });
        if let Some(far) = &self.far {
            // Others wait for the engine, too, and may not know.
            if let Err(error) = closed.as_ref()
                && !matches!(error, Error::Stopped { .. })
            {
                far.tell(self.local[0].rank, &error.to_string());
            }
            far.part();
        }
        if let Err(interrupted @ Error::Interrupted { .. }) = closed {
            return Err(interrupted);
        }
        if self.far.is_some() {
            return Ok(());
        }
        let closed = &self.control.closed.0;
        closed.fetch_add(1, Ordering::AcqRel);
        futex::wake(closed);
        let end = Instant::now() + PARTS_IN;
        loop {
            let seen = closed.load(Ordering::Acquire);
            let left = end.saturating_duration_since(Instant::now());
            if seen == self.num_ranks() {
                memory.others_have_closed();
                return Ok(());
            }
            if left.is_zero() {
                return Ok(());
            }
            futex::sleep(closed, seen, Some(left));
        }
    }

    /// Wakes the supervisors of all processes.
    pub(crate) fn announce(&self) {
        self.control.events.0.fetch_add(1, Ordering::Release);
        futex::wake(&self.control.events.0);
    }
}
