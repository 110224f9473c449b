//! The symmetric heaps of all ranks, mapped into one range of addresses at a fixed stride.

use std::fmt::Debug;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::error::Error;
use crate::memory::{self, Range};
use symm_abi::heap::HEAP_ALIGN;
use symm_abi::table;

/// The default size of a heap: 64 MiB. Pages that no program touches cost nothing.
pub const DEFAULT_HEAP_SIZE: u64 = 64 << 20;

/// From this many bytes on, clearing returns pages to the system instead of writing zeros.
const PUNCH_FROM: u64 = 256 << 10;

/// Distance in bytes between the heaps of two neighbouring ranks (rule T5): the size, rounded up to [`HEAP_ALIGN`].
///
/// # Panics
/// When `heap_size` is within 2 MiB of `u64::MAX`.
#[must_use]
pub fn heap_stride(heap_size: u64) -> u64 {
    heap_size.checked_next_multiple_of(HEAP_ALIGN).expect("a heap smaller than the address space")
}

/// An address in some rank's heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HeapAddress {
    pub(crate) rank: u32,
    pub(crate) offset: u64,
}

/// The memory that holds the heaps, as the host reaches it.
pub(crate) trait HeapMemory: Debug + Send + Sync {
    /// The address of each rank's heap.
    fn bases(&self) -> &[u64];

    /// Whether each is [`heap_stride`] after the one before.
    fn strided(&self) -> bool;

    /// Which ranks' heaps are mapped, where an engine reaches the others (rule N1).
    fn near(&self) -> Option<&[bool]> {
        None
    }

    /// Zeroes `bytes` bytes from `offset` on in `rank`'s heap; they lie inside the heap. If that takes a wait,
    /// `meanwhile` is called, and its error ends the wait.
    fn clear(&self, rank: u32, offset: u64, bytes: u64, meanwhile: Meanwhile<'_>) -> Result<(), Error>;

    /// The value of 4 or 8 aligned bytes, zero-extended, while others write them. They lie inside a heap.
    fn read(&self, address: u64, bytes: usize) -> Option<u64>;

    /// Whether heaps of other processes are open; they must be closed before their owners may free them.
    fn has_others(&self) -> bool {
        false
    }

    /// Closes them. Where that waits for the other ranks, an error of `goes_on` ends the wait.
    fn close_others(&self, _goes_on: GoesOn<'_>) -> Result<(), Error> {
        Ok(())
    }

    /// The other processes have closed the heaps of this one.
    fn others_have_closed(&self) {}
}

/// Called now and then during a wait for the device, with whether the wait is already long.
pub(crate) type Meanwhile<'a> = &'a mut dyn FnMut(bool) -> Result<(), Error>;

/// Called now and then during a wait for the other ranks.
pub(crate) type GoesOn<'a> = &'a dyn Fn() -> Result<(), Error>;

/// Every rank's heap, as this process sees them.
#[derive(Debug)]
pub(crate) struct HeapMap {
    memory: Box<dyn HeapMemory>,
    size: u64,
    /// The distance between neighbours, where it is the same for all.
    stride: Option<u64>,
}

/// Heaps of this machine's own memory.
#[derive(Debug)]
struct Memfds {
    /// Keeps them mapped.
    _range: Range,
    bases: Vec<u64>,
    fds: Vec<OwnedFd>,
}

impl HeapMap {
    /// Creates the memory of one heap.
    pub(crate) fn create(size: u64) -> Result<OwnedFd, Error> {
        memory::create("symm-heap", size)
    }

    /// Maps the heaps `fds`, in the order of ranks, each of `size` bytes.
    pub(crate) fn map(fds: Vec<OwnedFd>, size: u64) -> Result<Self, Error> {
        let (stride, ranks) = (heap_stride(size), fds.len());
        let mut range = Range::reserve(stride.saturating_mul(ranks as u64))?;
        for (rank, fd) in fds.iter().enumerate() {
            range.map(rank as u64 * stride, fd, size)?;
        }
        let start = range.start() as u64;
        let bases = (0..ranks as u64).map(|rank| start + rank * stride).collect();
        Ok(Self::new(Box::new(Memfds { _range: range, bases, fds }), size))
    }

