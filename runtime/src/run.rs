//! Running a program's host function once on each rank.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::agent::Agent;
use crate::check::CheckFailures;
use crate::collective;
use crate::control::HostState;
use crate::crash;
use crate::driver::Device;
use crate::error::Error;
use crate::far::EngineRanks;
use crate::heap::{DEFAULT_HEAP_SIZE, heap_stride};
use crate::lock::lock;
use crate::process::{Bootstrap, Monitor};
use crate::rank::Rank;
use crate::supervisor::{Limit, supervise};
use crate::trace::{Sink, Trace};
use crate::world::{Mode, World};
use symm_abi::far::NVSHMEM;
use symm_abi::heap::{MAX_RANKS, RESERVED_BYTES};

/// Stack of a host thread, in bytes.
const HOST_STACK: usize = 8 << 20;
/// The largest heap: with all ranks mapped, half of the address space still holds it.
const MAX_HEAP_SIZE: u64 = 1 << 39;

/// The largest size of all heaps together on GPUs: the 128 TiB of a process cannot hold an aligned range of the next
/// power of two, 64 TiB, besides everything else.
const MAX_GPU_RANGE: u64 = 32 << 40;

/// How to run.
#[derive(Debug, Clone)]
pub struct Config {
    /// How many ranks there are, and where.
    pub ranks: Ranks,
    /// Bytes of each rank's heap; the first [`RESERVED_BYTES`] of it belong to symm.
    pub heap_size: u64,
    /// The time limit for the whole run, from when all ranks have joined; with [`crate::join`], for each call.
    pub timeout: Option<Duration>,
    /// Whether to record a [`Trace`].
    pub trace: bool,
    /// The kind of device that kernels run on.
    pub device: Device,
    /// Whether helper threads of the caller, unknown to any rank, set flags. Then ranks that all wait for each other
    /// are no deadlock, and only a timeout ends a wait that is never satisfied.
    pub helpers_signal: bool,
    /// What reaches ranks on other GPUs, where that is not mapped memory alone.
    pub engine: Option<EngineOfGpus>,
}

/// The engine of a run whose ranks are processes with NVIDIA GPUs: NVSHMEM. All ranks have the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EngineOfGpus {
    /// How many ranks, from rank 0 on, count as one node: those of others are far whether they are mapped or not. With
    /// `None` a rank is near where the engine has mapped its memory.
    pub domain: Option<u32>,
}

/// Where the ranks are.
#[derive(Debug, Clone)]
pub enum Ranks {
    /// This many, all in this process.
    Threads(u32),
    /// One in this process, the others in other processes: of this host, or with [`Config::engine`] of several.
    Process(Bootstrap),
    /// One in this process, the others on any node that an engine reaches.
    Engine(EngineRanks),
}

impl Config {
    /// A run with default heaps, no timeout and no trace.
    #[must_use]
    pub fn new(ranks: Ranks) -> Self {
        let (timeout, trace, helpers_signal, engine) = (None, false, false, None);
        Self { ranks, heap_size: DEFAULT_HEAP_SIZE, timeout, trace, device: Device::Cpu, helpers_signal, engine }
    }

    /// Whether the configuration is valid.
    ///
    /// # Errors
    /// [`Error::InvalidConfig`].
    pub fn check(&self) -> Result<(), Error> {
        let ranks = match &self.ranks {
            Ranks::Threads(ranks) => *ranks,
            Ranks::Process(bootstrap) => bootstrap.num_ranks,
            Ranks::Engine(ranks) => ranks.num_ranks(),
        };
        if ranks == 0 || ranks > MAX_RANKS {
            let what = format!("{ranks} ranks");
            return Err(Error::InvalidConfig { what, mend: "a run has 1 to 128 ranks" });
        }
        if self.heap_size <= RESERVED_BYTES || self.heap_size > MAX_HEAP_SIZE {
            let what = format!("a heap of {} bytes", self.heap_size);
            let mend = "its size (heap_size, --heap-size) has to be more than 2 MiB, which symm uses itself, and \
                        at most 512 GiB";
            return Err(Error::InvalidConfig { what, mend });
        }
        if let Some(mend) = self.engine.as_ref().and_then(|_| self.refuses_engine()) {
            return Err(Error::InvalidConfig { what: format!("the engine {NVSHMEM} cannot be used"), mend });
        }
        let whole = u64::from(ranks) * heap_stride(self.heap_size);
        if !matches!(self.device, Device::Cpu) && whole > MAX_GPU_RANGE {
            let what = format!("{ranks} heaps of {} bytes on GPUs, {whole} bytes of addresses", self.heap_size);
            let mend = "they lie in one range aligned to its size, which holds at most 32 TiB: make them smaller";
            return Err(Error::InvalidConfig { what, mend });
        }
        Ok(())
    }

    /// What is in the way of an engine of GPUs, and what to do.
    fn refuses_engine(&self) -> Option<&'static str> {
        if !matches!(self.device, Device::Cuda(_)) {
            return Some("it reaches ranks on NVIDIA GPUs only");
        }
        if !matches!(self.ranks, Ranks::Process(_)) {
            return Some(
                "it reaches ranks that are processes, and no launcher has started this one as a rank: start the ranks \
                 with torchrun, mpirun or srun, also a single one",
            );
        }
        self.trace.then_some("a timeline is of one node: leave it out")
    }

    /// The settings that a world needs.
    pub(crate) fn mode(&self, joined: bool) -> Mode {
        Mode { trace: self.trace && !joined, joined, helpers_signal: self.helpers_signal }
    }
}

