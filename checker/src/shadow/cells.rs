//! Cells of bytes that have the same accesses.

use super::past::{Entry, Numbered};
use crate::op::Range;

/// The accesses of a cell, oldest first: as many as there is room for, or the number of a list.
pub(super) type Cell = [Entry; 2];
pub(super) const EMPTY: Cell = [Entry::NONE; 2];

/// What cells share.
#[derive(Debug, Default)]
pub(super) struct Cells {
    pub numbered: Numbered,
    /// The accesses of cells that have more than fit, and which of these lists no cell has.
    lists: Vec<Vec<Entry>>,
    unused: Vec<u32>,
}

impl Cells {
    /// Whether no cell has any access.
    #[cfg(test)]
    pub fn is_unused(&self) -> bool {
        self.unused.len() == self.lists.len() && self.numbered.is_unused()
    }

    /// The accesses of a cell.
    pub fn list(&self, cell: Cell, into: &mut Vec<Entry>) {
        into.clear();
        match Self::list_of(cell) {
            Some(list) => into.extend(&self.lists[list as usize]),
            None => into.extend(cell.iter().filter(|entry| !entry.is_none())),
        }
    }

    /// The number of a cell's list, if it has more accesses than fit.
    fn list_of(cell: Cell) -> Option<u32> {
        cell[0].as_list()
    }

    /// Gives a cell these accesses in the place of those that it has.
    pub fn set(&mut self, cell: &mut Cell, entries: &[Entry]) {
        match (Self::list_of(*cell), entries) {
            (Some(list), [_, _, _, ..]) => entries.clone_into(&mut self.lists[list as usize]),
            (None, [_, _, _, ..]) => *cell = self.new_list(entries),
            (list, _) => {
                if let Some(list) = list {
                    self.lists[list as usize].clear();
                    self.unused.push(list);
                }
                *cell = EMPTY;
                cell[..entries.len()].copy_from_slice(entries);
            }
        }
    }

    fn new_list(&mut self, entries: &[Entry]) -> Cell {
        let list = self.unused.pop().unwrap_or_else(|| {
            self.lists.push(Vec::new());
            u32::try_from(self.lists.len() - 1).expect("four thousand million lists do not fit into memory")
        });
        self.lists[list as usize].extend(entries);
        [Entry::list(list), Entry::NONE]
    }

    /// A cell that has what another one has, beside it.
    pub fn copy(&mut self, cell: Cell, entries: &[Entry]) -> Cell {
        for &entry in entries {
            self.numbered.take(entry);
        }
        if Self::list_of(cell).is_some() { self.new_list(entries) } else { cell }
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
