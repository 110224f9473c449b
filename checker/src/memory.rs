//! The bytes of the heaps, and which of them may be accessed.

use crate::finding::Kind;
use crate::op::Range;
use std::collections::BTreeMap;

/// The most bytes of one allocation.
pub const MOST_BYTES: u64 = 1 << 32;

#[derive(Debug)]
struct Allocation {
    bytes: Vec<u8>,
    /// For each byte whether it was written; `None` where all hold something.
    written: Option<Bits>,
    is_live: bool,
}

/// A bit for each byte.
#[derive(Debug)]
struct Bits(Vec<u64>);

impl Bits {
    /// The words that have bits of these bytes, and a mask of them.
    fn words(bytes: std::ops::Range<usize>) -> impl Iterator<Item = (usize, u64)> {
        (bytes.start / 64..bytes.end.div_ceil(64)).map(move |nth| {
            let from = bytes.start.saturating_sub(64 * nth);
            let to = (bytes.end - 64 * nth).min(64);
            let ones = |bits: usize| u64::MAX.checked_shr(64 - u32::try_from(bits).unwrap_or(64)).unwrap_or(0);
            (nth, ones(to) & !ones(from))
        })
    }

    fn set(&mut self, bytes: std::ops::Range<usize>) {
        Self::words(bytes).for_each(|(nth, mask)| self.0[nth] |= mask);
    }

    fn are_set(&self, bytes: std::ops::Range<usize>) -> bool {
        Self::words(bytes).all(|(nth, mask)| self.0[nth] & mask == mask)
    }
}

/// The allocations of all heaps.
#[derive(Debug, Default)]
pub struct Memory {
    allocations: BTreeMap<(u32, u64), Allocation>,
}

impl Memory {
    /// Adds an allocation of zeros, or of bytes that nobody has written yet. What was freed there before is forgotten.
    pub fn alloc(&mut self, range: Range, zero: bool) {
        let old: Vec<_> = self
            .allocations
            .range((range.heap, 0)..(range.heap, range.end()))
            .filter(|((_, start), allocation)| start + allocation.bytes.len() as u64 > range.start)
            .map(|(&at, _)| at)
            .collect();
        for at in old {
            self.allocations.remove(&at);
        }
        let bytes = vec![0; usize::try_from(range.bytes).unwrap_or(0)];
        let written = (!zero).then(|| Bits(vec![0; bytes.len().div_ceil(64)]));
        self.allocations.insert((range.heap, range.start), Allocation { bytes, written, is_live: true });
    }

    /// Whether these bytes are an allocation, and not freed.
    #[must_use]
    pub fn has(&self, range: Range) -> bool {
        let found = self.allocations.get(&(range.heap, range.start));
        found.is_some_and(|allocation| allocation.is_live && allocation.bytes.len() as u64 == range.bytes)
    }

    /// Takes an allocation back.
    ///
    /// # Errors
    ///
    /// It is none, or not one any more.
    pub fn free(&mut self, range: Range) -> Result<(), Kind> {
        let allocation = self.allocations.get_mut(&(range.heap, range.start)).ok_or(Kind::OutOfHeap)?;
        if allocation.bytes.len() as u64 != range.bytes {
            return Err(Kind::OutOfHeap);
        }
        if std::mem::replace(&mut allocation.is_live, false) { Ok(()) } else { Err(Kind::Freed) }
    }

    /// The allocation that a range lies in, be it live or not, and where in it.
    fn find(&self, range: Range) -> Option<(&Allocation, (u32, u64), std::ops::Range<usize>)> {
        let (&at, allocation) = self.allocations.range(..=(range.heap, range.start)).next_back()?;
        if at.0 != range.heap {
            return None;
        }
        let from = usize::try_from(range.start - at.1).ok()?;
        let to = from.checked_add(usize::try_from(range.bytes).ok()?)?;
        (to <= allocation.bytes.len()).then_some((allocation, at, from..to))
    }

