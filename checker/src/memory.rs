//! The bytes of the heaps, and which of them may be accessed.

use crate::finding::Kind;
use crate::op::Range;
use std::cell::Cell;
use std::collections::BTreeMap;

/// The most bytes of one allocation.
pub const MOST_BYTES: u64 = 1 << 32;

#[derive(Debug)]
struct Allocation {
    heap: u32,
    start: u64,
    bytes: Vec<u8>,
    /// For each byte whether it was written; `None` where all hold something.
    written: Option<Bits>,
    is_live: bool,
}

/// The heap of an allocation that is forgotten.
const NOWHERE: u32 = u32::MAX - 1;

impl Allocation {
    /// Where a range is in it, if it is.
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    fn within(&self, range: Range) -> Option<std::ops::Range<usize>> {
        let from = range.start.checked_sub(self.start).filter(|_| self.heap == range.heap)?;
        let to = from.checked_add(range.bytes).filter(|&to| to <= self.bytes.len() as u64)?;
        Some(usize::try_from(from).ok()?..usize::try_from(to).ok()?)
    }
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

    /// The only word that has bits of these bytes, and a mask of them.
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    fn word(bytes: &std::ops::Range<usize>) -> Option<(usize, u64)> {
        let (count, from) = (bytes.len(), bytes.start % 64);
        (count > 0 && from + count <= 64).then(|| (bytes.start / 64, u64::MAX >> (64 - count) << from))
    }

    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    fn set(&mut self, bytes: std::ops::Range<usize>) {
        if let Some((nth, mask)) = Self::word(&bytes) {
            self.0[nth] |= mask;
            return;
        }
        Self::words(bytes).for_each(|(nth, mask)| self.0[nth] |= mask);
    }

    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    fn are_set(&self, bytes: std::ops::Range<usize>) -> bool {
        if let Some((nth, mask)) = Self::word(&bytes) {
            return self.0[nth] & mask == mask;
        }
        Self::words(bytes).all(|(nth, mask)| self.0[nth] & mask == mask)
    }
}

/// The allocations of all heaps.
#[derive(Debug, Default)]
pub struct Memory {
    all: Vec<Allocation>,
    /// Their numbers, by heap and start.
    at: BTreeMap<(u32, u64), usize>,
    /// Those that were found last.
    recent: [Cell<usize>; RECENT],
    /// How often there were more or less of them.
    changes: u64,
}

const RECENT: usize = 16;

impl Memory {
    /// Adds an allocation of zeros, or of bytes that nobody has written yet. What was freed there before is forgotten.
    pub fn alloc(&mut self, range: Range, zero: bool) {
        self.changes += 1;
        let old: Vec<_> = self
            .at
            .range((range.heap, 0)..(range.heap, range.end()))
            .filter(|((_, start), number)| start + self.all[**number].bytes.len() as u64 > range.start)
            .map(|(&at, &number)| (at, number))
            .collect();
        for (at, number) in old {
            self.at.remove(&at);
            self.all[number] = Allocation { heap: NOWHERE, start: 0, bytes: Vec::new(), written: None, is_live: false };
        }
        let bytes = vec![0; usize::try_from(range.bytes).unwrap_or(0)];
        let written = (!zero).then(|| Bits(vec![0; bytes.len().div_ceil(64)]));
        self.at.insert((range.heap, range.start), self.all.len());
        self.all.push(Allocation { heap: range.heap, start: range.start, bytes, written, is_live: true });
    }

    /// Whether these bytes are an allocation, and not freed.
    #[must_use]
    pub fn has(&self, range: Range) -> bool {
        let found = self.at.get(&(range.heap, range.start)).map(|&number| &self.all[number]);
        found.is_some_and(|allocation| allocation.is_live && allocation.bytes.len() as u64 == range.bytes)
    }

    /// Takes an allocation back.
    ///
    /// # Errors
    ///
    /// It is none, or not one any more.
    pub fn free(&mut self, range: Range) -> Result<(), Kind> {
        self.changes += 1;
        let number = *self.at.get(&(range.heap, range.start)).ok_or(Kind::OutOfHeap)?;
        let allocation = &mut self.all[number];
        if allocation.bytes.len() as u64 != range.bytes {
            return Err(Kind::OutOfHeap);
        }
        if std::mem::replace(&mut allocation.is_live, false) { Ok(()) } else { Err(Kind::Freed) }
    }

