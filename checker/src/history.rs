//! The values that a place of strong accesses has had, in the order of its writes. A read may take any of them that
//! nothing hides from its task.

use crate::clock::{Clock, Epoch};
use crate::op::Site;
use crate::shadow::Access;
use crate::task::{Scope, TaskId};
use std::collections::BTreeMap;
use std::rc::Rc;

/// What a task knows: what comes before it, and what it has seen of packets, which order nothing (rule P1).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Knowledge {
    /// What comes before.
    pub order: Clock,
    /// The same, and what packets have told.
    pub seen: Clock,
    /// What was done before this task was launched, or before one that it has had a packet from: the end of a kernel
    /// completes its writes.
    pub settled: Clock,
}

impl Knowledge {
    /// Whether everything that another one knows is known here.
    #[must_use]
    pub fn includes(&self, other: &Self) -> bool {
        self.order.includes(&other.order) && self.seen.includes(&other.seen) && self.settled.includes(&other.settled)
    }

    /// A copy to keep, in the least room.
    #[must_use]
    pub fn kept(&self) -> Self {
        let seen = if self.seen == self.order { &self.order } else { &self.seen };
        Self { seen: seen.clone(), ..self.clone() }
    }

    /// Learns what another one knows.
    pub fn join(&mut self, other: &Self) {
        self.order.join(&other.order);
        self.seen.join(&other.seen);
        self.settled.join(&other.settled);
    }
}

/// A release, as the writes that carry it hand it over.
#[derive(Debug, Clone)]
pub struct Head {
    /// Who has released.
    pub task: TaskId,
    /// For whom.
    pub scope: Scope,
    /// What came before.
    pub knowledge: Rc<Knowledge>,
    /// What it is made of: the write that carries it, and the fence before that if it is a fence's.
    pub parts: Vec<Part>,
}

/// An op that a release or an acquire is made of.
#[derive(Debug, Clone)]
pub struct Part {
    /// The step.
    pub step: Epoch,
    /// Where it stands.
    pub site: Site,
    /// Its scope.
    pub scope: Scope,
    /// Whether it is a fence.
    pub is_fence: bool,
}

/// One value.
#[derive(Debug, Clone)]
pub struct Written {
    /// The bits.
    pub value: u64,
    /// The step that wrote it; `None` for what was there at the start.
    pub by: Option<Epoch>,
    /// Where that stands.
    pub site: Site,
    /// The releases that an acquire of this value takes part in.
    pub heads: Vec<Rc<Head>>,
    /// All that the writer had done, be it released or not.
    pub full: Rc<Clock>,
    /// Who has read it.
    pub readers: Vec<Epoch>,
    /// Whether a signal set it (`Some(false)`) or added to it (`Some(true)`).
    pub added: Option<bool>,
}

impl Written {
    /// Whether a task that knows `clock` can read nothing older.
    fn hides_older(&self, clock: &Clock) -> bool {
        self.by.is_none_or(|by| clock.covers(by)) || self.readers.iter().any(|&read| clock.covers(read))
    }
}

/// How many values are kept with their writes. A read takes none that is older: a search that comes to one that could
/// is not exhaustive ([`History::may_take_dropped`]).
pub const KEPT: usize = 64;

/// All values of one place, oldest first.
#[derive(Debug)]
pub struct History {
    written: Vec<Written>,
    /// The values of older writes, with the tasks that have read each write of a value; `None` for one that was there
    /// at the start only.
    dropped: BTreeMap<u64, Option<Vec<TaskId>>>,
    /// The weak write that made the value that it holds from the start, if there was one.
    pub(crate) stored: Option<(Epoch, Site)>,
}

impl History {
    /// A place that holds a value from the start.
    #[must_use]
    pub fn new(value: u64) -> Self {
        let (site, full) = ("the start".into(), Rc::default());
        let first = Written { value, by: None, site, heads: Vec::new(), full, readers: Vec::new(), added: None };
        Self { written: vec![first], dropped: BTreeMap::new(), stored: None }
    }

    /// Who has written the value that it holds from the start, and all that this task had done.
    pub(crate) fn was_written(&mut self, by: Epoch, site: &Site, full: &Rc<Clock>) {
        for first in &mut self.written {
            *first = Written { by: Some(by), site: site.clone(), full: full.clone(), ..first.clone() };
        }
    }

