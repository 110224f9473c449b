//! OpenSHMEM 1.4, as Open MPI has it (`liboshmem.so`).
//!
//! Calls come one at a time, from any thread: the library needs to support no more than that. A call waits
//! until what it wrote has arrived (`shmem_quiet`). Open MPI 4.1's `shmem_finalize` crashes, also in a program that
//! does nothing: a run ends by `shmem_global_exit` after a barrier instead. Slurm takes that for a failure and kills
//! the ranks that have not ended: what `srun` has started takes its leave of `PMIx` instead.

use std::ffi::{c_int, c_longlong, c_void};
use std::io::Write as _;
use std::sync::Mutex;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

use super::{Engine, Native};
use crate::error::{Error, system::why};
use crate::far::Messages;
use crate::lock::lock;
use symm_abi::far::OPENSHMEM;
use symm_abi::heap::HEAP_ALIGN;

/// The variable that names another library, by path or file name.
const LIBRARY_VARIABLE: &str = "SYMM_OPENSHMEM_LIBRARY";
/// The library where the variable is not set.
const LIBRARY: &str = "liboshmem.so.40";
/// Variables of which a launcher sets one for each rank.
const LAUNCHED: [&str; 3] = ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"];
/// The one that Slurm sets for each of its processes, connected or not.
const SLURM: &str = "SLURM_PROCID";
/// The one that Open MPI's own launchers set.
const OPEN_MPI: &str = LAUNCHED[0];
/// What connects a rank with its launcher: the library, its function that ends that, and whether there is more to end.
const PMIX: &str = "libpmix.so.2";
const PMIX_FINALIZE: &[u8] = b"PMIx_Finalize";
const PMIX_INITIALIZED: &[u8] = b"PMIx_Initialized";
/// The variable with the number of ranks that Open MPI has started on this host.
const RANKS_OF_HOST: &str = "OMPI_COMM_WORLD_LOCAL_SIZE";
/// The variables that set a rank's symmetric memory, each with what to do if it is too little: Open MPI's, an older one
/// of OpenSHMEM's, and OpenSHMEM's. The first that is set counts.
const MEMORY: [(&str, &str); 3] = [
    ("SHMEM_SYMMETRIC_HEAP_SIZE", "it has less: make the heap smaller, or SHMEM_SYMMETRIC_HEAP_SIZE larger"),
    ("SMA_SYMMETRIC_SIZE", "it has less: make the heap smaller, or SMA_SYMMETRIC_SIZE larger"),
    ("SHMEM_SYMMETRIC_SIZE", "it has less: make the heap smaller, or SHMEM_SYMMETRIC_SIZE larger"),
];
/// The signals that end a process from outside.
const ENDING: [c_int; 4] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];
/// Calls from several threads, one at a time.
const SERIALIZED: c_int = 2;

functions! {
    init_thread = b"shmem_init_thread": fn(c_int, *mut c_int) -> c_int;
    my_pe = b"shmem_my_pe": fn() -> c_int;
    n_pes = b"shmem_n_pes": fn() -> c_int;
    align = b"shmem_align": fn(usize, usize) -> *mut c_void;
    ptr = b"shmem_ptr": fn(*const c_void, c_int) -> *mut c_void;
    putmem = b"shmem_putmem": fn(*mut c_void, *const c_void, usize, c_int);
    getmem = b"shmem_getmem": fn(*mut c_void, *const c_void, usize, c_int);
    quiet = b"shmem_quiet": fn();
    barrier_all = b"shmem_barrier_all": fn();
    global_exit = b"shmem_global_exit": fn(c_int);
    add4 = b"shmem_int_atomic_fetch_add": fn(*mut c_int, c_int, c_int) -> c_int;
    add8 = b"shmem_longlong_atomic_fetch_add": fn(*mut c_longlong, c_longlong, c_int) -> c_longlong;
    set4 = b"shmem_int_atomic_swap": fn(*mut c_int, c_int, c_int) -> c_int;
    set8 = b"shmem_longlong_atomic_swap": fn(*mut c_longlong, c_longlong, c_int) -> c_longlong;
    swap8 = b"shmem_longlong_atomic_compare_swap": fn(*mut c_longlong, c_longlong, c_longlong, c_int) -> c_longlong;
}

/// The engine `openshmem`.
pub(super) struct OpenShmem {
    functions: Functions,
    /// Open MPI's own progress function.
    progress: unsafe extern "C" fn(),
    rank: u32,
    num_ranks: u32,
    /// What to do if it has too little memory.
    mend_of_memory: &'static str,
    /// Held during each call.
    call: Mutex<()>,
    /// Never closed: the library's threads and handlers stay.
    #[expect(dead_code, reason = "it keeps the library open")]
    library: std::mem::ManuallyDrop<Library>,
}

impl std::fmt::Debug for OpenShmem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OpenShmem({} of {})", self.rank, self.num_ranks)
    }
}

