//! The symmetric heaps of all ranks, mapped into one range of addresses at a fixed stride.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::error::Error;
use crate::memory::{self, HEAP_ALIGN, Range};

/// Bytes at the start of every heap that belong to symm itself: the flags of the device barrier. Zero at the start.
pub const SIGNAL_PAD_BYTES: u64 = 2 << 20;

/// Size of a heap when nothing else is asked for: 64 MiB. Pages that no program touches cost nothing.
pub const DEFAULT_HEAP_SIZE: u64 = 64 << 20;

/// From this many bytes on, clearing gives pages back to the system instead of writing zeros.
const PUNCH_FROM: u64 = 256 << 10;

/// Distance in bytes between the heaps of two neighbouring ranks (rule T5): the size, rounded up to [`HEAP_ALIGN`].
///
/// # Panics
/// When `heap_size` is within 2 MiB of `u64::MAX`.
#[must_use]
pub fn heap_stride(heap_size: u64) -> u64 {
    heap_size.checked_next_multiple_of(HEAP_ALIGN).expect("a heap smaller than the address space")
}

/// Most blocks of one rank that may use the device barrier.
///
/// Block `b` owns the u64 words from `b * (num_ranks + 1)` on in the signal pad: an epoch, then a flag per rank.
#[must_use]
pub fn max_barrier_blocks(num_ranks: u32) -> u64 {
    SIGNAL_PAD_BYTES / 8 / (u64::from(num_ranks) + 1)
}

/// A place in some rank's heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HeapAddress {
    pub(crate) rank: u32,
    pub(crate) offset: u64,
}

/// Every rank's heap, as this process sees them.
#[derive(Debug)]
pub(crate) struct HeapMap {
    range: Range,
    start: u64,
    size: u64,
    stride: u64,
    fds: Vec<OwnedFd>,
}

impl HeapMap {
    /// Creates the memory of one heap.
    pub(crate) fn create(size: u64) -> Result<OwnedFd, Error> {
        memory::create("symm-heap", size)
    }

    /// Maps the heaps `fds`, in the order of ranks, each of `size` bytes.
    pub(crate) fn map(fds: Vec<OwnedFd>, size: u64) -> Result<Self, Error> {
        let stride = heap_stride(size);
        let total = stride.saturating_mul(fds.len() as u64);
        let mut range = Range::reserve(total)?;
        for (rank, fd) in fds.iter().enumerate() {
            range.map(rank as u64 * stride, fd, size)?;
        }
        Ok(Self { start: range.start() as u64, range, size, stride, fds })
    }

    /// Bytes of each heap.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// The context table of `rank`: `[rank, num_ranks, base_0 …]`.
    pub(crate) fn table(&self, rank: u32) -> Box<[i64]> {
        let ranks = self.fds.len() as u64;
        let bases = (0..ranks).map(|r| self.start + r * self.stride);
        [u64::from(rank), ranks].into_iter().chain(bases).map(u64::cast_signed).collect()
    }

    /// The address of `place` in this process.
    pub(crate) fn pointer(&self, place: HeapAddress) -> *mut u8 {
        debug_assert!(place.offset <= self.size);
        self.range.start().wrapping_add((u64::from(place.rank) * self.stride + place.offset) as usize)
    }

    /// Which rank's heap `address` is in.
    #[inline]
    pub(crate) fn locate(&self, address: *const u8) -> Option<HeapAddress> {
        let from_start = (address as u64).wrapping_sub(self.start);
        let rank = from_start / self.stride;
        let offset = from_start % self.stride;
        let inside = rank < self.fds.len() as u64 && offset < self.size;
        inside.then_some(HeapAddress { rank: rank as u32, offset })
    }

    #[allow(clippy::cast_ptr_alignment, reason = "the alignment is checked first")]
    /// The value of a flag of `bits` bits at `place`, zero-extended; `None` where no aligned flag can be.
    pub(crate) fn peek(&self, place: HeapAddress, bits: u32) -> Option<u64> {
        let bytes = u64::from(bits / 8);
        if !matches!(bits, 32 | 64)
            || place.rank as usize >= self.fds.len()
            || !place.offset.is_multiple_of(bytes)
            || place.offset.checked_add(bytes)? > self.size
        {
            return None;
        }
        let at = self.pointer(place);
        // SAFETY: inside a mapped heap and aligned, by the checks above; flags are accessed as atomics everywhere.
        unsafe {
            Some(match bits {
                32 => u64::from((*at.cast::<AtomicU32>()).load(Ordering::Relaxed)),
                _ => (*at.cast::<AtomicU64>()).load(Ordering::Relaxed),
            })
        }
    }

