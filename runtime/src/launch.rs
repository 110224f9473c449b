//! What a kernel launch requests, and whether that is possible.

use std::ffi::c_void;
use std::sync::atomic::Ordering;

use crate::agent::Agent;
use crate::clock;
use crate::control::HostState;
use crate::driver::gpu::api::{Function, Stream};
use crate::error::Error;
use crate::loc::Loc;
use crate::trace::What;
use symm_abi::heap::max_barrier_blocks;
use symm_abi::kernel::{Argument, KernelFn};

/// The largest number of threads in a block, as on GPUs. The CPU driver runs one of them, but a program that runs here
/// must run on GPUs, too.
const MAX_THREADS: i64 = 1024;

/// A launch with valid dimensions.
#[derive(Debug)]
pub(crate) struct Launch<'a> {
    pub(crate) name: &'a str,
    /// What to run.
    pub(crate) code: Code,
    pub(crate) grid: [i64; 3],
    pub(crate) block: [i64; 3],
    /// Blocks in all.
    pub(crate) blocks: u32,
    /// Bytes of dynamic shared memory.
    pub(crate) shared: i64,
    /// Whether blocks wait for flags or for each other.
    pub(crate) waits: bool,
    /// A pointer for each argument.
    pub(crate) args: *const *const c_void,
    pub(crate) kinds: &'a [Argument],
    pub(crate) loc: Loc<'a>,
}

/// A kernel's code.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Code {
    /// A function of this process.
    Host(KernelFn),
    /// A kernel that has been looked up.
    Device(Function),
    /// `module::kernel` in the code that the device was started with.
    ByName,
}

/// The number of blocks in `grid`, or what is wrong with the launch.
///
/// `barrier` says that the kernel uses the device barrier; `most` is the device's limit.
pub(crate) fn count_blocks(
    kernel: &str,
    grid: [i64; 3],
    block: [i64; 3],
    barrier: bool,
    (most, num_ranks): (u32, u32),
) -> Result<u32, Error> {
    let bad = |what, dims, mend| Error::BadLaunch { kernel: kernel.to_owned(), what, dims, mend };
    let product = |dims: [i64; 3]| {
        let positive = dims.iter().all(|&dim| dim >= 1);
        positive.then(|| dims.iter().try_fold(1, |all: i64, &dim| all.checked_mul(dim)).unwrap_or(i64::MAX))
    };
    let at_least_1 = || "every dimension has to be at least 1".to_owned();
    let threads = product(block).ok_or_else(|| bad("block", block, at_least_1()))?;
    if threads > MAX_THREADS {
        return Err(bad("block", block, format!("that is {threads} threads, and a block has at most {MAX_THREADS}")));
    }
    let blocks = product(grid).ok_or_else(|| bad("grid", grid, at_least_1()))?;
    if blocks > i64::from(most) {
        let mend = format!("that is {blocks} blocks, and a rank runs at most {most} here; use a grid-stride loop");
        return Err(bad("grid", grid, mend));
    }
    let most = max_barrier_blocks(num_ranks);
    if barrier && blocks.cast_unsigned() > most {
        let mend = format!("that is {blocks} blocks, and on {num_ranks} ranks at most {most} may use symm.barrier");
        return Err(bad("grid", grid, mend));
    }
    Ok(blocks.cast_unsigned() as u32)
}

/// Runs a launch on the rank's device, in the order of `stream`; with `finish`, returns when it is done.
///
/// # Safety
/// The kernel may be called once for each block, on several threads at once, with these arguments.
pub(crate) unsafe fn launch(agent: &Agent, launch: &Launch<'_>, stream: Stream, finish: bool) -> Result<(), Error> {
    let start = clock::now();
    let host = &agent.area().host;
    for (shown, dim) in host.grid.iter().zip(launch.grid) {
        shown.store(dim.cast_unsigned() as u32, Ordering::Relaxed);
    }
    host.kernel.set(launch.name.as_bytes());
    host.loc.set(launch.loc.bytes());
    host.since.store(start, Ordering::Relaxed);
    agent.set_host(HostState::InLaunch);
    agent.begin_at(start, launch.loc, || What::Launch { kernel: launch.name.into(), blocks: launch.blocks });
    // SAFETY: the caller's promise.
    let started = unsafe { agent.world.driver.launch(agent, launch, stream) };
    let ran = match started {
        Ok(()) if finish => agent.world.driver.wait(agent, stream, Some(launch)),
        other => other,
    };
    host.since.store(clock::now(), Ordering::Relaxed);
    agent.set_host(HostState::Running);
    agent.end();
    ran
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u32 = 8192;

    #[test]
    fn possible_grids_are_counted() {
        assert_eq!(count_blocks("k", [2, 3, 4], [32, 8, 4], false, (MOST, 1)).unwrap(), 24);
        assert_eq!(count_blocks("k", [4024, 1, 1], [1, 1, 1], true, (MOST, 64)).unwrap(), 4024);
    }

    #[test]
    fn impossible_ones_say_the_numbers() {
        let one = [1, 1, 1];
        for (grid, block, barrier, parts) in [
            ([0, 1, 1], one, false, ["@k", "grid [0, 1, 1]", "at least 1"]),
            (one, [1, -3, 1], false, ["@k", "block [1, -3, 1]", "at least 1"]),
            (one, [1024, 2, 1], false, ["@k", "2048 threads", "1024"]),
            ([i64::MAX, 2, 2], one, false, ["@k", "9223372036854775807", "8192"]),
            ([8193, 1, 1], one, false, ["@k", "8193 blocks", "8192"]),
            ([4025, 1, 1], one, true, ["4025 blocks", "64 ranks", "at most 4024"]),
        ] {
            let message = count_blocks("k", grid, block, barrier, (MOST, 64)).unwrap_err().to_string();
            for part in parts {
                assert!(message.contains(part), "no {part:?} in {message}");
            }
        }
        assert!(count_blocks("k", [4025, 1, 1], one, false, (MOST, 64)).is_ok(), "no barrier, no limit by the pad");
    }
}
