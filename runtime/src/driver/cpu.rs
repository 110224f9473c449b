//! The CPU: heaps are memfds, each block is a thread.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};

use super::Driver;
use super::pool::Pool;
use crate::agent::Agent;
use crate::error::Error;
use crate::heap::HeapMap;
use crate::launch::Launch;
use crate::memory;

/// The driver `cpu`.
#[derive(Debug, Default)]
pub(crate) struct Cpu {
    /// The threads of each rank.
    pools: Mutex<HashMap<u32, Arc<Pool>>>,
}

impl Driver for Cpu {
    fn create_heap(&self, size: u64) -> Result<OwnedFd, Error> {
        HeapMap::create(size)
    }

    fn map_heaps(&self, heaps: Vec<OwnedFd>, size: u64) -> Result<HeapMap, Error> {
        HeapMap::map(heaps, size)
    }

    unsafe fn copy(&self, dst: *mut u8, src: *const u8, bytes: usize) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        unsafe { memory::copy(dst, src, bytes) };
        Ok(())
    }

    unsafe fn launch(&self, agent: &Agent, launch: &Launch<'_>) -> Result<(), Error> {
        let pool = Arc::clone(self.pools.lock().unwrap_or_else(PoisonError::into_inner).entry(agent.rank).or_default());
        // SAFETY: the caller's promise.
        unsafe { pool.run(agent, launch) }
    }

    fn finish(&self, rank: u32) {
        let pool = self.pools.lock().unwrap_or_else(PoisonError::into_inner).remove(&rank);
        if let Some(pool) = pool {
            pool.finish();
        }
    }
}
