//! Shared memory: sealed memfds, and the mappings of them. All of this crate's `mmap` is here.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ops::Deref;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};

use crate::error::Error;
use symm_abi::heap::HEAP_ALIGN;

/// Creates `bytes` bytes of zeroed memory that can be sent to other processes, and whose size is sealed.
pub(crate) fn create(name: &str, bytes: u64) -> Result<OwnedFd, Error> {
    let fd = rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)
        .map_err(Error::system("create shared memory"))?;
    let sized = may_write(bytes).and_then(|()| rustix::fs::ftruncate(&fd, bytes));
    sized.map_err(Error::system(format!("make {bytes} bytes of shared memory")))?;
    rustix::fs::fcntl_add_seals(&fd, SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)
        .map_err(Error::system("seal shared memory"))?;
    Ok(fd)
}

/// Whether a file may have this many bytes. If it may not, the system would end this process with a signal.
pub(crate) fn may_write(bytes: u64) -> rustix::io::Result<()> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
    if limit.is_some_and(|limit| bytes > limit) { Err(rustix::io::Errno::FBIG) } else { Ok(()) }
}

/// Whether `fd`, which another process sent, has `bytes` bytes and will keep them, so that no access to it can fault.
pub(crate) fn is_sealed(fd: impl AsFd, bytes: u64) -> bool {
    let sized = rustix::fs::fstat(&fd).is_ok_and(|stat| u64::try_from(stat.st_size) == Ok(bytes));
    sized && rustix::fs::fcntl_get_seals(&fd).is_ok_and(|seals| seals.contains(SealFlags::SHRINK))
}

/// Zeroes `bytes` bytes of `fd` from `offset` on, and returns their pages.
pub(crate) fn punch(fd: impl AsFd, offset: u64, bytes: u64) -> Result<(), Error> {
    use rustix::fs::FallocateFlags;
    rustix::fs::fallocate(fd, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, bytes)
        .map_err(Error::system(format!("clear {bytes} bytes of shared memory")))
}

/// A range of addresses into which shared memory is mapped; unmapped when dropped.
#[derive(Debug)]
pub(crate) struct Range {
    start: NonNull<u8>,
    whole: NonNull<c_void>,
    len: usize,
}

// SAFETY: a Range owns addresses, not data; what is mapped there is shared memory, which callers access through raw
// pointers or atomics.
unsafe impl Send for Range {}
// SAFETY: as above; no method writes through the range.
unsafe impl Sync for Range {}

impl Range {
    /// Reserves `bytes` of addresses, the first a multiple of [`HEAP_ALIGN`], with nothing mapped in them.
    pub(crate) fn reserve(bytes: u64) -> Result<Self, Error> {
        let failed = || Error::system(format!("reserve {bytes} bytes of address space"));
        let too_large = || failed()(rustix::io::Errno::NOMEM);
        let len = bytes.checked_add(HEAP_ALIGN).ok_or_else(too_large)?;
        let len = usize::try_from(len).map_err(|_| too_large())?;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new mapping at an address of the kernel's choice aliases nothing.
        let whole = unsafe { rustix::mm::mmap_anonymous(ptr::null_mut(), len, ProtFlags::empty(), flags) };
        let whole = NonNull::new(whole.map_err(failed())?).expect("the kernel never maps page 0 unasked");
        let skip = whole.as_ptr().align_offset(HEAP_ALIGN as usize);
        // SAFETY: `len` has HEAP_ALIGN bytes more than asked for, so the aligned start is inside the mapping.
        let start = unsafe { whole.cast::<u8>().add(skip) };
        Ok(Self { start, whole, len })
    }

