//! Cells of bytes that have the same accesses.

use super::grid::Recent;
use super::past::{Entry, Numbered, Past, SITES};
use crate::clock::{Clock, Epoch};
use crate::op::Range;
use std::cell::Cell as Shared;
use std::rc::Rc;

/// The accesses of a cell, oldest first, as far as there is room for them. Where there are more, the number of a cell
/// with the others, and the last one.
pub(crate) type Cell = [Entry; 2];
pub(super) const EMPTY: Cell = [Entry::NONE; 2];

/// The cells of a stretch. Who accesses a page again and again holds them, too.
pub(crate) type Grid = Rc<[Slots]>;

/// Where a cell is: each of its accesses changes by itself.
#[derive(Debug)]
pub(crate) struct Slots([Shared<Entry>; 2]);

impl Slots {
    /// A cell that has these.
    pub fn new(cell: Cell) -> Self {
        Self(cell.map(Shared::new))
    }

    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub fn get(&self) -> Cell {
        [self.0[0].get(), self.0[1].get()]
    }

    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub fn set(&self, [first, second]: Cell) {
        self.0[0].set(first);
        self.0[1].set(second);
    }
}

/// A weak access of one cell, by its numbers, which fit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Near {
    pub task: u32,
    pub step: u32,
    pub site: u32,
}

impl Near {
    /// A place of this number fits.
    pub fn fits(site: u32) -> bool {
        site < SITES
    }

    /// Notes it in a cell that nobody else has accessed; else does nothing. Of accesses of one task a cell keeps the
    /// last write, and the last read after it.
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub fn note_alone(self, writes: bool, Slots(cell): &Slots) -> bool {
        let entry = Entry::weak(self.task, self.step, self.site, writes);
        let [first, second] = [cell[0].get(), cell[1].get()];
        if !entry.is_own(first) || !entry.is_own(second) || !writes && second.writes() {
            return false;
        }
        if !writes && first.writes() {
            cell[1].set(entry);
            return true;
        }
        cell[0].set(entry);
        if !second.is_none() {
            cell[1].set(Entry::NONE);
        }
        true
    }

    /// Notes it in a cell that has few accesses, where its task knows `clock` and it races with none; else does
    /// nothing.
    pub fn note(self, writes: bool, cell: &Slots, clock: &Clock) -> bool {
        let epoch = Epoch { task: self.task as usize, step: self.step };
        let past = Past { epoch, strong: None, writes, range: Range::default(), site: self.site };
        let Some(entries) = after(cell.get(), &past, clock) else { return false };
        cell.set(entries);
        true
    }
}

/// What a cell has after a weak access, where it has few accesses and none of them races with that one.
#[expect(clippy::inline_always, reason = "it is a part of each access")]
#[inline(always)]
pub(super) fn after(cell: Cell, past: &Past, clock: &Clock) -> Option<Cell> {
    let entry = Entry::of(past)?;
    let [first, second] = cell;
    match (past.keeps(first, clock)?, past.keeps(second, clock)?) {
        (false, false) => Some([entry, Entry::NONE]),
        (true, false) => Some([first, entry]),
        (false, true) => Some([second, entry]),
        (true, true) => None,
    }
}

/// What cells share.
#[derive(Debug, Default)]
pub(super) struct Cells {
    pub numbered: Numbered,
    /// The cells with others' accesses but the last one, and the numbers that are not used.
    lists: Vec<Cell>,
    unused: Vec<u32>,
    /// The cells of each stretch, by its number, and the numbers that no stretch has.
    pub grids: Vec<Grid>,
    unused_grids: Vec<usize>,
    pub recent: Recent,
}

impl Cells {
    /// The number of cells of a new stretch.
    pub fn new_grid(&mut self, cells: Grid) -> usize {
        if let Some(number) = self.unused_grids.pop() {
            self.grids[number] = cells;
            return number;
        }
        self.grids.push(cells);
        self.grids.len() - 1
    }

