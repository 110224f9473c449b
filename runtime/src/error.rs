//! What can go wrong, whose fault it is, and what to do about it.

mod exit;
mod place;
mod show;
pub(crate) mod system;

use crate::check::CheckFailure;
use crate::collective::Posted;
use crate::process::{Process, ProcessState};
pub use exit::{Exit, RankExit};
pub use place::Place;
pub use show::HELPERS_MEND;
use show::{Checks, Lines, Posts, Ranks, WaitsIn};
use std::time::Duration;
use system::hint;

/// Every way in which a run fails. The message of each variant says who has to act: the author of the program, whoever
/// started the ranks, or this machine's administrator.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller asked for a run that cannot exist.
    #[error("{what}: {mend}")]
    InvalidConfig {
        /// The value that is wrong.
        what: String,
        /// What it has to be.
        mend: &'static str,
    },

    /// The operating system refused something.
    #[error("cannot {action}: {answer}{}", hint(answer))]
    System {
        /// What was attempted.
        action: String,
        /// Its answer.
        answer: std::io::Error,
    },

    /// An environment variable that describes the ranks is missing or is not a number.
    #[error(
        "environment variable {variable} {problem}: start the ranks with torchrun, mpirun, srun or \
         `symm-run --processes`"
    )]
    Environment {
        /// Name of the variable.
        variable: String,
        /// What is wrong with its value.
        problem: String,
    },

    /// Ranks of several hosts could not meet: what is wrong.
    #[error(
        "the ranks, which are on several hosts, could not meet: {0} (rank 0 listens on the host that MASTER_ADDR \
         names, at the port SYMM_PORT or else the one after MASTER_PORT)"
    )]
    Meeting(String),

    /// The ranks are spread over several hosts.
    #[error("{world} ranks were started, but not all on this host ({variable} is {value}): {mend}")]
    SeveralHosts {
        /// Ranks in all.
        world: u32,
        /// The variable that says so.
        variable: &'static str,
        /// Its value.
        value: u32,
        /// What to do.
        mend: &'static str,
    },

    /// An engine cannot be used: its name, and why.
    #[error("the engine {0} cannot be used: {1}")]
    NoEngine(&'static str, String),

    /// Two ranks were started with different ideas of the run.
    #[error(
        "ranks {rank} and {other} do not belong to one run: {what} is {theirs} on rank {rank} and {ours} on rank \
         {other}; start all ranks with the same program and options"
    )]
    RunMismatch {
        /// The rank that was refused.
        rank: u32,
        /// The rank that it was compared with.
        other: u32,
        /// What differs.
        what: String,
        /// Its value on `rank`.
        theirs: String,
        /// Its value on `other`.
        ours: String,
    },

    /// Two processes say that they are the same rank.
    #[error(
        "{} and {} both say that they are rank {rank}: give every process its own RANK, and every run its own \
         MASTER_PORT or run id",
        Process(*first),
        Process(*second)
    )]
    DuplicateRank {
        /// The rank claimed twice.
        rank: u32,
        /// Process id of the one that came first; 0 for one of a PID namespace that cannot be seen from here.
        first: i32,
        /// Process id of the one that came later, likewise.
        second: i32,
    },

    /// Not every rank came to the bootstrap.
    #[error(
        "{} did not join within {deadline:?}: check that it runs, and that all ranks share MASTER_PORT and run id, \
         in containers the network namespace, and the engine between nodes, or give a longer timeout",
        Ranks(ranks)
    )]
    RanksAbsent {
        /// Ranks that did not join.
        ranks: Vec<u32>,
        /// How long the others waited for them.
        deadline: Duration,
    },

    /// A rank has come to the bootstrap, and then stays silent.
    #[error("rank {rank} ({}) has not answered for {after:?}: {state}", Process(*pid))]
    Silent {
        /// The rank.
        rank: u32,
        /// Its process id; 0 as above.
        pid: i32,
        /// How long the others waited for its answer.
        after: Duration,
        /// What its process was doing then.
        state: ProcessState,
    },

    /// The bootstrap connection broke, or rank 0 refused this rank.
    #[error("rank {rank} could not join the run: {reason}")]
    Refused {
        /// This process's rank.
        rank: u32,
        /// Why.
        reason: String,
    },

    /// A rank's process ended in the middle of the run.
    #[error("rank {rank} died: its connection closed before it had finished; its own output says why")]
    RankDied {
        /// The rank that died.
        rank: u32,
    },

    /// The run stopped because of another rank, which reports the cause in full.
    #[error("stopped, because rank {rank} reported: {summary}")]
    Stopped {
        /// The rank that reports it.
        rank: u32,
        /// First line of its report.
        summary: String,
    },

    /// An allocation does not fit.
    #[error(
        "the symmetric heap is exhausted: asked for {asked} bytes aligned to {align}, but of its {heap} bytes {free} \
         are free and the largest free run is {largest}; \
         free something, or ask for larger heaps (heap_size, --heap-size)"
    )]
    HeapExhausted {
        /// Bytes asked for.
        asked: u64,
        /// Alignment asked for, in bytes.
        align: u64,
        /// Bytes free in all.
        free: u64,
        /// Bytes in the largest free run.
        largest: u64,
        /// Bytes of the heap, the reserved ones included.
        heap: u64,
    },

    /// An alignment that is not a power of two, or larger than the heap's own.
    #[error("alignment {align} is not a power of two of at most {most} bytes")]
    BadAlignment {
        /// The alignment asked for.
        align: u64,
        /// The largest possible.
        most: u64,
    },

    /// Something was freed that is not allocated: its address, relative to a heap where possible.
    #[error("freed {0}, where no allocation starts: it was freed before, or alloc did not return it")]
    NotAllocated(String),

    /// Ranks met in different collective operations.
    #[error(
        "ranks disagree on a collective operation; every rank has to call the same ones in the same order with the \
         same sizes:{}",
        Posts(posts)
    )]
    CollectiveMismatch {
        /// What each rank called.
        posts: Vec<Posted>,
    },

    /// A launch with impossible dimensions.
    #[error("kernel @{kernel} launched with {what} {dims:?}: {mend}")]
    BadLaunch {
        /// The kernel.
        kernel: String,
        /// `grid` or `block`.
        what: &'static str,
        /// Its dimensions.
        dims: [i64; 3],
        /// What is possible.
        mend: String,
    },

    /// There is no GPU of this kind, or no driver for it.
    #[error("no {vendor} device can be used: {reason}")]
    NoGpu {
        /// `CUDA` or `HIP`.
        vendor: &'static str,
        /// Why.
        reason: String,
    },

    /// A GPU's driver refused something, or what ran on the GPU failed.
    #[error("{vendor} could not {action}: {reason} ({name})")]
    Gpu {
        /// `CUDA` or `HIP`.
        vendor: &'static str,
        /// What was attempted.
        action: String,
        /// The driver's name for the error.
        name: String,
        /// The driver's words.
        reason: String,
    },

    /// Two devices that cannot reach each other's memory, by their numbers in this process.
    #[error(
        "device {from} cannot access the memory of device {to}: symm needs NVLink, Infinity Fabric or peer access \
         over PCIe between all devices of a run; choose others with CUDA_VISIBLE_DEVICES or HIP_VISIBLE_DEVICES"
    )]
    NoPeerAccess {
        /// The device that accesses the memory.
        from: u32,
        /// The device that owns the memory.
        to: u32,
    },

    /// A kernel on a GPU was given host memory.
    #[error(
        "argument {index} of kernel @{kernel} is host memory, which a GPU cannot access: copy it into symmetric \
         memory (symm.alloc, gpu.memcpy) and pass that"
    )]
    HostArgument {
        /// The kernel.
        kernel: String,
        /// The argument's position, from 0.
        index: usize,
    },

    /// A kernel was given a context table that is not this rank's.
    #[error(
        "argument {index} of kernel @{kernel} is no context table of this rank: {address:#x} is neither the one that \
         the runtime has made nor in this rank's heap"
    )]
    WrongContext {
        /// The kernel.
        kernel: String,
        /// The argument's position, from 0.
        index: usize,
        /// What was passed.
        address: u64,
    },

    /// Something that this driver does not support.
    #[error("the driver {driver} has no {what}: {mend}")]
    Unsupported {
        /// What was requested.
        what: &'static str,
        /// `cpu`, `cuda` or `hip`.
        driver: &'static str,
        /// What to do instead.
        mend: &'static str,
    },

    /// A rank that does not exist.
    #[error("rank {rank} out of range [0, {num_ranks})")]
    NoSuchRank {
        /// The rank that was named.
        rank: u32,
        /// How many ranks there are.
        num_ranks: u32,
    },

    /// An address outside the heap that it has to be in.
    #[error("{bytes} bytes at {address:#x} are not in {what}: pass memory that alloc returned")]
    NotSymmetric {
        /// The address.
        address: u64,
        /// The number of bytes from there on.
        bytes: u64,
        /// The heap or heaps that they have to be in.
        what: &'static str,
    },

    /// A rank that had joined, this one, was dropped before it left.
    #[error("rank {0} was dropped without leaving the run; call Rank::leave (symm_leave) when all is done")]
    Left(u32),

    /// A process forked from a rank made a call that only the rank itself may make.
    #[error(
        "this process was forked from rank {rank} and is not part of the run: only rank {rank} itself may call this"
    )]
    Forked {
        /// The rank.
        rank: u32,
    },

    /// The program's host function, or what runs it, failed.
    #[error("{0}")]
    Program(String),

    /// A check inserted by a safety pass has failed.
    #[error("{message}")]
    Fault {
        /// What was checked, and the values.
        message: String,
    },

    /// This crate, or a callback given to it, panicked.
    #[error("panicked: {0}; this is a fault of the runtime, not of the program")]
    Panic(String),

    /// Any of the above, with its place in the program.
    #[error("{place}: {source}")]
    At {
        /// Which rank, block and kernel, and where in the source.
        place: Place,
        /// What happened.
        source: Box<Error>,
    },

    /// A rank has ended while others wait for it in a collective operation.
    #[error(
        "{} will never come to the collective operation that {} in: it has returned\n{report}",
        Ranks(missing),
        WaitsIn(waiting)
    )]
    RankReturned {
        /// Ranks that have returned.
        missing: Vec<u32>,
        /// Ranks that wait.
        waiting: Vec<u32>,
        /// What every rank is doing, one line each.
        report: String,
    },

    /// Every thread of every rank waits, and none can wake another.
    #[error(
        "deadlock: every block and host thread waits, and nothing is left that could signal{}\n{report}",
        HELPERS_MEND
    )]
    Deadlock {
        /// What every rank is doing, one line each.
        report: String,
    },

    /// The run took longer than its timeout.
    #[error("not finished after {after:?} (the timeout)\n{report}")]
    Timeout {
        /// The time it was given.
        after: Duration,
        /// What every rank is doing, one line each.
        report: String,
    },

    /// Whoever runs the program wants it to end, by Ctrl-C or [`crate::set_interrupt`].
    #[error("interrupted{}{report}", if report.is_empty() { "" } else { "\n" })]
    Interrupted {
        /// What every rank is doing, one line each; empty before the run has begun.
        report: String,
    },

    /// Started processes failed, in the order in which they ended.
    #[error("{}", Lines(.0))]
    RanksFailed(Vec<RankExit>),

    /// The run failed after checks had failed, which may be the cause.
    #[error("{source}\nbefore that, {count} check(s) had failed:{}", Checks(first))]
    AfterChecks {
        /// How many checks failed.
        count: u64,
        /// The first of them.
        first: Vec<CheckFailure>,
        /// Why the run ended.
        source: Box<Error>,
    },
}