    /// Maps the first `bytes` bytes of `fd` at `offset` in the range.
    pub(crate) fn map(&mut self, offset: u64, fd: impl AsFd, bytes: u64) -> Result<(), Error> {
        let available = self.whole.as_ptr() as usize + self.len - self.start.as_ptr() as usize;
        let (at, len) = (offset as usize, bytes as usize);
        assert!(at.checked_add(len).is_some_and(|end| end <= available), "mapping outside of its range");
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the target lies in addresses this Range reserved, and `&mut self` says that nobody uses them yet.
        unsafe {
            let target = self.start.as_ptr().add(at).cast();
            rustix::mm::mmap(target, len, access, MapFlags::SHARED | MapFlags::FIXED, fd, 0)
        }
        .map_err(Error::system(format!("map {bytes} bytes of shared memory")))?;
        Ok(())
    }

    /// Maps shared memory that is already mapped at `from` a second time, at `offset` in the range.
    ///
    /// # Safety
    /// `bytes` bytes from `from` on are one mapping that can be shared.
    pub(crate) unsafe fn map_again(&mut self, offset: u64, from: *mut u8, bytes: u64) -> Result<(), Error> {
        let available = self.whole.as_ptr() as usize + self.len - self.start.as_ptr() as usize;
        let (at, len) = (offset as usize, bytes as usize);
        assert!(at.checked_add(len).is_some_and(|end| end <= available), "mapping outside of its range");
        // SAFETY: the target lies in addresses this Range reserved; with an old size of 0 the old mapping stays.
        unsafe {
            let target = self.start.as_ptr().add(at).cast();
            rustix::mm::mremap_fixed(from.cast(), 0, len, rustix::mm::MremapFlags::MAYMOVE, target)
        }
        .map_err(Error::system(format!("map {bytes} bytes of shared memory again")))?;
        Ok(())
    }

    /// First address.
    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }
}

impl Drop for Range {
    fn drop(&mut self) {
        // SAFETY: exactly what `reserve` mapped; whoever owns a Range gives out no address that outlives it.
        let unmapped = unsafe { rustix::mm::munmap(self.whole.as_ptr(), self.len) };
        debug_assert!(unmapped.is_ok());
    }
}

/// Types that may view shared, zeroed memory.
///
/// # Safety
/// Only `repr(C)` types made of atomics, aligned to at most [`HEAP_ALIGN`]: valid when all bytes are zero, and safe to
/// read while another process writes.
pub(crate) unsafe trait Shared {}

/// A header `H` and `n` areas `A` in shared memory.
#[derive(Debug)]
pub(crate) struct View<H, A> {
    range: Range,
    areas: usize,
    areas_at: usize,
    holds: PhantomData<(H, A)>,
}

impl<H: Shared, A: Shared> View<H, A> {
    /// Bytes of shared memory that a view with `areas` areas needs.
    pub(crate) fn bytes(areas: usize) -> u64 {
        (Self::areas_at() + areas * size_of::<A>()) as u64
    }

    /// Views `fd`, which holds at least [`Self::bytes`] bytes.
    pub(crate) fn map(fd: impl AsFd, areas: usize) -> Result<Self, Error> {
        let bytes = Self::bytes(areas);
        let mut range = Range::reserve(bytes)?;
        range.map(0, fd, bytes)?;
        Ok(Self { range, areas, areas_at: Self::areas_at(), holds: PhantomData })
    }

    fn areas_at() -> usize {
        size_of::<H>().next_multiple_of(align_of::<A>())
    }

    /// The areas.
    pub(crate) fn areas(&self) -> &[A] {
        // SAFETY: `map` mapped `areas` of them at this offset, `areas_at` aligns them, and `Shared` says that any
        // bytes are valid and may change under us.
        unsafe {
            let first = self.range.start().add(self.areas_at).cast::<A>();
            std::slice::from_raw_parts(first, self.areas)
        }
    }
}

impl<H: Shared, A: Shared> Deref for View<H, A> {
    type Target = H;

    fn deref(&self) -> &H {
        // SAFETY: `map` mapped it at the range's start, whose alignment is HEAP_ALIGN; `Shared` as above.
        unsafe { &*self.range.start().cast::<H>() }
    }
}

/// Copies `bytes` bytes, which may overlap.
///
/// # Safety
/// Both ranges are valid for `bytes` bytes.
pub(crate) unsafe fn copy(dst: *mut u8, src: *const u8, bytes: usize) {
    // SAFETY: the caller's promise; `copy` allows overlap and any alignment.
    unsafe { ptr::copy(src, dst, bytes) }
}