    /// The number of the allocation that a range lies in, be it live or not, and where in it.
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    fn find(&self, range: Range) -> Option<(usize, std::ops::Range<usize>)> {
        let nth = (range.start >> 14).wrapping_add(u64::from(range.heap).wrapping_mul(5)) % RECENT as u64;
        let recent = &self.recent[usize::try_from(nth).unwrap_or(0)];
        if let Some(within) = self.all.get(recent.get()).and_then(|allocation| allocation.within(range)) {
            return Some((recent.get(), within));
        }
        let (number, within) = self.find_new(range)?;
        recent.set(number);
        Some((number, within))
    }

    #[cold]
    fn find_new(&self, range: Range) -> Option<(usize, std::ops::Range<usize>)> {
        let (_, &number) = self.at.range(..=(range.heap, range.start)).next_back()?;
        self.all[number].within(range).map(|within| (number, within))
    }

    /// The allocation that a range lies in.
    pub(crate) fn allocation(&self, range: Range) -> Option<Range> {
        let Allocation { heap, start, bytes, .. } = &self.all[self.find(range)?.0];
        Some(Range { heap: *heap, start: *start, bytes: bytes.len() as u64 })
    }

    /// A number that is another one after memory was allocated or freed.
    #[inline]
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// The live allocation that a range lies in: its number, where it starts, and those bytes of a page of the range
    /// that are in it. `None`, too, where some of these were never written.
    pub(crate) fn page_of(&self, range: Range, page: Range) -> Option<(usize, u64, Range)> {
        let (number, _) = self.find(range)?;
        let allocation = &self.all[number];
        let end = allocation.start + allocation.bytes.len() as u64;
        let start = allocation.start.max(page.start);
        let part = Range { start, bytes: end.min(page.end()) - start, ..page };
        let within = allocation.within(part)?;
        let is_written = allocation.written.as_ref().is_none_or(|written| written.are_set(within));
        (allocation.is_live && is_written).then_some((number, allocation.start, part))
    }

    /// This many bytes of an allocation from one on, if it has them; that is a multiple of their number.
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub(crate) fn bytes_of<const N: usize>(&mut self, number: usize, from: u64) -> Option<&mut [u8; N]> {
        let (chunks, _) = self.all.get_mut(number)?.bytes.as_chunks_mut();
        chunks.get_mut(usize::try_from(from).ok()? / N)
    }

    /// The bytes of a range, if there are any; and what is wrong with reading it.
    #[must_use]
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub fn view(&self, range: Range) -> (Option<&[u8]>, Option<Kind>) {
        let Some((number, within)) = self.find(range) else { return (None, Some(Kind::OutOfHeap)) };
        let allocation = &self.all[number];
        let kind = match &allocation.written {
            _ if !allocation.is_live => Some(Kind::Freed),
            Some(written) if !written.are_set(within.clone()) => Some(Kind::NeverWritten),
            _ => None,
        };
        (Some(&allocation.bytes[within]), kind)
    }

    /// The bytes of a range, zeros where there are none; and what is wrong with reading it.
    #[must_use]
    pub fn read(&self, range: Range) -> (Vec<u8>, Option<Kind>) {
        let (bytes, kind) = self.view(range);
        let zeros = || vec![0; usize::try_from(range.bytes.min(MOST_BYTES)).unwrap_or(0)];
        (bytes.map_or_else(zeros, <[u8]>::to_vec), kind)
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
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub fn write(&mut self, range: Range, bytes: &[u8]) -> Result<(), Kind> {
        let (number, within) = self.find(range).ok_or(Kind::OutOfHeap)?;
        let allocation = &mut self.all[number];
        if !allocation.is_live {
            return Err(Kind::Freed);
        }
        copy(&mut allocation.bytes[within.clone()], bytes);
        if let Some(written) = &mut allocation.written {
            written.set(within);
        }
        Ok(())
    }
}

/// Copies as many bytes; of a number in one go.
#[inline]
pub(crate) fn copy(into: &mut [u8], from: &[u8]) {
    match (into.len(), from.len()) {
        (4, 4) => into[..4].copy_from_slice(&from[..4]),
        (8, 8) => into[..8].copy_from_slice(&from[..8]),
        _ => into.copy_from_slice(from),
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
