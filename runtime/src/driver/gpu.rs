//! GPUs: heaps are device memory that is shared through file descriptors, each block runs on a device.
//!
//! Rank r uses device r modulo the number of devices, so several ranks may share one. Everything of a vendor is behind
//! [`Api`]; what is here is the same for all.

pub(crate) mod api;
pub(crate) mod cuda;
mod heap;
pub(crate) mod hip;
mod launch;
mod report;

use std::collections::HashMap;
use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use self::api::{Api, Device, DeviceInfo, Module, Stream};
use self::heap::Heaps;
use self::report::{Report, Sites};
use super::Driver;
use crate::agent::{Agent, park_for_ever};
use crate::error::Error;
use crate::heap::{HeapMap, heap_stride};
use crate::launch::Launch;
use crate::world::World;

/// How long to poll for the end of a kernel or a copy without giving up the core.
const SPIN: Duration = Duration::from_micros(200);
/// The longest sleep between two polls.
const LONGEST_SLEEP: Duration = Duration::from_micros(500);

/// Compiled kernels of one `gpu.module`.
#[derive(Debug, Clone)]
pub struct DeviceCode {
    /// The module's name.
    pub module: String,
    /// PTX, or a code object.
    pub image: Vec<u8>,
}

/// The driver of a vendor's GPUs.
#[derive(Debug)]
pub(crate) struct Gpu(Arc<Shared>);

/// What the driver and the heaps share.
#[derive(Debug)]
pub(crate) struct Shared {
    api: Arc<dyn Api>,
    devices: Vec<DeviceInfo>,
    code: Vec<DeviceCode>,
    local: Mutex<HashMap<u32, Arc<Local>>>,
    loaded: Mutex<HashMap<Device, Arc<HashMap<String, Loaded>>>>,
}

/// A rank of this process.
#[derive(Debug)]
struct Local {
    device: Device,
    /// Launches and copies, one after the other.
    stream: Stream,
    /// The context table in device memory; 0 before there is one.
    table: u64,
    /// The context table in host memory, which host code passes to launches.
    host_table: u64,
    report: Report,
}

/// A `gpu.module` on a device.
#[derive(Debug)]
struct Loaded {
    module: Module,
    sites: Sites,
}

impl Gpu {
    pub(crate) fn new(api: Arc<dyn Api>, code: Vec<DeviceCode>) -> Result<Self, Error> {
        let devices = api.devices()?;
        let (local, loaded) = Default::default();
        Ok(Self(Arc::new(Shared { api, devices, code, local, loaded })))
    }
}

impl Shared {
    fn device(&self, rank: u32) -> Device {
        rank % self.devices.len() as u32
    }

    fn local(&self, rank: u32) -> Arc<Local> {
        Arc::clone(&lock(&self.local)[&rank])
    }

    /// Waits until a stream is done, or for ever when the run has failed: a kernel may never end then.
    fn finish(&self, world: &World, stream: Stream) -> Result<(), Error> {
        let start = Instant::now();
        let mut sleep = Duration::from_micros(20);
        while !self.api.is_done(stream)? {
            if world.failed() {
                park_for_ever();
            }
            if start.elapsed() < SPIN {
                std::hint::spin_loop();
            } else {
                std::thread::sleep(sleep);
                sleep = (sleep * 2).min(LONGEST_SLEEP);
            }
        }
        Ok(())
    }

    /// Likewise where there is no kernel that could wait for others.
    fn drain(&self, stream: Stream) -> Result<(), Error> {
        while !self.api.is_done(stream)? {
            std::thread::yield_now();
        }
        Ok(())
    }

    /// Loads the program's code on a device, before anything runs there: loading may wait for kernels.
    fn load(&self, device: Device, stream: Stream) -> Result<(), Error> {
        if lock(&self.loaded).contains_key(&device) {
            return Ok(());
        }
        let mut modules = HashMap::new();
        for code in &self.code {
            if let Err(error) = self.load_module(code, stream, &mut modules) {
                for loaded in modules.values() {
                    self.api.unload(loaded.module);
                }
                return Err(error);
            }
        }
        lock(&self.loaded).insert(device, Arc::new(modules));
        Ok(())
    }

    fn load_module(
        &self,
        code: &DeviceCode,
        stream: Stream,
        modules: &mut HashMap<String, Loaded>,
    ) -> Result<(), Error> {
        let module = self.api.load(&code.image)?;
        let loaded = modules.entry(code.module.clone()).insert_entry(Loaded { module, sites: Sites::default() });
        // Only asked for where it is: compute-sanitizer counts a question without an answer as an error.
        let name = c"_symm_sites";
        let has_sites = code.image.windows(name.count_bytes()).any(|bytes| bytes == name.to_bytes());
        if let Some((address, bytes)) = has_sites.then(|| self.api.global(module, name)).flatten() {
            let mut text = vec![0_u8; bytes];
            // SAFETY: the global has this many bytes, and so has the vector, until the stream is done.
            unsafe { self.api.copy(text.as_mut_ptr() as u64, address, bytes, stream)? };
            self.drain(stream)?;
            loaded.into_mut().sites = Sites::new(&text);
        }
        Ok(())
    }

