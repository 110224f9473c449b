//! The heaps of all ranks, as the devices of this process reach them: mapped into one range of addresses, at a fixed
//! stride, or opened where the driver puts them.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use super::api::{Before, Identity, Ordinal, Stream};
use super::waits::on_a_thread;
use super::{Shared, for_a_look, plain};
use crate::engine::nvshmem::Nvshmem;
use crate::error::Error;
use crate::heap::{GoesOn, HeapMemory, Meanwhile, heap_stride};
use crate::lock::lock;
use symm_abi::heap::RESERVED_BYTES;

/// Heaps of all ranks, as reached from here; released when dropped.
#[derive(Debug)]
pub(super) struct Heaps {
    shared: Arc<Shared>,
    /// The address of each rank's heap.
    bases: Vec<u64>,
    backing: Backing,
    /// For reading memory while kernels run.
    looks: Stream,
    device: Ordinal,
}

/// What has to be undone on drop.
#[derive(Debug)]
enum Backing {
    /// A reserved range of addresses, in which the first heaps are mapped at a stride.
    Mapped { reserved: u64, stride: u64, bytes: u64, mapped: usize },
    /// Heaps of other processes, each opened at an address.
    Opened(Mutex<Vec<u64>>),
    /// Heaps in an engine's memory: this process's one until it is given back, which ranks' are mapped, and a reserved
    /// range of addresses, at which those of the others would lie.
    Engine { engine: Arc<Nvshmem>, heap: Mutex<Option<u64>>, near: Vec<bool>, reserved: u64, bytes: u64 },
}

impl Heaps {
    /// Maps or opens heaps of `size` bytes, in rank order, for the devices of the ranks `local`.
    ///
    /// `identities` are those of the ranks' devices.
    pub(super) fn reach(
        shared: Arc<Shared>,
        heaps: &[OwnedFd],
        size: u64,
        local: &[u32],
        identities: &[Option<Identity>],
    ) -> Result<Self, Error> {
        let mut devices: Vec<Ordinal> = local.iter().map(|rank| shared.device(*rank)).collect();
        devices.sort_unstable();
        devices.dedup();
        for from in &devices {
            for to in (0..).zip(identities).filter_map(|(rank, of)| shared.device_of(rank, local, *of)) {
                if !shared.api.can_access(*from, to)? {
                    return Err(Error::NoPeerAccess { from: *from, to });
                }
            }
        }
        shared.api.make_current(devices[0])?;
        let looks = shared.api.create_stream()?;
        let (bases, backing, device) = (Vec::new(), Backing::Opened(Mutex::default()), devices[0]);
        let mut reached = Self { shared, bases, backing, looks, device };
        if reached.shared.api.maps() {
            reached.map(heaps, heap_stride(size), &devices)?;
        } else {
            reached.open(heaps, local, &devices)?;
        }
        for rank in local {
            reached.clear_pad(*rank)?;
        }
        Ok(reached)
    }

    /// Heaps of `size` bytes in the memory of an engine that has been started for `rank`, whose own one is at `own`.
    pub(super) fn of_engine(
        shared: Arc<Shared>,
        engine: Arc<Nvshmem>,
        own: u64,
        (rank, num_ranks, size): (u32, u32, u64),
        is_of_node: &dyn Fn(u32) -> bool,
    ) -> Result<Self, Error> {
        let (looks, device, stride) = (shared.api.create_stream()?, shared.device(rank), heap_stride(size));
        let bytes = u64::from(num_ranks) * stride;
        let reserved = shared.api.reserve(bytes)?;
        let (mut bases, mut near) = (Vec::new(), Vec::new());
        for peer in 0..num_ranks {
            let mapped = match peer {
                _ if peer == rank => Some(own),
                _ if is_of_node(peer) => engine.mapped(own, peer).filter(|base| plain::aligned(*base).is_ok()),
                _ => None,
            };
            near.push(mapped.is_some());
            bases.push(mapped.unwrap_or(reserved + u64::from(peer) * stride));
        }
        let backing = Backing::Engine { engine, heap: Mutex::new(Some(own)), near, reserved, bytes };
        let reached = Self { shared, bases, backing, looks, device };
        plain::aligned(own)?;
        reached.clear_pad(rank)?;
        Ok(reached)
    }

    fn map(&mut self, heaps: &[OwnedFd], stride: u64, devices: &[Ordinal]) -> Result<(), Error> {
        // Addresses cost nothing: reserve enough that the range can start at a multiple of the power of two it fits
        // into (T5).
        let ranks = heaps.len() as u64;
        let range = (ranks * stride).next_power_of_two();
        let bytes = range + ranks * stride;
        let reserved = self.shared.api.reserve(bytes)?;
        let start = reserved.next_multiple_of(range);
        self.bases = (0..ranks).map(|rank| start + rank * stride).collect();
        for mapped in 0..=heaps.len() {
            self.backing = Backing::Mapped { reserved, stride, bytes, mapped };
            if let Some(heap) = heaps.get(mapped) {
                self.shared.api.map_shared(self.bases[mapped], heap.as_fd(), stride, devices)?;
            }
        }
        Ok(())
    }

