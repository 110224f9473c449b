//! NVSHMEM 3.4 and later on NVIDIA's GPUs: kernels call its device functions, the host starts it, takes its memory and
//! ends it.
//!
//! The ranks are processes that have met already: rank 0 hands the others NVSHMEM's id of the run.

use std::ffi::{OsStr, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::control::ENGINE_ID_WORDS;
use crate::error::{Error, system::why};
use symm_abi::far::NVSHMEM;
use symm_abi::heap::HEAP_ALIGN;

/// The variable that names the host library, by path.
pub const LIBRARY_VARIABLE: &str = "SYMM_NVSHMEM_LIBRARY";
/// The variable that names the device library, by path.
pub const BITCODE_VARIABLE: &str = "SYMM_NVSHMEM_BITCODE";
/// What loaded code has where it calls the engine: the library fills it in.
pub(crate) const STATE: &str = "nvshmemi_device_state_d";

/// The host library's file.
const LIBRARY: &str = "libnvshmem_host.so.3";
/// The device library for all chips; newer versions have one for each instead.
const BITCODE: &str = "libnvshmem_device.bc";
/// The versions that have what is called here.
const OLDEST: (c_int, c_int) = (3, 4);
/// How to get the library.
const MEND: &str = "install it (pip install nvidia-nvshmem-cu13), or name its library in SYMM_NVSHMEM_LIBRARY";
/// Initialisation by an id.
const WITH_ID: c_uint = 1 << 3;
/// Bytes of symmetric memory beside the heap: what the library needs itself, and what aligning takes.
const MORE: u64 = 512 << 20;
/// How ranks of one host meet, where the environment says nothing; those of several meet as the library finds best.
const MEETS_BY: (&str, &str) = ("NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME", "lo");
/// How much symmetric memory there is, where it does not grow.
const MEMORY: &str = "NVSHMEM_SYMMETRIC_SIZE";
/// The folder of the wheel's libraries in Python's packages.
const WHEEL: &str = "nvidia/nvshmem/lib";

functions! {
    version = b"nvshmemx_vendor_get_version_info": fn(*mut c_int, *mut c_int, *mut c_int);
    get_id = b"nvshmemx_get_uniqueid": fn(*mut Id) -> c_int;
    set_id = b"nvshmemx_set_attr_uniqueid_args": fn(c_int, c_int, *const Id, *mut Attributes) -> c_int;
    init = b"nvshmemx_hostlib_init_attr": fn(c_uint, *mut Attributes) -> c_int;
    align = b"nvshmem_align": fn(usize, usize) -> *mut c_void;
    ptr = b"nvshmem_ptr": fn(*const c_void, c_int) -> *mut c_void;
    module_init = b"nvshmemx_cumodule_init": fn(*mut c_void) -> c_int;
    free = b"nvshmem_free": fn(*mut c_void);
    finalize = b"nvshmemx_hostlib_finalize": fn();
}

/// `nvshmemx_uniqueid_v1`.
#[repr(C)]
struct Id {
    version: c_int,
    bytes: [u8; 124],
}

/// `nvshmemx_init_attr_v1`, with `nvshmemx_init_args_v1` and `nvshmemx_uniqueid_args_v1` in it.
#[repr(C)]
struct Attributes {
    version: c_int,
    communicator: *mut c_void,
    arguments_version: c_int,
    padding: c_int,
    id_version: c_int,
    id: *const Id,
    rank: c_int,
    num_ranks: c_int,
    rest: [u64; 12],
}

const _: () = assert!(size_of::<Id>() == 8 * ENGINE_ID_WORDS);

const _: () = assert!(size_of::<Id>() == 128 && size_of::<Attributes>() == 144);

/// The version of a structure of this many bytes: the first, and its size.
const fn first(bytes: c_int) -> c_int {
    (1 << 16) + bytes
}

impl Id {
    fn new() -> Self {
        Self { version: first(128), bytes: [0; 124] }
    }
}

/// The engine, started or not.
pub(crate) struct Nvshmem {
    functions: Functions,
    /// Whether all ranks are on this host.
    one_host: bool,
    /// Never closed: its threads stay.
    #[expect(dead_code, reason = "it keeps the library open")]
    library: std::mem::ManuallyDrop<Library>,
}

impl std::fmt::Debug for Nvshmem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Nvshmem")
    }
}

fn no(reason: String) -> Error {
    Error::NoEngine(NVSHMEM, reason)
}

