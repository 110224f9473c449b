//! Who has accessed which bytes last: on each range of bytes, the writes and reads that a later access may race with.
//!
//! A heap is cut into stretches, which begin and end at multiples of a page. A stretch is a grid of cells, whose bytes
//! have the same accesses: one cell as long as nobody accesses a part of it; a page that somebody does gets cells as
//! small as these parts.

mod cells;
mod grid;
mod past;

use crate::clock::{Clock, Epoch};
use crate::op::{Range, Site};
use crate::task::{Scope, Task, TaskId};
use cells::Cells;
pub(crate) use cells::{Grid, Near};
pub(crate) use grid::PAGE;
use grid::{Heap, LAST, Stretch};
use past::{Entry, Numbered, Past, Sites};
use std::collections::{BTreeMap, HashMap};

/// One access of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// The step that made it.
    pub epoch: Epoch,
    /// Its scope, if it is a strong one.
    pub strong: Option<Scope>,
    /// Whether it writes.
    pub writes: bool,
    /// All bytes of the access.
    pub range: Range,
    /// Where it stands.
    pub site: Site,
}

/// The accesses of all heaps.
#[derive(Debug, Default)]
pub struct Shadow {
    heaps: HashMap<u32, BTreeMap<u64, Stretch>>,
    cells: Cells,
    sites: Sites,
}

impl Shadow {
    /// The number of a place in the program.
    #[inline]
    pub fn site(&mut self, site: &Site) -> u32 {
        self.sites.number(site)
    }

    /// The same, for a place that has a key: one place has one, and only one.
    #[inline]
    pub fn site_at(&mut self, key: usize, site: impl FnOnce() -> Site) -> u32 {
        self.sites.number_at(key, site)
    }

    /// The place of a number.
    #[must_use]
    pub fn site_of(&self, number: u32) -> Site {
        self.sites.of(number)
    }

    /// Notes a weak access of a task that knows `clock`, if that is done in few steps and races with nothing.
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub fn record_at_once(&mut self, epoch: Epoch, writes: bool, range: Range, site: u32, clock: &Clock) -> bool {
        self.cells.note_at_once(&Past { epoch, strong: None, writes, range, site }, clock)
    }

    /// A number that is another one after the cells of a page were replaced.
    #[inline]
    pub(crate) fn changes(&self) -> u64 {
        self.cells.recent.replaced
    }

    /// The cells of the page that a range is one cell of.
    pub(crate) fn cells_of(&self, range: Range) -> Option<Grid> {
        let (grid, _) = self.cells.recent.cell(range)?;
        self.cells.grids.get(grid).cloned()
    }

    /// Notes an access of a task that knows `clock`. Returns the earlier accesses that it races with, each once.
    pub fn record(&mut self, access: &Access, clock: &Clock, tasks: &[Task]) -> Vec<Access> {
        let Self { heaps, cells, sites } = self;
        let Access { epoch, strong, writes, range, .. } = *access;
        let past = Past { epoch, strong, writes, range, site: sites.number(&access.site) };
        let (start, end) = (range.start, range.end().min(LAST));
        if start >= end {
            return Vec::new();
        }
        let stretches = heaps.entry(range.heap).or_default();
        let first = Heap { number: range.heap, stretches, cells }.cut(start, end);
        let mut races = Races { past, clock, tasks, found: Vec::new() };
        let mut entry = None;
        let mut before = Vec::new();
        for (&from, stretch) in stretches.range_mut(first..end) {
            let (grain, grid) = (stretch.grain, stretch.grid);
            cells.recent.note(range.heap, from, stretch);
            let is_one = (from.max(start), stretch.end.min(end)) == (start, end) && end - start == grain;
            for nth in stretch.within(from, start, end) {
                let entry = *entry.get_or_insert_with(|| {
                    let fits = is_one && range.end() == end;
                    let own = fits.then(|| Entry::of(&past)).flatten();
                    own.unwrap_or_else(|| Entry::number(cells.numbered.add(past)))
                });
                let range = Range { start: from + nth as u64 * grain, bytes: grain, ..range };
                let mut cell = cells.grids[grid][nth].get();
                cells.list(cell, &mut before);
                before.retain(|&older| races.keeps(older, range, &mut cells.numbered));
                before.push(entry);
                cells.numbered.take(entry);
                cells.set(&mut cell, &before);
                cells.grids[grid][nth].set(cell);
            }
        }
        races.found.iter().map(|(_, past)| sites.access(past)).collect()
    }

    /// Whether a task has read a byte of a range weakly that is not this one.
    #[must_use]
    pub fn is_read_by_other(&self, range: Range, task: TaskId) -> bool {
        self.any_weak(range, |past| !past.writes && past.epoch.task != task)
    }

    /// The weak writes of a range that are known, each task's last.
    pub(crate) fn weak_writes(&self, range: Range) -> Vec<(Epoch, Site)> {
        let mut last: BTreeMap<TaskId, (u32, u32)> = BTreeMap::new();
        self.any_weak(range, |past| {
            if past.writes {
                let newest = last.entry(past.epoch.task).or_default();
                *newest = (*newest).max((past.epoch.step, past.site));
            }
            false
        });
        last.into_iter().map(|(task, (step, site))| (Epoch { task, step }, self.sites.of(site))).collect()
    }

