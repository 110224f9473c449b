//! The CPU: heaps are memfds, each block is a thread.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};

use super::Driver;
use super::pool::Pool;
use crate::agent::Agent;
use crate::control::MAX_BLOCKS;
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
    fn prepare(&self, _local: &[u32]) -> Result<(), Error> {
        Ok(())
    }

    fn create_heap(&self, _rank: u32, size: u64) -> Result<OwnedFd, Error> {
        HeapMap::create(size)
    }

    fn checks_heaps(&self) -> bool {
        true
    }

    fn map_heaps(&self, heaps: Vec<OwnedFd>, size: u64, _local: &[u32]) -> Result<HeapMap, Error> {
        HeapMap::map(heaps, size)
    }

    fn start(&self, _rank: u32, _table: &[i64]) -> Result<(), Error> {
        Ok(())
    }

    fn enter(&self, _rank: u32) -> Result<(), Error> {
        Ok(())
    }

    fn max_blocks(&self) -> u32 {
        MAX_BLOCKS
    }

    unsafe fn copy(&self, _agent: &Agent, dst: *mut u8, src: *const u8, bytes: usize) -> Result<(), Error> {
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