    /// Heaps, each of `size` bytes, in memory that is mapped already.
    pub(crate) fn new(memory: Box<dyn HeapMemory>, size: u64) -> Self {
        Self { size, stride: memory.strided().then(|| heap_stride(size)), memory }
    }

    fn bases(&self) -> &[u64] {
        self.memory.bases()
    }

    /// Bytes of each heap.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// The context table of `rank`: `[rank, num_ranks, base_0 …]`, and with an engine the reach of each rank.
    pub(crate) fn table(&self, rank: u32) -> Box<[i64]> {
        let words = [u64::from(rank), self.bases().len() as u64].into_iter().chain(self.bases().iter().copied());
        let near = self.memory.near();
        let extensions = near.into_iter().flat_map(|_| [0; table::REACH]);
        let reach = near.into_iter().flatten().zip(0..).map(|(near, rank)| table::reach(rank, *near));
        words.map(u64::cast_signed).chain(extensions).chain(reach).collect()
    }

    /// Whether a rank's heap is mapped.
    pub(crate) fn is_near(&self, rank: u32) -> bool {
        self.memory.near().is_none_or(|near| near[rank as usize])
    }

    /// Where `address` is in this process.
    pub(crate) fn pointer(&self, address: HeapAddress) -> *mut u8 {
        debug_assert!(address.offset <= self.size);
        (self.bases()[address.rank as usize] + address.offset) as *mut u8
    }

    /// Which rank's heap `address` is in.
    #[inline]
    pub(crate) fn locate(&self, address: *const u8) -> Option<HeapAddress> {
        let (bases, address) = (self.bases(), address as u64);
        let rank = match self.stride {
            Some(stride) => (address.wrapping_sub(bases[0]) / stride) as usize,
            None => bases.iter().position(|base| address.wrapping_sub(*base) < self.size)?,
        };
        let offset = address.wrapping_sub(*bases.get(rank)?);
        (offset < self.size).then_some(HeapAddress { rank: rank as u32, offset })
    }

    /// The value of a flag of `bits` bits at `address`, zero-extended; `None` where no aligned flag can be.
    pub(crate) fn peek(&self, address: HeapAddress, bits: u32) -> Option<u64> {
        let bytes = u64::from(bits / 8);
        if !matches!(bits, 32 | 64)
            || address.rank as usize >= self.bases().len()
            || !address.offset.is_multiple_of(bytes)
            || address.offset.checked_add(bytes)? > self.size
        {
            return None;
        }
        self.memory.read(self.pointer(address) as u64, bytes as usize)
    }

    /// Zeroes `bytes` bytes from `offset` on in `rank`'s heap.
    pub(crate) fn clear(&self, rank: u32, offset: u64, bytes: u64, meanwhile: Meanwhile<'_>) -> Result<(), Error> {
        assert!(offset.checked_add(bytes).is_some_and(|end| end <= self.size), "clearing outside of the heap");
        self.memory.clear(rank, offset, bytes, meanwhile)
    }

    /// The memory that holds the heaps.
    pub(crate) fn memory(&self) -> &dyn HeapMemory {
        &*self.memory
    }
}

impl HeapMemory for Memfds {
    fn bases(&self) -> &[u64] {
        &self.bases
    }

    fn strided(&self) -> bool {
        true
    }

