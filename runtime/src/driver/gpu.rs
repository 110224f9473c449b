//! GPUs: heaps are device memory that is shared through file descriptors, each block runs on a device.
//!
//! Rank r uses device r modulo the number of devices, so several ranks may share one. [`Api`] hides each vendor's
//! library; this file is the same for all vendors.

#[expect(unsafe_code, reason = "copies and launches take pointers that the caller answers for")]
pub(crate) mod api;
#[expect(unsafe_code, reason = "words that the device writes")]
mod clock;
#[expect(unsafe_code, reason = "NVIDIA's functions")]
pub(crate) mod cuda;
#[expect(unsafe_code, reason = "copies and launches of the ranks")]
mod driver;
#[expect(unsafe_code, reason = "clearing and reading the memory of heaps")]
mod heap;
#[expect(unsafe_code, reason = "AMD's functions")]
pub(crate) mod hip;
mod image;
#[expect(unsafe_code, reason = "arguments of kernels, by their kinds")]
mod launch;
mod plain;
#[expect(unsafe_code, reason = "words that the device writes")]
mod report;
#[expect(unsafe_code, reason = "copies of what kernels have recorded")]
mod trace;
#[expect(unsafe_code, reason = "what is called when the process ends")]
mod waits;

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, TryLockError};
use std::time::{Duration, Instant};

use self::api::{Api, Before, DeviceInfo, Function, Identity, Module, Ordinal, Stream};
use self::report::{Report, Sites};
use self::trace::Tracing;
use crate::engine::nvshmem::{self, Nvshmem};
use crate::error::Error;
use crate::heap::Meanwhile;
use crate::lock::lock;
use symm_abi::heap::TABLE_OFFSET;
use symm_abi::kernel::parts;
use symm_abi::site::SITES;
use symm_abi::table;

/// How long to poll for the end of a kernel or a copy before yielding the core.
const SPIN: Duration = Duration::from_micros(200);
/// How long reading a device may take while kernels run; later, the report does without.
const LOOKS_FOR: Duration = Duration::from_secs(1);
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
    /// What reaches far ranks, if anything does.
    engine: OnceLock<Arc<Nvshmem>>,
    local: Mutex<HashMap<u32, Arc<Local>>>,
    /// The addresses of heaps that are opened, not mapped.
    plain: Mutex<HashMap<u32, (Ordinal, u64)>>,
    /// Whether another process may have them open.
    lent: AtomicBool,
    loaded: Mutex<HashMap<Ordinal, Vec<Arc<Loaded>>>>,
    /// Held while code is loaded, so that the same code is loaded once. Looking code up does not take it.
    loading: Mutex<()>,
}

/// A rank of this process.
#[derive(Debug)]
struct Local {
    device: Ordinal,
    /// Launches and copies, in order.
    stream: Stream,
    /// The context table in device memory; 0 before it exists.
    table: u64,
    /// The context table in host memory, which host code passes to launches.
    host_table: u64,
    report: Report,
    barrier: Option<Function>,
    /// Present when the run is traced and the kernels record.
    tracing: Option<Tracing>,
}

/// A `gpu.module` on a device.
#[derive(Debug)]
struct Loaded {
    /// The code that it was loaded from.
    code: DeviceCode,
    module: Module,
    sites: Sites,
}

impl Gpu {
    pub(crate) fn new(api: Arc<dyn Api>, code: Vec<DeviceCode>) -> Result<Self, Error> {
        let devices = api.devices()?;
        let (engine, local, plain, lent, loaded, loading) = Default::default();
        Ok(Self(Arc::new(Shared { api, devices, code, engine, local, plain, lent, loaded, loading })))
    }
}

#[expect(unsafe_code, reason = "copies of context tables and of what checks say")]
impl Shared {
    fn device(&self, rank: u32) -> Ordinal {
        rank % self.devices.len() as u32
    }