    /// Makes `bytes` from `offset` on in `rank`'s heap read as zero.
    pub(crate) fn clear(&self, rank: u32, offset: u64, bytes: u64) -> Result<(), Error> {
        assert!(offset.checked_add(bytes).is_some_and(|end| end <= self.size), "clearing outside of the heap");
        let zero = |from: u64, to: u64| {
            let at = self.pointer(HeapAddress { rank, offset: from });
            // SAFETY: inside the mapped heap by the assertion above; alloc clears before any rank knows the address.
            unsafe { memory::clear(at, (to - from) as usize) }
        };
        let end = offset + bytes;
        let page = rustix::param::page_size() as u64;
        let (first, last) = (offset.next_multiple_of(page), end - end % page);
        if bytes < PUNCH_FROM {
            zero(offset, end);
            return Ok(());
        }
        zero(offset, first);
        zero(last, end);
        memory::punch(self.fds[rank as usize].as_fd(), first, last - first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three(size: u64) -> HeapMap {
        HeapMap::map((0..3).map(|_| HeapMap::create(size).unwrap()).collect(), size).unwrap()
    }

    #[test]
    fn stride_is_the_size_rounded_up() {
        assert_eq!(heap_stride(1), 2 << 20);
        assert_eq!(heap_stride(64 << 20), 64 << 20);
        assert_eq!(heap_stride((64 << 20) + 1), 66 << 20);
    }

    #[test]
    fn table_bases_are_strided_and_aligned() {
        let table = three(3 << 20).table(2);
        assert_eq!(table[..2], [2, 3]);
        assert_eq!(table[3] - table[2], 4 << 20);
        assert_eq!(table[4] - table[3], 4 << 20);
        assert!(table[2..].iter().all(|base| base % (2 << 20) == 0));
    }

    #[test]
    fn a_peers_mapping_is_the_same_memory() {
        let fds: Vec<_> = (0..2).map(|_| HeapMap::create(2 << 20).unwrap()).collect();
        let copies = fds.iter().map(|fd| fd.try_clone().unwrap()).collect();
        let (mine, peers) = (HeapMap::map(fds, 2 << 20).unwrap(), HeapMap::map(copies, 2 << 20).unwrap());
        let place = HeapAddress { rank: 1, offset: 4096 };
        assert_ne!(mine.pointer(place), peers.pointer(place));
        // SAFETY: both point into mapped heaps, and this thread alone uses them.
        unsafe {
            mine.pointer(place).write(42);
            assert_eq!(peers.pointer(place).read(), 42);
            assert_eq!(peers.pointer(HeapAddress { rank: 0, ..place }).read(), 0);
        }
    }

    #[test]
    fn addresses_are_located_and_gaps_are_in_no_heap() {
        let heaps = three(3 << 20);
        let place = HeapAddress { rank: 1, offset: 12345 };
        assert_eq!(heaps.locate(heaps.pointer(place)), Some(place));
        let base = heaps.pointer(HeapAddress { rank: 1, offset: 0 });
        assert_eq!(heaps.locate(base.wrapping_add(3 << 20)), None, "between the size and the stride");
        assert_eq!(heaps.locate(heaps.range.start().wrapping_sub(1)), None);
        assert_eq!(heaps.locate(heaps.range.start().wrapping_add(12 << 20)), None);
    }

    #[test]
    fn clear_touches_its_bytes_only() {
        let heaps = three(4 << 20);
        let at = |offset| heaps.pointer(HeapAddress { rank: 1, offset });
        for (offset, bytes) in [(5, 100), (4097, PUNCH_FROM + 12345)] {
            // SAFETY: inside the mapped heap, used by this thread alone.
            unsafe {
                at(0).write_bytes(7, 2 << 20);
                heaps.clear(1, offset, bytes).unwrap();
                let all = std::slice::from_raw_parts(at(0), 2 << 20);
                for (i, &byte) in all.iter().enumerate() {
                    let cleared = (offset..offset + bytes).contains(&(i as u64));
                    assert_eq!(byte, if cleared { 0 } else { 7 }, "at {i}");
                }
            }
        }
    }

    #[test]
    fn barrier_blocks_fit_the_pad() {
        assert_eq!(max_barrier_blocks(1), 131_072);
        assert_eq!(max_barrier_blocks(64), 4032);
        assert!(max_barrier_blocks(64) * 65 * 8 <= SIGNAL_PAD_BYTES);
    }
}