impl OpenShmem {
    pub(super) fn start(bytes: u64) -> Result<Self, Error> {
        let no = |reason: String| Error::NoEngine(OPENSHMEM, reason);
        if !LAUNCHED.iter().any(|variable| std::env::var_os(variable).is_some()) {
            let reason = if std::env::var_os(SLURM).is_some() {
                "srun has started this process without PMIx; start the ranks with `srun --mpi=pmix -n RANKS symm-run …`"
            } else {
                "no launcher has started this process as a rank; start the ranks with `oshrun -n RANKS symm-run …`"
            };
            return Err(no(reason.to_owned()));
        }
        fits(bytes).map_err(no)?;
        let named = std::env::var_os(LIBRARY_VARIABLE).filter(|named| !named.is_empty());
        let path = named.unwrap_or_else(|| LIBRARY.into());
        let shown = path.to_string_lossy();
        // SAFETY: whoever installed or named the library vouches for what it does when it is loaded. Its plug-ins look
        // up its symbols globally.
        let library = unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_GLOBAL) }.map_err(|error| {
            let why = why(&error);
            no(format!(
                "{shown} cannot be loaded ({why}); install Open MPI with OpenSHMEM (on Debian: apt-get install \
                 openmpi-bin libopenmpi3), or name its library in {LIBRARY_VARIABLE}"
            ))
        })?;
        let lacks = |symbol| no(format!("{shown} has no {symbol}: it has to be OpenSHMEM 1.4 of Open MPI 4 or later"));
        let functions = Functions::find(&library).map_err(lacks)?;
        // SAFETY: a function of Open MPI without parameters, whose result is ignored.
        let progress =
            unsafe { library.get(b"opal_progress") }.map(|found| *found).map_err(|_| lacks("opal_progress"))?;
        let mend_of_memory = set_memory(bytes);
        let mut provided = 0;
        // SAFETY: the first call, from one thread; the library stores a number.
        let failed = keeping_signals(|| unsafe { (functions.init_thread)(SERIALIZED, &raw mut provided) });
        if failed != 0 || provided < SERIALIZED {
            return Err(no(format!(
                "{shown} cannot be started with calls from several threads ({failed}, {provided})"
            )));
        }
        // SAFETY: it has been started.
        let (rank, num_ranks) = unsafe { ((functions.my_pe)(), (functions.n_pes)()) };
        let (rank, num_ranks) = (rank.cast_unsigned(), num_ranks.cast_unsigned());
        let library = std::mem::ManuallyDrop::new(library);
        Ok(Self { functions, progress, rank, num_ranks, mend_of_memory, call: Mutex::new(()), library })
    }
}

/// Has the library take what the environment says of its memory, or else this many bytes: under each name, since
/// versions read different ones, and refuse two that differ. Returns what to do if it is too little.
fn set_memory(bytes: u64) -> &'static str {
    let set = MEMORY.into_iter().find_map(|(name, mend)| Some((std::env::var_os(name)?, mend)));
    let (value, mend) = set.unwrap_or_else(|| (bytes.to_string().into(), "it has less: make the heap smaller"));
    for (name, _) in MEMORY.into_iter().filter(|(name, _)| std::env::var_os(name).is_none()) {
        // SAFETY: symm-run starts an engine before it starts threads that read the environment.
        unsafe { std::env::set_var(name, &value) };
    }
    mend
}

/// Calls a function; afterwards the signals that end a process do what they did before: the library's handlers ignore
/// them.
fn keeping_signals<T>(call: impl FnOnce() -> T) -> T {
    // SAFETY: a zeroed sigaction is a valid one, to be filled.
    let mut before: [libc::sigaction; ENDING.len()] = unsafe { std::mem::zeroed() };
    for (signal, action) in ENDING.into_iter().zip(&mut before) {
        // SAFETY: it stores what the signal does.
        unsafe { libc::sigaction(signal, std::ptr::null(), action) };
    }
    let result = call();
    for (signal, action) in ENDING.into_iter().zip(&before) {
        // SAFETY: what the signal did before.
        unsafe { libc::sigaction(signal, action, std::ptr::null_mut()) };
    }
    result
}

/// Refuses heaps that this host has no memory for: the library would fill shared memory and never return.
fn fits(bytes: u64) -> Result<(), String> {
    let ranks = std::env::var(RANKS_OF_HOST).ok().and_then(|told| told.parse().ok()).unwrap_or(1);
    // SAFETY: it asks for a number.
    let pages = unsafe { libc::sysconf(libc::_SC_PHYS_PAGES) };
    let memory = u64::try_from(pages).unwrap_or(u64::MAX).saturating_mul(rustix::param::page_size() as u64);
    if bytes.saturating_mul(ranks) <= memory {
        return Ok(());
    }
    Err(format!(
        "heaps of {bytes} bytes for {ranks} ranks of this host do not fit its {memory} bytes of memory; \
         ask for smaller ones (--heap-size)"
    ))
}

