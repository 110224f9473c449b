//! Programs written by hand against the ABI, the way the compiler emits them.

#![allow(dead_code, reason = "each test uses some of it")]
#![allow(clippy::cast_possible_truncation, reason = "addresses have 64 bits")]
#![allow(missing_docs, reason = "names say it")]

use std::ffi::{CStr, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use symm_runtime::abi::{
    symm_rt_alloc, symm_rt_barrier_all, symm_rt_free, symm_rt_launch, symm_rt_wait64, symm_rt_wake,
};
use symm_runtime::{Config, Coords, KernelFn, Rank, Ranks};

pub const EQ: u32 = 0;
pub const GE: u32 = 5;

/// Before the timeout of [`threads`], on a busy machine too.
pub const SOON: Duration = Duration::from_secs(40);

/// A run of `ranks` threads that fails after a minute at the latest.
pub fn threads(ranks: u32) -> Config {
    let mut config = Config::new(Ranks::Threads(ranks));
    config.timeout = Some(Duration::from_secs(60));
    config
}

pub fn alloc(rank: &Rank, bytes: u64, loc: &CStr) -> *mut u8 {
    // SAFETY: called on the rank's host thread with a string that lives.
    unsafe { symm_rt_alloc(rank.ctx(), bytes, 0, loc.as_ptr()) }
}

pub fn free(rank: &Rank, at: *mut u8, loc: &CStr) {
    // SAFETY: as above.
    unsafe { symm_rt_free(rank.ctx(), at, loc.as_ptr()) }
}

pub fn barrier_all(rank: &Rank, loc: &CStr) {
    // SAFETY: as above.
    unsafe { symm_rt_barrier_all(rank.ctx(), loc.as_ptr()) }
}

/// What a kernel sees of its rank; it is its only argument.
#[derive(Clone, Copy)]
pub struct Env {
    pub ctx: *const i64,
    pub data: *mut u8,
}

impl Env {
    pub fn rank(&self) -> u64 {
        // SAFETY: a context table starts with two words.
        unsafe { *self.ctx }.cast_unsigned()
    }

    pub fn num_ranks(&self) -> u64 {
        // SAFETY: as above.
        unsafe { *self.ctx.add(1) }.cast_unsigned()
    }

    /// `as_remote`, rule T1.
    pub fn remote(&self, at: *mut u8, rank: u64) -> *mut u8 {
        // SAFETY: the table has a base for each rank.
        let base = |rank: u64| unsafe { *self.ctx.add(2 + rank as usize) }.cast_unsigned();
        at.wrapping_add(base(rank).wrapping_sub(base(self.rank())) as usize)
    }

    /// The flag at `index` of this rank's data.
    pub fn flag(&self, index: u64) -> *mut u8 {
        self.data.wrapping_add(8 * index as usize)
    }
}

/// Runs `kernel` on `blocks` blocks.
pub fn launch(rank: &Rank, name: &CStr, kernel: KernelFn, blocks: i64, data: *mut u8, loc: &CStr) {
    launch_as(rank, name, kernel, [blocks, 1, 1, 1, 1, 1, 0], c"cv", data, loc);
}

pub fn launch_as(rank: &Rank, name: &CStr, kernel: KernelFn, dims: [i64; 7], kinds: &CStr, data: *mut u8, loc: &CStr) {
    let (ctx, data) = (rank.ctx(), data);
    let args: [*const c_void; 2] = [(&raw const ctx).cast(), (&raw const data).cast()];
    // SAFETY: the kernels of these tests take these two arguments.
    unsafe {
        symm_rt_launch(ctx, name.as_ptr(), Some(kernel), dims.as_ptr(), args.as_ptr(), kinds.as_ptr(), loc.as_ptr());
    }
}

/// # Safety
/// For kernels started by [`launch`].
pub unsafe fn env(args: *const *const c_void, coords: *const Coords) -> (Env, Coords) {
    // SAFETY: the two arguments that `launch_as` passes.
    unsafe { (Env { ctx: *(*args).cast(), data: *(*args.add(1)).cast() }, *coords) }
}

/// The flag at `at`.
#[allow(clippy::cast_ptr_alignment, reason = "alloc aligns to 256")]
pub fn atomic(at: *mut u8) -> &'static AtomicU64 {
    // SAFETY: flags of these tests are aligned and in a heap that is mapped while a kernel or host function runs.
    unsafe { &*at.cast() }
}

/// `symm.signal set`, release, system scope.
pub fn signal(flag: *mut u8, value: u64) {
    atomic(flag).store(value, Ordering::Release);
    // SAFETY: as above.
    unsafe { symm_rt_wake(flag) };
}

pub fn read(flag: *mut u8) -> u64 {
    atomic(flag).load(Ordering::Acquire)
}

pub fn wait(env: &Env, flag: *mut u8, compare: u32, expected: u64, loc: &CStr) {
    // SAFETY: as above.
    unsafe { symm_rt_wait64(env.ctx, flag.cast(), compare, expected, 0, loc.as_ptr()) };
}

/// Runs `body` and returns its error's text.
pub fn failure<F>(config: &Config, body: F) -> String
where
    F: Fn(&Rank) + Send + Sync + 'static,
{
    let body = Arc::new(body);
    let outcome = symm_runtime::run(config, move |rank| {
        body(rank);
        Ok(())
    });
    outcome.expect_err("the run should have failed").to_string()
}