    /// Whether this holds of a weak access of a range.
    fn any_weak(&self, range: Range, mut is_one: impl FnMut(&Past) -> bool) -> bool {
        let Self { heaps, cells, .. } = self;
        let Some(stretches) = heaps.get(&range.heap) else { return false };
        let mut entries = Vec::new();
        let has_some = |(_, stretch): &(&u64, &Stretch)| stretch.end > range.start;
        stretches.range(..range.end()).rev().take_while(has_some).any(|(&from, stretch)| {
            let (start, grain) = (range.start.max(from) - from, stretch.grain);
            let end = (range.end().min(stretch.end) - from).div_ceil(grain);
            let nth = |number: u64| usize::try_from(number).unwrap_or(0);
            cells.grids[stretch.grid][nth(start / grain)..nth(end)].iter().any(|cell| {
                cells.list(cell.get(), &mut entries);
                let pasts = entries.iter().map(|&entry| cells.numbered.get(entry, range));
                pasts.into_iter().any(|past| past.strong.is_none() && is_one(&past))
            })
        })
    }

    /// Forgets what was done with memory that is allocated anew.
    pub fn forget(&mut self, range: Range) {
        let Self { heaps, cells, .. } = self;
        let (start, end) = (range.start, range.end().min(LAST));
        let stretches = heaps.entry(range.heap).or_default();
        let mut heap = Heap { number: range.heap, stretches, cells };
        heap.split(start);
        heap.split(end);
        let first = heap.first(start);
        let mut empty = Vec::new();
        cells.recent.clear();
        for (&from, stretch) in stretches.range_mut(first..end) {
            for nth in stretch.within(from, start, end) {
                let mut cell = cells.grids[stretch.grid][nth].get();
                cells.empty(&mut cell);
                cells.grids[stretch.grid][nth].set(cell);
            }
            empty.extend((start <= from && stretch.end <= end).then_some(from));
        }
        for stretch in empty.into_iter().filter_map(|from| stretches.remove(&from)) {
            cells.drop_grid(stretch.grid);
        }
    }
}

/// The earlier accesses that one races with.
struct Races<'t> {
    past: Past,
    clock: &'t Clock,
    tasks: &'t [Task],
    /// Each with its number, if it has one.
    found: Vec<(Option<u32>, Past)>,
}

