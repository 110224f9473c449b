//! Accesses in little room: where one is all that a cell of bytes has to say of, it takes twelve bytes there.

use crate::clock::{Clock, Epoch};
use crate::op::{Range, Site};
use crate::shadow::Access;
use crate::task::{Scope, Task};
use std::collections::HashMap;
use std::sync::Arc;

/// An access whose place in the program is a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Past {
    pub epoch: Epoch,
    pub strong: Option<Scope>,
    pub writes: bool,
    pub range: Range,
    pub site: u32,
}

impl Past {
    /// Whether two strong accesses are atomic to each other: the same bytes, and scopes that cover both tasks.
    pub fn is_atomic_with(&self, other: &Self, tasks: &[Task]) -> bool {
        let (me, them) = (tasks[self.epoch.task], tasks[other.epoch.task]);
        let (Some(mine), Some(theirs)) = (self.strong, other.strong) else { return false };
        self.range == other.range && mine.covers(me, them) && theirs.covers(them, me)
    }

    /// Whether a cell keeps an older entry beside this weak access of its bytes. `None`: they race, or the entry is no
    /// access of these bytes.
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub fn keeps(&self, older: Entry, clock: &Clock) -> Option<bool> {
        if older.is_none() {
            return Some(false);
        }
        let (epoch, writes) = older.epoch()?;
        if epoch.task == self.epoch.task {
            return Some(writes && !self.writes);
        }
        let is_known = clock.covers(epoch);
        (is_known || !writes && !self.writes).then_some(!(is_known && self.writes))
    }

    /// Whether whoever is ordered after `self`, or atomic with it, is so with `older`, which `self` comes after.
    pub fn replaces(&self, older: &Self) -> bool {
        if !self.writes && (older.writes || older.epoch.task != self.epoch.task) {
            return false;
        }
        match (self.strong, older.strong) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(mine), Some(theirs)) => self.range == older.range && theirs >= mine,
        }
    }
}

/// What a cell has of one access: the access, where its bytes are the cell's, or the number of one of more cells. Or it
/// is the number of the list of all that the cell has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    one: u32,
    other: u32,
    how: u32,
}

/// What an entry's `how` is where it is not an access; else it is the place in the program, and these bits.
const NONE: u32 = u32::MAX;
const NUMBER: u32 = u32::MAX - 1;
const LIST: u32 = u32::MAX - 2;
const WRITES: u32 = 1 << 31;
const SCOPE_SHIFT: u32 = 28;
pub(super) const SITES: u32 = 1 << SCOPE_SHIFT;

impl Entry {
    pub const NONE: Self = Self { one: 0, other: 0, how: NONE };

    /// An access of the bytes of its cell. `None`: its numbers are too large.
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub fn of(access: &Past) -> Option<Self> {
        let scope = match access.strong {
            None => 0,
            Some(Scope::Cta) => 1,
            Some(Scope::Cluster) => 2,
            Some(Scope::Gpu) => 3,
            Some(Scope::Sys) => 4,
        };
        let how = access.site | scope << SCOPE_SHIFT | if access.writes { WRITES } else { 0 };
        let one = u32::try_from(access.epoch.task).ok()?;
        (access.site < SITES).then_some(Self { one, other: access.epoch.step, how })
    }

    /// A weak access of a task at a place whose number fits.
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub fn weak(task: u32, step: u32, site: u32, writes: bool) -> Self {
        Self { one: task, other: step, how: site | if writes { WRITES } else { 0 } }
    }

    /// Whether an entry is an access of the same task, or none at all.
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub fn is_own(self, older: Self) -> bool {
        older.is_none() || older.one == self.one && older.how < LIST
    }

    /// Whether an entry that is an access writes.
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub fn writes(self) -> bool {
        self.how & WRITES != 0 && self.how < LIST
    }

    /// The access of a number.
    pub fn number(number: u32) -> Self {
        Self { one: number, other: 0, how: NUMBER }
    }

    pub fn is_none(self) -> bool {
        self.how == NONE
    }

    /// The number, where it is not the access itself.
    pub fn as_number(self) -> Option<u32> {
        (self.how == NUMBER).then_some(self.one)
    }

    /// The list of a number.
    pub fn list(number: u32) -> Self {
        Self { one: number, other: 0, how: LIST }
    }

    /// The number, where it is a list.
    pub fn as_list(self) -> Option<u32> {
        (self.how == LIST).then_some(self.one)
    }

    /// The step of an access that is here itself, and whether it writes.
    #[inline]
    pub fn epoch(self) -> Option<(Epoch, bool)> {
        let is_here = self.how < LIST;
        is_here.then_some((Epoch { task: self.one as usize, step: self.other }, self.how & WRITES != 0))
    }

