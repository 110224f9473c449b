//! Accesses, and whom they race with.

use super::{Launched, Machine};
use crate::clock::{Clock, Epoch};
use crate::diagnose::Raced;
use crate::op::{PRIVATE, Range, Site};
use crate::shadow::Access;
use crate::task::{Scope, TaskId};
use std::rc::Rc;
use symm_abi::WORD_BYTES;

/// The most races of two places in the program that are kept, and of two tasks there: each may be of another kind.
const MOST_ALIKE: usize = 12;
const MOST_OF_TASKS: usize = 2;

impl Machine {
    /// Notes an access, and whom it races with.
    pub(super) fn access(&mut self, task: TaskId, range: Range, strong: Option<Scope>, writes: bool, site: &Site) {
        let access = Access { epoch: self.now(task), strong, writes, range, site: site.clone() };
        self.access_as(task, &access, None);
    }

    /// The same, of a write of these bytes.
    pub(super) fn access_as(&mut self, task: TaskId, access: &Access, bytes: Option<&[u8]>) {
        let with_put = self.with_put(task).filter(|_| access.writes);
        let known = with_put.as_ref().unwrap_or(&self.states[task].knowledge.order);
        for earlier in self.shadow.record(access, known, &self.tasks) {
            if self.cells.get(&earlier.range).is_some_and(|history| history.has_read(&earlier, known)) {
                continue;
            }
            if bytes.is_some_and(|bytes| self.is_put_again(task, &earlier, access.range, bytes)) {
                continue;
            }
            let both_write = earlier.writes && earlier.strong.is_none() && earlier.site == access.site;
            // Where both do: they may overlap in part.
            let is_same = both_write && bytes.is_some_and(|bytes| self.has_already(access.range, bytes, earlier.range));
            if !self.is_known(&earlier, access, is_same) {
                let (is_first, known) = (self.has_none_of(&earlier, access), Rc::new(known.clone()));
                let packet = self.packet_after(task, earlier.epoch);
                self.raced.push(Raced { earlier, later: access.clone(), known, is_same, is_first, packet });
            }
        }
    }

    /// Whether enough races like this one are kept: of two places in the program, and of two tasks there.
    fn is_known(&self, earlier: &Access, later: &Access, is_same: bool) -> bool {
        let sites = (&earlier.site, &later.site);
        let tasks = |earlier: &Access, later: &Access| (earlier.epoch.task, later.epoch.task);
        let is_alike = |raced: &&Raced| (&raced.earlier.site, &raced.later.site) == sites && raced.is_same == is_same;
        let (mut alike, mut of_tasks) = (0, 0);
        for raced in self.raced.iter().filter(is_alike) {
            alike += 1;
            of_tasks += usize::from(tasks(&raced.earlier, &raced.later) == tasks(earlier, later));
        }
        alike == MOST_ALIKE || of_tasks == MOST_OF_TASKS
    }

    /// Whether a task puts what an earlier put of its group has put there: they come in no order, and may (rule O3).
    fn is_put_again(&self, task: TaskId, earlier: &Access, range: Range, bytes: &[u8]) -> bool {
        let is_put = |puts: &Rc<Clock>| earlier.writes && earlier.strong.is_none() && puts.covers(earlier.epoch);
        self.states[task].puts_before.as_ref().is_some_and(is_put) && self.has_already(range, bytes, earlier.range)
    }

    /// Whether memory has the bytes of a range already, as far as another one has them too.
    fn has_already(&self, range: Range, bytes: &[u8], other: Range) -> bool {
        let (start, end) = (range.start.max(other.start), range.end().min(other.end()));
        let at = |place: u64| usize::try_from(place - range.start).unwrap_or(usize::MAX);
        let both = Range { start, bytes: end.saturating_sub(start), ..range };
        let Some(mine) = bytes.get(at(start)..at(start + both.bytes)) else { return false };
        self.memory.view(both) == (Some(mine), None)
    }

    /// Whether a reader has waited for nothing of the writer, up to now.
    fn has_none_of(&self, read: &Access, write: &Access) -> bool {
        !read.writes && self.clock(read.epoch.task).of(write.epoch.task) == 0
    }

    /// Which launch a step is in.
    pub(crate) fn launch_of(&self, step: Epoch) -> Option<&Launched> {
        let launched = self.launched.get(&step.task)?.iter().rev();
        launched.into_iter().find(|(before, _)| *before < step.step).map(|(_, launch)| &**launch)
    }

    /// Whether two steps are in different launches, between which all hosts may meet: what ranks launch together is
    /// launched at one place, as often on each of them, and the first does not wait for the second.
    pub(crate) fn are_of_two_launches(&self, first: Epoch, second: Epoch) -> bool {
        let (Some(one), Some(other)) = (self.launch_of(first), self.launch_of(second)) else { return false };
        let begins = other.known.of(second.task);
        let is_last = self
            .launched
            .get(&first.task)
            .and_then(|all| all.last())
            .is_some_and(|(_, last)| std::ptr::eq(&raw const **last, one));
        let waits = is_last && self.clock(first.task).of(second.task) > begins;
        (&one.site, one.nth) != (&other.site, other.nth) && !waits
    }

    /// Whether a range belongs to barriers of all ranks.
    pub(crate) fn is_of_barrier(&self, range: Range) -> bool {
        range.heap < PRIVATE && self.reserved.start <= range.start && range.end() <= self.reserved.end
    }

    /// Who does not come to a barrier of all ranks, and why, if a flag tells of that: `symm_abi::heap::BARRIER_WORDS`
    /// says which words are whose.
    pub(crate) fn misses_barrier(&self, flag: Range) -> Option<String> {
        let ranks = self.tasks.iter().filter(|task| task.is_host()).count() as u64;
        if !self.is_of_barrier(flag) {
            return None;
        }
        let (word, words) = ((flag.start - self.reserved.start) / WORD_BYTES as u64, ranks + 1);
        if word % words == 0 {
            return None;
        }
        let (block, rank) = (word / words, word % words - 1);
        let of_rank = || (0..self.tasks.len()).filter(|&task| u64::from(self.tasks[task].rank) == rank);
        let started = of_rank().filter(|&task| !self.tasks[task].is_host() && self.states[task].has_started);
        let is_there = started.clone().any(|task| u64::from(self.tasks[task].block) == block);
        let why = match started.clone().next() {
            None => format!("rank {rank} has not launched a kernel"),
            Some(_) if !is_there => format!("rank {rank} has not launched block {block}"),
            Some(_) if started.clone().all(|task| self.states[task].has_ended) => {
                format!("all that rank {rank} has launched has ended")
            }
            Some(_) => "it waits".into(),
        };
        Some(format!("is at a barrier of all ranks, to which rank {rank} block {block} does not come: {why}"))
    }
}