impl Races<'_> {
    /// Whether a cell keeps an earlier access, beside this one.
    fn keeps(&mut self, older: Entry, cell: Range, numbered: &mut Numbered) -> bool {
        let (access, before) = (&self.past, numbered.get(older, cell));
        if self.clock.covers(before.epoch) {
            let is_replaced = access.replaces(&before);
            if is_replaced {
                numbered.leave(older);
            }
            return !is_replaced;
        }
        if (before.writes || access.writes) && !access.is_atomic_with(&before, self.tasks) {
            let number = older.as_number();
            if number.is_none() || !self.found.iter().any(|(known, _)| *known == number) {
                self.found.push((number, before));
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks() -> Vec<Task> {
        vec![Task::block(0, 0), Task::block(1, 0), Task::block(1, 1)]
    }

    fn access(task: usize, step: u32, start: u64, bytes: u64, writes: bool, strong: Option<Scope>) -> Access {
        let range = Range { heap: 0, start, bytes };
        Access { epoch: Epoch { task, step }, strong, writes, range, site: format!("{task}:{step}").into() }
    }

    fn clock(task: usize, step: u32) -> Clock {
        let mut clock = Clock::default();
        (0..step).for_each(|_| assert!(clock.tick(task).step > 0));
        clock
    }

    #[test]
    fn only_bytes_in_common_race() {
        let mut shadow = Shadow::default();
        assert!(shadow.record(&access(0, 1, 0, 16, true, None), &clock(0, 1), &tasks()).is_empty());
        assert!(shadow.record(&access(1, 1, 16, 4, true, None), &clock(1, 1), &tasks()).is_empty());
        let races = shadow.record(&access(1, 2, 8, 4, false, None), &clock(1, 2), &tasks());
        assert_eq!(races, [access(0, 1, 0, 16, true, None)]);
    }

    #[test]
    fn every_reader_is_kept_until_a_write_comes_after_it() {
        let mut shadow = Shadow::default();
        for reader in [1, 2] {
            let read = access(reader, 1, 0, 4, false, None);
            assert!(shadow.record(&read, &clock(reader, 1), &tasks()).is_empty());
        }
        let mut knows = clock(0, 1);
        knows.join(&clock(2, 1));
        let races = shadow.record(&access(0, 1, 0, 4, true, None), &knows, &tasks());
        assert_eq!(races, [access(1, 1, 0, 4, false, None)]);
    }

    #[test]
    fn strong_accesses_race_with_weak_ones_and_with_too_narrow_ones() {
        let race = |older: Option<Scope>, newer: Option<Scope>, bytes| {
            let mut shadow = Shadow::default();
            shadow.record(&access(1, 1, 0, 4, true, older), &clock(1, 1), &tasks());
            let at_other = shadow.record(&access(0, 1, 0, bytes, true, newer), &clock(0, 1), &tasks());
            !at_other.is_empty()
        };
        assert!(!race(Some(Scope::Sys), Some(Scope::Sys), 4));
        assert!(race(Some(Scope::Sys), Some(Scope::Gpu), 4));
        assert!(race(Some(Scope::Gpu), Some(Scope::Sys), 4));
        assert!(race(Some(Scope::Sys), Some(Scope::Sys), 8));
        assert!(race(None, Some(Scope::Sys), 4));
    }

    #[test]
    fn a_strong_write_does_not_hide_a_weak_one_before_it() {
        let mut shadow = Shadow::default();
        shadow.record(&access(1, 1, 0, 4, true, None), &clock(1, 1), &tasks());
        shadow.record(&access(1, 2, 0, 4, true, Some(Scope::Sys)), &clock(1, 2), &tasks());
        let races = shadow.record(&access(0, 1, 0, 4, false, Some(Scope::Sys)), &clock(0, 1), &tasks());
        assert_eq!(races, [access(1, 1, 0, 4, true, None)]);
    }

    #[test]
    fn memory_that_is_allocated_anew_has_no_past() {
        let mut shadow = Shadow::default();
        shadow.record(&access(1, 1, 0, 16, true, None), &clock(1, 1), &tasks());
        shadow.forget(Range { heap: 0, start: 4, bytes: 4 });
        assert!(shadow.record(&access(0, 1, 4, 4, true, None), &clock(0, 1), &tasks()).is_empty());
        assert_eq!(shadow.record(&access(0, 2, 8, 1, true, None), &clock(0, 2), &tasks()).len(), 1);
    }

    /// The same for each byte by itself, all accesses with numbers of their own.
    #[derive(Default)]
    struct Bytes {
        all: Vec<(Access, Past)>,
        bytes: BTreeMap<u64, Vec<usize>>,
    }

    impl Bytes {
        fn record(&mut self, access: &Access, clock: &Clock) -> Vec<Access> {
            let Access { epoch, strong, writes, range, .. } = *access;
            let past = Past { epoch, strong, writes, range, site: 0 };
            let mut races = Vec::new();
            for byte in range.start..range.end() {
                let here = self.bytes.entry(byte).or_default();
                here.retain(|&older| {
                    let before = &self.all[older].1;
                    let is_known = clock.covers(before.epoch);
                    let is_race = (before.writes || writes) && !past.is_atomic_with(before, &tasks());
                    if !is_known && is_race && !races.contains(&older) {
                        races.push(older);
                    }
                    !(is_known && past.replaces(before))
                });
                here.push(self.all.len());
            }
            self.all.push((access.clone(), past));
            races.into_iter().map(|race| self.all[race].0.clone()).collect()
        }
    }

    #[test]
    fn cells_say_what_each_byte_by_itself_does() {
        let mut random = crate::schedule::Random::new(1);
        let (mut shadow, mut bytes) = (Shadow::default(), Bytes::default());
        let mut clocks = vec![Clock::default(); 3];
        let (mut races, mut at_once) = (0, 0);
        for round in 0..6000 {
            let (task, other) = (random.below(3), random.below(3));
            if random.below(4) == 0 {
                let known = clocks[other].clone();
                clocks[task].join(&known);
            }
            let step = clocks[task].tick(task).step;
            let size = [1, 2, 4, 8, 16, 24, 512, 700, 1500][random.below(if round < 3000 { 5 } else { 9 })];
            let start = random.below(1800) as u64 / [1, 8][random.below(2)] * 8;
            let start = if size == 1 { start + random.below(8) as u64 } else { start };
            let strong = [None, None, Some(Scope::Gpu), Some(Scope::Sys)][random.below(4)];
            let access = access(task, step, start, size, random.below(2) == 0, strong);
            let number = shadow.site(&access.site);
            let Access { epoch, writes, range, .. } = access;
            let is_noted = strong.is_none() && shadow.record_at_once(epoch, writes, range, number, &clocks[task]);
            let found = if is_noted { Vec::new() } else { shadow.record(&access, &clocks[task], &tasks()) };
            at_once += usize::from(is_noted);
            assert_eq!(found, bytes.record(&access, &clocks[task]), "{round}: {access:?}");
            races += found.len();
            if random.below(500) == 0 {
                let range = Range { heap: 0, start, bytes: size };
                shadow.forget(range);
                bytes.bytes.retain(|&byte, _| !(range.start..range.end()).contains(&byte));
            }
        }
        assert!(races > 500 && at_once > 100, "{at_once}");
        shadow.forget(Range { heap: 0, start: 0, bytes: 1 << 20 });
        assert!(shadow.cells.is_unused() && shadow.heaps[&0].is_empty());
    }
}
