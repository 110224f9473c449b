//! Accesses that a task makes by itself, without being asked for each: as many as it would be given the turn for
//! anyway. They are steps like all others.

use crate::machine::Machine;
use crate::op::{Range, Site};
use crate::pages::Pages;
use crate::parked::Parked;
use crate::polls::Polls;
use crate::shadow::{Near, PAGE};
use crate::task::TaskId;

/// What accesses have to do with.
pub(crate) struct Sides<'r> {
    pub machine: &'r mut Machine,
    pub parked: &'r mut Parked,
    pub polls: &'r mut Polls,
    pub pages: &'r mut Pages,
}

/// What a task may do before it says what it does next.
pub struct Ahead<'r> {
    /// How many of its steps may be accesses of pages at hand, of how many at first, and what plus the first of these
    /// gives the number of a step.
    near: u32,
    armed: u32,
    steps: u32,
    /// The task, where pages may be at hand.
    task_number: u32,
    sides: Sides<'r>,
    task: TaskId,
    /// How many steps it still has, and has made, without those of `armed` that are not in `near` any more.
    left: usize,
    done: usize,
    /// How often a loop reads the same until it polls in vain.
    most_polls: usize,
}

impl<'r> Ahead<'r> {
    /// For a task that has this many steps left.
    pub(crate) fn new(sides: Sides<'r>, task: TaskId, left: usize, most_polls: usize) -> Self {
        let task_number = u32::try_from(task).unwrap_or(u32::MAX);
        let mut ahead = Self { near: 0, armed: 0, steps: 0, task_number, sides, task, left, done: 0, most_polls };
        ahead.arm();
        ahead
    }

    /// The task has said what it does next; how many accesses it has made.
    pub(crate) fn end(mut self) -> usize {
        self.settle();
        self.done
    }

    /// How many accesses it has made.
    #[must_use]
    pub fn done(&self) -> usize {
        self.done + (self.armed - self.near) as usize
    }

    /// From here on the task may access pages at hand, where nothing else is to be looked at but these.
    fn arm(&mut self) {
        let Sides { machine, parked, polls, pages } = &mut self.sides;
        pages.stay(machine.changes() + parked.changes());
        let is_plain = polls.vain.is_none() && self.task_number != u32::MAX && machine.is_plain(self.task);
        self.armed = if is_plain { u32::try_from(self.left).unwrap_or(u32::MAX) } else { 0 };
        self.near = self.armed;
        self.steps = machine.now(self.task).step.wrapping_add(1).wrapping_add(self.armed);
    }

    /// Counts the accesses of pages at hand.
    fn settle(&mut self) {
        let steps = self.armed - self.near;
        (self.armed, self.near) = (0, 0);
        if steps > 0 {
            self.left -= steps as usize;
            self.done += steps as usize;
            self.sides.machine.advance(self.task, steps);
        }
    }

    /// A weak read of this many bytes at an address of the front's, if their page is at hand and they are as simple as
    /// most are: `ALONE`, if nobody else has accessed them. `false`: see [`Ahead::read`].
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub fn read_near<const N: usize, const ALONE: bool>(&mut self, at: u64, into: &mut [u8; N], key: usize) -> bool {
        self.try_read::<N, ALONE>(at, into, key).is_some()
    }

    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    fn try_read<const N: usize, const ALONE: bool>(&mut self, at: u64, into: &mut [u8; N], key: usize) -> Option<()> {
        let Sides { machine, polls, pages, .. } = &mut self.sides;
        let page = pages.find::<N>(at)?;
        let (within, cells, site) = (at % PAGE, page.cells.as_ref()?, pages.site(key)?);
        let bytes = *machine.bytes_of::<N>(page.allocation, within.wrapping_sub(page.skip))?;
        let near = Near { task: self.task_number, step: self.steps.wrapping_sub(self.near), site };
        let (nth, left) = (usize::try_from(within).unwrap_or(0) / N, self.near.checked_sub(1)?);
        machine.note_near::<ALONE>(near, false, cells, nth).then_some(())?;
        self.near = left;
        *into = bytes;
        let range = Range { heap: page.heap, start: page.start + within, bytes: N as u64 };
        if !polls.note_first(site, range, &bytes) {
            self.note_another(site, range.heap, range.start, bytes);
        }
        Some(())
    }

    /// A weak write, likewise; `false`: see [`Ahead::write`].
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub fn write_near<const N: usize, const ALONE: bool>(&mut self, at: u64, bytes: [u8; N], key: usize) -> bool {
        self.try_write::<N, ALONE>(at, bytes, key).is_some()
    }

    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    fn try_write<const N: usize, const ALONE: bool>(&mut self, at: u64, bytes: [u8; N], key: usize) -> Option<()> {
        let Sides { machine, polls, pages, .. } = &mut self.sides;
        let page = pages.find::<N>(at)?;
        let (within, cells, site) = (at % PAGE, page.cells.as_ref()?, pages.site(key)?);
        let near = Near { task: self.task_number, step: self.steps.wrapping_sub(self.near), site };
        let (nth, left) = (usize::try_from(within).unwrap_or(0) / N, self.near.checked_sub(1)?);
        let from = within.wrapping_sub(page.skip);
        machine.bytes_of::<N>(page.allocation, from)?;
        machine.note_near::<ALONE>(near, true, cells, nth).then_some(())?;
        *machine.bytes_of(page.allocation, from)? = bytes;
        self.near = left;
        polls.forget_places();
        Some(())
    }