/// The result of a run that ended by itself.
#[derive(Debug)]
pub struct Outcome<T> {
    /// What `body` returned on each rank of this process, in the order of ranks.
    pub values: Vec<T>,
    /// The checks that failed in this process. Any of them makes the run a failure.
    pub checks: CheckFailures,
    /// Whether all that the program printed in this process could be written: [`Error::System`] if not.
    pub printed: Result<(), Error>,
    /// What happened on all ranks, if requested. With a process for each rank, rank 0 has it.
    pub trace: Option<Trace>,
}

/// Why a run did not end by itself.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct Failure {
    /// The first fault of any rank.
    pub error: Error,
    /// What happened on the ranks that could still report it, as in [`Outcome::trace`]. An unfinished event, such as an
    /// unsatisfied wait, ends with the run.
    pub trace: Option<Box<Trace>>,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { error, trace: None }
    }
}

/// Calls `body` once on each rank of this process, each on its own thread, and waits for all ranks to return.
///
/// # Errors
/// The first fault of any rank. Blocked threads then stay parked forever, with everything that `body` holds: a caller
/// should report the error and end the process. Failed checks are no error here; see [`Outcome::checks`].
pub fn run<T, F>(config: &Config, body: F) -> Result<Outcome<T>, Failure>
where
    T: Send + 'static,
    F: Fn(&Rank) -> Result<T, Error> + Send + Sync + 'static,
{
    crash::install();
    let (world, links) = World::start(config, false)?;
    let world = Arc::new(world);
    // The others learn why this rank leaves, instead of seeing it die.
    let tell = |error: &Error| world.fail(world.local()[0].rank, Error::Program(error.to_string()));
    let monitor = (!links.is_empty()).then(|| Monitor::start(&world, links)).transpose().inspect_err(tell)?;
    let hosts = Hosts::start(&world, body).inspect_err(tell)?;
    let ended = supervise(&world, config.timeout.map(Limit::Run));
    if let Err(source) = ended {
        let trace = world.trace.as_ref().map(|sink| {
            world.driver.trace_failed(&world, sink);
            sink.take()
        });
        let trace = match monitor {
            Some(monitor) => monitor.finish_failed(trace),
            None => trace,
        };
        return Err(Failure { error: after_checks(source, world.checks.take()), trace: trace.map(Box::new) });
    }
    let values = hosts.join();
    world.part(true)?;
    let trace = world.trace.as_ref().map(Sink::take);
    let trace = match monitor {
        Some(monitor) => monitor.finish(trace)?,
        None => trace,
    };
    let printed = std::mem::replace(&mut *lock(&world.printed), Ok(()));
    let printed = printed.map_err(Error::io("write to standard output"));
    Ok(Outcome { values, checks: world.checks.take(), printed, trace })
}

fn after_checks(source: Error, checks: CheckFailures) -> Error {
    if checks.count == 0 {
        return source;
    }
    Error::AfterChecks { count: checks.count, first: checks.first, source: Box::new(source) }
}

/// The host threads of this process.
struct Hosts<T> {
    threads: Vec<JoinHandle<()>>,
    values: Arc<Mutex<Vec<Option<T>>>>,
}

impl<T: Send + 'static> Hosts<T> {
    fn start<F>(world: &Arc<World>, body: F) -> Result<Self, Error>
    where
        F: Fn(&Rank) -> Result<T, Error> + Send + Sync + 'static,
    {
        let (body, local) = (Arc::new(body), world.local());
        let values: Vec<Option<T>> = local.iter().map(|_| None).collect();
        let values = Arc::new(Mutex::new(values));
        let mut threads = Vec::new();
        for (index, rank) in local.iter().map(|local| local.rank).enumerate() {
            let (world, body, values) = (Arc::clone(world), Arc::clone(&body), Arc::clone(&values));
            let thread = std::thread::Builder::new()
                .name(format!("symm rank {rank}"))
                .stack_size(HOST_STACK)
                .spawn(move || {
                    if let Some(value) = host(&world, rank, &*body) {
                        lock(&values)[index] = Some(value);
                        Agent::with(|agent| agent.set_host(HostState::Returned));
                    }
                    world.announce();
                })
                .map_err(Error::io("start a thread for a rank"))?;
            threads.push(thread);
        }
        Ok(Self { threads, values })
    }

    /// The values of ranks that have all returned.
    fn join(self) -> Vec<T> {
        for thread in self.threads {
            // The thread caught its panics, and all ranks have returned.
            let _ = thread.join();
        }
        lock(&self.values).drain(..).flatten().collect()
    }
}

/// A rank's host thread; `None` when it failed.
fn host<T>(world: &Arc<World>, rank: u32, body: &dyn Fn(&Rank) -> Result<T, Error>) -> Option<T> {
    Agent::enter(Arc::clone(world), rank);
    Agent::with(|agent| {
        agent.count_runnable(1);
        agent.area().host.since.store(crate::clock::now(), std::sync::atomic::Ordering::Relaxed);
        agent.set_host(HostState::Running);
        let rank_view = Rank::new(world, rank, None);
        let enter = || {
            world.driver.enter(rank)?;
            // No rank may write into a heap on a device before its owner has cleared the signal pad.
            let elsewhere = world.local().len() < world.num_ranks() as usize;
            if elsewhere && world.driver.queues().is_some() { collective::enter(agent) } else { Ok(()) }
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            enter().and_then(|()| body(&rank_view)).and_then(|value| collective::end(agent).map(|()| value))
        }))
        .unwrap_or_else(|panic| Err(Error::Panic(panic_message(&*panic))));
        if world.is_a_parents() {
            // The body has forked, and this is the child: nothing here is its own.
            return None;
        }
        agent.flush();
        agent.count_runnable(-1);
        world.driver.finish(rank, false);
        outcome.map_err(|error| world.fail(rank, error)).ok()
    })
}

/// The message of a panic.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
