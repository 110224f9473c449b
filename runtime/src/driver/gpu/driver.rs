//! The driver of a vendor's GPUs, for the ranks of this process.

use std::ffi::CStr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::api::{self, Before, Function, Identity, Module, Queues, Stream};
use super::heap::Heaps;
use super::waits::on_a_thread;
use super::{DeviceCode, Gpu, Local, launch};
use crate::agent::Agent;
use crate::control::ENGINE_ID_WORDS;
use crate::driver::{Driver, Own};
use crate::engine::nvshmem::Nvshmem;
use crate::error::Error;
use crate::heap::{GoesOn, HeapMap, heap_stride};
use crate::launch::{Code, Launch};
use crate::loc::Loc;
use crate::lock::lock;
use crate::trace::Sink;
use crate::world::World;

impl Driver for Gpu {
    fn prepare(&self, local: &[u32]) -> Result<(), Error> {
        // A device takes long to start, so they start in parallel.
        std::thread::scope(|scope| {
            let ranks = local.iter().take(self.0.devices.len());
            let starting: Vec<_> = ranks.map(|rank| scope.spawn(|| self.enter(*rank))).collect();
            starting.into_iter().try_for_each(|thread| thread.join().unwrap_or(Ok(())))
        })
    }

    fn identity(&self, rank: u32) -> Option<Identity> {
        self.0.api.identity(self.0.device(rank))
    }

    fn create_heap(&self, rank: u32, size: u64) -> Result<OwnedFd, Error> {
        let _before = Before::of(&*self.0.api);
        let device = self.0.device(rank);
        self.0.api.make_current(device)?;
        if self.0.api.maps() {
            self.0.api.create_shared(device, heap_stride(size))
        } else {
            self.0.create_plain(rank, device, heap_stride(size))
        }
    }

