//! Who has accessed which bytes last: on each range of bytes, the writes and reads that a later access may race with.

use crate::clock::{Clock, Epoch};
use crate::op::{Range, Site};
use crate::task::{Scope, Task};
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

impl Access {
    /// Whether two strong accesses are atomic to each other: the same bytes, and scopes that cover both tasks.
    fn is_atomic_with(&self, other: &Self, tasks: &[Task]) -> bool {
        let (me, them) = (tasks[self.epoch.task], tasks[other.epoch.task]);
        let (Some(mine), Some(theirs)) = (self.strong, other.strong) else { return false };
        self.range == other.range && mine.covers(me, them) && theirs.covers(them, me)
    }

    /// Whether whoever is ordered after `self`, or atomic with it, is so with `older`, which `self` comes after.
    fn replaces(&self, older: &Self) -> bool {
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

/// Bytes with the same accesses.
#[derive(Debug, Clone)]
struct Segment {
    end: u64,
    accesses: Vec<usize>,
}

/// The accesses of all heaps.
#[derive(Debug, Default)]
pub struct Shadow {
    accesses: Vec<Access>,
    heaps: HashMap<u32, BTreeMap<u64, Segment>>,
}

impl Shadow {
    /// Notes an access of a task that knows `clock`. Returns the earlier accesses that it races with, each once.
    pub fn record(&mut self, access: Access, clock: &Clock, tasks: &[Task]) -> Vec<Access> {
        let Range { heap, start, .. } = access.range;
        let end = access.range.end();
        let segments = self.heaps.entry(heap).or_default();
        split(segments, start);
        split(segments, end);
        fill(segments, start, end);
        let id = self.accesses.len();
        let mut races = Vec::new();
        for (_, segment) in segments.range_mut(start..end) {
            segment.accesses.retain(|&older| {
                let before = &self.accesses[older];
                if clock.covers(before.epoch) {
                    return !access.replaces(before);
                }
                if (before.writes || access.writes) && !access.is_atomic_with(before, tasks) && !races.contains(&older)
                {
                    races.push(older);
                }
                true
            });
            segment.accesses.push(id);
        }
        self.accesses.push(access);
        races.into_iter().map(|race| self.accesses[race].clone()).collect()
    }

    /// Forgets what was done with memory that is allocated anew.
    pub fn forget(&mut self, range: Range) {
        let segments = self.heaps.entry(range.heap).or_default();
        split(segments, range.start);
        split(segments, range.end());
        let old: Vec<_> = segments.range(range.start..range.end()).map(|(&at, _)| at).collect();
        for at in old {
            segments.remove(&at);
        }
    }
}

/// Makes a segment that has `at` inside two.
fn split(segments: &mut BTreeMap<u64, Segment>, at: u64) {
    let Some((_, segment)) = segments.range_mut(..at).next_back() else { return };
    if segment.end > at {
        let after = Segment { end: segment.end, accesses: segment.accesses.clone() };
        segment.end = at;
        segments.insert(at, after);
    }
}

/// Makes segments where there are none between two bytes.
fn fill(segments: &mut BTreeMap<u64, Segment>, start: u64, end: u64) {
    let mut gaps = Vec::new();
    let mut at = start;
    for (&next, segment) in segments.range(start..end) {
        if next > at {
            gaps.push((at, next));
        }
        at = segment.end;
    }
    if at < end {
        gaps.push((at, end));
    }
    for (from, to) in gaps {
        segments.insert(from, Segment { end: to, accesses: Vec::new() });
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
        assert!(shadow.record(access(0, 1, 0, 16, true, None), &clock(0, 1), &tasks()).is_empty());
        assert!(shadow.record(access(1, 1, 16, 4, true, None), &clock(1, 1), &tasks()).is_empty());
        let races = shadow.record(access(1, 2, 8, 4, false, None), &clock(1, 2), &tasks());
        assert_eq!(races, [access(0, 1, 0, 16, true, None)]);
    }

    #[test]
    fn every_reader_is_kept_until_a_write_comes_after_it() {
        let mut shadow = Shadow::default();
        for reader in [1, 2] {
            let read = access(reader, 1, 0, 4, false, None);
            assert!(shadow.record(read, &clock(reader, 1), &tasks()).is_empty());
        }
        let mut knows = clock(0, 1);
        knows.join(&clock(2, 1));
        let races = shadow.record(access(0, 1, 0, 4, true, None), &knows, &tasks());
        assert_eq!(races, [access(1, 1, 0, 4, false, None)]);
    }

    #[test]
    fn strong_accesses_race_with_weak_ones_and_with_too_narrow_ones() {
        let race = |older: Option<Scope>, newer: Option<Scope>, bytes| {
            let mut shadow = Shadow::default();
            shadow.record(access(1, 1, 0, 4, true, older), &clock(1, 1), &tasks());
            let at_other = shadow.record(access(0, 1, 0, bytes, true, newer), &clock(0, 1), &tasks());
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
        shadow.record(access(1, 1, 0, 4, true, None), &clock(1, 1), &tasks());
        shadow.record(access(1, 2, 0, 4, true, Some(Scope::Sys)), &clock(1, 2), &tasks());
        let races = shadow.record(access(0, 1, 0, 4, false, Some(Scope::Sys)), &clock(0, 1), &tasks());
        assert_eq!(races, [access(1, 1, 0, 4, true, None)]);
    }

    #[test]
    fn memory_that_is_allocated_anew_has_no_past() {
        let mut shadow = Shadow::default();
        shadow.record(access(1, 1, 0, 16, true, None), &clock(1, 1), &tasks());
        shadow.forget(Range { heap: 0, start: 4, bytes: 4 });
        assert!(shadow.record(access(0, 1, 4, 4, true, None), &clock(0, 1), &tasks()).is_empty());
        assert_eq!(shadow.record(access(0, 2, 8, 1, true, None), &clock(0, 2), &tasks()).len(), 1);
    }
}
