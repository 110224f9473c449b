//! NVSHMEM's device library, which kernels are linked with that call it: trimmed to what far accesses call, which takes
//! ten seconds, and kept on disk by the library's file and the functions.

use crate::{Error, LlvmModule};
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, UNIX_EPOCH};
use symm_passes::nvshmem;

/// What all of it refers to.
const STATE: &str = "nvshmemi_device_state_d";
/// What the symbols of the library begin with.
const PREFIX: &str = "nvshmem";
/// The variable that names the folder of trimmed libraries; otherwise it is in the user's cache.
const CACHE_VARIABLE: &str = "SYMM_CACHE";
/// After so long a user is told what takes the time.
const LONG: Duration = Duration::from_secs(1);
/// Grows whenever what trimming does changes.
const FORMAT: u32 = 4;

/// A device library, trimmed.
#[derive(Clone, Debug)]
pub struct DeviceLibrary {
    bitcode: Vec<u8>,
}

impl DeviceLibrary {
    /// Reads a library, `libnvshmem_device.bc`, or what was kept of it. If it has to be trimmed first, and that takes
    /// more than a second, `say` is told what is being done, and afterwards if the result could not be kept. Of several
    /// processes that need it at the same time one trims it, and the others wait.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::NotNvshmem`] if it is no bitcode or lacks a function.
    pub fn read(path: &Path, say: impl Fn(&str) + Sync) -> Result<Self, Error> {
        let failed = |source| Error::Read { path: path.to_owned(), source };
        let cached = cached(path).map_err(failed)?;
        let kept = || std::fs::read(cached.as_ref()?).ok().filter(|bitcode| symm_far::is_whole(bitcode));
        if let Some(bitcode) = kept() {
            return Ok(Self { bitcode });
        }
        // Where there can be no lock each makes its own.
        let _lock = cached.as_ref().and_then(|cached| locked(&cached.with_extension("lock")).ok());
        if let Some(bitcode) = kept() {
            return Ok(Self { bitcode });
        }
        let whole = std::fs::read(path).map_err(failed)?;
        let shown = path.display();
        let doing = format!("trimming {shown} to what kernels call, once, which takes some seconds");
        let trimmed = if_long(|| say(&doing), || symm_far::trimmed(&whole, &nvshmem::symbols()));
        let bitcode = trimmed.map_err(|why| Error::NotNvshmem { path: path.to_owned(), why })?;
        if let Some((cached, Err(error))) = cached.as_ref().map(|cached| (cached, keep(cached, &bitcode))) {
            let cached = cached.display();
            say(&format!(
                "{cached} cannot be written ({error}), so the next program takes as long: set {CACHE_VARIABLE}"
            ));
        }
        Ok(Self { bitcode })
    }

    /// Whether kernels have the engine's code.
    pub(crate) fn is_linked(kernels: &LlvmModule) -> bool {
        kernels.module.get_global(STATE).is_some()
    }

    /// Adds it to kernels that call it.
    pub(crate) fn link_into(library: Option<&Self>, kernels: &LlvmModule) -> Result<(), Error> {
        let is_called = |name: &str| name.starts_with(PREFIX);
        let mut functions = kernels.module.get_functions();
        let calls = functions
            .any(|function| function.count_basic_blocks() == 0 && is_called(&function.get_name().to_string_lossy()));
        if !calls {
            return Ok(());
        }
        let library = library.ok_or(Error::NoDeviceLibrary)?;
        kernels.link(&library.bitcode)
    }
}

/// Does something, and says so after a while.
fn if_long<T>(say: impl FnOnce() + Send, work: impl FnOnce() -> T) -> T {
    let (done, waits) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if waits.recv_timeout(LONG) == Err(RecvTimeoutError::Timeout) {
                say();
            }
        });
        let result = work();
        drop(done);
        result
    })
}

/// Where what is left of a library is kept; `None` where there is no folder for it.
fn cached(path: &Path) -> std::io::Result<Option<PathBuf>> {
    let known = std::fs::metadata(path)?;
    let changed = known.modified()?.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    let mut hasher = DefaultHasher::new();
    let file = (path.canonicalize()?, known.len(), changed);
    (FORMAT, file, nvshmem::symbols(), symm_far::sends_from_gpu()).hash(&mut hasher);
    let name = format!("nvshmem-{:016x}.bc", hasher.finish());
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let users = || variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")));
    let folder = variable(CACHE_VARIABLE).or_else(|| users().map(|cache| cache.join("symm")));
    Ok(folder.map(|folder| folder.join(name)))
}

/// A file that one process at a time has locked, until it closes it or ends.
fn locked(path: &Path) -> std::io::Result<File> {
    std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    let file = File::options().append(true).create(true).open(path)?;
    file.lock()?;
    Ok(file)
}

/// Writes a file that others may be looking for at the same time.
fn keep(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    std::io::Write::write_all(&mut file, bytes)?;
    file.persist(path)?;
    Ok(())
}
