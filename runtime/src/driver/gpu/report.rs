//! What a kernel leaves when a safety check fails: a record in host memory, then a trap.
//! Its layout is [`symm_abi::fault`].

use std::sync::atomic::{AtomicU64, Ordering};

use super::Shared;
use crate::agent::{Agent, coordinates};
use crate::error::Error;
use crate::launch::Launch;
use crate::lock::lock;
use symm_abi::fault::{self, WORDS};
use symm_abi::format;
use symm_abi::kernel::parts;
use symm_abi::site::{self, Site};

/// A record's memory, which the devices can write; null before it is allocated.
#[derive(Debug, Default)]
pub(super) struct Report(usize);

impl Report {
    pub(super) fn new(shared: &Shared) -> Result<Self, Error> {
        Ok(Self(shared.api.alloc_host(WORDS * size_of::<u64>())? as usize))
    }

    pub(super) fn memory(&self) -> *mut u8 {
        self.0 as *mut u8
    }

    /// The address on host and devices.
    pub(super) fn address(&self) -> u64 {
        self.0 as u64
    }

    /// The record, once a kernel has written all of it.
    fn read(&self) -> Option<[u64; WORDS]> {
        // SAFETY: `alloc_host` gave this many aligned words, which live as long as this.
        let words = unsafe { std::slice::from_raw_parts(self.0 as *const AtomicU64, WORDS) };
        let whole = words[fault::STATE].load(Ordering::Acquire) == fault::WHOLE.cast_unsigned();
        whole.then(|| std::array::from_fn(|index| words[index].load(Ordering::Relaxed)))
    }
}

/// The source locations of one module that records refer to.
#[derive(Debug, Default)]
pub(super) struct Sites(Vec<Site>);

impl Sites {
    /// Parses the bytes of the module's symbol [`site::SITES`].
    pub(super) fn new(bytes: &[u8]) -> Self {
        Self(site::parse(bytes))
    }

    pub(super) fn get(&self, site: u64) -> Option<&Site> {
        self.0.get(usize::try_from(site).ok()?)
    }
}

impl Shared {
    /// What a failed launch means: the records of this process's ranks if there are any, else the driver's own words.
    pub(super) fn explain(&self, error: Error, launch: Option<&Launch<'_>>, agent: &Agent) -> Error {
        let mut lines = Vec::new();
        for (rank, local) in lock(&self.local).iter() {
            let Some(record) = local.report.read() else { continue };
            // The control memory has every rank's launch.
            let host = &agent.world.control.areas()[*rank as usize].host;
            let (kernel, grid) = match launch {
                Some(launch) if *rank == agent.rank => (launch.name.to_owned(), launch.grid),
                _ => (host.kernel.get(), host.grid()),
            };
            let loaded = self.module(local.device, parts(&kernel).0);
            let site = loaded.as_ref().and_then(|loaded| loaded.sites.get(record[fault::SITE]));
            let [x, y, z] = coordinates(u32::try_from(record[fault::BLOCK]).unwrap_or(u32::MAX), grid);
            let (thread, count) = (record[fault::THREAD], (record[fault::COUNT] as usize).min(WORDS - fault::VALUES));
            let values = &record[fault::VALUES..][..count];
            let (loc, message) = match site {
                Some(Site { location, types, message }) => {
                    (location.as_str(), format::render(message, types.as_bytes(), values))
                }
                None => ("<unknown>", format!("a safety check failed, with values {values:?}")),
            };
            lines.push(format!("{loc}: rank {rank}, block ({x},{y},{z}), thread {thread} of @{kernel}: {message}"));
        }
        lines.sort();
        if lines.is_empty() { error } else { Error::Fault { message: lines.join("\n") } }
    }
}
