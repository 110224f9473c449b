//! GPUs: heaps are device memory that is shared through file descriptors, each block runs on a device.
//!
//! Rank r uses device r modulo the number of devices, so several ranks may share one. Everything of a vendor is behind
//! [`Api`]; what is here is the same for all.

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

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, TryLockError};
use std::time::{Duration, Instant};

use self::api::{Api, Before, DeviceInfo, Function, Identity, Module, Ordinal, Stream};
use self::report::{Report, Sites};
use self::trace::Tracing;
use crate::error::Error;
use crate::heap::Meanwhile;
use crate::lock::lock;
use symm_abi::heap::TABLE_OFFSET;
use symm_abi::kernel::parts;
use symm_abi::site::SITES;
use symm_abi::table;

/// How long to poll for the end of a kernel or a copy without giving up the core.
const SPIN: Duration = Duration::from_micros(200);
/// How long a look at a device may take while kernels run: what cannot be seen is not worth more.
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
    local: Mutex<HashMap<u32, Arc<Local>>>,
    /// Heaps that are not mapped but opened: where they are.
    plain: Mutex<HashMap<u32, (Ordinal, u64)>>,
    /// Whether another process may have those open.
    lent: AtomicBool,
    loaded: Mutex<HashMap<Ordinal, Vec<Arc<Loaded>>>>,
    /// Held while code is loaded, so that the same code is loaded once. Whoever only looks for some does not take it.
    loading: Mutex<()>,
}

/// A rank of this process.
#[derive(Debug)]
struct Local {
    device: Ordinal,
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
        let (local, plain, lent, loaded, loading) = Default::default();
        Ok(Self(Arc::new(Shared { api, devices, code, local, plain, lent, loaded, loading })))
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

    /// Loads code on a device, or finds it loaded. Before anything runs there is best: loading may wait for kernels.
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
                // Who loads may wait for its device.
                Err(TryLockError::WouldBlock) => std::thread::sleep(LONGEST_SLEEP),
            }
            meanwhile(true)?;
        };
        if let Some(module) = known() {
            return Ok(module);
        }
        image::is_whole(code)?;
        let module = self.api.load(&code.image)?;
        let sites = self.sites(module, code, meanwhile).inspect_err(|error| {
            // After a failure a kernel may never end, for which this would wait.
            if !matches!(error, Error::Stopped { .. } | Error::Interrupted { .. }) {
                self.api.unload(module);
            }
        })?;
        let loaded = Arc::new(Loaded { code: code.clone(), module, sites });
        lock(&self.loaded).entry(device).or_default().push(loaded);
        Ok(module)
    }

    /// What a module's checks say.
    fn sites(&self, module: Module, code: &DeviceCode, meanwhile: Meanwhile<'_>) -> Result<Sites, Error> {
        // Only asked for where it is: compute-sanitizer counts a question without an answer as an error.
        let name = CString::new(SITES).expect("a symbol");
        let has_sites = code.image.windows(SITES.len()).any(|bytes| bytes == SITES.as_bytes());
        let Some((address, bytes)) = has_sites.then(|| self.api.global(module, &name)).flatten() else {
            return Ok(Sites::default());
        };
        // Not the rank's, in which a kernel may wait for what comes after this.
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

    /// Gives a rank what its launches need.
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
        let words: Vec<i64> = table.iter().copied().chain(more.map(u64::cast_signed)).collect();
        let bytes = size_of_val(words.as_slice());
        local.table = match self.table_in_heap(table) {
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

/// For [`Shared::drain`]: goes on for as long as a look may take.
fn for_a_look() -> impl FnMut(bool) -> Result<(), Error> {
    let end = Instant::now() + LOOKS_FOR;
    let late = || Error::Program("the device does not answer".to_owned());
    move |_| if Instant::now() < end { Ok(()) } else { Err(late()) }
}
