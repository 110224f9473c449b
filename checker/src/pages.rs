//! Pages that tasks access again and again: all that an access has to look up, in one place.
//!
//! A page is here while a weak access of one of its cells is no more than a look at the cell and at the bytes: its
//! memory is live and was written, and nobody waits for a place in it or has accessed one strongly. Whatever ends this
//! changes the number that [`Pages::stay`] is told, and no page stays.

use crate::op::Range;
use crate::shadow::{Grid, Near, PAGE};

/// A page, by its number at the front.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Page {
    /// Of the page and of the size of its cells, see [`tag`].
    tag: u64,
    pub cells: Option<Grid>,
    /// Its allocation, and how many bytes after the page's start that starts.
    pub allocation: usize,
    pub skip: u64,
    pub start: u64,
    pub heap: u32,
}

/// The pages, and places in the program.
#[derive(Debug)]
pub(crate) struct Pages {
    all: [Page; PAGES],
    /// Places by their keys.
    sites: [(usize, u32); SITES],
    /// What the pages depend on.
    changes: u64,
}

const PAGES: usize = 64;
const SITES: usize = 64;
const NO_PAGE: Page = Page { tag: u64::MAX, cells: None, allocation: 0, skip: 0, start: 0, heap: 0 };
/// What no place has.
const NO_KEY: usize = 0;

/// A page's number, and the size of its cells where accesses of that size are simple; else 0.
const fn tag(number: u64, size: u64) -> u64 {
    number | size << 56
}

impl Default for Pages {
    fn default() -> Self {
        Self { all: [NO_PAGE; PAGES], sites: [(NO_KEY, 0); SITES], changes: 0 }
    }
}

impl Pages {
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    fn nth(number: u64) -> usize {
        usize::try_from(number % PAGES as u64).unwrap_or(0)
    }

    /// The page of an address at the front where a cell of this many bytes starts.
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub fn find<const N: usize>(&self, at: u64) -> Option<&Page> {
        let number = at / PAGE;
        let page = &self.all[Self::nth(number)];
        (page.tag == tag(number, N as u64) && at.is_multiple_of(N as u64)).then_some(page)
    }

    /// Whether it is known if the page of an address is one to be here.
    pub fn knows(&self, at: u64) -> bool {
        self.all[Self::nth(at / PAGE)].tag << 8 == (at / PAGE) << 8
    }

    /// Keeps the page of an address, whose cells have this range's size.
    pub fn keep(&mut self, at: u64, range: Range, cells: Grid, (allocation, from): (usize, u64)) {
        let (number, start) = (at / PAGE, range.start - range.start % PAGE);
        let (tag, skip) = (tag(number, range.bytes), from.wrapping_sub(start));
        self.all[Self::nth(number)] = Page { tag, cells: Some(cells), allocation, skip, start, heap: range.heap };
    }

    /// Notes that the page of an address is not one to be here.
    pub fn refuse(&mut self, at: u64) {
        self.all[Self::nth(at / PAGE)] = Page { tag: tag(at / PAGE, 0), ..NO_PAGE };
    }

    /// They stay as long as this number does.
    #[inline]
    pub fn stay(&mut self, changes: u64) {
        if self.changes != changes {
            self.forget(changes);
        }
    }

    #[cold]
    fn forget(&mut self, changes: u64) {
        self.all = [NO_PAGE; PAGES];
        self.changes = changes;
    }

    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    fn nth_site(key: usize) -> usize {
        (key ^ key >> 6) % SITES
    }

    /// The number of the place in the program that has a key, if it was noted lately.
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub fn site(&self, key: usize) -> Option<u32> {
        let (known, number) = self.sites[Self::nth_site(key)];
        (known == key).then_some(number)
    }

    /// Notes the number of the place of a key.
    pub fn note_site(&mut self, key: usize, number: u32) {
        if key != NO_KEY && Near::fits(number) {
            self.sites[Self::nth_site(key)] = (key, number);
        }
    }
}
