//! How a heap is cut into cells.

use super::cells::{Cells, EMPTY, Slots};
use crate::op::Range;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Bytes of a page, a power of two.
pub(crate) const PAGE: u64 = 512;
/// Where the last page begins, which no allocation reaches.
pub(super) const LAST: u64 = u64::MAX - (PAGE - 1);

/// A grid of cells.
#[derive(Debug)]
pub(super) struct Stretch {
    pub end: u64,
    /// Bytes of each cell.
    pub grain: u64,
    /// The number of its cells, which lie one after the other.
    pub grid: usize,
}

impl Stretch {
    /// The cells between two bytes, which cells begin and end at where they are in the stretch, which begins at `from`.
    pub fn within(&self, from: u64, start: u64, end: u64) -> std::ops::Range<usize> {
        let number = |at: u64| usize::try_from((at.clamp(from, self.end) - from) / self.grain).unwrap_or(0);
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
            let (grain, is_whole) = (stretch.grain, (from, stretch.end) == (start, end));
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
            let grid = self.cells.new_grid(Rc::new([Slots::new(EMPTY)]));
            self.stretches.insert(from, Stretch { end: to, grain: to - from, grid });
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
        let mut cell = cells.grids[stretch.grid][0].get();
        let entries = cells.share(&mut cell, bytes);
        cells.grids[stretch.grid][0].set(cell);
        let rest = cells.copy(cell, &entries);
        let end = std::mem::replace(&mut stretch.end, at);
        stretch.grain = at - from;
        let grid = cells.new_grid(Rc::new([Slots::new(rest)]));
        stretches.insert(at, Stretch { end, grain: end - at, grid });
    }

    /// Gives a page cells so small that one begins at a byte of it.
    fn refine(&mut self, page: u64, at: u64) {
        let Self { number: heap, stretches, cells } = self;
        let Some(stretch) = stretches.get_mut(&page) else { return };
        let (bytes, grain) = (stretch.grain, 1 << (at - page).trailing_zeros());
        if grain >= bytes {
            return;
        }
        let coarser = std::mem::take(&mut cells.grids[stretch.grid]);
        let mut finer = Vec::with_capacity(coarser.len() * usize::try_from(bytes / grain).unwrap_or(1));
        for (nth, cell) in coarser.iter().enumerate() {
            let range = Range { heap: *heap, start: page + nth as u64 * bytes, bytes };
            let mut cell = cell.get();
            let entries = cells.share(&mut cell, range);
            finer.push(Slots::new(cell));
            finer.extend((1..bytes / grain).map(|_| Slots::new(cells.copy(cell, &entries))));
        }
        cells.grids[stretch.grid] = finer.into();
        stretch.grain = grain;
        cells.recent.forget(*heap, page);
    }
}

/// Pages that were accessed last, whose cells are small.
#[derive(Debug)]
pub(super) struct Recent {
    pages: [Page; RECENT],
    /// How often the cells of a page were replaced.
    pub replaced: u64,
}

const RECENT: usize = 256;

/// A page, and the number of its cells.
#[derive(Debug, Clone, Copy)]
struct Page {
    heap: u32,
    shift: u32,
    start: u64,
    grid: usize,
}

const NO_PAGE: Page = Page { heap: 0, shift: 0, start: u64::MAX, grid: 0 };

impl Default for Recent {
    fn default() -> Self {
        Self { pages: [NO_PAGE; RECENT], replaced: 0 }
    }
}

impl Recent {
    #[inline]
    fn nth(heap: u32, start: u64) -> usize {
        let mixed = (start / PAGE).wrapping_add(u64::from(heap).wrapping_mul(37));
        usize::try_from(mixed % RECENT as u64).unwrap_or(0)
    }

    /// The number of the cells that one is among, and of that one in them, whose bytes are these.
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub fn cell(&self, range: Range) -> Option<(usize, usize)> {
        let start = range.start - range.start % PAGE;
        let page = self.pages[Self::nth(range.heap, start)];
        let offset = range.start - start;
        let is_one = range.bytes == 1 << page.shift && offset & (range.bytes - 1) == 0;
        let is_it = page.start == start && page.heap == range.heap && is_one;
        is_it.then(|| (page.grid, usize::try_from(offset >> page.shift).unwrap_or(0)))
    }

    /// Notes where the cells of a stretch are, if it is a page with cells of a few bytes.
    pub fn note(&mut self, heap: u32, start: u64, stretch: &Stretch) {
        if stretch.end - start == PAGE && stretch.grain < PAGE {
            let shift = stretch.grain.trailing_zeros();
            self.pages[Self::nth(heap, start)] = Page { heap, shift, start, grid: stretch.grid };
        }
    }

    fn forget(&mut self, heap: u32, start: u64) {
        self.replaced += 1;
        let page = &mut self.pages[Self::nth(heap, start)];
        if (page.heap, page.start) == (heap, start) {
            *page = NO_PAGE;
        }
    }

    pub fn clear(&mut self) {
        self.pages.fill(NO_PAGE);
        self.replaced += 1;
    }
}