    /// The newest value.
    ///
    /// # Panics
    ///
    /// Never: there is always one.
    #[must_use]
    pub fn newest(&self) -> &Written {
        self.written.last().expect("a place has a value")
    }

    /// All values, oldest first.
    #[must_use]
    pub fn all(&self) -> &[Written] {
        &self.written
    }

    /// The values that a task may read, newest first: none older than one whose write comes before the task, or whose
    /// read does.
    pub fn visible(&self, clock: &Clock) -> impl Iterator<Item = usize> {
        let oldest = self.written.iter().rposition(|written| written.hides_older(clock)).unwrap_or(0);
        (oldest..self.written.len()).rev()
    }

    /// Whether a task may read a value for which this holds, and which is not kept any more.
    pub(crate) fn may_take_dropped(&self, clock: &Clock, is_one: impl Fn(u64) -> bool) -> bool {
        !self.dropped.is_empty()
            && !self.written.iter().any(|written| written.hides_older(clock))
            && self.dropped.keys().any(|&value| is_one(value))
    }

    /// Whether there was a value for which this holds, which somebody has written and a task has not read.
    pub(crate) fn had_unread(&self, task: TaskId, is_one: impl Fn(u64) -> bool) -> bool {
        let is_read = |written: &Written| written.readers.iter().any(|read| read.task == task);
        let is_unread = |written: &Written| written.by.is_some() && is_one(written.value) && !is_read(written);
        let was_unread = |(&value, readers): (&u64, &Option<Vec<TaskId>>)| {
            is_one(value) && readers.as_ref().is_some_and(|readers| !readers.contains(&task))
        };
        self.written.iter().any(is_unread) || self.dropped.iter().any(was_unread)
    }

    /// Whether who knows `clock` has read what a strong write wrote, or what came after it: its own accesses of the
    /// place come after the write, be it released or not.
    #[must_use]
    pub fn has_read(&self, write: &Access, clock: &Clock) -> bool {
        if write.strong.is_none() {
            return false;
        }
        let at = self.written.iter().position(|written| written.by == Some(write.epoch));
        // A write that is not kept any more is older than all that are.
        let Some(at) = at.or_else(|| (!self.dropped.is_empty()).then_some(0)) else { return false };
        self.written[at..].iter().any(|written| written.readers.iter().any(|&read| clock.covers(read)))
    }

    /// Notes that a step has read a value.
    pub fn read(&mut self, index: usize, by: Epoch) -> &Written {
        let written = &mut self.written[index];
        written.readers.retain(|reader| reader.task != by.task);
        written.readers.push(by);
        written
    }

    /// Notes a new value.
    pub fn write(&mut self, written: Written) {
        if self.written.len() == KEPT {
            let Written { value, by, readers, .. } = self.written.remove(0);
            let all = self.dropped.entry(value).or_default();
            match all {
                _ if by.is_none() => {}
                Some(all) => all.retain(|task| readers.iter().any(|read| read.task == *task)),
                None => *all = Some(readers.iter().map(|read| read.task).collect()),
            }
        }
        self.written.push(written);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: u64, clock: &Clock, by: Epoch) -> Written {
        let full = Rc::new(clock.clone());
        Written { value, by: Some(by), site: "w".into(), heads: vec![], full, readers: vec![], added: None }
    }

    #[test]
    fn a_read_takes_no_value_older_than_one_that_its_task_knows() {
        let (mut writer, mut reader) = (Clock::default(), Clock::default());
        let mut history = History::new(0);
        for value in [1, 2] {
            let by = writer.tick(0);
            history.write(written(value, &writer, by));
        }
        assert_eq!(history.visible(&reader).collect::<Vec<_>>(), [2, 1, 0]);
        assert_eq!(history.visible(&writer).collect::<Vec<_>>(), [2]);
        history.read(1, reader.tick(1));
        assert_eq!(history.visible(&reader).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(history.newest().value, 2);
    }

    #[test]
    fn only_the_newest_are_kept() {
        let mut writer = Clock::default();
        let mut history = History::new(0);
        for value in 1..=100 {
            let by = writer.tick(0);
            history.write(written(value, &writer, by));
        }
        assert_eq!((history.all().len(), history.all()[0].value, history.newest().value), (KEPT, 37, 100));
    }
}