/// Tells the launcher that this rank ends as it should; false where there is no `PMIx` to say so.
fn leave_launcher() -> bool {
    // SAFETY: the library is loaded already, or not at all; its functions have these types. Open MPI calls none of them
    // any more, and has started PMIx once or several times.
    unsafe {
        let Ok(library) = Library::open(Some(PMIX), RTLD_NOW | libc::RTLD_NOLOAD) else { return false };
        let library = std::mem::ManuallyDrop::new(library);
        let Ok(initialized) = library.get::<unsafe extern "C" fn() -> c_int>(PMIX_INITIALIZED) else { return false };
        let Ok(finalize) = library.get::<unsafe extern "C" fn(*const c_void, usize) -> c_int>(PMIX_FINALIZE) else {
            return false;
        };
        while initialized() != 0 && finalize(std::ptr::null(), 0) == 0 {}
        true
    }
}

/// A rank in the library's type.
fn pe(rank: u32) -> c_int {
    rank.cast_signed()
}

impl Messages for OpenShmem {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn num_ranks(&self) -> u32 {
        self.num_ranks
    }

    unsafe fn copy_to(&self, rank: u32, at: *mut u8, from: *const u8, bytes: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.put(rank, at, from, bytes) };
    }

    unsafe fn store_to(&self, rank: u32, at: *mut u8, bytes: usize, value: u64) {
        // SAFETY: the caller's promise.
        unsafe { self.update(rank, at, bytes, Native::Set(value)) };
    }
}

impl Engine for OpenShmem {
    fn alloc(&self, bytes: u64) -> Option<*mut u8> {
        let _call = lock(&self.call);
        // SAFETY: all ranks ask for the same, says the caller.
        let memory = unsafe { (self.functions.align)(HEAP_ALIGN as usize, bytes as usize) };
        (!memory.is_null()).then_some(memory.cast())
    }

    fn mend_of_memory(&self) -> &'static str {
        self.mend_of_memory
    }

    fn mapped(&self, at: *mut u8, rank: u32) -> Option<*mut u8> {
        let _call = lock(&self.call);
        // SAFETY: it answers with null for what it does not know.
        let mapped = unsafe { (self.functions.ptr)(at.cast(), pe(rank)) };
        (!mapped.is_null()).then_some(mapped.cast())
    }

    unsafe fn put(&self, rank: u32, at: *mut u8, from: *const u8, bytes: usize) {
        let _call = lock(&self.call);
        // SAFETY: the caller's promise.
        unsafe {
            (self.functions.putmem)(at.cast(), from.cast(), bytes, pe(rank));
            (self.functions.quiet)();
        }
    }

    unsafe fn get(&self, rank: u32, to: *mut u8, at: *const u8, bytes: usize) {
        let _call = lock(&self.call);
        // SAFETY: the caller's promise.
        unsafe { (self.functions.getmem)(to.cast(), at.cast(), bytes, pe(rank)) };
    }

    unsafe fn update(&self, rank: u32, at: *mut u8, bytes: usize, update: Native) -> u64 {
        let (functions, rank, _call) = (&self.functions, pe(rank), lock(&self.call));
        #[expect(clippy::cast_ptr_alignment, reason = "an aligned value, says the caller")]
        let (narrow, wide) = (at.cast::<c_int>(), at.cast::<c_longlong>());
        let half = |value: u64| (value as u32).cast_signed();
        let narrowly = |old: c_int| u64::from(old.cast_unsigned());
        // SAFETY: the caller's promise.
        unsafe {
            match update {
                Native::Add(value) if bytes == 4 => narrowly((functions.add4)(narrow, half(value), rank)),
                Native::Set(value) if bytes == 4 => narrowly((functions.set4)(narrow, half(value), rank)),
                Native::Add(value) => (functions.add8)(wide, value.cast_signed(), rank).cast_unsigned(),
                Native::Set(value) => (functions.set8)(wide, value.cast_signed(), rank).cast_unsigned(),
                Native::Swap(expected, value) => {
                    (functions.swap8)(wide, expected.cast_signed(), value.cast_signed(), rank).cast_unsigned()
                }
            }
        }
    }

    fn progress(&self) {
        if let Ok(_call) = self.call.try_lock() {
            // SAFETY: one call at a time.
            unsafe { (self.progress)() };
        }
    }

    fn meet(&self) {
        let _call = lock(&self.call);
        // SAFETY: one call at a time.
        unsafe { (self.functions.barrier_all)() };
    }

    fn exit(&self, code: i32) -> ! {
        // What is not written by now is lost either way.
        let _ = std::io::stdout().flush();
        if code == 0 && !(std::env::var_os(OPEN_MPI).is_none() && leave_launcher()) {
            // SAFETY: it ends this process, as the last call.
            unsafe { (self.functions.global_exit)(0) };
        }
        // SAFETY: without the library's own handlers of exits, which crash. The launcher ends the other ranks.
        unsafe { libc::_exit(code) }
    }
}
