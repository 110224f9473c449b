//! Engines move data to ranks whose heaps are not mapped (rule N1). Each is a table of functions over a library that is
//! loaded on demand.

/// Functions of a library, each with its symbol.
macro_rules! functions {
    ($($field:ident = $symbol:literal: fn($($parameter:ty),*) $(-> $result:ty)?;)*) => {
        /// The library's functions.
        struct Functions {
            $($field: unsafe extern "C" fn($($parameter),*) $(-> $result)?,)*
        }

        impl Functions {
            /// Finds all of them, or says which is missing.
            fn find(library: &libloading::os::unix::Library) -> Result<Self, &'static str> {
                Ok(Self {
                    $(
                        // SAFETY: the signature is the library's.
                        $field: unsafe { *library.get($symbol).map_err(|_| {
                            str::from_utf8($symbol).unwrap_or_default()
                        })? },
                    )*
                })
            }
        }
    };
}

#[expect(unsafe_code, reason = "calls of a library that is loaded at run time")]
pub mod nvshmem;
#[expect(unsafe_code, reason = "calls of a library that is loaded at run time")]
mod openshmem;

use std::sync::Arc;

use crate::error::Error;
use crate::far::Messages;
use symm_abi::far::OPENSHMEM;

/// What every engine does. An address in this rank's symmetric memory stands for the same place on the rank that is
/// named. When a call returns, what it wrote has arrived (rule N3).
#[expect(unsafe_code, reason = "addresses whose validity the caller promises")]
pub(crate) trait Engine: Messages {
    /// Takes symmetric memory, aligned to [`symm_abi::heap::HEAP_ALIGN`], at the same place on every rank; `None` where
    /// there is too little. Collective.
    fn alloc(&self, bytes: u64) -> Option<*mut u8>;

    /// What a user can do where there is too little.
    fn mend_of_memory(&self) -> &'static str;

    /// The address at which a rank's memory is mapped here, if it is.
    fn mapped(&self, at: *mut u8, rank: u32) -> Option<*mut u8>;

    /// Copies to a rank.
    ///
    /// # Safety
    /// `from` is valid for `bytes` bytes, and `at` is in symmetric memory for as many.
    unsafe fn put(&self, rank: u32, at: *mut u8, from: *const u8, bytes: usize);

    /// Copies from a rank.
    ///
    /// # Safety
    /// `to` is valid for `bytes` bytes, and `at` is in symmetric memory for as many.
    unsafe fn get(&self, rank: u32, to: *mut u8, at: *const u8, bytes: usize);

    /// Updates an aligned value of 4 or 8 bytes atomically; returns the old one. It compares and swaps 8 bytes only:
    /// Open MPI 4.1's
    /// `shmem_int_atomic_compare_swap` writes 8 bytes to 4 of its stack.
    ///
    /// # Safety
    /// `at` is in symmetric memory.
    unsafe fn update(&self, rank: u32, at: *mut u8, bytes: usize, update: Native) -> u64;

    /// Makes progress: what others do to this rank's memory happens.
    fn progress(&self);

    /// Waits for all ranks to arrive.
    fn meet(&self);

    /// Ends this process, and the run if others are still in it.
    fn exit(&self, code: i32) -> !;
}

/// The atomic updates of engines.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Native {
    /// Adds.
    Add(u64),
    /// Replaces.
    Set(u64),
    /// Replaces the first by the second.
    Swap(u64, u64),
}

/// Starts an engine, with this much symmetric memory for each rank. The launcher of the ranks tells it who they are.
pub(crate) fn start(name: &str, bytes: u64) -> Result<Arc<dyn Engine>, Error> {
    match name {
        OPENSHMEM => Ok(Arc::new(openshmem::OpenShmem::start(bytes)?)),
        other => {
            let what = format!("an engine '{other}'");
            Err(Error::InvalidConfig { what, mend: "on CPUs there is the engine openshmem" })
        }
    }
}
