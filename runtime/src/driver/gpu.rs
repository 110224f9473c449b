//! GPUs: heaps are device memory that is shared through file descriptors, each block runs on a device.
//!
//! Rank r uses device r modulo the number of devices, so several ranks may share one. Everything of a vendor is behind
//! [`Api`]; what is here is the same for all.

pub(crate) mod api;
mod clock;
pub(crate) mod cuda;
mod heap;
pub(crate) mod hip;
mod launch;
mod plain;
mod report;
mod trace;

use std::collections::HashMap;
use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use self::api::{Api, Device, DeviceInfo, Function, Module, Stream};
use self::heap::Heaps;
use self::report::{Report, Sites};
use self::trace::Tracing;
use super::{Driver, Own};
use crate::agent::{Agent, park_for_ever};
use crate::error::Error;
use crate::heap::{HeapMap, SIGNAL_PAD_BYTES, TABLE_BYTES, heap_stride};
use crate::interrupt;
use crate::launch::{Code, Launch};
use crate::loc::Loc;
use crate::trace::Sink;
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
    /// Heaps that are not mapped but opened: where they are.
    plain: Mutex<HashMap<u32, (Device, u64)>>,
    loaded: Mutex<HashMap<Device, Vec<Arc<Loaded>>>>,
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
    barrier: Option<Function>,
    /// Where the run is traced and the kernels record.
    tracing: Option<Tracing>,
}

/// A `gpu.module` on a device.
#[derive(Debug)]
struct Loaded {
    /// What it was loaded from.
    code: DeviceCode,
    module: Module,
    sites: Sites,
}

impl Gpu {
    pub(crate) fn new(api: Arc<dyn Api>, code: Vec<DeviceCode>) -> Result<Self, Error> {
        let devices = api.devices()?;
        let (local, plain, loaded) = Default::default();
        Ok(Self(Arc::new(Shared { api, devices, code, local, plain, loaded })))
    }
}

impl Shared {
    fn device(&self, rank: u32) -> Device {
        rank % self.devices.len() as u32
    }

    fn local(&self, rank: u32) -> Arc<Local> {
        Arc::clone(&lock(&self.local)[&rank])
    }

