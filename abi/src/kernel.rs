//! How kernels and host functions are named and called.

use std::ffi::c_void;
use std::fmt;

/// Where a block is in its grid. The C form is `symm_coords` in symm.h.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coords {
    /// Coordinates of the block.
    pub block: [i64; 3],
    /// Blocks of the grid in each dimension.
    pub grid: [i64; 3],
}

/// The word of [`Coords`] at which the grid starts.
pub const GRID_WORD: usize = 3;

/// Where a thread is, for kernels that run thread by thread under symm-check.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadCoords {
    /// Where its block is.
    pub block: Coords,
    /// Coordinates of the thread in the block.
    pub thread: [i64; 3],
    /// Threads of a block in each dimension.
    pub threads: [i64; 3],
}

/// The word of [`ThreadCoords`] at which the thread's coordinates start.
pub const THREAD_WORD: usize = 6;

/// The word of [`ThreadCoords`] at which the number of threads starts.
pub const THREADS_WORD: usize = 9;

/// A compiled kernel, called once for each block: `args` points to the values of its arguments, one pointer each.
pub type KernelFn = unsafe extern "C" fn(args: *const *const c_void, coords: *const Coords);

/// The numbers of a launch: grid x, y, z, block x, y, z, and bytes of shared memory.
pub const LAUNCH_DIMS: usize = 7;

/// The function by which a host function is called: `slots` has a pointer to each argument, then one to the place of
/// each result.
pub type EntryFn = unsafe extern "C" fn(slots: *const *mut c_void);

/// The name of a host function's entry, an [`EntryFn`].
#[must_use]
pub fn entry(function: &str) -> String {
    format!("{ENTRY}{function}")
}

/// The prefix of entries' names.
pub const ENTRY: &str = "_symm_entry_";

/// The name of a kernel's function that takes its arguments through memory, a [`KernelFn`].
#[must_use]
pub fn packed(module: &str, kernel: &str) -> String {
    format!("{PACKED}{module}_{kernel}")
}

/// The prefix of these functions' names.
pub const PACKED: &str = "_symm_kernel_";

/// A kernel's title, as a launch names it.
#[must_use]
pub fn title(module: &str, kernel: &str) -> String {
    format!("{module}::{kernel}")
}

/// The module and the kernel of a title, which may have no module.
#[must_use]
pub fn parts(title: &str) -> (&str, &str) {
    title.split_once("::").unwrap_or(("", title))
}

/// How an argument of a kernel lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// A pointer to a context table.
    Context,
    /// A scalar, a vector or a pointer.
    Value,
    /// A memref's descriptor.
    Memref {
        /// Its dimensions.
        rank: usize,
    },
}

/// What compiled code says about a kernel that it launches. As text: an optional `!`, which says that the kernel uses
/// the device barrier, an optional `~`, which says that its blocks wait for flags, then for each argument `c` for a
/// context, `v` for a plain value, `m2` for the descriptor of a memref of rank 2.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Kinds {
    /// Whether the kernel uses the device barrier.
    pub barrier: bool,
    /// Whether its blocks wait for flags.
    pub waits: bool,
    /// Its arguments.
    pub arguments: Vec<Argument>,
}

impl fmt::Display for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.barrier { "!" } else { "" })?;
        f.write_str(if self.waits { "~" } else { "" })?;
        self.arguments.iter().try_for_each(|argument| match argument {
            Argument::Context => f.write_str("c"),
            Argument::Value => f.write_str("v"),
            Argument::Memref { rank } => write!(f, "m{rank}"),
        })
    }
}

impl Kinds {
    /// Reads the text.
    #[must_use]
    pub fn parse(text: &[u8]) -> Self {
        let mut kinds = Self::default();
        for &byte in text {
            match (byte, kinds.arguments.last_mut()) {
                (b'!', _) => kinds.barrier = true,
                (b'~', _) => kinds.waits = true,
                (b'c', _) => kinds.arguments.push(Argument::Context),
                (b'm', _) => kinds.arguments.push(Argument::Memref { rank: 0 }),
                (digit @ b'0'..=b'9', Some(Argument::Memref { rank })) => {
                    *rank = *rank * 10 + usize::from(digit - b'0');
                }
                _ => kinds.arguments.push(Argument::Value),
            }
        }
        kinds
    }
}

const _: () = assert!(std::mem::offset_of!(Coords, grid) == GRID_WORD * crate::WORD_BYTES);
const _: () = assert!(std::mem::offset_of!(ThreadCoords, thread) == THREAD_WORD * crate::WORD_BYTES);
const _: () = assert!(std::mem::offset_of!(ThreadCoords, threads) == THREADS_WORD * crate::WORD_BYTES);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_read_as_they_were_written() {
        let memref = |rank| Argument::Memref { rank };
        let arguments = vec![Argument::Context, Argument::Value, memref(2), memref(10), memref(0)];
        let kinds = Kinds { barrier: true, waits: true, arguments };
        assert_eq!(kinds.to_string(), "!~cvm2m10m0");
        assert_eq!(Kinds::parse(b"!~cvm2m10m0"), kinds);
        assert_eq!(Kinds::parse(Kinds::default().to_string().as_bytes()), Kinds::default());
    }

    #[test]
    fn titles_have_two_parts() {
        assert_eq!(parts(&title("m", "k")), ("m", "k"));
        assert_eq!(parts("k"), ("", "k"));
    }
}
