//! How a heap is cut into cells.

use super::cells::{Cell, Cells, EMPTY};
use crate::op::Range;
use std::collections::BTreeMap;

/// Bytes of a page, a power of two.
const PAGE: u64 = 512;
/// Where the last page begins, which no allocation reaches.
pub(super) const LAST: u64 = u64::MAX - (PAGE - 1);

/// A grid of cells.
#[derive(Debug)]
pub(super) struct Stretch {
    pub end: u64,
    pub cells: Box<[Cell]>,
}

impl Stretch {
    /// Bytes of each cell, of a stretch that begins there.
    pub fn grain(&self, from: u64) -> u64 {
        (self.end - from) / self.cells.len() as u64
    }

    /// The cells between two bytes, which cells begin and end at where they are in the stretch.
    pub fn within(&self, from: u64, start: u64, end: u64) -> std::ops::Range<usize> {
        let grain = self.grain(from);
        let number = |at: u64| usize::try_from((at.clamp(from, self.end) - from) / grain).unwrap_or(0);
        number(start)..number(end)
    }
}

/// Stretches of one heap.
pub(super) struct Heap<'s> {
    pub number: u32,
    pub stretches: &'s mut BTreeMap<u64, Stretch>,
    pub cells: &'s mut Cells,
}

impl Heap<'_> {
    /// Makes cells between two bytes that begin and end there. Returns where the first of their stretches begins.
    pub fn cut(&mut self, start: u64, end: u64) -> u64 {
        if let Some((&from, stretch)) = self.stretches.range(..=start).next_back()
            && stretch.end >= end
        {
            let (grain, is_whole) = (stretch.grain(from), (from, stretch.end) == (start, end));
            if is_whole || (start - from).is_multiple_of(grain) && (end - from).is_multiple_of(grain) {
                return from;
            }
        }
        self.fill(start - start % PAGE, end.next_multiple_of(PAGE));
        self.split(start);
        self.split(end);
        self.first(start)
    }

    /// Where the stretch begins that has a byte, else that byte.
    pub fn first(&self, at: u64) -> u64 {
        self.stretches.range(..=at).next_back().filter(|(_, stretch)| stretch.end > at).map_or(at, |(&from, _)| from)
    }

    /// Makes stretches where there are none between two pages.
    fn fill(&mut self, start: u64, end: u64) {
        let before = self.stretches.range(..=start).next_back();
        let mut at = before.map_or(start, |(_, stretch)| stretch.end.max(start));
        let mut gaps = Vec::new();
        for (&next, stretch) in self.stretches.range(at..end.max(at)) {
            gaps.push((at, next));
            at = stretch.end;
        }
        gaps.push((at, end));
        for (from, to) in gaps.into_iter().filter(|(from, to)| from < to) {
            self.stretches.insert(from, Stretch { end: to, cells: Box::new([EMPTY]) });
        }
    }

    /// Makes cells that end and begin at a byte, where a stretch has it inside.
    pub fn split(&mut self, at: u64) {
        let Some((&from, stretch)) = self.stretches.range(..at).next_back() else { return };
        let (end, page) = (stretch.end, at - at % PAGE);
        if end <= at {
            return;
        }
        if end - from > PAGE {
            let is_inside = |cut: &u64| from < *cut && *cut < end;
            [Some(page), (at > page).then_some(page + PAGE)]
                .into_iter()
                .flatten()
                .filter(is_inside)
                .for_each(|cut| self.halve(cut));
        }
        if at > page {
            self.refine(page, at);
        }
    }

    /// Makes two stretches of one that has one cell.
    fn halve(&mut self, at: u64) {
        let Self { number: heap, stretches, cells } = self;
        let Some((&from, stretch)) = stretches.range_mut(..at).next_back() else { return };
        let bytes = Range { heap: *heap, start: from, bytes: stretch.end - from };
        let entries = cells.share(&mut stretch.cells[0], bytes);
        let rest = cells.copy(stretch.cells[0], &entries);
        let end = std::mem::replace(&mut stretch.end, at);
        stretches.insert(at, Stretch { end, cells: Box::new([rest]) });
    }

    /// Gives a page cells so small that one begins at a byte of it.
    fn refine(&mut self, page: u64, at: u64) {
        let Self { number: heap, stretches, cells } = self;
        let Some(stretch) = stretches.get_mut(&page) else { return };
        let (bytes, grain) = (stretch.grain(page), 1 << (at - page).trailing_zeros());
        if grain >= bytes {
            return;
        }
        let mut finer = Vec::with_capacity(stretch.cells.len() * usize::try_from(bytes / grain).unwrap_or(1));
        for (nth, cell) in stretch.cells.iter_mut().enumerate() {
            let range = Range { heap: *heap, start: page + nth as u64 * bytes, bytes };
            let entries = cells.share(cell, range);
            finer.push(*cell);
            finer.extend((1..bytes / grain).map(|_| cells.copy(*cell, &entries)));
        }
        stretch.cells = finer.into();
    }
}