    /// No stretch has these cells any more.
    pub fn drop_grid(&mut self, number: usize) {
        self.grids[number] = Rc::default();
        self.unused_grids.push(number);
    }

    /// Notes a weak access of one cell that has few accesses, where it races with none of them; else does nothing.
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub fn note_at_once(&mut self, past: &Past, clock: &Clock) -> bool {
        let Some((grid, nth)) = self.recent.cell(past.range) else { return false };
        let Some(cell) = self.grids.get(grid).and_then(|cells| cells.get(nth)) else { return false };
        let Some(entries) = after(cell.get(), past, clock) else { return false };
        cell.set(entries);
        true
    }

    /// Whether no cell has any access.
    #[cfg(test)]
    pub fn is_unused(&self) -> bool {
        self.unused.len() == self.lists.len() && self.numbered.is_unused()
    }

    /// The accesses of a cell.
    pub fn list(&self, mut cell: Cell, into: &mut Vec<Entry>) {
        into.clear();
        while let Some(others) = cell[0].as_list() {
            into.push(cell[1]);
            cell = self.lists[others as usize];
        }
        into.extend(cell.iter().rev().filter(|entry| !entry.is_none()));
        into.reverse();
    }

    /// Gives a cell these accesses in the place of those that it has.
    pub fn set(&mut self, cell: &mut Cell, entries: &[Entry]) {
        let mut old = *cell;
        while let Some(others) = old[0].as_list() {
            self.unused.push(others);
            old = self.lists[others as usize];
        }
        *cell = self.cell(entries);
    }

    /// A new cell with these accesses.
    fn cell(&mut self, entries: &[Entry]) -> Cell {
        let (first, rest) = entries.split_at(entries.len().min(EMPTY.len()));
        let mut cell = EMPTY;
        cell[..first.len()].copy_from_slice(first);
        for &entry in rest {
            cell = [Entry::list(self.keep(cell)), entry];
        }
        cell
    }

    /// Keeps a cell with the others' accesses of one; its number.
    fn keep(&mut self, cell: Cell) -> u32 {
        if let Some(number) = self.unused.pop() {
            self.lists[number as usize] = cell;
            return number;
        }
        self.lists.push(cell);
        u32::try_from(self.lists.len() - 1).expect("four thousand million lists do not fit into memory")
    }

    /// A cell that has what another one has, beside it.
    pub fn copy(&mut self, cell: Cell, entries: &[Entry]) -> Cell {
        for &entry in entries {
            self.numbered.take(entry);
        }
        if cell[0].as_list().is_some() { self.cell(entries) } else { cell }
    }

    /// Takes all from a cell.
    pub fn empty(&mut self, cell: &mut Cell) {
        let mut entries = Vec::new();
        self.list(*cell, &mut entries);
        for entry in entries {
            self.numbered.leave(entry);
        }
        self.set(cell, &[]);
    }

    /// Makes a cell of these bytes ready to be copied: its accesses get numbers.
    pub fn share(&mut self, cell: &mut Cell, range: Range) -> Vec<Entry> {
        let mut entries = Vec::new();
        self.list(*cell, &mut entries);
        for entry in &mut entries {
            if entry.as_number().is_none() {
                *entry = Entry::number(self.numbered.add(entry.access(range)));
                self.numbered.take(*entry);
            }
        }
        self.set(cell, &entries);
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_keeps_as_many_accesses_as_it_is_given_and_takes_no_more_room_than_they_need() {
        let mut cells = Cells::default();
        let entries: Vec<_> = (0..5).map(|task| Entry::weak(task, 1, 0, false)).collect();
        let (mut cell, mut found) = (EMPTY, Vec::new());
        for count in [1, 3, 5, 2, 4, 0] {
            cells.set(&mut cell, &entries[..count]);
            cells.list(cell, &mut found);
            assert_eq!(found, entries[..count]);
            assert_eq!(cells.lists.len() - cells.unused.len(), count.saturating_sub(2));
        }
        assert_eq!((cells.lists.len(), size_of::<Cell>()), (3, 24));
    }
}