    fn open(&mut self, heaps: &[OwnedFd], local: &[u32], devices: &[Ordinal]) -> Result<(), Error> {
        let shared = Arc::clone(&self.shared);
        for device in devices {
            shared.api.make_current(*device)?;
            for peer in devices.iter().filter(|peer| *peer != device) {
                shared.api.enable_peer(*peer)?;
            }
        }
        shared.lent.store(heaps.len() > local.len(), Ordering::Release);
        for (rank, heap) in (0..).zip(heaps) {
            let base = if local.contains(&rank) {
                shared.plain(rank)
            } else {
                // A process whose ranks use several devices has all ranks, so it opens no heap of another process.
                shared.api.make_current(self.device)?;
                let base = shared.api.open(&plain::handle_in(heap)?)?;
                let Backing::Opened(opened) = &self.backing else { unreachable!("heaps are mapped or opened") };
                lock(opened).push(base);
                base
            };
            self.bases.push(plain::aligned(base)?);
        }
        Ok(())
    }

    /// Clears what belongs to symm at the start of a heap of this process.
    fn clear_pad(&self, rank: u32) -> Result<(), Error> {
        self.shared.api.make_current(self.shared.device(rank))?;
        let stream = self.shared.api.create_stream()?;
        // SAFETY: the start of a heap, which is larger than the pad.
        let cleared = unsafe { self.shared.api.clear(self.bases[rank as usize], RESERVED_BYTES as usize, stream) }
            .and_then(|()| self.shared.drain(stream, |_| Ok(())));
        self.shared.api.destroy_stream(stream);
        cleared
    }
}

impl HeapMemory for Heaps {
    fn bases(&self) -> &[u64] {
        &self.bases
    }

    fn strided(&self) -> bool {
        matches!(self.backing, Backing::Mapped { .. })
    }

    fn near(&self) -> Option<&[bool]> {
        match &self.backing {
            Backing::Engine { near, .. } => Some(near),
            Backing::Mapped { .. } | Backing::Opened(_) => None,
        }
    }

    fn clear(&self, rank: u32, offset: u64, bytes: u64, meanwhile: Meanwhile<'_>) -> Result<(), Error> {
        let local = self.shared.local(rank);
        let at = self.bases[rank as usize] + offset;
        // SAFETY: inside of a heap, says the caller; no rank knows the address yet.
        unsafe { self.shared.api.clear(at, bytes as usize, local.stream)? };
        self.shared.drain(local.stream, meanwhile)
    }

    fn read(&self, address: u64, bytes: usize) -> Option<u64> {
        if let Backing::Engine { reserved, bytes, .. } = &self.backing
            && address.wrapping_sub(*reserved) < *bytes
        {
            return None;
        }
        let mut word = Box::new(0_u64);
        let _before = Before::of(&*self.shared.api);
        self.shared.api.make_current(self.device).ok()?;
        let into = (&raw mut *word) as u64;
        // SAFETY: inside of a heap, says the caller; the word outlives the copy, which is waited for, or leaked.
        unsafe { self.shared.api.copy(into, address, bytes, self.looks).ok()? };
        if self.shared.drain(self.looks, for_a_look()).is_err() {
            std::mem::forget(word);
            return None;
        }
        Some(*word)
    }

    fn has_others(&self) -> bool {
        match &self.backing {
            Backing::Mapped { .. } => false,
            Backing::Opened(opened) => !lock(opened).is_empty(),
            Backing::Engine { heap, .. } => lock(heap).is_some(),
        }
    }

    fn close_others(&self, goes_on: GoesOn<'_>) -> Result<(), Error> {
        let _before = Before::of(&*self.shared.api);
        self.shared.api.make_current(self.device)?;
        match &self.backing {
            Backing::Mapped { .. } => {}
            Backing::Opened(opened) => lock(opened).drain(..).for_each(|base| self.shared.api.close(base)),
            Backing::Engine { engine, heap, .. } => {
                let Some(heap) = lock(heap).take() else { return Ok(()) };
                let (engine, shared, device) = (Arc::clone(engine), Arc::clone(&self.shared), self.device);
                on_a_thread(goes_on, move || {
                    shared.api.make_current(device)?;
                    engine.finish(heap);
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    fn others_have_closed(&self) {
        self.shared.lent.store(false, Ordering::Release);
    }
}

impl Drop for Heaps {
    fn drop(&mut self) {
        let api = &self.shared.api;
        let _before = Before::of(&**api);
        if api.make_current(self.device).is_err() {
            return;
        }
        match &self.backing {
            Backing::Mapped { reserved, stride, bytes, mapped } => {
                self.bases[..*mapped].iter().for_each(|base| api.unmap(*base, *stride));
                api.release(*reserved, *bytes);
            }
            Backing::Opened(opened) => lock(opened).drain(..).for_each(|base| api.close(base)),
            // What is not given back yet goes with the process: the other ranks would have to give theirs back, too.
            Backing::Engine { reserved, bytes, .. } => api.release(*reserved, *bytes),
        }
        api.destroy_stream(self.looks);
    }
}