    fn name(&self) -> &'static str {
        self.0.api.name()
    }

    fn checks_heaps(&self) -> bool {
        // The vendor's library checks them when it maps them.
        false
    }

    fn map_heaps(
        &self,
        heaps: Vec<OwnedFd>,
        size: u64,
        local: &[u32],
        identities: &[Option<Identity>],
    ) -> Result<HeapMap, Error> {
        let _before = Before::of(&*self.0.api);
        Ok(HeapMap::new(Box::new(Heaps::reach(Arc::clone(&self.0), &heaps, size, local, identities)?), size))
    }

    fn map_engine(
        &self,
        engine: Nvshmem,
        (rank, num_ranks, size): (u32, u32, u64),
        id: [u64; ENGINE_ID_WORDS],
        is_of_node: &dyn Fn(u32) -> bool,
        goes_on: GoesOn<'_>,
    ) -> Result<HeapMap, Error> {
        let _before = Before::of(&*self.0.api);
        let (engine, device) = (Arc::new(engine), self.0.device(rank));
        let (starts, shared) = (Arc::clone(&engine), Arc::clone(&self.0));
        let own = on_a_thread(goes_on, move || {
            shared.api.make_current(device)?;
            starts.start((rank, num_ranks), id, size)?;
            starts.alloc(heap_stride(size))
        })?;
        self.0.api.make_current(device)?;
        // A program has one run, and code is loaded after this.
        let _ = self.0.engine.set(Arc::clone(&engine));
        let heaps = Heaps::of_engine(Arc::clone(&self.0), engine, own, (rank, num_ranks, size), is_of_node)?;
        Ok(HeapMap::new(Box::new(heaps), size))
    }

    fn start(&self, rank: u32, table: &[i64], trace: bool) -> Result<(), Error> {
        let (shared, device) = (&self.0, self.0.device(rank));
        let _before = Before::of(&*shared.api);
        shared.api.make_current(device)?;
        let (stream, host_table) = (shared.api.create_stream()?, table.as_ptr() as u64);
        let (report, barrier, tracing) = Default::default();
        let mut local = Local { device, stream, table: 0, host_table, report, barrier, tracing };
        shared.prepare(&mut local, table, trace).inspect_err(|_| shared.let_go(&local))?;
        lock(&shared.local).insert(rank, Arc::new(local));
        Ok(())
    }

    fn enter(&self, rank: u32) -> Result<(), Error> {
        self.0.api.make_current(self.0.device(rank))
    }

    fn max_blocks(&self) -> u32 {
        i32::MAX.cast_unsigned()
    }

    fn queues(&self) -> Option<&dyn Queues> {
        Some(&*self.0.api)
    }

    fn before(&self) -> Option<Before<'_>> {
        Some(Before::of(&*self.0.api))
    }

    fn function(&self, module: Module, name: &CStr) -> Result<Function, Error> {
        self.0.api.function(module, name)
    }

    fn own(&self, rank: u32) -> Own {
        let local = self.0.local(rank);
        Own { stream: local.stream, table: local.table }
    }

    unsafe fn copy(&self, _: u32, dst: *mut u8, src: *const u8, bytes: usize, stream: Stream) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        unsafe { self.0.api.copy(dst as u64, src as u64, bytes, stream) }
    }

    unsafe fn read_now(&self, agent: &Agent, dst: *mut u8, src: *const u8, bytes: usize) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        unsafe { (self as &dyn Driver).copy_now(agent, dst, src, bytes) }
    }

    unsafe fn write_now(&self, agent: &Agent, dst: *mut u8, src: *const u8, bytes: usize) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        unsafe { (self as &dyn Driver).copy_now(agent, dst, src, bytes) }
    }

    fn load(&self, agent: &Agent, code: &DeviceCode) -> Result<Module, Error> {
        let local = self.0.local(agent.rank);
        self.0.load(local.device, code, &mut |_| agent.goes_on())
    }

    unsafe fn launch(&self, agent: &Agent, launch: &Launch<'_>, stream: Stream) -> Result<(), Error> {
        let (shared, local) = (&self.0, self.0.local(agent.rank));
        let function = match launch.code {
            Code::Device(function) => function,
            Code::ByName => shared.by_name(local.device, launch.name)?,
            Code::Host(_) => {
                return Err(Error::Program(format!("@{} is a host function, which a GPU cannot run", launch.name)));
            }
        };
        let start = launch::start(shared, agent, launch, function)?;
        let mut arguments = launch::Arguments::new(launch, &local, agent)?;
        agent.area().live.0.store(launch.blocks, Ordering::Release);
        if let Some(tracing) = &local.tracing {
            tracing.launched(launch.name, launch.grid);
        }
        // SAFETY: the caller's promise; the arguments are as the kernel was compiled for.
        let started = unsafe { shared.api.launch(&start, &mut arguments.pointers, stream) };
        started.map_err(|error| {
            agent.area().live.0.store(0, Ordering::Release);
            shared.explain(error, Some(launch), agent)
        })
    }

    fn barrier(&self, agent: &Agent, stream: Stream, _: Loc<'_>) -> Result<(), Error> {
        let local = self.0.local(agent.rank);
        if (0..agent.world.num_ranks()).any(|rank| !agent.world.heaps.is_near(rank)) {
            return Err(Error::Unsupported {
                what: "barrier in the order of a stream, with far ranks",
                driver: "cuda",
                mend: "launch a kernel that calls symm.barrier, or wait for the stream and call the host's barrier",
            });
        }
        let Some(function) = local.barrier else {
            return Err(Error::Unsupported {
                what: "barrier in stream order",
                driver: "hip",
                mend: "launch a kernel that calls symm.barrier, or wait for the stream and call the host's barrier",
            });
        };
        let (grid, block) = ([1; 3], [agent.world.num_ranks(), 1, 1]);
        let start = api::Start { function, grid, block, shared: 0, cooperative: false };
        let mut table = local.table;
        // SAFETY: the kernel takes the context table; its words in the signal pads are its own.
        unsafe { self.0.api.launch(&start, &mut [(&raw mut table).cast()], stream) }
    }

    fn wait(&self, agent: &Agent, stream: Stream, launch: Option<&Launch<'_>>) -> Result<(), Error> {
        let local = self.0.local(agent.rank);
        let ran = self.0.drain(stream, |long| {
            agent.goes_on()?;
            if long {
                self.0.look(&local);
            }
            Ok(())
        });
        let ran = ran.and_then(|()| self.0.collect(&local, agent));
        agent.area().live.0.store(0, Ordering::Release);
        ran.map_err(|error| match error {
            Error::Stopped { .. } | Error::Interrupted { .. } => error,
            error => self.0.explain(error, launch, agent),
        })
    }

    fn trace_failed(&self, world: &World, sink: &Sink) {
        self.0.collect_failed(world, sink);
    }

    fn finish(&self, _rank: u32, _failed: bool) {}
}
