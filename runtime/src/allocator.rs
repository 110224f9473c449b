//! Which bytes of a heap are allocated: first fit over free runs, which merge when they touch.
//!
//! It holds offsets only. Every rank has its own copy and makes the same calls, so all copies agree.

use std::collections::BTreeMap;

use crate::error::Error;
use symm_abi::heap::HEAP_ALIGN;

/// Alignment of an allocation that asks for none, in bytes.
pub const DEFAULT_ALIGN: u64 = 256;

/// Offsets into a heap, free and taken.
#[derive(Debug)]
pub(crate) struct Allocator {
    heap: u64,
    /// Start and length of each free run; no two touch.
    free: BTreeMap<u64, u64>,
    /// Start and length of each allocation.
    taken: BTreeMap<u64, u64>,
}

impl Allocator {
    /// An allocator for a heap of `heap` bytes, the first `reserved` of which it never gives out.
    pub(crate) fn new(heap: u64, reserved: u64) -> Self {
        let free = (reserved < heap).then(|| (reserved, heap - reserved));
        Self { heap, free: free.into_iter().collect(), taken: BTreeMap::new() }
    }

    /// Takes `bytes` bytes and returns their offset, a multiple of `align` (0 means [`DEFAULT_ALIGN`]).
    ///
    /// An empty allocation takes one byte, so that every allocation has its own address.
    pub(crate) fn alloc(&mut self, bytes: u64, align: u64) -> Result<u64, Error> {
        let align = if align == 0 { DEFAULT_ALIGN } else { align };
        if !align.is_power_of_two() || align > HEAP_ALIGN {
            return Err(Error::BadAlignment { align, most: HEAP_ALIGN });
        }
        let size = bytes.max(1);
        let fit = self.free.iter().find_map(|(&run, &len)| {
            let start = run.checked_next_multiple_of(align)?;
            (start.checked_add(size)? <= run + len).then_some((run, len, start))
        });
        let (run, len, start) = fit.ok_or_else(|| self.exhausted(bytes, align))?;
        self.free.remove(&run);
        if start > run {
            self.free.insert(run, start - run);
        }
        if start + size < run + len {
            self.free.insert(start + size, run + len - start - size);
        }
        self.taken.insert(start, size);
        Ok(start)
    }

    /// Frees the allocation at `offset`; `None` when none starts there.
    pub(crate) fn free(&mut self, offset: u64) -> Option<()> {
        let bytes = self.taken.remove(&offset)?;
        let (mut start, mut end) = (offset, offset + bytes);
        if let Some((&before, &len)) = self.free.range(..offset).next_back()
            && before + len == offset
        {
            start = before;
        }
        if let Some(len) = self.free.remove(&end) {
            end += len;
        }
        self.free.insert(start, end - start);
        Some(())
    }

    fn exhausted(&self, asked: u64, align: u64) -> Error {
        Error::HeapExhausted {
            asked,
            align,
            free: self.free.values().sum(),
            largest: self.free.values().copied().max().unwrap_or(0),
            heap: self.heap,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAP: u64 = 1 << 20;
    const RESERVED: u64 = 4096;

    /// Runs and allocations tile the heap, and no two free runs touch.
    fn check(allocator: &Allocator) {
        let runs = allocator.free.iter().map(|(&at, &len)| (at, len, true));
        let taken = allocator.taken.iter().map(|(&at, &len)| (at, len, false));
        let mut all: Vec<_> = runs.chain(taken).collect();
        all.sort_unstable();
        let mut end = RESERVED;
        let mut last_free = false;
        for (at, len, free) in all {
            assert_eq!(at, end, "a hole or an overlap");
            assert!(len > 0);
            assert!(!(free && last_free), "free runs at {at} were not merged");
            (end, last_free) = (at + len, free);
        }
        assert_eq!(end, HEAP);
    }

    #[test]
    fn random_calls_never_overlap_and_always_merge() {
        for seed in 0..50 {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut allocator = Allocator::new(HEAP, RESERVED);
            let mut live = Vec::new();
            for _ in 0..400 {
                if random.u32(0..5) < 3 {
                    let align = 1 << random.u32(0..13);
                    match allocator.alloc(random.u64(0..HEAP / 24), align) {
                        Ok(offset) => {
                            assert_eq!(offset % align, 0);
                            assert!(offset >= RESERVED);
                            live.push(offset);
                        }
                        Err(error) => assert!(matches!(error, Error::HeapExhausted { .. })),
                    }
                } else if !live.is_empty() {
                    allocator.free(live.swap_remove(random.usize(0..live.len()))).unwrap();
                }
                check(&allocator);
            }
            for offset in live {
                allocator.free(offset).unwrap();
            }
            assert_eq!(allocator.alloc(HEAP - RESERVED, 1).unwrap(), RESERVED, "all of it again");
        }
    }

    #[test]
    fn exhaustion_says_how_much_is_left() {
        let mut allocator = Allocator::new(1024, 0);
        let first = allocator.alloc(256, 1).unwrap();
        allocator.alloc(256, 1).unwrap();
        allocator.free(first).unwrap();
        let message = allocator.alloc(600, 1).unwrap_err().to_string();
        for part in ["600 bytes", "aligned to 1", "768 are free", "run is 512", "1024 bytes", "--heap-size"] {
            assert!(message.contains(part), "no {part:?} in {message}");
        }
        assert!(allocator.alloc(512, 1).is_ok(), "a failed call takes nothing");
    }

    #[test]
    fn bad_arguments_are_errors() {
        let mut allocator = Allocator::new(HEAP, 0);
        for align in [3, 4 << 20, u64::MAX] {
            assert!(matches!(allocator.alloc(8, align), Err(Error::BadAlignment { .. })));
        }
        assert!(matches!(allocator.alloc(u64::MAX, 8), Err(Error::HeapExhausted { .. })));
        assert_eq!(allocator.free(0), None);
        let offset = allocator.alloc(8, 0).unwrap();
        assert_eq!(allocator.free(offset + 1), None);
        assert_eq!(allocator.free(offset), Some(()));
        assert_eq!(allocator.free(offset), None, "freed twice");
    }

    #[test]
    fn empty_allocations_have_their_own_addresses() {
        let mut allocator = Allocator::new(HEAP, 0);
        assert_ne!(allocator.alloc(0, 0).unwrap(), allocator.alloc(0, 0).unwrap());
        let mut none = Allocator::new(RESERVED, RESERVED);
        assert!(none.alloc(1, 1).is_err());
    }
}
