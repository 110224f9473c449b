//! Weak accesses of pages that are at hand: those of [`weak`](super::weak) in the fewest steps.

use super::{Machine, State};
use crate::op::Range;
use crate::pages::Pages;
use crate::parked::Parked;
use crate::shadow::{Grid, Near, PAGE};
use crate::task::TaskId;

impl Machine {
    /// Whether a task's next weak access has to do with nothing that it put.
    #[inline]
    pub(crate) fn is_plain(&self, task: TaskId) -> bool {
        let State { put, before_put, .. } = &self.states[task];
        put.is_none() && before_put.is_none()
    }

    /// A number that is another one after something has changed that a page depends on.
    #[inline]
    pub(crate) fn changes(&self) -> u64 {
        self.memory.changes() + self.shadow.changes() + self.strong.changes() + self.lined.changes()
    }

    /// This many more steps of a task were its accesses of pages at hand.
    pub(crate) fn advance(&mut self, task: TaskId, steps: u32) {
        self.states[task].knowledge.order.advance(task, steps);
    }

    /// This many bytes of an allocation from one on, if it has them.
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub(crate) fn bytes_of<const N: usize>(&mut self, allocation: usize, from: u64) -> Option<&mut [u8; N]> {
        self.memory.bytes_of(allocation, from)
    }

    /// Notes a weak access of the `nth` of these cells, if that is done in few steps and it races with nothing; if
    /// nobody else has accessed it, where the task is `ALONE`.
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub(crate) fn note_near<const ALONE: bool>(&self, near: Near, writes: bool, cells: &Grid, nth: usize) -> bool {
        let Some(cell) = cells.get(nth) else { return false };
        if ALONE { near.note_alone(writes, cell) } else { near.note(writes, cell, self.clock(near.task as usize)) }
    }

    /// Keeps the page of a range at hand, at a front's address, if it is one to be.
    pub(crate) fn keep_near(&self, at: u64, range: Range, pages: &mut Pages, parked: &Parked) {
        let start = range.start - range.start % PAGE;
        let Some(cells) = self.shadow.cells_of(range).filter(|_| at % PAGE == range.start % PAGE) else { return };
        let page = Range { start, bytes: PAGE, ..range };
        let Some((allocation, start, part)) = self.memory.page_of(range, page) else { return };
        let is_even = start.is_multiple_of(range.bytes);
        let has_places = self.strong.may_have(part) || self.lined.may_have(part);
        if !is_even || has_places || parked.may_wake(part) {
            pages.refuse(at);
        } else {
            pages.keep(at, range, cells, (allocation, start));
        }
    }
}