    /// Waits until a stream is done. When the run has failed, a kernel may never end: then a rank whose host function
    /// was called waits for ever, and one that has joined gets an error. In between, it calls `look`.
    fn finish(&self, world: &World, stream: Stream, mut look: impl FnMut()) -> Result<(), Error> {
        let start = Instant::now();
        let mut sleep = Duration::from_micros(20);
        while !self.api.is_done(stream)? {
            if world.failed() {
                if world.joined {
                    return Err(world.stopped());
                }
                park_for_ever();
            }
            if start.elapsed() < SPIN {
                std::hint::spin_loop();
            } else {
                look();
                interrupt::check()?;
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

    /// Loads code on a device, or finds it loaded. Before anything runs there is best: loading may wait for kernels.
    fn load(&self, device: Device, stream: Stream, code: &DeviceCode) -> Result<Module, Error> {
        let mut loaded = lock(&self.loaded);
        let modules = loaded.entry(device).or_default();
        let same = |known: &&Arc<Loaded>| known.code.module == code.module && known.code.image == code.image;
        if let Some(known) = modules.iter().find(same) {
            return Ok(known.module);
        }
        let module = self.api.load(&code.image)?;
        let sites = self.sites(module, stream, code).inspect_err(|_| self.api.unload(module))?;
        modules.push(Arc::new(Loaded { code: code.clone(), module, sites }));
        Ok(module)
    }

    /// What a module's checks say.
    fn sites(&self, module: Module, stream: Stream, code: &DeviceCode) -> Result<Sites, Error> {
        // Only asked for where it is: compute-sanitizer counts a question without an answer as an error.
        let name = c"_symm_sites";
        let has_sites = code.image.windows(name.count_bytes()).any(|bytes| bytes == name.to_bytes());
        let Some((address, bytes)) = has_sites.then(|| self.api.global(module, name)).flatten() else {
            return Ok(Sites::default());
        };
        let mut text = vec![0_u8; bytes];
        // SAFETY: the global has this many bytes, and so has the vector, until the stream is done.
        unsafe { self.api.copy(text.as_mut_ptr() as u64, address, bytes, stream)? };
        self.drain(stream)?;
        Ok(Sites::new(&text))
    }

    /// The barrier of all ranks as a kernel, where the driver has one.
    fn barrier_function(&self, device: Device, stream: Stream) -> Result<Option<Function>, Error> {
        let Some(code) = self.api.barrier_code() else { return Ok(None) };
        let code = DeviceCode { module: "symm".to_owned(), image: code.to_vec() };
        self.api.function(self.load(device, stream, &code)?, c"symm_barrier").map(Some)
    }

    /// Gives a rank what its launches need.
    fn prepare(&self, local: &mut Local, table: &[i64], trace: bool) -> Result<(), Error> {
        for code in &self.code {
            self.load(local.device, local.stream, code)?;
        }
        local.barrier = self.barrier_function(local.device, local.stream)?;
        local.report = Report::new(self)?;
        local.tracing = if trace { self.tracing(local)? } else { None };
        let records = local.tracing.as_ref().map_or(0, |tracing| tracing.buffer);
        let more = [local.report.address(), records].map(u64::cast_signed);
        let words: Vec<i64> = table.iter().copied().chain(more).collect();
        let bytes = size_of_val(words.as_slice());
        local.table = match self.table_in_heap(table) {
            Some(place) => place,
            None => self.api.alloc(bytes as u64, local.stream)?,
        };
        // SAFETY: both have this many bytes until the stream is done.
        unsafe { self.api.copy(local.table, words.as_ptr() as u64, bytes, local.stream)? };
        self.drain(local.stream)?;
        self.start_tracing(local)
    }

    /// Where in its own heap a rank's context table is, if heaps are mapped: a kernel then knows its rank by the table's
    /// address (rule T5).
    fn table_in_heap(&self, table: &[i64]) -> Option<u64> {
        let base = table[2 + usize::try_from(table[0]).expect("a rank")].cast_unsigned();
        self.api.maps().then_some(base + SIGNAL_PAD_BYTES - TABLE_BYTES)
    }

    /// Gives back what a rank has, on its device.
    fn let_go(&self, local: &Local) {
        if local.table != 0 && !self.api.maps() {
            // Whatever fails here has failed before, and the process ends.
            let _ = self.api.free(local.table, local.stream);
        }
        self.end_tracing(local);
        self.api.destroy_stream(local.stream);
        if !local.report.memory().is_null() {
            self.api.free_host(local.report.memory());
        }
    }

    /// The module of this name on a device, if there is one and no other.
    fn module(&self, device: Device, name: &str) -> Option<Arc<Loaded>> {
        let loaded = lock(&self.loaded);
        let mut found = loaded.get(&device)?.iter().filter(|loaded| loaded.code.module == name);
        let first = found.next()?;
        found.next().is_none().then(|| Arc::clone(first))
    }

    /// The kernel `module::kernel` among what the device was started with.
    fn by_name(&self, device: Device, name: &str) -> Result<Function, Error> {
        let (module, kernel) = name.split_once("::").unwrap_or_default();
        let unknown = || Error::Program(format!("@{name} was not compiled for this device"));
        let loaded = self.module(device, module).ok_or_else(unknown)?;
        self.api.function(loaded.module, &CString::new(kernel).map_err(|_| unknown())?)
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

    fn map_heaps(&self, heaps: Vec<OwnedFd>, size: u64, local: &[u32]) -> Result<HeapMap, Error> {
        Ok(HeapMap::new(Box::new(Heaps::reach(Arc::clone(&self.0), &heaps, size, local)?), size))
    }

    fn start(&self, rank: u32, table: &[i64], trace: bool) -> Result<(), Error> {
        let (shared, device) = (&self.0, self.0.device(rank));
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

    fn api(&self) -> Option<&dyn Api> {
        Some(&*self.0.api)
    }

    fn own(&self, rank: u32) -> Own {
        let local = self.0.local(rank);
        Own { stream: local.stream, table: local.table }
    }

    unsafe fn copy(&self, _: u32, dst: *mut u8, src: *const u8, bytes: usize, stream: Stream) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        unsafe { self.0.api.copy(dst as u64, src as u64, bytes, stream) }
    }

    fn load(&self, rank: u32, code: &DeviceCode) -> Result<Module, Error> {
        let local = self.0.local(rank);
        self.0.load(local.device, local.stream, code)
    }

    unsafe fn launch(&self, agent: &Agent, launch: &Launch<'_>, stream: Stream) -> Result<(), Error> {
        let (shared, local) = (&self.0, self.0.local(agent.rank));
        let function = match launch.code {
            Code::Device(function) => function,
            Code::ByName => shared.by_name(local.device, launch.name)?,
            Code::Host(_) => {
                return Err(Error::Program(format!("@{} is a function of the host, and runs on no GPU", launch.name)));
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
        let Some(function) = local.barrier else {
            return Err(Error::Unsupported {
                what: "barrier in the order of a stream",
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
        let ran = self.0.finish(&agent.world, stream, || self.0.look(&local));
        let ran = ran.and_then(|()| self.0.collect(&local, agent));
        agent.area().live.0.store(0, Ordering::Release);
        ran.map_err(|error| match error {
            Error::Stopped { .. } => error,
            error => self.0.explain(error, launch, agent),
        })
    }

    fn trace_failed(&self, world: &World, sink: &Sink) {
        self.0.collect_failed(world, sink);
    }

    fn finish(&self, _rank: u32, _failed: bool) {}
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.free_plain();
        for local in lock(&self.local).values() {
            if self.api.make_current(local.device).is_ok() {
                self.let_go(local);
            }
        }
        for (device, modules) in lock(&self.loaded).iter() {
            if self.api.make_current(*device).is_ok() {
                for loaded in modules {
                    self.api.unload(loaded.module);
                }
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
