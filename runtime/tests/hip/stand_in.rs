//! The library that stands in for AMD's: built from `stand_in.c`, and its state.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use libloading::Library;
use symm_runtime::DeviceCode;

/// `struct launch` of `stand_in.c`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Launch {
    name: [u8; 32],
    pub device: u32,
    pub cooperative: u32,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    count: u32,
    values: [u64; 24],
    pub table: [i64; 5],
}

impl Launch {
    pub fn name(&self) -> String {
        text(&self.name)
    }

    pub fn values(&self) -> &[u64] {
        &self.values[..self.count as usize]
    }
}

/// `struct state` of `stand_in.c`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct State {
    pub devices: i32,
    pub version: i32,
    pub peers: i32,
    pub uncached: i32,
    pub maps: i32,
    pub resident: i32,
    pub gfx90a: i32,
    pub first: i32,
    pub slow_close: i32,
    test: i32,
    down: [i32; 3],
    refuse: [u8; 64],
    refuse_on: i32,
    pub refuse_after: i32,
    status: i32,
    pub live: [i64; 11],
    pub access: u32,
    pub kind: u32,
    pub loaded: u32,
    pub pairs: u32,
    launches: u32,
    launch: [Launch; 64],
}

impl State {
    /// Two devices of ROCm 7.1, everything works.
    fn new() -> Self {
        // SAFETY: numbers, of which zero is one.
        let zero: Self = unsafe { std::mem::zeroed() };
        Self { devices: 2, version: 70_151_831, peers: 1, uncached: 1, maps: 1, resident: 2, refuse_on: -1, ..zero }
    }

    /// Lets `function` fail with `status`, on one device or (-1) on all.
    pub fn refuse(&mut self, function: &str, device: i32, status: i32) {
        self.refuse[..function.len()].copy_from_slice(function.as_bytes());
        (self.refuse_on, self.status) = (device, status);
    }

    pub fn launches(&self) -> &[Launch] {
        &self.launch[..self.launches as usize]
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned()
}

/// Builds the library, with `flags` for the compiler.
fn build(name: &str, flags: &[String]) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hip/stand_in.c");
    let (library, new) = (directory.join(name), directory.join(format!("{}-{name}", std::process::id())));
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut command = Command::new(compiler);
    command.args(["-std=gnu11", "-O1", "-shared", "-fPIC", "-pthread"]).args(flags).arg(source).arg("-o").arg(&new);
    assert!(command.status().expect("a C compiler").success());
    // Another process may be loading it.
    std::fs::rename(&new, &library).unwrap();
    library
}

/// The library in which every function is there.
struct Whole {
    path: PathBuf,
    state: usize,
    library: Library,
}

static WHOLE: LazyLock<Whole> = LazyLock::new(|| {
    let path = build("libstand_in.so", &[]);
    // SAFETY: it does nothing when it is loaded.
    let library = unsafe { Library::new(&path).unwrap() };
    // SAFETY: the variable's address.
    let state = unsafe { *library.get::<*mut State>("stand_in").unwrap() } as usize;
    Whole { path, state, library }
});

/// The right to use the library: there is one, and one environment, for all tests of the process.
pub struct Turn {
    /// What the environment names.
    named: MutexGuard<'static, Option<PathBuf>>,
    state: *mut State,
}

impl Turn {
    /// Waits for the right, and lets the next run use the library as `change` makes it.
    pub fn new(change: impl FnOnce(&mut State)) -> Self {
        static NAMED: Mutex<Option<PathBuf>> = Mutex::new(None);
        let named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
        let mut turn = Self { named, state: WHOLE.state as *mut State };
        turn.name_library(&WHOLE.path);
        let mut state = State::new();
        change(&mut state);
        // SAFETY: no run is going on that could use it, except for those that have failed and are parked, or soon are.
        unsafe {
            state.test = (*turn.state).test + 1;
            turn.state.write(state);
        }
        turn
    }

    /// What the library has seen since.
    pub fn state(&self) -> State {
        // SAFETY: as above; the run has ended.
        unsafe { self.state.read() }
    }

    /// Another library in its place.
    pub fn name_library(&mut self, path: &Path) {
        *self.named = Some(path.to_owned());
        // SAFETY: this process reads the environment only through the standard library, which locks it.
        unsafe { std::env::set_var("SYMM_HIP_LIBRARY", path) };
    }

    /// The library without one of its functions in its place.
    pub fn without(&mut self, function: &str) {
        self.name_library(&build(&format!("without_{function}.so"), &[format!("-D{function}=absent_{function}")]));
    }
}

/// Kernels, as the library takes them: `write(ctx, memref<?xi64>, i32)`, the device's clock, and others that take only
/// the context.
pub fn code() -> Vec<DeviceCode> {
    let checks = "p.mlir:1:1\ti\tnever {}\0p.mlir:3:5\tiu\tindex {} is not below {}";
    let traced =
        ["block", "put", "signal set", "wait ge", "barrier", "fence release sys", "put_signal add", "wait unsigned lt"];
    let traced: Vec<_> = (2..).zip(traced).map(|(site, what)| format!("\0t.mlir:{site}:1\t\t{what}")).collect();
    let traced = traced.concat();
    let more = "meet 8\nhungry 8\n_symm_clock 8 8 8\nrecord 8\nflood 8\nstall 8\nstall_and_fail 8\n";
    let image = format!(
        "write 8 8 8 8 8 8 4\nfault 8\nfail 8\nhang 8\nsink 8\nnothing 8\n{more}\n_symm_sites\n{checks}{traced}\0\0"
    )
    .into_bytes();
    vec![DeviceCode { module: "kernels".to_owned(), image }]
}

/// The device that is current on this thread.
pub fn current() -> i32 {
    let mut device = -1;
    // SAFETY: the function stores a number.
    unsafe { (*WHOLE.library.get::<unsafe extern "C" fn(*mut i32) -> i32>("hipGetDevice").unwrap())(&raw mut device) };
    device
}

/// Makes another one current.
pub fn make_current(device: i32) {
    // SAFETY: the function takes a number.
    unsafe { (*WHOLE.library.get::<unsafe extern "C" fn(i32) -> i32>("hipSetDevice").unwrap())(device) };
}
