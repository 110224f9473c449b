//! What a compiled `symm` program runs on: symmetric heaps, the rendezvous of the ranks, kernel launches, waits, and
//! the reports of what went wrong.
//!
//! [`run`] starts the ranks and calls the program's host function on each; compiled code calls back through [`abi`].
//! [`join`] gives the ranks of this process to its caller instead. Either way, a [`Rank`] has the calls that one rank
//! can make.
//! There is no MLIR and no LLVM in this crate.

// Unsafe code is allowed by name: at the border to compiled code, in what touches shared memory, and in what starts
// kernels and processes.
#![deny(unsafe_code)]
#![allow(
    clippy::cast_possible_truncation,
    reason = "offsets and sizes are u64 in the ABI and usize in memory, the same width on every 64-bit host"
)]

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
compile_error!("symm-runtime shares memory through Linux memfds and needs 64-bit addresses");

#[expect(unsafe_code, reason = "what compiled code calls takes its pointers")]
pub mod abi;
mod agent;
mod allocator;
mod call_site;
mod check;
mod clock;
mod collective;
mod condition;
#[expect(unsafe_code, reason = "text and counters in memory that other processes write")]
mod control;
#[expect(unsafe_code, reason = "handlers of signals")]
mod crash;
mod driver;
mod engine;
mod error;
#[expect(unsafe_code, reason = "memory that an engine shares")]
mod far;
#[expect(unsafe_code, reason = "fork, and what may be called after it")]
mod fork;
mod futex;
#[expect(unsafe_code, reason = "clearing and reading the memory of heaps")]
mod heap;
#[expect(unsafe_code, reason = "a handler of signals")]
mod interrupt;
mod join;
#[expect(unsafe_code, reason = "starting kernels, which compiled code promises are right")]
mod launch;
mod leave;
#[expect(unsafe_code, reason = "compiled code's strings")]
mod loc;
mod lock;
#[expect(unsafe_code, reason = "mapped memory")]
mod memory;
mod peers;
mod process;
#[expect(unsafe_code, reason = "pointers of the caller, and kernels")]
mod rank;
mod report;
mod run;
mod stall;
mod standard;
mod start;
mod stuck;
mod supervisor;
pub mod trace;
mod wait;
mod watch;
mod world;

pub use abi::symbols;
pub use allocator::DEFAULT_ALIGN;
pub use call_site::{set_call, set_call_site, set_foreign};
pub use check::{CheckFailure, CheckFailures};
pub use collective::{Collective, NOTHING, Posted};
pub use control::MAX_BLOCKS;
pub use driver::Device;
pub use driver::gpu::DeviceCode;
pub use driver::gpu::api::DeviceInfo;
pub use engine::nvshmem;
pub use error::{Error, Exit, HELPERS_MEND, Place, RankExit};
pub use far::EngineRanks;
pub use heap::{DEFAULT_HEAP_SIZE, heap_stride};
pub use interrupt::{catch_interrupts, catch_launcher, end_as_asked, set_interrupt};
pub use join::join;
pub use leave::leave_soon;
pub use process::{Bootstrap, Launcher, ProcessState, Spawn, spawn_processes};
pub use rank::{Arg, Event, Graph, Grid, Kernel, Memory, Module, Rank, Stream};
pub use run::{Config, EngineOfGpus, Failure, Outcome, Ranks, run};
pub use symm_abi::far::{ENGINES, NVSHMEM};
pub use symm_abi::heap::{HEAP_ALIGN, MAX_RANKS, RESERVED_BYTES, max_barrier_blocks};
pub use symm_abi::kernel::{Coords, KernelFn};
pub use watch::Watch;