impl Nvshmem {
    /// Loads the library.
    pub(crate) fn load(one_host: bool) -> Result<Self, Error> {
        let path = library()?;
        let shown = path.display();
        // SAFETY: whoever installed the library, or names another, vouches for what it does when it is loaded.
        let library = unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_LOCAL) }
            .map_err(|error| no(format!("{shown} cannot be loaded ({}); {MEND}", why(&error))))?;
        let functions = Functions::find(&library)
            .map_err(|symbol| no(format!("{shown} has no {symbol}: it has to be NVSHMEM 3.4 or later")))?;
        let mut found = [0; 3];
        let [first, second, third] = &mut found;
        // SAFETY: it stores three numbers.
        unsafe { (functions.version)(first, second, third) };
        let [first, second, third] = found;
        if first != OLDEST.0 || second < OLDEST.1 {
            return Err(no(format!(
                "{shown} is NVSHMEM {first}.{second}.{third}: it has to be 3.4 or a later 3; install another one, or \
                 name its library in {LIBRARY_VARIABLE}"
            )));
        }
        Ok(Self { functions, one_host, library: std::mem::ManuallyDrop::new(library) })
    }

    fn settings(&self) -> impl Iterator<Item = (&'static str, String)> {
        let (name, value) = MEETS_BY;
        self.one_host.then(|| (name, value.to_owned())).into_iter()
    }

    /// A name for a run, by which its ranks find each other.
    pub(crate) fn new_id(&self) -> Result<[u64; ENGINE_ID_WORDS], Error> {
        set(self.settings());
        let mut id = Id::new();
        // SAFETY: it stores an id.
        let failed = unsafe { (self.functions.get_id)(&raw mut id) };
        if failed != 0 {
            return Err(no(format!("it makes no id for the run (error {failed}); NVSHMEM_DEBUG=INFO says more")));
        }
        // SAFETY: both are 128 bytes without padding.
        Ok(unsafe { std::mem::transmute::<Id, [u64; ENGINE_ID_WORDS]>(id) })
    }

    /// Starts it for a rank, whose device is current. Collective.
    pub(crate) fn start(
        &self,
        (rank, num_ranks): (u32, u32),
        id: [u64; ENGINE_ID_WORDS],
        heap_size: u64,
    ) -> Result<(), Error> {
        enough(heap_size)?;
        let memory = (MEMORY, heap_size.saturating_add(MORE).to_string());
        set(self.settings().chain([memory]));
        // SAFETY: both are 128 bytes, and an id is valid whatever bytes it has.
        let id = unsafe { std::mem::transmute::<[u64; ENGINE_ID_WORDS], Id>(id) };
        let (rank, num_ranks) = (rank.cast_signed(), num_ranks.cast_signed());
        let mut attributes = Attributes {
            version: first(144),
            communicator: std::ptr::null_mut(),
            arguments_version: first(128),
            padding: 0,
            id_version: first(24),
            id: &raw const id,
            rank,
            num_ranks,
            rest: [0; 12],
        };
        // SAFETY: structures of the library's layout, which outlive the calls.
        let failed = unsafe {
            match (self.functions.set_id)(rank, num_ranks, &raw const id, &raw mut attributes) {
                0 => (self.functions.init)(WITH_ID, &raw mut attributes),
                failed => failed,
            }
        };
        if failed == 0 {
            return Ok(());
        }
        Err(no(format!("it does not start (error {failed}); NVSHMEM_DEBUG=INFO says more")))
    }

    /// Takes symmetric memory for a heap. Collective.
    pub(crate) fn alloc(&self, bytes: u64) -> Result<u64, Error> {
        // SAFETY: it has been started, and all ranks ask for the same.
        let memory = unsafe { (self.functions.align)(HEAP_ALIGN as usize, bytes as usize) };
        if memory.is_null() {
            return Err(Error::InvalidConfig {
                what: format!("a heap of {bytes} bytes in the memory of the engine nvshmem"),
                mend: "it has not so much: make the heap smaller, or NVSHMEM_SYMMETRIC_SIZE and \
                       NVSHMEM_MAX_MEMORY_PER_GPU larger",
            });
        }
        Ok(memory as u64)
    }

    /// Where a rank's memory is mapped here, if it is.
    pub(crate) fn mapped(&self, at: u64, rank: u32) -> Option<u64> {
        // SAFETY: it answers with null for what it does not know.
        let mapped = unsafe { (self.functions.ptr)(at as *const c_void, rank.cast_signed()) };
        (!mapped.is_null()).then_some(mapped as u64)
    }

    /// Prepares loaded code, the driver's module, to call the engine.
    pub(crate) fn prepare(&self, module: usize) -> Result<(), Error> {
        // SAFETY: the module is loaded on the current device.
        let failed = unsafe { (self.functions.module_init)(module as *mut c_void) };
        if failed == 0 {
            return Ok(());
        }
        Err(no(format!(
            "it does not take the kernels (error {failed}): its device library has to be of the version of its host \
             library; name one in {BITCODE_VARIABLE}"
        )))
    }

    /// Gives back a heap and ends. Collective.
    pub(crate) fn finish(&self, heap: u64) {
        // SAFETY: the last calls; no kernel runs any more.
        unsafe {
            (self.functions.free)(heap as *mut c_void);
            (self.functions.finalize)();
        }
    }
}