    /// A weak read and then a weak write of this many bytes, likewise. Returns them: they are still to be written.
    /// `None`: neither is done.
    #[expect(clippy::inline_always, reason = "it is a part of each access")]
    #[inline(always)]
    pub fn change_near<const N: usize, const ALONE: bool>(&mut self, at: u64, key: usize) -> Option<&mut [u8; N]> {
        let Sides { machine, polls, pages, .. } = &mut self.sides;
        let page = pages.find::<N>(at)?;
        let (within, cells, site) = (at % PAGE, page.cells.as_ref()?, pages.site(key)?);
        let (nth, left) = (usize::try_from(within).unwrap_or(0) / N, self.near.checked_sub(2)?);
        let from = within.wrapping_sub(page.skip);
        machine.bytes_of::<N>(page.allocation, from)?;
        // The write takes the place of the read in the cell, and a loop that writes does not poll. What the write does
        // not race with, the read does not either.
        let near = Near { task: self.task_number, step: self.steps.wrapping_sub(self.near).wrapping_add(1), site };
        if polls.has_repeated() || !machine.note_near::<ALONE>(near, true, cells, nth) {
            return None;
        }
        self.near = left;
        polls.forget_places();
        machine.bytes_of(page.allocation, from)
    }

    /// What a read has found that is not the first one since its task has done anything else.
    #[inline(never)]
    fn note_another<const N: usize>(&mut self, site: u32, heap: u32, start: u64, bytes: [u8; N]) {
        let range = Range { heap, start, bytes: N as u64 };
        let polls = &mut *self.sides.polls;
        let is_vain = polls.note_read(site, range, 0, &bytes, self.most_polls);
        if is_vain || polls.is_idle() {
            self.settle();
            if is_vain {
                watch(self.sides.polls, self.sides.machine);
            }
            self.went_on();
        }
    }

    /// After an access by [`Ahead::read`] or [`Ahead::write`]: keeps its page at hand under an address of the front's.
    /// Different bytes have different addresses there, and those of a page have their places in it.
    pub fn keep_near(&mut self, at: u64, range: Range) {
        if self.near > 0 && !self.sides.pages.knows(at) {
            let Sides { machine, parked, pages, .. } = &mut self.sides;
            machine.keep_near(at, range, pages, parked);
        }
    }

    /// A weak read of a range; `false`: it is to ask for it. The place in the program has a key of its own, by which
    /// it is known after the first time.
    pub fn read(&mut self, range: Range, into: &mut [u8], key: usize, site: impl FnOnce() -> Site) -> bool {
        if !self.takes(range, into.len()) {
            return false;
        }
        let Sides { machine, polls, pages, .. } = &mut self.sides;
        let site = machine.site_at(key, site);
        pages.note_site(key, site);
        machine.read_into(self.task, range, into, site);
        if range.bytes > 16 {
            polls.forget();
        } else if polls.note_read(site, range, 0, into, self.most_polls) {
            watch(polls, machine);
        }
        self.went_on();
        true
    }

    /// A weak write of a range; `false`: it is to ask for it.
    pub fn write(&mut self, range: Range, bytes: &[u8], key: usize, site: impl FnOnce() -> Site) -> bool {
        if !self.takes(range, bytes.len()) {
            return false;
        }
        let Sides { machine, polls, parked, pages } = &mut self.sides;
        let site = machine.site_at(key, site);
        pages.note_site(key, site);
        machine.write_from(self.task, range, bytes, site);
        polls.forget();
        if parked.wake_at(std::slice::from_ref(&range)) {
            // Whoever may go on now may come first.
            self.left = 0;
        }
        self.went_on();
        true
    }

    /// Whether the task has a step left for an access of this many bytes, and takes it.
    fn takes(&mut self, range: Range, bytes: usize) -> bool {
        self.settle();
        let takes = self.left > 0 && bytes as u64 == range.bytes;
        self.left -= usize::from(takes);
        self.done += usize::from(takes);
        takes
    }

    fn went_on(&mut self) {
        if self.sides.polls.is_idle() {
            self.left = 0;
        }
        self.arm();
    }
}

/// Notes that a task polls in vain, and what.
pub(crate) fn watch(polls: &mut Polls, machine: &Machine) {
    let places = polls.places();
    let bytes = machine.bytes(&places);
    polls.vain = Some((places, bytes));
}
