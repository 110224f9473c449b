//! Heaps where memory cannot be mapped at addresses of our choice: each is an allocation, which other processes open by
//! the driver's handle. In place of the memory, ranks exchange a file with that handle.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::Ordering;

use super::Shared;
use super::api::{IpcHandle, Ordinal};
use crate::error::Error;
use crate::lock::lock;
use crate::memory;
use symm_abi::heap::HEAP_ALIGN;

/// The variable that requests such heaps where mapping is possible, on all ranks: `1`.
pub(super) const VARIABLE: &str = "SYMM_IPC";

/// Whether the environment requests them.
pub(super) fn is_asked_for() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| value == "1")
}

impl Shared {
    /// Creates a rank's heap, which lives as long as the driver.
    pub(super) fn create_plain(&self, rank: u32, device: Ordinal, bytes: u64) -> Result<OwnedFd, Error> {
        let base = self.api.create_plain(device, bytes)?;
        lock(&self.plain).insert(rank, (device, base));
        let file = File::from(memory::create("symm-heap-handle", size_of::<IpcHandle>() as u64)?);
        file.write_all_at(&self.api.handle(base)?, 0).map_err(Error::io("write down a heap's handle"))?;
        Ok(file.into())
    }

    /// The address of the heap of a rank of this process.
    pub(super) fn plain(&self, rank: u32) -> u64 {
        lock(&self.plain)[&rank].1
    }

    /// Frees all heaps of this process, except while another process may have them open: both vendors leave that
    /// undefined. Those are freed when the process ends.
    pub(super) fn free_plain(&self) {
        if self.lent.load(Ordering::Acquire) {
            return;
        }
        for (_, (device, base)) in lock(&self.plain).drain() {
            if self.api.make_current(device).is_ok() {
                self.api.free_plain(base);
            }
        }
    }
}

/// The handle in what another rank sent.
pub(super) fn handle_in(heap: &OwnedFd) -> Result<IpcHandle, Error> {
    let mut handle = [0; size_of::<IpcHandle>()];
    let file = heap.try_clone().map(File::from);
    file.and_then(|file| file.read_exact_at(&mut handle, 0)).map_err(Error::io("read a heap's handle"))?;
    Ok(handle)
}

/// The address of a heap, if it is aligned as rule T4 demands.
pub(super) fn aligned(base: u64) -> Result<u64, Error> {
    if base.is_multiple_of(HEAP_ALIGN) {
        return Ok(base);
    }
    Err(Error::Program(format!(
        "the driver put a heap at {base:#x}, and heaps have to be aligned to 2 MiB; unset {VARIABLE}"
    )))
}
