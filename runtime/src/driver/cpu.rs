//! The CPU: heaps are memfds, each block is a thread.

use std::collections::HashMap;
use std::ffi::CStr;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

use super::gpu::DeviceCode;
use super::gpu::api::{Before, Function, Identity, Module, Queues, Stream};
use super::pool::Pool;
use super::{Driver, Own};
use crate::agent::Agent;
use crate::collective;
use crate::control::ENGINE_ID_WORDS;
use crate::control::MAX_BLOCKS;
use crate::engine::nvshmem::Nvshmem;
use crate::error::Error;
use crate::heap::{GoesOn, HeapMap};
use crate::launch::Launch;
use crate::loc::Loc;
use crate::lock::lock;
use crate::memory;
use crate::trace::Sink;
use crate::world::World;

/// The driver `cpu`.
#[derive(Debug, Default)]
pub(crate) struct Cpu {
    /// The threads of each rank.
    pools: Mutex<HashMap<u32, Arc<Pool>>>,
    /// The address of each rank's context table.
    tables: Mutex<HashMap<u32, u64>>,
}

impl Driver for Cpu {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn prepare(&self, _local: &[u32]) -> Result<(), Error> {
        Ok(())
    }

    fn create_heap(&self, _rank: u32, size: u64) -> Result<OwnedFd, Error> {
        HeapMap::create(size)
    }

    fn checks_heaps(&self) -> bool {
        true
    }

    fn map_heaps(
        &self,
        heaps: Vec<OwnedFd>,
        size: u64,
        _local: &[u32],
        _identities: &[Option<Identity>],
    ) -> Result<HeapMap, Error> {
        HeapMap::map(heaps, size)
    }

    fn map_engine(
        &self,
        _: Nvshmem,
        _: (u32, u32, u64),
        _: [u64; ENGINE_ID_WORDS],
        _: &dyn Fn(u32) -> bool,
        _: GoesOn<'_>,
    ) -> Result<HeapMap, Error> {
        Err(Error::Unsupported { what: "NVSHMEM", driver: "cpu", mend: "use the driver cuda" })
    }

    fn identity(&self, _rank: u32) -> Option<Identity> {
        None
    }

    fn start(&self, rank: u32, table: &[i64], _trace: bool) -> Result<(), Error> {
        lock(&self.tables).insert(rank, table.as_ptr() as u64);
        Ok(())
    }

    fn enter(&self, _rank: u32) -> Result<(), Error> {
        Ok(())
    }

    fn max_blocks(&self) -> u32 {
        MAX_BLOCKS
    }

    fn queues(&self) -> Option<&dyn Queues> {
        None
    }

    fn before(&self) -> Option<Before<'_>> {
        None
    }

    fn function(&self, _: Module, _: &CStr) -> Result<Function, Error> {
        Err(Error::Program("a module without a device".to_owned()))
    }

    fn own(&self, rank: u32) -> Own {
        let tables = lock(&self.tables);
        Own { stream: Stream(0), table: tables.get(&rank).copied().unwrap_or_default() }
    }

    unsafe fn copy(&self, _: u32, dst: *mut u8, src: *const u8, bytes: usize, _: Stream) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        unsafe { memory::copy(dst, src, bytes) };
        Ok(())
    }

    unsafe fn read_now(&self, _: &Agent, dst: *mut u8, src: *const u8, bytes: usize) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        unsafe { memory::read_shared(dst, src, bytes) };
        Ok(())
    }

    unsafe fn write_now(&self, _: &Agent, dst: *mut u8, src: *const u8, bytes: usize) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        unsafe { memory::write_shared(dst, src, bytes) };
        Ok(())
    }

    fn load(&self, _agent: &Agent, _code: &DeviceCode) -> Result<Module, Error> {
        Err(Error::Unsupported {
            what: "loadable modules",
            driver: "cpu",
            mend: "kernels are functions of this process there (Kernel::host, symm_kernel_host)",
        })
    }

    unsafe fn launch(&self, agent: &Agent, launch: &Launch<'_>, _: Stream) -> Result<(), Error> {
        let pool = Arc::clone(lock(&self.pools).entry(agent.rank).or_default());
        let _alone = agent.alone()?;
        // SAFETY: the caller's promise.
        unsafe { pool.run(agent, launch) }
    }

    fn barrier(&self, agent: &Agent, _: Stream, loc: Loc<'_>) -> Result<(), Error> {
        collective::barrier_all(agent, loc)
    }

    fn wait(&self, _agent: &Agent, _: Stream, _: Option<&Launch<'_>>) -> Result<(), Error> {
        Ok(())
    }

    fn trace_failed(&self, _world: &World, _sink: &Sink) {
        // CPU kernels record into the sink as they run.
    }

    fn finish(&self, rank: u32, failed: bool) {
        let pool = lock(&self.pools).remove(&rank);
        if let Some(pool) = pool {
            pool.finish(failed);
        }
    }
}