    /// Gives a rank what its launches need.
    fn prepare(&self, local: &mut Local, table: &[i64]) -> Result<(), Error> {
        self.load(local.device, local.stream)?;
        local.report = Report::new(self)?;
        let words: Vec<i64> = table.iter().copied().chain([local.report.address().cast_signed()]).collect();
        let bytes = size_of_val(words.as_slice());
        local.table = self.api.alloc(bytes as u64, local.stream)?;
        // SAFETY: both have this many bytes until the stream is done.
        unsafe { self.api.copy(local.table, words.as_ptr() as u64, bytes, local.stream)? };
        self.drain(local.stream)
    }

    /// Gives back what a rank has, on its device.
    fn let_go(&self, local: &Local) {
        if local.table != 0 {
            // Whatever fails here has failed before, and the process ends.
            let _ = self.api.free(local.table, local.stream);
        }
        self.api.destroy_stream(local.stream);
        if !local.report.memory().is_null() {
            self.api.free_host(local.report.memory());
        }
    }

    fn modules(&self, device: Device) -> Arc<HashMap<String, Loaded>> {
        Arc::clone(&lock(&self.loaded)[&device])
    }
}

impl Driver for Gpu {
    fn prepare(&self, local: &[u32]) -> Result<(), Error> {
        // A device takes long to start, but they start side by side.
        std::thread::scope(|scope| {
            let ranks = local.iter().take(self.0.devices.len());
            let starting: Vec<_> = ranks.map(|rank| scope.spawn(|| self.enter(*rank))).collect();
            starting.into_iter().try_for_each(|thread| thread.join().unwrap_or(Ok(())))
        })
    }

    fn create_heap(&self, rank: u32, size: u64) -> Result<OwnedFd, Error> {
        let device = self.0.device(rank);
        self.0.api.make_current(device)?;
        self.0.api.create_shared(device, heap_stride(size))
    }

    fn checks_heaps(&self) -> bool {
        // The vendor's library checks them when it maps them.
        false
    }

    fn map_heaps(&self, heaps: Vec<OwnedFd>, size: u64, local: &[u32]) -> Result<HeapMap, Error> {
        let ranks = heaps.len();
        let memory = Heaps::map(Arc::clone(&self.0), &heaps, size, local)?;
        Ok(HeapMap::new(Box::new(memory), size, ranks))
    }

    fn start(&self, rank: u32, table: &[i64]) -> Result<(), Error> {
        let (shared, device) = (&self.0, self.0.device(rank));
        shared.api.make_current(device)?;
        let (stream, host_table) = (shared.api.create_stream()?, table.as_ptr() as u64);
        let mut local = Local { device, stream, table: 0, host_table, report: Report::default() };
        shared.prepare(&mut local, table).inspect_err(|_| shared.let_go(&local))?;
        lock(&shared.local).insert(rank, Arc::new(local));
        Ok(())
    }

    fn enter(&self, rank: u32) -> Result<(), Error> {
        self.0.api.make_current(self.0.device(rank))
    }

    fn max_blocks(&self) -> u32 {
        i32::MAX.cast_unsigned()
    }

    unsafe fn copy(&self, agent: &Agent, dst: *mut u8, src: *const u8, bytes: usize) -> Result<(), Error> {
        let local = self.0.local(agent.rank);
        // SAFETY: the caller's promise.
        unsafe { self.0.api.copy(dst as u64, src as u64, bytes, local.stream)? };
        self.0.finish(&agent.world, local.stream)
    }

    unsafe fn launch(&self, agent: &Agent, launch: &Launch<'_>) -> Result<(), Error> {
        let (shared, local) = (&self.0, self.0.local(agent.rank));
        let modules = shared.modules(local.device);
        let (module, kernel) = launch.name.split_once("::").unwrap_or_default();
        let unknown = || Error::Program(format!("@{} was not compiled for this device", launch.name));
        let loaded = modules.get(module).ok_or_else(unknown)?;
        let name = CString::new(kernel).map_err(|_| unknown())?;
        let function = shared.api.function(loaded.module, &name)?;
        let start = launch::start(shared, agent, launch, function)?;
        let mut arguments = launch::Arguments::new(launch, &local, &agent.world)?;
        agent.area().live.0.store(launch.blocks, Ordering::Release);
        // SAFETY: the caller's promise; the arguments are as the kernel was compiled for.
        let ran = unsafe { shared.api.launch(&start, &mut arguments.pointers, local.stream) }
            .and_then(|()| shared.finish(&agent.world, local.stream));
        agent.area().live.0.store(0, Ordering::Release);
        ran.map_err(|error| shared.explain(error, launch, agent))
    }

    fn finish(&self, _rank: u32) {}
}

impl Drop for Shared {
    fn drop(&mut self) {
        for local in lock(&self.local).values() {
            if self.api.make_current(local.device).is_ok() {
                self.let_go(local);
            }
        }
        for (device, modules) in lock(&self.loaded).iter() {
            if self.api.make_current(*device).is_ok() {
                modules.values().for_each(|loaded| self.api.unload(loaded.module));
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