    /// The access itself, of these bytes.
    pub fn access(self, range: Range) -> Past {
        let strong = match self.how >> SCOPE_SHIFT & 7 {
            0 => None,
            1 => Some(Scope::Cta),
            2 => Some(Scope::Cluster),
            3 => Some(Scope::Gpu),
            _ => Some(Scope::Sys),
        };
        let epoch = Epoch { task: self.one as usize, step: self.other };
        Past { epoch, strong, writes: self.how & WRITES != 0, range, site: self.how & (SITES - 1) }
    }
}

/// Accesses of more cells than one, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Numbered {
    /// Each with how many cells have it.
    all: Vec<(Past, u32)>,
    unused: Vec<u32>,
}

impl Numbered {
    #[cfg(test)]
    pub fn is_unused(&self) -> bool {
        self.unused.len() == self.all.len()
    }

    /// Takes in an access that no cell has yet.
    pub fn add(&mut self, access: Past) -> u32 {
        if let Some(number) = self.unused.pop() {
            self.all[number as usize] = (access, 0);
            return number;
        }
        self.all.push((access, 0));
        u32::try_from(self.all.len() - 1).expect("four thousand million accesses do not fit into memory")
    }

    /// The access of an entry in a cell of these bytes.
    pub fn get(&self, entry: Entry, cell: Range) -> Past {
        entry.as_number().map_or_else(|| entry.access(cell), |number| self.all[number as usize].0)
    }

    /// One more cell has an entry.
    pub fn take(&mut self, entry: Entry) {
        if let Some(number) = entry.as_number() {
            self.all[number as usize].1 += 1;
        }
    }

    /// One cell less has it.
    pub fn leave(&mut self, entry: Entry) {
        let Some(number) = entry.as_number() else { return };
        let cells = &mut self.all[number as usize].1;
        *cells -= 1;
        if *cells == 0 {
            self.unused.push(number);
        }
    }
}

/// Places in the program, by number.
#[derive(Debug)]
pub(super) struct Sites {
    all: Vec<Site>,
    numbers: HashMap<Site, u32>,
    /// Those that were asked for last, by where their text is.
    recent: [Option<u32>; RECENT],
    /// Those that were asked for last by their keys, with these.
    keyed: [(usize, u32); KEYED],
}

const RECENT: usize = 16;
const KEYED: usize = 64;

impl Default for Sites {
    fn default() -> Self {
        Self { all: Vec::new(), numbers: HashMap::new(), recent: [None; RECENT], keyed: [(0, 0); KEYED] }
    }
}

impl Sites {
    #[inline]
    pub fn number(&mut self, site: &Site) -> u32 {
        let nth = (site.as_ptr() as usize >> 4) % RECENT;
        if let Some(number) = self.recent[nth].filter(|&number| Arc::ptr_eq(&self.all[number as usize], site)) {
            return number;
        }
        let Self { all, numbers, recent, .. } = self;
        let number = *numbers.entry(site.clone()).or_insert_with(|| {
            all.push(site.clone());
            u32::try_from(all.len() - 1).unwrap_or(u32::MAX)
        });
        recent[nth] = Some(number);
        number
    }

    #[inline]
    pub fn number_at(&mut self, key: usize, site: impl FnOnce() -> Site) -> u32 {
        let nth = (key ^ key >> 6) % KEYED;
        let (known, number) = self.keyed[nth];
        if known == key && key != 0 {
            return number;
        }
        let number = self.number(&site());
        self.keyed[nth] = (key, number);
        number
    }

    pub fn of(&self, number: u32) -> Site {
        self.all[number as usize].clone()
    }

    pub fn access(&self, past: &Past) -> Access {
        let Past { epoch, strong, writes, range, site } = *past;
        Access { epoch, strong, writes, range, site: self.all[site as usize].clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_its_access() {
        let range = Range { heap: 1, start: 8, bytes: 4 };
        let epoch = Epoch { task: 7, step: u32::MAX };
        for strong in [None, Some(Scope::Cta), Some(Scope::Cluster), Some(Scope::Gpu), Some(Scope::Sys)] {
            for (writes, site) in [(false, 0), (true, SITES - 1)] {
                let past = Past { epoch, strong, writes, range, site };
                let entry = Entry::of(&past).unwrap();
                assert_eq!((entry.access(range), entry.is_none(), entry.as_number()), (past, false, None));
            }
        }
        assert_eq!(Entry::of(&Past { epoch, strong: None, writes: true, range, site: SITES }), None);
        assert_eq!((Entry::number(3).as_number(), Entry::NONE.as_number()), (Some(3), None));
    }

    #[test]
    fn one_text_has_one_number() {
        let mut sites = Sites::default();
        let numbers = ["a:1", "b:1", "a:1", "b:1"].map(|site| sites.number(&site.into()));
        assert_eq!((numbers, sites.all.len()), ([0, 1, 0, 1], 2));
    }
}
