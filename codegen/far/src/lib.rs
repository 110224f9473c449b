//! What kernels are linked with to reach far peers: those of NVSHMEM's device functions that they call, for Triton's
//! with `far.c` on top. All of NVSHMEM takes LLVM ten seconds to read, and newer versions of it an older Triton cannot.

// Unsafe code is where it is allowed by name.
#![deny(unsafe_code)]

#[expect(unsafe_code, reason = "LLVM's C interface")]
mod llvm;

use llvm::{Library, TRANSPORT_STATES};

/// `far.c`, compiled.
static FAR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/far.bc"));

/// What the functions that kernels call begin with.
const PREFIX: &[u8] = b"symm_far_";

/// What NVSHMEM's state and version on the device begin with: the host library finds them in a loaded module by name.
const STATE: &[u8] = b"nvshmemi_device_";

/// What ends a kernel that needs such a transport, and is without.
const END: &str = "symm_no_transport";

/// The variables that have NVSHMEM send from the GPU, through IBGDA and `GPUNetIO`. Without them the host sends.
const FROM_GPU: [&str; 2] = ["NVSHMEM_IB_ENABLE_IBGDA", "NVSHMEM_GPUNETIO_ENABLE_GDAKI"];

/// Whether the environment has NVSHMEM send from the GPU. If not, libraries are made without the code for it: with it
/// a small kernel takes `ptxas` seconds.
#[must_use]
pub fn sends_from_gpu() -> bool {
    // As NVSHMEM reads them.
    let is_on = |value: std::ffi::OsString| !value.to_string_lossy().starts_with(['0', 'n', 'N', 'f', 'F']);
    FROM_GPU.iter().any(|variable| std::env::var_os(variable).is_some_and(is_on))
}

/// Why there is no library.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// LLVM refuses the device library, or cannot link it.
    #[error(
        "this is no device library of NVSHMEM that LLVM 22 can read ({0}): name libnvshmem_device.bc of NVSHMEM 3.4 or \
         later in SYMM_NVSHMEM_BITCODE, or unset that"
    )]
    Llvm(String),
    /// It lacks a function that far accesses call.
    #[error("this device library of NVSHMEM has no '{0}': it has to be NVSHMEM 3.4 or later")]
    Missing(String),
}

/// The library as bitcode, from NVSHMEM's `libnvshmem_device.bc`; with what sends from the GPU where the environment
/// has it ([`sends_from_gpu`]).
///
/// # Errors
/// Those of [`Error`].
pub fn library(nvshmem: &[u8]) -> Result<Vec<u8>, Error> {
    let library = Library::new(nvshmem)?;
    library.link(FAR)?;
    only(&library, |name| name.starts_with(PREFIX))
}

/// These functions of NVSHMEM's `libnvshmem_device.bc`, and what they need, as bitcode, likewise. They are not inlined
/// into what calls them, whose registers are for near ranks.
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
    library.link(FAR)?;
    only(&library, is_wanted)
}

/// Whether this is a library as these functions return it, and has not been damaged since.
#[must_use]
pub fn is_whole(bitcode: &[u8]) -> bool {
    Library::new(bitcode).is_ok()
}

/// What is left of a library that is called from outside by some names only.
fn only(library: &Library, is_called: impl Fn(&[u8]) -> bool) -> Result<Vec<u8>, Error> {
    let from_gpu = sends_from_gpu();
    let is_state = |name: &[u8]| name.starts_with(STATE) || from_gpu && TRANSPORT_STATES.contains(&name);
    let is_kept = |name: &[u8]| is_called(name) || is_state(name) || name.starts_with(b"llvm.");
    library.keep(|name| is_kept(name) || name == END.as_bytes());
    library.drop_unused();
    if !from_gpu {
        library.leave_transports_out(END);
    }
    library.keep(is_kept);
    library.drop_unused();
    match library.undefined().into_iter().find(|name| name.starts_with("nvshmem")) {
        Some(name) => Err(Error::Missing(name)),
        None => Ok(library.bitcode()),
    }
}