/// Splits shared memory into aligned words of 8 bytes, and the bytes before and after them.
fn parts(shared: *const u8, bytes: usize) -> (usize, usize) {
    let before = shared.align_offset(8).min(bytes);
    (before, (bytes - before) / 8)
}

/// Copies from memory that others may write at the same time: no byte and no aligned word is torn.
///
/// # Safety
/// Both ranges are valid for `bytes` bytes; nobody else uses `dst`.
pub(crate) unsafe fn read_shared(dst: *mut u8, src: *const u8, bytes: usize) {
    let (before, words) = parts(src, bytes);
    // SAFETY: inside of both ranges, which the caller vouches for; words are aligned, and all access is atomic.
    unsafe {
        for at in (0..before).chain(before + 8 * words..bytes) {
            dst.add(at).write((*src.add(at).cast::<AtomicU8>()).load(Ordering::Relaxed));
        }
        for at in (0..words).map(|word| before + 8 * word) {
            #[allow(clippy::cast_ptr_alignment, reason = "`parts` saw to it")]
            let word = (*src.add(at).cast::<AtomicU64>()).load(Ordering::Relaxed);
            dst.add(at).cast::<u64>().write_unaligned(word);
        }
    }
}

/// The same in the other direction, into such memory.
///
/// # Safety
/// Both ranges are valid for `bytes` bytes; nobody writes to `src`.
pub(crate) unsafe fn write_shared(dst: *mut u8, src: *const u8, bytes: usize) {
    let (before, words) = parts(dst, bytes);
    // SAFETY: as above.
    unsafe {
        for at in (0..before).chain(before + 8 * words..bytes) {
            (*dst.add(at).cast::<AtomicU8>()).store(src.add(at).read(), Ordering::Relaxed);
        }
        for at in (0..words).map(|word| before + 8 * word) {
            let word = src.add(at).cast::<u64>().read_unaligned();
            #[allow(clippy::cast_ptr_alignment, reason = "`parts` saw to it")]
            (*dst.add(at).cast::<AtomicU64>()).store(word, Ordering::Relaxed);
        }
    }
}

/// Writes zeros.
///
/// # Safety
/// `dst` is valid for `bytes` bytes that no other thread uses.
pub(crate) unsafe fn clear(dst: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { ptr::write_bytes(dst, 0, bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_bytes_are_copied_from_and_to_every_alignment() {
        let all: Vec<u8> = (1..=80).collect();
        for (from, to, bytes) in (0..9).flat_map(|from| (0..9).flat_map(move |to| (0..40).map(move |n| (from, to, n))))
        {
            for copy in [read_shared, write_shared] {
                let mut result = vec![0; 80];
                // SAFETY: inside of both vectors, which this thread alone uses.
                unsafe { copy(result.as_mut_ptr().add(to), all.as_ptr().add(from), bytes) };
                assert_eq!(result[to..to + bytes], all[from..from + bytes]);
                assert!(result[..to].iter().chain(&result[to + bytes..]).all(|byte| *byte == 0));
            }
        }
    }

    #[test]
    fn size_is_sealed() {
        let fd = create("test", 4096).unwrap();
        assert!(is_sealed(&fd, 4096));
        assert!(!is_sealed(&fd, 8192), "wrong size");
        assert!(rustix::fs::ftruncate(&fd, 0).is_err());
        let open = rustix::fs::memfd_create("open", MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&open, 4096).unwrap();
        assert!(!is_sealed(&open, 4096), "a peer could shrink it");
    }

    #[test]
    fn a_range_is_aligned_and_absurd_sizes_are_errors() {
        assert_eq!(Range::reserve(1).unwrap().start() as u64 % HEAP_ALIGN, 0);
        assert!(matches!(Range::reserve(u64::MAX), Err(Error::System { .. })));
        assert!(matches!(Range::reserve(1 << 60), Err(Error::System { .. })));
    }
}
