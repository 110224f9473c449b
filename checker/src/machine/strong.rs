//! Loads, stores, atomics, signals and waits (rules O1, O2, O4 to O6): values, and the order that comes with them.

use super::{Head, History, Machine, bytes_of, reaches, read_order, word};
use crate::clock::Epoch;
use crate::diagnose::Waited;
use crate::explore::touched;
use crate::finding::Kind;
use crate::history::{Part, Written};
use crate::missed::{Miss, Unacquired};
use crate::op::{Answer, Op, Range, Signal, Site, Strong, Until, Update, holds};
use crate::task::TaskId;
use std::collections::btree_map::Entry;
use std::rc::Rc;

/// How an atomic may be done.
#[derive(Debug, Clone, Copy)]
pub(super) enum Way {
    /// It changes the newest value to this one.
    Write(u64),
    /// It changes nothing and may be a load of this value of the history.
    Read(usize),
}

impl Machine {
    /// The values that a task may read, newest first.
    pub(super) fn readable(&self, task: TaskId, at: Range) -> Box<dyn Iterator<Item = usize> + '_> {
        match self.cells.get(&at) {
            Some(history) => Box::new(history.visible(self.clock(task))),
            None => Box::new(std::iter::once(0)),
        }
    }

    /// Notes whether a task could read a value for which this holds, and which its place does not keep any more.
    fn look_for_dropped(&mut self, task: TaskId, at: Range, is_one: impl Fn(u64) -> bool) {
        let may_take = |history: &History| history.may_take_dropped(self.clock(task), is_one);
        self.has_forgotten = self.has_forgotten || self.cells.get(&at).is_some_and(may_take);
    }

    /// The value of a place that has no history yet is the memory's.
    fn cell(&mut self, at: Range) -> &mut History {
        if !self.cells.contains_key(&at) {
            self.strong.add(at);
            let mut history = History::new(word(&self.memory.read(at).0));
            history.stored = self.stored(at);
            // What a packet has put there was not there from the start.
            if let Some((by, site, seen)) = self.put_at(at) {
                history.was_written(by, site, seen);
            }
            self.cells.insert(at, history);
        }
        self.cells.entry(at).or_insert_with(|| History::new(0))
    }

    /// What a load that was issued at a step may read: nothing that the load comes before, nor anything that would
    /// order what its task has done since.
    pub(super) fn late(&self, task: TaskId, strong: Strong, issued: u32) -> Vec<usize> {
        let Some(history) = self.cells.get(&strong.at) else { return vec![0] };
        let load = Epoch { task, step: issued };
        let clock = self.clock(task);
        let fits = |&index: &usize| {
            let written = &history.all()[index];
            let orders = |head: &Rc<Head>| !clock.includes(&head.knowledge.order);
            let is_after = written.by.is_some_and(|by| by.task != task) && written.full.covers(load);
            !(is_after || strong.order.acquires() && written.heads.iter().any(orders))
        };
        history.visible(clock).filter(fits).collect()
    }

    /// An update that changes no value may be a load.
    pub(super) fn atomic_ways(&self, task: TaskId, strong: Strong, update: Update) -> Vec<Way> {
        let Some(history) = self.cells.get(&strong.at) else {
            return vec![Way::Write(0)];
        };
        let mut ways = Vec::new();
        for (nth, index) in self.readable(task, strong.at).enumerate() {
            let old = history.all()[index].value;
            let changes = update.apply(old, strong.at.bytes).filter(|&new| new != old);
            match changes {
                None => ways.push(Way::Read(index)),
                Some(new) if nth == 0 => ways.push(Way::Write(new)),
                Some(_) => {}
            }
        }
        ways
    }

    /// Whether an op may write in one of its ways: an update that changes nothing is a load.
    pub(crate) fn may_write(&self, task: TaskId, op: &Op, way: Option<usize>) -> bool {
        let Op::Atomic(strong, update) = op else { return touched(op).1 };
        let ways = self.atomic_ways(task, *strong, *update);
        let mut of = ways.iter().enumerate().filter(|(nth, _)| way.is_none_or(|way| way == *nth));
        of.any(|(_, each)| matches!(each, Way::Write(_)))
    }

    /// What an atomic finds in each of its ways where it changes nothing.
    pub(crate) fn unchanged(&self, task: TaskId, strong: Strong, update: Update) -> impl Iterator<Item = u64> {
        let value = move |index: usize| self.cells.get(&strong.at).map_or(0, |history| history.all()[index].value);
        let each = move |way| if let Way::Read(index) = way { Some(value(index)) } else { None };
        self.atomic_ways(task, strong, update).into_iter().filter_map(each)
    }

    /// The values that a load may read, in the order of its ways.
    pub(crate) fn values(&self, task: TaskId, at: Range) -> Vec<u64> {
        let Some(history) = self.cells.get(&at) else { return Vec::new() };
        history.visible(self.clock(task)).map(|index| history.all()[index].value).collect()
    }

    /// Which values a wait may end with; `None` is that it gives up, which it does only where it may see another value.
    pub(super) fn wait_ways(&self, task: TaskId, strong: Strong, until: Until) -> Vec<Option<usize>> {
        let comes = |value| holds(until.compare, value, until.value, strong.at.bytes);
        let mut ways = Vec::new();
        let before = || word(&self.memory.read(strong.at).0);
        let may_miss = self.cells.get(&strong.at).map_or_else(
            || !comes(before()),
            |history| history.visible(self.clock(task)).any(|index| !comes(history.all()[index].value)),
        );
        match self.cells.get(&strong.at) {
            Some(history) if comes(history.newest().value) => {
                let came = |&index: &usize| comes(history.all()[index].value);
                ways.extend(history.visible(self.clock(task)).filter(came).map(Some));
            }
            Some(_) => {}
            // Nobody has written it as a flag: it is what the memory holds, zero if it was never written.
            None => ways.extend(comes(before()).then_some(Some(0))),
        }
        ways.extend((until.timeout && may_miss).then_some(None));
        ways
    }

    pub(super) fn load(&mut self, task: TaskId, strong: Strong, way: usize, site: &Site) -> Option<u64> {
        let index = self.readable(task, strong.at).nth(way)?;
        self.look_for_dropped(task, strong.at, |_| true);
        Some(self.strong_read(task, strong, index, site))
    }

    pub(super) fn load_late(
        &mut self,
        task: TaskId,
        strong: Strong,
        issued: u32,
        way: usize,
        site: &Site,
    ) -> Option<u64> {
        let index = *self.late(task, strong, issued).get(way)?;
        self.look_for_dropped(task, strong.at, |_| true);
        Some(self.strong_read(task, strong, index, site))
    }

    fn strong_read(&mut self, task: TaskId, strong: Strong, index: usize, site: &Site) -> u64 {
        self.touch(task, strong, false, site);
        self.watched.insert(strong.at);
        let now = self.now(task);
        let written = self.cell(strong.at).read(index, now).clone();
        self.acquire(task, &written, strong, site);
        written.value
    }

    pub(super) fn strong_write(&mut self, task: TaskId, strong: Strong, value: u64, site: &Site, added: Option<bool>) {
        self.touch(task, strong, true, site);
        self.cell(strong.at);
        self.append(task, strong, value, site, added, false);
    }

    pub(super) fn atomic(
        &mut self,
        task: TaskId,
        strong: Strong,
        update: Update,
        way: usize,
        site: &Site,
    ) -> Option<u64> {
        self.cell(strong.at);
        let bytes = strong.at.bytes;
        self.look_for_dropped(task, strong.at, |old| update.apply(old, bytes).is_none_or(|new| new == old));
        match *self.atomic_ways(task, strong, update).get(way)? {
            Way::Read(index) => {
                let order = read_order(strong.order);
                Some(self.strong_read(task, Strong { order, ..strong }, index, site))
            }
            Way::Write(new) => {
                self.touch(task, strong, true, site);
                self.watched.insert(strong.at);
                let now = self.now(task);
                let history = self.cell(strong.at);
                let written = history.read(history.all().len() - 1, now).clone();
                self.acquire(task, &written, strong, site);
                self.append(task, strong, new, site, None, true);
                Some(written.value)
            }
        }
    }

    pub(super) fn signal(&mut self, task: TaskId, strong: Strong, signal: Signal, site: &Site) {
        let first = self.at(task, site, "signals");
        if let Entry::Vacant(entry) = self.signalled.entry(strong.at) {
            entry.insert(first);
            if self.shadow.is_read_by_other(strong.at, task) {
                self.watched.insert(strong.at);
            }
        }
        let adds = matches!(signal, Signal::Add(_));
        self.touch(task, strong, true, site);
        let before = self.cell(strong.at).newest().clone();
        if let (Some(added), Some(by)) = (before.added, before.by)
            && added != adds
            && !self.clock(task).covers(by)
        {
            let what = |adds| if adds { "adds to the flag" } else { "sets the flag" };
            let at = vec![self.at_step(by, &before.site, what(added)), self.at(task, site, what(adds))];
            self.find(Kind::SetAgainstAdd, at, "one of the two is lost: let both set it, or both add");
        }
        match signal {
            Signal::Set(value) => self.append(task, strong, value, site, Some(false), false),
            Signal::Add(by) => self.append(task, strong, before.value.wrapping_add(by), site, Some(true), true),
        }
    }

    pub(super) fn wait(&mut self, task: TaskId, strong: Strong, until: Until, way: usize, site: &Site) -> u64 {
        self.watched.insert(strong.at);
        let comes = |value| holds(until.compare, value, until.value, strong.at.bytes);
        self.look_for_dropped(task, strong.at, |value| until.timeout || comes(value));
        let Some(index) = self.wait_ways(task, strong, until).get(way).copied().flatten() else {
            self.touch(task, strong, false, site);
            return 0;
        };
        self.strong_read(task, strong, index, site);
        let wait = self.now(task);
        let written = &self.cell(strong.at).all()[index];
        let (by, value, by_site) = (written.by, written.value, written.site.clone());
        let (site, stored) = (site.clone(), self.stored(strong.at).filter(|_| by.is_none()));
        self.waited.push(Waited { wait, flag: strong.at, site, until, value, by, by_site, stored });
        1
    }

    /// A loop that has polled sees what has come: of strong writes the newest.
    pub(super) fn poll(&mut self, task: TaskId, ranges: &[Range]) -> Answer {
        let now = self.now(task);
        for &range in ranges {
            let from = Range { bytes: 0, ..range };
            let to = Range { start: range.end(), bytes: 0, ..range };
            for history in self.cells.range_mut(from..to).map(|(_, history)| history) {
                history.read(history.all().len() - 1, now);
            }
        }
        Answer::None
    }

    /// Notes the access, and whether the memory is there.
    fn touch(&mut self, task: TaskId, strong: Strong, writes: bool, site: &Site) {
        if let (_, Some(kind)) = self.memory.read(strong.at)
            && (kind != Kind::NeverWritten || !writes)
        {
            self.fault(kind, task, strong.at, site);
        }
        self.access(task, strong.at, Some(strong.scope), writes, site);
    }

    /// What a write carries: the release of its own, and those of fences before it.
    fn heads(&self, task: TaskId, strong: Strong, site: &Site) -> Vec<Rc<Head>> {
        let (state, scope) = (&self.states[task], strong.scope);
        let write = Part { step: self.now(task), site: site.clone(), scope, is_fence: false };
        let narrowed = |head: &Rc<Head>| {
            let (knowledge, parts) = (head.knowledge.clone(), [&head.parts[..], std::slice::from_ref(&write)].concat());
            Rc::new(Head { task, scope: head.scope.min(scope), knowledge, parts })
        };
        let mut heads: Vec<_> = state.fences.iter().map(narrowed).collect();
        if strong.order.releases() {
            let knowledge = Rc::new(state.knowledge.kept());
            heads.push(Rc::new(Head { task, scope, knowledge, parts: vec![write] }));
        }
        heads
    }

    /// Writes a value. An update hands on the releases of what it has updated.
    fn append(&mut self, task: TaskId, strong: Strong, value: u64, site: &Site, added: Option<bool>, updates: bool) {
        let mut heads = self.heads(task, strong, site);
        let mut full = self.clock(task).clone();
        let bytes = bytes_of(value, strong.at.bytes);
        if updates {
            let before = self.cell(strong.at).newest();
            full.join(&before.full);
            let superseded = |old: &Head| heads.iter().any(|new| new.task == old.task && new.scope >= old.scope);
            let kept: Vec<_> = before.heads.iter().filter(|old| !superseded(old)).cloned().collect();
            heads.extend(kept);
        }
        let by = Some(self.now(task));
        let value = word(&bytes);
        let written = Written { value, by, site: site.clone(), heads, full: Rc::new(full), readers: Vec::new(), added };
        self.cell(strong.at).write(written);
        // Where the memory is not there, `touch` has said so.
        let _ = self.memory.write(strong.at, &bytes);
        self.overlay(task, strong.at, site, true);
    }

    /// A weak write changes the values of the places that it overlaps, and hands over nothing.
    pub(super) fn overwrite(&mut self, task: TaskId, range: Range, site: &Site) {
        self.overlay(task, range, site, false);
    }

    fn overlay(&mut self, task: TaskId, range: Range, site: &Site, except_same: bool) {
        let from = Range { start: range.start.saturating_sub(8), bytes: 0, ..range };
        let to = Range { start: range.end(), bytes: 0, ..range };
        let by = Some(self.now(task));
        let mut known = None;
        for (&cell, history) in self.cells.range_mut(from..to) {
            if cell.overlaps(range) && !(except_same && cell == range) {
                let value = word(&self.memory.read(cell).0);
                let knowledge = &self.states[task].knowledge.order;
                let full = known.get_or_insert_with(|| Rc::new(knowledge.clone())).clone();
                let (heads, readers) = (Vec::new(), Vec::new());
                history.write(Written { value, by, site: site.clone(), heads, full, readers, added: None });
            }
        }
    }

    /// An edge from each release that the value carries, if both scopes cover the pair; else a miss is noted.
    fn acquire(&mut self, task: TaskId, written: &Written, strong: Strong, site: &Site) {
        let step = self.now(task);
        let part = || Part { step, site: site.clone(), scope: strong.scope, is_fence: false };
        for head in &written.heads {
            if strong.order.acquires() {
                let (reaches_me, reaches_them) = reaches(head, &self.tasks, task, strong.scope);
                if reaches_me && reaches_them {
                    self.states[task].knowledge.join(&head.knowledge);
                }
            } else if let Some(by) = written.by {
                let (head, read, writer) = (head.clone(), part(), (by, written.site.clone()));
                let seen = Unacquired { head, read, flag: strong.at, writer };
                let state = &mut self.states[task];
                state.unacquired.retain(|old| !seen.replaces(old));
                state.unacquired.push(seen);
            }
        }
        let Some(by) = written.by else { return };
        let orders = self.clock(task).includes(&written.full);
        self.draw(by, step, orders);
        if !orders {
            let (takes, acquires, flag) = (vec![part()], strong.order.acquires(), strong.at);
            let (full, writer, heads) = (written.full.clone(), (by, written.site.clone()), written.heads.clone());
            if !acquires {
                self.states[task].unfenced.insert((flag, by.task), self.misses.len());
            }
            self.misses.push(Miss { takes, acquires, writer, full, flag, heads });
        }
    }
}
