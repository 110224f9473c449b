//! What kernels are linked with to reach far peers: those of NVSHMEM's device functions that they call, for Triton's
//! with `far.c` on top. All of NVSHMEM takes LLVM ten seconds to read, and newer versions of it an older Triton cannot.

// Unsafe code is where it is allowed by name.
#![deny(unsafe_code)]

#[expect(unsafe_code, reason = "LLVM's C interface")]
mod llvm;

use llvm::Library;

/// `far.c`, compiled.
static FAR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/far.bc"));

/// What the functions that kernels call begin with.
const PREFIX: &[u8] = b"symm_far_";

/// What NVSHMEM's state and version on the device begin with: the host library finds them in a loaded module by name.
const STATE: &[u8] = b"nvshmemi_device_";

/// Why there is no library.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// LLVM refuses the device library, or cannot link it.
    #[error("this is no device library of NVSHMEM that LLVM 22 can read: {0}")]
    Llvm(String),
    /// It lacks a function that far accesses call.
    #[error("the device library of NVSHMEM has no '{0}': it has to be NVSHMEM 3.4 or later")]
    Missing(String),
}

/// The library as bitcode, from NVSHMEM's `libnvshmem_device.bc`.
///
/// # Errors
/// Those of [`Error`].
pub fn library(nvshmem: &[u8]) -> Result<Vec<u8>, Error> {
    let library = Library::new(nvshmem)?;
    library.link(FAR)?;
    only(&library, |name| name.starts_with(PREFIX))
}

/// These functions of NVSHMEM's `libnvshmem_device.bc`, and what they need, as bitcode. They are not inlined into what
/// calls them, whose registers are for near ranks.
///
/// # Errors
/// Those of [`Error`].
pub fn trimmed(nvshmem: &[u8], wanted: &[&str]) -> Result<Vec<u8>, Error> {
    let library = Library::new(nvshmem)?;
    let defined = library.defined();
    if let Some(name) = wanted.iter().find(|name| !defined.contains(**name)) {
        return Err(Error::Missing((*name).to_owned()));
    }
    let is_wanted = |name: &[u8]| wanted.iter().any(|wanted| wanted.as_bytes() == name);
    library.set_apart(is_wanted);
    only(&library, is_wanted)
}

/// What is left of a library that is called from outside by some names only.
fn only(library: &Library, is_called: impl Fn(&[u8]) -> bool) -> Result<Vec<u8>, Error> {
    library.keep(|name| is_called(name) || name.starts_with(STATE) || name.starts_with(b"llvm."));
    library.drop_unused();
    match library.undefined().into_iter().find(|name| name.starts_with("nvshmem")) {
        Some(name) => Err(Error::Missing(name)),
        None => Ok(library.bitcode()),
    }
}
