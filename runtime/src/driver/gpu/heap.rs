//! The heaps of all ranks in one range of addresses, the same for all devices of this process.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use super::Shared;
use super::api::{Device, Stream};
use crate::error::Error;
use crate::heap::{HeapMemory, SIGNAL_PAD_BYTES, heap_stride};

/// Mapped heaps; unmapped when dropped.
#[derive(Debug)]
pub(super) struct Heaps {
    shared: Arc<Shared>,
    start: u64,
    stride: u64,
    /// Ranks whose heaps are mapped, and for how many there are addresses.
    mapped: u64,
    ranks: u64,
    /// For looks at memory while kernels run.
    looks: Stream,
    device: Device,
}

impl Heaps {
    /// Maps heaps of `size` bytes, in the order of ranks, for the devices of the ranks `local`.
    pub(super) fn map(shared: Arc<Shared>, heaps: &[OwnedFd], size: u64, local: &[u32]) -> Result<Self, Error> {
        let (ranks, stride) = (heaps.len() as u64, heap_stride(size));
        let mut devices: Vec<Device> = local.iter().map(|rank| shared.device(*rank)).collect();
        devices.sort_unstable();
        devices.dedup();
        for from in &devices {
            for to in 0..heaps.len() as u32 {
                let to = shared.device(to);
                if !shared.api.can_access(*from, to)? {
                    return Err(Error::NoPeerAccess { from: *from, to });
                }
            }
        }
        shared.api.make_current(devices[0])?;
        let looks = shared.api.create_stream()?;
        let start = shared.api.reserve(stride * ranks).inspect_err(|_| shared.api.destroy_stream(looks))?;
        let mut mapped = Self { shared, start, stride, mapped: 0, ranks, looks, device: devices[0] };
        for (heap, rank) in heaps.iter().zip(0..) {
            mapped.shared.api.map_shared(start + rank * stride, heap.as_fd(), stride, &devices)?;
            mapped.mapped = rank + 1;
        }
        for rank in local {
            mapped.shared.api.make_current(mapped.shared.device(*rank))?;
            let pad = start + u64::from(*rank) * stride;
            let stream = mapped.shared.api.create_stream()?;
            // SAFETY: the start of a mapped heap, which is larger than the pad.
            let cleared = unsafe { mapped.shared.api.clear(pad, SIGNAL_PAD_BYTES as usize, stream) }
                .and_then(|()| mapped.shared.drain(stream));
            mapped.shared.api.destroy_stream(stream);
            cleared?;
        }
        Ok(mapped)
    }
}

impl HeapMemory for Heaps {
    fn start(&self) -> u64 {
        self.start
    }

    fn clear(&self, rank: u32, offset: u64, bytes: u64) -> Result<(), Error> {
        let local = self.shared.local(rank);
        let at = self.start + u64::from(rank) * self.stride + offset;
        // SAFETY: inside of a mapped heap, says the caller; no rank knows the address yet.
        unsafe { self.shared.api.clear(at, bytes as usize, local.stream)? };
        self.shared.drain(local.stream)
    }

    fn read(&self, address: u64, bytes: usize) -> Option<u64> {
        let mut word = 0_u64;
        self.shared.api.make_current(self.device).ok()?;
        let into = (&raw mut word) as u64;
        // SAFETY: inside of a mapped heap, says the caller; the word outlives the copy, which is waited for.
        unsafe { self.shared.api.copy(into, address, bytes, self.looks).ok()? };
        self.shared.drain(self.looks).ok()?;
        Some(word)
    }
}

impl Drop for Heaps {
    fn drop(&mut self) {
        if self.shared.api.make_current(self.device).is_ok() {
            for rank in 0..self.mapped {
                self.shared.api.unmap(self.start + rank * self.stride, self.stride);
            }
            self.shared.api.release(self.start, self.stride * self.ranks);
            self.shared.api.destroy_stream(self.looks);
        }
    }
}