/// Sets what the environment does not have.
fn set(settings: impl Iterator<Item = (&'static str, String)>) {
    for (name, value) in settings.filter(|(name, _)| std::env::var_os(name).is_none()) {
        // SAFETY: set before the library starts threads that could read the environment at the same time; whoever calls
        // `run` or `join` beside threads of its own has to set it.
        unsafe { std::env::set_var(name, value) };
    }
}

/// Refuses a heap that is larger than the memory that the user gives the engine.
fn enough(heap_size: u64) -> Result<(), Error> {
    let given = std::env::var(MEMORY).ok().and_then(|text| bytes(&text));
    match given {
        Some(given) if given < heap_size => Err(Error::InvalidConfig {
            what: format!("a heap of {heap_size} bytes with {MEMORY} of {given} bytes"),
            mend: "make the heap smaller (--heap-size), or unset the variable",
        }),
        _ => Ok(()),
    }
}

/// A number of bytes as NVSHMEM takes it, with a suffix or without.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let scale = match text[digits.len()..].chars().next().map(|letter| letter.to_ascii_lowercase()) {
        None => 1,
        Some('k') => 1 << 10,
        Some('m') => 1 << 20,
        Some('g') => 1 << 30,
        Some('t') => 1_u64 << 40,
        Some(_) => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(scale)
}

/// The host library: what [`LIBRARY_VARIABLE`] names, or the first one in the usual places and in Python's packages.
///
/// # Errors
/// [`Error::NoEngine`] where there is none.
pub fn library() -> Result<PathBuf, Error> {
    if let Some(named) = std::env::var_os(LIBRARY_VARIABLE).filter(|named| !named.is_empty()) {
        return if Path::new(&named).exists() { Ok(named.into()) } else { Err(not_there(&named, LIBRARY_VARIABLE)) };
    }
    let found = folders().into_iter().map(|folder| folder.join(LIBRARY)).find(|path| path.exists());
    found.ok_or_else(|| no(format!("{LIBRARY} is in none of the usual places; {MEND}")))
}

fn not_there(named: &OsStr, variable: &str) -> Error {
    let named = named.display();
    no(format!("{variable} names {named}, and there is no such file: name the right one, or unset {variable}"))
}

/// The device library for a chip, `sm_90`: what [`BITCODE_VARIABLE`] names, or the one beside the host library.
///
/// # Errors
/// [`Error::NoEngine`] where there is none.
pub fn bitcode(chip: &str) -> Result<PathBuf, Error> {
    if let Some(named) = std::env::var_os(BITCODE_VARIABLE).filter(|named| !named.is_empty()) {
        return if Path::new(&named).is_file() { Ok(named.into()) } else { Err(not_there(&named, BITCODE_VARIABLE)) };
    }
    let library = library().map_err(|error| match error {
        Error::NoEngine(name, reason) => {
            Error::NoEngine(name, format!("{reason}; to compile only, name its device library in {BITCODE_VARIABLE}"))
        }
        other => other,
    })?;
    let folder = library.parent().unwrap_or(Path::new("."));
    let common = folder.join(BITCODE);
    if common.exists() {
        return Ok(common);
    }
    let number = |text: &str| text.trim_end_matches(char::is_alphabetic).parse::<u32>().ok();
    let wanted = chip.strip_prefix("sm_").and_then(number).unwrap_or(0);
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let chip = number(name.strip_prefix("libnvshmem_device_sm_")?.strip_suffix(".bc")?)?;
        (chip <= wanted).then(|| (chip, entry.path()))
    });
    names.max().map(|(_, path)| path).ok_or_else(|| {
        let folder = folder.display();
        no(format!("{folder} has no device library (bitcode) for {chip}; name one in {BITCODE_VARIABLE}"))
    })
}

/// Where the library may be.
fn folders() -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let mut folders: Vec<PathBuf> = Vec::new();
    if let Some(paths) = variable("LD_LIBRARY_PATH") {
        folders.extend(std::env::split_paths(&paths));
    }
    folders.extend(variable("NVSHMEM_HOME").map(|home| PathBuf::from(home).join("lib")));
    let own = variable("VIRTUAL_ENV").map(PathBuf::from);
    let home = variable("HOME").map(|home| PathBuf::from(home).join(".local"));
    for prefix in own.into_iter().chain(home).chain(["/usr/local", "/usr", "/opt/conda"].map(PathBuf::from)) {
        for python in std::fs::read_dir(prefix.join("lib")).into_iter().flatten().flatten() {
            if python.file_name().to_string_lossy().starts_with("python3") {
                folders.extend(["site-packages", "dist-packages"].map(|kind| python.path().join(kind).join(WHEEL)));
            }
        }
    }
    folders.extend(["/usr/local/nvshmem/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64"].map(PathBuf::from));
    folders
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn sizes_are_read_as_nvshmem_reads_them() {
        let read = ["1024", "2k", "3M", "1G", "x", "5q"].map(bytes);
        assert_eq!(read, [Some(1024), Some(2048), Some(3 << 20), Some(1 << 30), None, None]);
    }

    #[test]
    fn structures_are_the_librarys() {
        assert_eq!((size_of::<Id>(), size_of::<Attributes>()), (128, 144));
        assert_eq!((offset_of!(Attributes, id_version), offset_of!(Attributes, id)), (24, 32));
    }
}