    fn local(&self, rank: u32) -> Arc<Local> {
        Arc::clone(&lock(&self.local)[&rank])
    }

    /// The number in this process of the device of a rank; `None` where this process cannot tell it, or does not see
    /// it.
    fn device_of(&self, rank: u32, local: &[u32], identity: Option<Identity>) -> Option<Ordinal> {
        if local.contains(&rank) {
            return Some(self.device(rank));
        }
        (0..self.devices.len() as u32).find(|device| identity.is_some() && self.api.identity(*device) == identity)
    }

    /// Waits until a stream is done. A kernel in it may never end: an error of `meanwhile` ends the wait.
    fn drain(&self, stream: Stream, mut meanwhile: impl FnMut(bool) -> Result<(), Error>) -> Result<(), Error> {
        let start = Instant::now();
        let mut sleep = Duration::from_micros(20);
        while !self.api.is_done(stream)? {
            let long = start.elapsed() >= SPIN;
            meanwhile(long)?;
            if long {
                std::thread::sleep(sleep);
                sleep = (sleep * 2).min(LONGEST_SLEEP);
            } else {
                std::hint::spin_loop();
            }
        }
        Ok(())
    }

    /// Loads code on a device, unless it is already loaded. Best done before anything runs: loading may wait for
    /// kernels.
    fn load(&self, device: Ordinal, code: &DeviceCode, meanwhile: Meanwhile<'_>) -> Result<Module, Error> {
        let known = || {
            let same = |known: &&Arc<Loaded>| known.code.module == code.module && known.code.image == code.image;
            lock(&self.loaded).get(&device)?.iter().find(same).map(|known| known.module)
        };
        if let Some(module) = known() {
            return Ok(module);
        }
        let _loads = loop {
            match self.loading.try_lock() {
                Ok(loads) => break loads,
                Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
                // Loading may wait for the device.
                Err(TryLockError::WouldBlock) => std::thread::sleep(LONGEST_SLEEP),
            }
            meanwhile(true)?;
        };
        if let Some(module) = known() {
            return Ok(module);
        }
        image::is_whole(code)?;
        let module = self.api.load(&code.image)?;
        if let Some(engine) = self.engine.get().filter(|_| contains(&code.image, nvshmem::STATE)) {
            engine.prepare(module.0)?;
        }
        let sites = self.sites(module, code, meanwhile).inspect_err(|error| {
            // After a failure this could wait for a kernel that never ends.
            if !matches!(error, Error::Stopped { .. } | Error::Interrupted { .. }) {
                self.api.unload(module);
            }
        })?;
        let loaded = Arc::new(Loaded { code: code.clone(), module, sites });
        lock(&self.loaded).entry(device).or_default().push(loaded);
        Ok(module)
    }

    /// The messages of a module's checks.
    fn sites(&self, module: Module, code: &DeviceCode, meanwhile: Meanwhile<'_>) -> Result<Sites, Error> {
        // Only queried where it exists: compute-sanitizer counts a failed query as an error.
        let name = CString::new(SITES).expect("a symbol");
        let has_sites = contains(&code.image, SITES);
        let Some((address, bytes)) = has_sites.then(|| self.api.global(module, &name)).flatten() else {
            return Ok(Sites::default());
        };
        // Not the rank's stream, where a kernel may wait for what comes after this.
        let stream = self.api.create_stream()?;
        let mut text = vec![0_u8; bytes];
        // SAFETY: the global has this many bytes, and so has the vector, which outlives the copy or is leaked.
        let copied = unsafe { self.api.copy(text.as_mut_ptr() as u64, address, bytes, stream) };
        let copied = copied.and_then(|()| self.drain(stream, meanwhile));
        self.api.destroy_stream(stream);
        if let Err(error) = copied {
            std::mem::forget(text);
            return Err(error);
        }
        Ok(Sites::new(&text))
    }

