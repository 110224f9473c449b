//! What one kind of device does differently from the others.

mod cpu;
mod pool;

use std::ffi::c_void;
use std::fmt::Debug;
use std::os::fd::OwnedFd;

pub(crate) use cpu::Cpu;

use crate::agent::Agent;
use crate::error::Error;
use crate::heap::HeapMap;
use crate::launch::Launch;

/// A kind of device: how its memory is shared and how kernels run on it.
pub(crate) trait Driver: Debug + Send + Sync {
    /// Creates a heap that can be sent to the other ranks as a file descriptor.
    fn create_heap(&self, size: u64) -> Result<OwnedFd, Error>;

    /// Maps every rank's heap, in the order of ranks.
    fn map_heaps(&self, heaps: Vec<OwnedFd>, size: u64) -> Result<HeapMap, Error>;

    /// Copies between host memory and heaps, or between heaps.
    ///
    /// # Safety
    /// Both ranges are valid for `bytes` bytes.
    unsafe fn copy(&self, dst: *mut u8, src: *const u8, bytes: usize) -> Result<(), Error>;

    /// Runs all blocks of a checked launch and returns when they are done.
    ///
    /// # Safety
    /// The kernel may be called once for each block, on several threads at once, with these arguments.
    unsafe fn launch(&self, agent: &Agent, launch: &Launch<'_>) -> Result<(), Error>;

    /// Lets go of `rank`'s threads once it will launch nothing more.
    fn finish(&self, rank: u32);
}

/// A compiled kernel: called once for each block.
///
/// `args` points to one pointer for each argument, to that argument's value.
pub type KernelFn = unsafe extern "C" fn(args: *const *const c_void, coords: *const Coords);

/// Where a block is in its grid.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coords {
    /// Of this block, from 0.
    pub block: [i64; 3],
    /// Blocks in each dimension.
    pub grid: [i64; 3],
}
