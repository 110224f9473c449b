//! What a kernel leaves behind when a safety check fails: a record in host memory, then a trap.
//!
//! The layout is that of passes/src/lower/gpu/fault.rs: words `[state, site, rank, block, thread, count, values …]`.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{Shared, lock};
use crate::agent::{Agent, coordinates};
use crate::error::Error;
use crate::format;
use crate::launch::Launch;

/// Words of a record.
const WORDS: usize = 16;
/// The words before the values.
const HEADER: usize = 6;
/// The state of a record that is whole.
const WHOLE: u64 = 2;

/// A record's memory, which the devices can write; null before there is any.
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

    /// The words after the state, once a kernel has written them all.
    fn read(&self) -> Option<[u64; WORDS - 1]> {
        // SAFETY: `alloc_host` gave this many aligned words, which live as long as this.
        let words = unsafe { std::slice::from_raw_parts(self.0 as *const AtomicU64, WORDS) };
        let whole = words[0].load(Ordering::Acquire) == WHOLE;
        whole.then(|| std::array::from_fn(|index| words[index + 1].load(Ordering::Relaxed)))
    }
}

/// The places in one module that records name: where each is, the types of its values, and its message.
#[derive(Debug, Default)]
pub(super) struct Sites(Vec<[String; 3]>);

impl Sites {
    /// Reads the module's symbol `_symm_sites`: texts `location TAB types TAB message`, each ended by a zero byte.
    pub(super) fn new(bytes: &[u8]) -> Self {
        let texts = bytes.split(|byte| *byte == 0).filter(|text| !text.is_empty());
        let parts = |text: &[u8]| {
            let text = String::from_utf8_lossy(text).into_owned();
            let mut parts = text.splitn(3, '\t').map(str::to_owned);
            std::array::from_fn(|_| parts.next().unwrap_or_default())
        };
        Self(texts.map(parts).collect())
    }

    pub(super) fn get(&self, site: u64) -> Option<&[String; 3]> {
        self.0.get(usize::try_from(site).ok()?)
    }
}

impl Shared {
    /// What a failed launch means: the records of this process's ranks if there are any, else the driver's own words.
    pub(super) fn explain(&self, error: Error, launch: Option<&Launch<'_>>, agent: &Agent) -> Error {
        let mut lines = Vec::new();
        for (rank, local) in lock(&self.local).iter() {
            let Some(record) = local.report.read() else { continue };
            // Another rank's launch is known to all from the control memory.
            let host = &agent.world.control.areas()[*rank as usize].host;
            let (kernel, grid) = match launch {
                Some(launch) if *rank == agent.rank => (launch.name.to_owned(), launch.grid),
                _ => (host.kernel.get(), host.grid()),
            };
            let module = kernel.split_once("::").map_or("", |(module, _)| module);
            let loaded = self.module(local.device, module);
            let site = loaded.as_ref().and_then(|loaded| loaded.sites.get(record[0]));
            let [x, y, z] = coordinates(u32::try_from(record[2]).unwrap_or(u32::MAX), grid);
            let (thread, count) = (record[3], (record[4] as usize).min(WORDS - HEADER));
            let values = &record[HEADER - 1..][..count];
            let (loc, message) = match site {
                Some([loc, types, message]) => (loc.as_str(), format::render(message, types.as_bytes(), values)),
                None => ("<unknown>", format!("a safety check failed, with values {values:?}")),
            };
            lines.push(format!("{loc}: rank {rank}, block ({x},{y},{z}), thread {thread} of @{kernel}: {message}"));
        }
        lines.sort();
        if lines.is_empty() { error } else { Error::Fault { message: lines.join("\n") } }
    }
}