    /// The barrier of all ranks as a kernel, where the driver has one.
    fn barrier_function(&self, device: Ordinal) -> Result<Option<Function>, Error> {
        let Some(code) = self.api.barrier_code() else { return Ok(None) };
        let code = DeviceCode { module: "symm".to_owned(), image: code.to_vec() };
        self.api.function(self.load(device, &code, &mut |_| Ok(()))?, c"symm_barrier").map(Some)
    }

    /// Creates what a rank's launches need.
    fn prepare(&self, local: &mut Local, table: &[i64], trace: bool) -> Result<(), Error> {
        for code in &self.code {
            self.load(local.device, code, &mut |_| Ok(()))?;
        }
        local.barrier = self.barrier_function(local.device)?;
        local.report = Report::new(self)?;
        local.tracing = if trace { self.tracing(local)? } else { None };
        let records = local.tracing.as_ref().map_or(0, |tracing| tracing.buffer);
        let mut more = [0; table::EXTENSION_WORDS];
        (more[table::FAULT], more[table::TRACE]) = (local.report.address(), records);
        // Where an engine reaches some ranks, words follow that say which.
        let bases = table::HEADER_WORDS + usize::try_from(table[table::NUM_RANKS]).expect("as many as heaps");
        let reach = table.iter().skip(bases + table::EXTENSION_WORDS).copied();
        let words: Vec<i64> = table[..bases].iter().copied().chain(more.map(u64::cast_signed)).chain(reach).collect();
        let bytes = size_of_val(words.as_slice());
        let in_heap = self.table_in_heap(table).filter(|_| self.engine.get().is_none());
        local.table = match in_heap {
            Some(place) => place,
            None => self.api.alloc(bytes as u64, local.stream)?,
        };
        // SAFETY: both have this many bytes until the stream is done.
        unsafe { self.api.copy(local.table, words.as_ptr() as u64, bytes, local.stream)? };
        self.drain(local.stream, |_| Ok(()))?;
        self.start_tracing(local)
    }

    /// Where in its own heap a rank's context table is, if heaps are mapped: a kernel then knows its rank by the
    /// table's address (rule T5).
    fn table_in_heap(&self, table: &[i64]) -> Option<u64> {
        let base = table[table::HEADER_WORDS + usize::try_from(table[table::RANK]).expect("a rank")].cast_unsigned();
        self.api.maps().then_some(base + TABLE_OFFSET)
    }

    /// Frees what a rank has on its device.
    fn let_go(&self, local: &Local) {
        if local.table != 0 && (!self.api.maps() || self.engine.get().is_some()) {
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
    fn module(&self, device: Ordinal, name: &str) -> Option<Arc<Loaded>> {
        let loaded = lock(&self.loaded);
        let mut found = loaded.get(&device)?.iter().filter(|loaded| loaded.code.module == name);
        let first = found.next()?;
        found.next().is_none().then(|| Arc::clone(first))
    }

    /// The kernel `module::kernel` among what the device was started with.
    fn by_name(&self, device: Ordinal, name: &str) -> Result<Function, Error> {
        let (module, kernel) = parts(name);
        let unknown = || Error::Program(format!("@{name} was not compiled for this device"));
        let loaded = self.module(device, module).ok_or_else(unknown)?;
        self.api.function(loaded.module, &CString::new(kernel).map_err(|_| unknown())?)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let _before = Before::of(&*self.api);
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

/// Whether code has a symbol.
fn contains(image: &[u8], symbol: &str) -> bool {
    image.windows(symbol.len()).any(|bytes| bytes == symbol.as_bytes())
}

/// For [`Shared::drain`]: an error once a look has taken too long.
fn for_a_look() -> impl FnMut(bool) -> Result<(), Error> {
    let end = Instant::now() + LOOKS_FOR;
    let late = || Error::Program("the device does not answer".to_owned());
    move |_| if Instant::now() < end { Ok(()) } else { Err(late()) }
}