    /// The bytes of a range, zeros where there are none; and what is wrong with reading it.
    #[must_use]
    pub fn read(&self, range: Range) -> (Vec<u8>, Option<Kind>) {
        let Some((allocation, _, within)) = self.find(range) else {
            return (vec![0; usize::try_from(range.bytes.min(MOST_BYTES)).unwrap_or(0)], Some(Kind::OutOfHeap));
        };
        let is_there = |written: &Bits| written.are_set(within.clone());
        let kind = match &allocation.written {
            _ if !allocation.is_live => Some(Kind::Freed),
            Some(written) if !is_there(written) => Some(Kind::NeverWritten),
            _ => None,
        };
        (allocation.bytes[within].to_vec(), kind)
    }

    /// The bytes of ranges, one after the other.
    #[must_use]
    pub fn all(&self, ranges: &[Range]) -> Vec<u8> {
        ranges.iter().flat_map(|&range| self.read(range).0).collect()
    }

    /// Writes a range as long as `bytes`.
    ///
    /// # Errors
    ///
    /// What is wrong with writing there.
    pub fn write(&mut self, range: Range, bytes: &[u8]) -> Result<(), Kind> {
        let (found, at, within) = self.find(range).ok_or(Kind::OutOfHeap)?;
        if !found.is_live {
            return Err(Kind::Freed);
        }
        let allocation = self.allocations.get_mut(&at).ok_or(Kind::OutOfHeap)?;
        allocation.bytes[within.clone()].copy_from_slice(bytes);
        if let Some(written) = &mut allocation.written {
            written.set(within);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u64, bytes: u64) -> Range {
        Range { heap: 1, start, bytes }
    }

    #[test]
    fn only_live_memory_is_accessed() {
        let mut memory = Memory::default();
        memory.alloc(range(16, 8), true);
        assert_eq!(memory.write(range(20, 4), &[1, 2, 3, 4]), Ok(()));
        assert_eq!(memory.read(range(16, 8)), (vec![0, 0, 0, 0, 1, 2, 3, 4], None));
        for outside in [range(0, 4), range(22, 4), range(24, 1), Range { heap: 2, start: 20, bytes: 1 }] {
            assert_eq!(memory.write(outside, &[0; 4][..usize::try_from(outside.bytes).unwrap()]), Err(Kind::OutOfHeap));
        }
        assert_eq!(memory.free(range(16, 4)), Err(Kind::OutOfHeap));
        assert_eq!(memory.free(range(16, 8)), Ok(()));
        assert_eq!(memory.free(range(16, 8)), Err(Kind::Freed));
        assert_eq!(memory.read(range(20, 4)).1, Some(Kind::Freed));
        memory.alloc(range(8, 16), true);
        assert_eq!(memory.read(range(20, 4)), (vec![0; 4], None));
    }

    #[test]
    fn what_nobody_has_written_is_not_there() {
        let mut memory = Memory::default();
        memory.alloc(range(0, 8), false);
        assert_eq!(memory.read(range(0, 4)).1, Some(Kind::NeverWritten));
        memory.write(range(0, 4), &[1; 4]).unwrap();
        assert_eq!(memory.read(range(0, 4)).1, None);
        assert_eq!(memory.read(range(2, 4)).1, Some(Kind::NeverWritten));
    }

    #[test]
    fn each_byte_has_its_bit() {
        for (start, end) in [(0, 64), (0, 1), (63, 65), (10, 200), (128, 192), (64, 64), (5, 5)] {
            let mut bits = Bits(vec![0; 4]);
            bits.set(start..end);
            let set = |byte: usize| bits.are_set(byte..byte + 1);
            assert!((0..256).all(|byte| set(byte) == (start..end).contains(&byte)), "{start}..{end}");
            assert!(bits.are_set(start..end) && (end == start || !bits.are_set(start..end + 1)));
        }
    }
}
