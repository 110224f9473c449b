//! Weak accesses, most of which race with nothing: they take the fewest steps.

use super::{MOST_BYTES, Machine, State};
use crate::clock::Epoch;
use crate::finding::Kind;
use crate::memory::copy;
use crate::op::{Range, Site};
use crate::shadow::Access;
use crate::task::TaskId;

/// The most bytes of an answer for a range that no allocation has.
const MOST_ZEROS: u64 = 1 << 26;

impl Machine {
    pub(super) fn read(&mut self, task: TaskId, ranges: &[Range], site: &Site) -> Vec<u8> {
        let mut all = Vec::new();
        for &range in ranges {
            let from = all.len();
            // Where there is no memory there are zeros, but not as many as a program may say.
            let most = if self.memory.view(range).0.is_some() { MOST_BYTES } else { MOST_ZEROS };
            all.resize(from + usize::try_from(range.bytes.min(most)).unwrap_or(0), 0);
            let (site, epoch) = (self.shadow.site(site), self.now(task));
            self.read_range(epoch, range, &mut all[from..], site);
        }
        all
    }

    /// A step that reads a range, whose bytes `into` has room for, at a place of the program that has this number. It
    /// is not yet among what the task has seen: see [`Machine::catch_up`].
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub(crate) fn read_into(&mut self, task: TaskId, range: Range, into: &mut [u8], site: u32) {
        let epoch = self.tick_order(task);
        self.read_range(epoch, range, into, site);
    }

    /// A step that writes a range, likewise.
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub(crate) fn write_from(&mut self, task: TaskId, range: Range, bytes: &[u8], site: u32) {
        let epoch = self.tick_order(task);
        self.write_range(epoch, range, bytes, site);
    }

    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    fn read_range(&mut self, epoch: Epoch, range: Range, into: &mut [u8], site: u32) {
        let (bytes, fault) = self.memory.view(range);
        match bytes {
            Some(bytes) => copy(into, bytes),
            None => into.fill(0),
        }
        if let Some(kind) = fault {
            self.weak_fault(kind, epoch, range, site);
        }
        if !self.note_at_once(epoch, range, false, site) {
            self.note_weak(epoch, range, None, site);
        }
        if self.strong.may_have(range) {
            self.weak_look(range);
        }
    }

    /// A weak read looks at the flags in its bytes, too.
    #[cold]
    fn weak_look(&mut self, range: Range) {
        let from = Range { start: range.start.saturating_sub(8), bytes: 0, ..range };
        let to = Range { start: range.end(), bytes: 0, ..range };
        let flags = self.signalled.range(from..to).map(|(&flag, _)| flag);
        self.watched.extend(flags.filter(|flag| flag.overlaps(range)));
    }

    pub(super) fn write(&mut self, task: TaskId, ranges: &[Range], bytes: &[u8], site: &Site) {
        let mut rest = bytes;
        for &range in ranges {
            let length = usize::try_from(range.bytes).unwrap_or(usize::MAX).min(rest.len());
            let (mine, after) = rest.split_at(length);
            rest = after;
            let (site, epoch) = (self.shadow.site(site), self.now(task));
            self.write_range(epoch, range, mine, site);
        }
    }

    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    fn write_range(&mut self, epoch: Epoch, range: Range, bytes: &[u8], site: u32) {
        if !self.note_at_once(epoch, range, true, site) {
            self.note_weak(epoch, range, Some(bytes), site);
        }
        let is_whole = bytes.len() as u64 == range.bytes;
        let written = if is_whole { self.memory.write(range, bytes) } else { Err(Kind::OutOfHeap) };
        if let Err(kind) = written {
            self.weak_fault(kind, epoch, range, site);
        }
        if self.strong.may_have(range) {
            self.weak_overwrite(epoch, range, site);
        }
        if self.lined.may_have(range) {
            self.overwrite_lines(range);
        }
    }

    /// Notes a weak access where that takes few steps and it races with nothing.
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    fn note_at_once(&mut self, epoch: Epoch, range: Range, writes: bool, site: u32) -> bool {
        let State { put, knowledge, .. } = &self.states[epoch.task];
        put.is_none() && self.shadow.record_at_once(epoch, writes, range, site, &knowledge.order)
    }

    /// Notes any other weak access, and the bytes that it writes.
    #[cold]
    fn note_weak(&mut self, epoch: Epoch, range: Range, writes: Option<&[u8]>, site: u32) {
        if self.memory.view(range).0.is_none() {
            // An error by itself, and no access of the memory that it runs over.
            return;
        }
        let site = self.shadow.site_of(site);
        let access = Access { epoch, strong: None, writes: writes.is_some(), range, site };
        self.access_as(epoch.task, &access, writes);
    }

    #[cold]
    fn weak_fault(&mut self, kind: Kind, epoch: Epoch, range: Range, site: u32) {
        let site = self.shadow.site_of(site);
        self.fault(kind, epoch.task, range, &site);
    }

    #[cold]
    fn weak_overwrite(&mut self, epoch: Epoch, range: Range, site: u32) {
        let site = self.shadow.site_of(site);
        self.overwrite(epoch.task, range, &site);
    }

    /// A task's part of what its group puts.
    pub(super) fn put(&mut self, task: TaskId, ranges: &[Range], bytes: &[u8], site: &Site) {
        // Puts that follow each other come in no order.
        self.states[task].puts_before = self.states[task].put.take();
        self.write(task, ranges, bytes, site);
        self.states[task].put = self.states[task].puts_before.take();
        self.states[task].before_put = Some(self.now(task).step - 1);
    }

    /// The number of a place in the program.
    pub(crate) fn site(&mut self, site: &Site) -> u32 {
        self.shadow.site(site)
    }

    /// The same, for a place that has a key.
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub(crate) fn site_at(&mut self, key: usize, site: impl FnOnce() -> Site) -> u32 {
        self.shadow.site_at(key, site)
    }
}
