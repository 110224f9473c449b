//! NVSHMEM's device library, which kernels are linked with that call it: trimmed to what far accesses call, which takes
//! ten seconds, and kept on disk by the library's file and the functions.

use crate::{Error, LlvmModule};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use symm_passes::nvshmem;

/// What all of it refers to.
const STATE: &str = "nvshmemi_device_state_d";
/// What the symbols of the library begin with.
const PREFIX: &str = "nvshmem";
/// The variable that names the folder of trimmed libraries; otherwise it is in the user's cache.
const CACHE_VARIABLE: &str = "SYMM_CACHE";
/// Grows whenever what trimming does changes.
const FORMAT: u32 = 3;

/// A device library, trimmed.
#[derive(Clone, Debug)]
pub struct DeviceLibrary {
    bitcode: Vec<u8>,
}

impl DeviceLibrary {
    /// Reads a library, `libnvshmem_device.bc`, or what was kept of it.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Llvm`] if it is no bitcode, [`Error::NotNvshmem`] if it lacks a function.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Read { path: path.to_owned(), source };
        let cached = cached(path).map_err(failed)?;
        if let Some(bitcode) = cached.as_ref().and_then(|cached| std::fs::read(cached).ok()) {
            return Ok(Self { bitcode });
        }
        let bitcode = trim(&std::fs::read(path).map_err(failed)?)?;
        if let Some(cached) = cached {
            // Without it the next program takes as long as this one.
            let _ = keep(&cached, &bitcode);
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

/// Leaves what far accesses call, and what that needs.
fn trim(bitcode: &[u8]) -> Result<Vec<u8>, Error> {
    symm_far::trimmed(bitcode, &nvshmem::symbols()).map_err(|error| match error {
        symm_far::Error::Missing(symbol) => Error::NotNvshmem { symbol },
        error @ symm_far::Error::Llvm(_) => Error::Llvm(error.to_string()),
    })
}

/// Where what is left of a library is kept; `None` where there is no folder for it.
fn cached(path: &Path) -> std::io::Result<Option<PathBuf>> {
    let known = std::fs::metadata(path)?;
    let changed = known.modified()?.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    let mut hasher = DefaultHasher::new();
    (FORMAT, path.canonicalize()?, known.len(), changed, nvshmem::symbols()).hash(&mut hasher);
    let name = format!("nvshmem-{:016x}.bc", hasher.finish());
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let users = || variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")));
    let folder = variable(CACHE_VARIABLE).or_else(|| users().map(|cache| cache.join("symm")));
    Ok(folder.map(|folder| folder.join(name)))
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
