//! A quick answer to whether a range may have one of some places: no, or perhaps.

use crate::op::Range;

/// Bytes of a line, which has one bit for all places that are in it.
const LINE: u64 = 64;
const WORDS: usize = 64;

/// Places that were added; lines of heaps share bits.
#[derive(Debug)]
pub(crate) struct Filter {
    words: [u64; WORDS],
    /// How often it was added to what it may have.
    changes: u64,
}

impl Default for Filter {
    fn default() -> Self {
        Self { words: [0; WORDS], changes: 0 }
    }
}

impl Filter {
    /// The word of a line, and its bit in it.
    #[inline]
    fn bit(heap: u32, line: u64) -> (usize, u64) {
        let mixed = line.wrapping_add(u64::from(heap).wrapping_mul(0x9e37_79b9));
        (usize::try_from(mixed / 64).unwrap_or(0) % WORDS, 1 << (mixed % 64))
    }

    /// Adds a place.
    pub fn add(&mut self, place: Range) {
        let (first, last) = (place.start / LINE, place.end().saturating_sub(1).max(place.start) / LINE);
        for line in first..=last.min(first + 64 * WORDS as u64) {
            let (word, bit) = Self::bit(place.heap, line);
            self.changes += u64::from(self.words[word] & bit == 0);
            self.words[word] |= bit;
        }
    }

    /// A number that is another one as soon as it may have more than before.
    #[inline]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Whether one of the places may have a byte of this range.
    #[inline]
    pub fn may_have(&self, range: Range) -> bool {
        let (first, last) = (range.start / LINE, range.end().saturating_sub(1).max(range.start) / LINE);
        if first == last {
            let (word, bit) = Self::bit(range.heap, first);
            return self.words[word] & bit != 0;
        }
        let is_set = |line: u64| {
            let (word, bit) = Self::bit(range.heap, line);
            self.words[word] & bit != 0
        };
        if last - first < 64 { (first..=last).any(is_set) } else { true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_found() {
        let mut filter = Filter::default();
        let range = |heap, start, bytes| Range { heap, start, bytes };
        assert!(!filter.may_have(range(0, 0, 4096)));
        filter.add(range(1, 60, 8));
        for found in [range(1, 60, 8), range(1, 0, 4), range(1, 64, 1), range(1, 0, 1 << 20)] {
            assert!(filter.may_have(found), "{found:?}");
        }
        for other in [range(0, 60, 8), range(1, 128, 8), range(2, 0, 64)] {
            assert!(!filter.may_have(other), "{other:?}");
        }
    }
}