    fn clear(&self, rank: u32, offset: u64, bytes: u64, _: Meanwhile<'_>) -> Result<(), Error> {
        let zero = |from: u64, to: u64| {
            let at = (self.bases[rank as usize] + from) as *mut u8;
            // SAFETY: inside of the mapped heap, says the caller; alloc clears before any rank knows the address.
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

    fn read(&self, address: u64, bytes: usize) -> Option<u64> {
        // SAFETY: inside of a mapped heap and aligned, says the caller; flags are accessed as atomics everywhere.
        unsafe {
            Some(match bytes {
                4 => u64::from((*(address as *const AtomicU32)).load(Ordering::Relaxed)),
                _ => (*(address as *const AtomicU64)).load(Ordering::Relaxed),
            })
        }
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
        let address = HeapAddress { rank: 1, offset: 4096 };
        assert_ne!(mine.pointer(address), peers.pointer(address));
        // SAFETY: both point into mapped heaps, and this thread alone uses them.
        unsafe {
            mine.pointer(address).write(42);
            assert_eq!(peers.pointer(address).read(), 42);
            assert_eq!(peers.pointer(HeapAddress { rank: 0, ..address }).read(), 0);
        }
    }

    #[test]
    fn addresses_are_located_and_gaps_are_in_no_heap() {
        let heaps = three(3 << 20);
        let address = HeapAddress { rank: 1, offset: 12345 };
        assert_eq!(heaps.locate(heaps.pointer(address)), Some(address));
        let base = heaps.pointer(HeapAddress { rank: 1, offset: 0 });
        assert_eq!(heaps.locate(base.wrapping_add(3 << 20)), None, "between the size and the stride");
        let start = heaps.bases()[0] as *mut u8;
        assert_eq!(heaps.locate(start.wrapping_sub(1)), None);
        assert_eq!(heaps.locate(start.wrapping_add(12 << 20)), None);
    }

    /// Heaps in any order, with anything between them, and which of them an engine has mapped.
    #[derive(Debug)]
    struct Scattered(Option<[bool; 3]>);

    impl HeapMemory for Scattered {
        fn bases(&self) -> &[u64] {
            &[9 << 30, 1 << 30, 5 << 30]
        }

        fn near(&self) -> Option<&[bool]> {
            self.0.as_ref().map(<[bool; 3]>::as_slice)
        }

        fn strided(&self) -> bool {
            false
        }

        fn clear(&self, _: u32, _: u64, _: u64, _: Meanwhile<'_>) -> Result<(), Error> {
            Ok(())
        }

        fn read(&self, _: u64, _: usize) -> Option<u64> {
            None
        }
    }

    #[test]
    fn with_an_engine_the_table_has_the_reach_of_each_rank() {
        let heaps = HeapMap::new(Box::new(Scattered(Some([false, true, false]))), 3 << 20);
        assert_eq!(*heaps.table(1), [1, 3, 9 << 30, 1 << 30, 5 << 30, 0, 0, 0, table::NEAR | 1, 2]);
    }

    #[test]
    fn heaps_without_a_stride_are_found_by_their_bases() {
        let heaps = HeapMap::new(Box::new(Scattered(None)), 3 << 20);
        assert_eq!(*heaps.table(1), [1, 3, 9 << 30, 1 << 30, 5 << 30]);
        for rank in 0..3 {
            for offset in [0, (3 << 20) - 1] {
                let address = HeapAddress { rank, offset };
                assert_eq!(heaps.locate(heaps.pointer(address)), Some(address));
            }
            let end = heaps.pointer(HeapAddress { rank, offset: 3 << 20 });
            assert_eq!((heaps.locate(end), heaps.locate(end.wrapping_sub((3 << 20) + 1))), (None, None));
        }
    }

    #[test]
    fn clear_touches_its_bytes_only() {
        let heaps = three(4 << 20);
        let at = |offset| heaps.pointer(HeapAddress { rank: 1, offset });
        for (offset, bytes) in [(5, 100), (4097, PUNCH_FROM + 12345)] {
            // SAFETY: inside the mapped heap, used by this thread alone.
            unsafe {
                at(0).write_bytes(7, 2 << 20);
                heaps.clear(1, offset, bytes, &mut |_| Ok(())).unwrap();
                let all = std::slice::from_raw_parts(at(0), 2 << 20);
                for (i, &byte) in all.iter().enumerate() {
                    let cleared = (offset..offset + bytes).contains(&(i as u64));
                    assert_eq!(byte, if cleared { 0 } else { 7 }, "at {i}");
                }
            }
        }
    }
}
