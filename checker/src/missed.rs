//! Reads that saw what another task wrote and did not get all of its order: which of the ops between are too weak.

use crate::clock::{Clock, Epoch};
use crate::diagnose::Raced;
use crate::finding::{At, Finding, Kind};
use crate::history::{Head, Part};
use crate::machine::Machine;
use crate::op::{Range, Site};
use crate::task::{Scope, TaskId};
use std::rc::Rc;

/// A read that saw what another task wrote, and did not get all of its order.
#[derive(Debug)]
pub(crate) struct Miss {
    /// The read, and the fence after it if that was to acquire.
    pub takes: Vec<Part>,
    /// Whether they acquire.
    pub acquires: bool,
    /// Which step wrote it, and where.
    pub writer: (Epoch, Site),
    /// All that the writer had done.
    pub full: Rc<Clock>,
    /// What it has read.
    pub flag: Range,
    /// The releases that came with it.
    pub heads: Vec<Rc<Head>>,
}

/// What a relaxed read has seen of a release: a later acquire fence takes it.
#[derive(Debug, Clone)]
pub(crate) struct Unacquired {
    pub head: Rc<Head>,
    pub read: Part,
    pub flag: Range,
    pub writer: (Epoch, Site),
}

impl Unacquired {
    /// Whether a fence that takes this one needs an older one no more.
    pub fn replaces(&self, old: &Self) -> bool {
        let is_as_wide = old.head.scope <= self.head.scope && old.read.scope <= self.read.scope;
        is_as_wide && self.head.knowledge.includes(&old.head.knowledge)
    }

    /// What a fence of its reader has missed.
    pub fn missed(&self, fence: Part) -> Miss {
        Miss {
            takes: vec![self.read.clone(), fence],
            acquires: true,
            writer: self.writer.clone(),
            full: Rc::new(self.head.knowledge.order.clone()),
            flag: self.flag,
            heads: vec![self.head.clone()],
        }
    }
}

/// What ops announce that are to order two accesses.
const ACCESS: &str = "the first access";

/// Ops that are too weak to order two accesses.
struct Weak<'m> {
    /// What they were to announce.
    what: &'static str,
    /// Whether a release of the first access comes with what is read.
    releases: bool,
    /// Whether the writer has released, but before the first access.
    is_early: bool,
    acquires: bool,
    /// Those that are too narrow, on both sides.
    tells: Vec<&'m Part>,
    takes: Vec<&'m Part>,
}

impl Miss {
    /// The same, where a fence follows the read.
    pub fn with_fence(&self, fence: Part) -> Self {
        let takes = self.takes.iter().take(1).cloned().chain([fence]).collect();
        let Self { writer, full, flag, heads, .. } = self;
        let (writer, full, flag, heads) = (writer.clone(), full.clone(), *flag, heads.clone());
        Self { takes, acquires: true, writer, full, flag, heads }
    }

    /// The last step of what was to acquire.
    fn end(&self) -> Option<Epoch> {
        self.takes.last().map(|part| part.step)
    }
}

impl Machine {
    /// The reads on a task's way that saw a write after a step, the last one first.
    fn on_the_way<'m, 'k>(&'m self, step: Epoch, known: &'k Clock) -> impl Iterator<Item = &'m Miss> + use<'m, 'k> {
        let is_known = |miss: &Miss| miss.end().is_some_and(|end| known.covers(end));
        self.misses.iter().rev().filter(move |miss| miss.full.covers(step) && is_known(miss))
    }

    /// The last of them: one that acquires, if there is one, since what only looks at a flag that was waited for need
    /// not order anything.
    fn missed(&self, step: Epoch, known: &Clock) -> Option<&Miss> {
        let on_the_way = || self.on_the_way(step, known);
        on_the_way().find(|miss| miss.acquires).or_else(|| on_the_way().next())
    }

    /// The same of two accesses, which neither announce nor see themselves; what other accesses of the same place tell
    /// comes last.
    pub(crate) fn missed_between(&self, raced: &Raced) -> Option<&Miss> {
        let Raced { earlier, later, known, .. } = raced;
        let is_itself = |miss: &Miss| {
            let is_told = self.teller(earlier.epoch, miss).0 == earlier.epoch && !self.is_of_packet(miss);
            is_told || miss.takes.first().is_some_and(|read| read.step == later.epoch)
        };
        let is_apart = |miss: &Miss| ![earlier, later].iter().any(|access| access.range.overlaps(miss.flag));
        let orders = [(true, true), (true, false), (false, true), (false, false)];
        orders.into_iter().find_map(|order| {
            let is_one = |miss: &&Miss| (is_apart(miss), miss.acquires) == order && !is_itself(miss);
            self.on_the_way(earlier.epoch, known).find(is_one)
        })
    }

    /// Whether what was read is a packet, or floats.
    fn is_of_packet(&self, miss: &Miss) -> bool {
        self.put_at(miss.flag).is_some_and(|(by, ..)| by == miss.writer.0)
    }

    /// What is wrong where two accesses race because of a miss: all ops between that are too weak, at once.
    pub(crate) fn of_miss(&self, raced: &Raced, miss: &Miss, mut at: Vec<At>) -> Option<Finding> {
        let (read, _) = miss.takes.split_first()?;
        let weak = self.weak(raced.earlier.epoch, miss, ACCESS);
        let (writer, site) = self.teller(raced.earlier.epoch, miss);
        at.push(self.at_step(writer, &site, "announces the first access"));
        at.push(self.at_step(read.step, &read.site, "sees it before the second"));
        let fences = weak.tells.iter().chain(&weak.takes).filter(|part| part.is_fence);
        at.extend(fences.map(|part| {
            let what = if part.step.task == read.step.task { "acquires after it" } else { "releases before it" };
            self.at_step(part.step, &part.site, format!("{what}, at scope {}", part.scope.keyword()))
        }));
        let scope = self.scope_of(miss, raced.earlier.epoch.task, raced.later.epoch.task);
        let of_packet = "a packet, and floats, are no signal and release nothing (rule P1): receive them by \
                         wait_packet or wait_floats, or signal after the first access";
        let help = if self.is_of_packet(miss) { of_packet.into() } else { weak.help(scope.keyword(), miss) };
        Some(Finding { kind: weak.kind(), at, help })
    }

    /// Why a task that uses a line again does not know of a step after which it may: what tells it of the step and is
    /// too weak, if there is any, and how to mend that. `what` is the step.
    pub(crate) fn too_weak(&self, step: Epoch, task: TaskId, what: &'static str) -> Option<(Vec<At>, String)> {
        let miss = self.missed(step, self.clock(task))?;
        let weak = self.weak(step, miss, what);
        let (writer, site) = self.teller(step, miss);
        let (read, _) = miss.takes.split_first()?;
        let mut at = vec![self.at_step(writer, &site, format!("announces {what}"))];
        at.push(self.at_step(read.step, &read.site, "sees it before the line is used again"));
        Some((at, weak.help(self.scope_of(miss, step.task, task).keyword(), miss)))
    }

    /// The scope that an order through a flag needs, between two tasks.
    fn scope_of(&self, miss: &Miss, one: TaskId, other: TaskId) -> Scope {
        let of_two = || Scope::between(self.tasks()[one], self.tasks()[other]);
        if self.is_of_several_ranks(miss.flag) { Scope::Sys } else { of_two() }
    }

    fn weak<'m>(&self, earlier: Epoch, miss: &'m Miss, what: &'static str) -> Weak<'m> {
        let reader = miss.takes[0].step.task;
        let narrow = |parts: &'m [Part], from: TaskId, to: TaskId| -> Vec<&'m Part> {
            let (from, to) = (self.tasks()[from], self.tasks()[to]);
            parts.iter().filter(|part| !part.scope.covers(from, to)).collect()
        };
        let tells = |head: &'m Rc<Head>| narrow(&head.parts, head.task, reader);
        let knows = |head: &&Rc<Head>| head.knowledge.order.covers(earlier);
        let head = miss.heads.iter().filter(knows).min_by_key(|head| tells(head).len());
        let from = head.map_or(miss.writer.0.task, |head| head.task);
        Weak {
            what,
            releases: head.is_some(),
            is_early: head.is_none() && miss.heads.iter().any(|head| head.task == miss.writer.0.task),
            acquires: miss.acquires,
            tells: head.map_or_else(Vec::new, tells),
            takes: narrow(&miss.takes, reader, from),
        }
    }

    /// The write that tells of an access: of several that add to one another the first after it.
    fn teller(&self, access: Epoch, miss: &Miss) -> (Epoch, Site) {
        let all = self.history(miss.flag).map_or(&[][..], |history| history.all());
        let last = all.iter().rposition(|written| written.by == Some(miss.writer.0));
        let before = last.map_or(&[][..], |last| &all[..=last]).iter().rev();
        let after = before.take_while(|written| written.full.covers(access));
        let first = after.last().and_then(|written| Some((written.by?, written.site.clone())));
        first.unwrap_or_else(|| miss.writer.clone())
    }

    /// Whether tasks of several ranks have accessed a flag.
    fn is_of_several_ranks(&self, flag: Range) -> bool {
        let all = self.history(flag).map_or(&[][..], |history| history.all());
        let mut ranks = all.iter().flat_map(|written| written.by.iter().chain(&written.readers));
        let first = ranks.next().map(|step| self.tasks()[step.task].rank);
        ranks.any(|step| Some(self.tasks()[step.task].rank) != first)
    }
}

impl Weak<'_> {
    fn kind(&self) -> Kind {
        match (self.releases, self.acquires) {
            (true, false) => Kind::MissingAcquire,
            (true, true) if !self.tells.is_empty() => Kind::NarrowRelease,
            (true, true) if !self.takes.is_empty() => Kind::NarrowAcquire,
            _ => Kind::MissingRelease,
        }
    }

    /// Each op that is too weak, and why.
    fn all(&self) -> Vec<String> {
        let names = |parts: &[&Part], [op, fence]: [&str; 2]| -> Vec<String> {
            let name = |part: &&Part| if part.is_fence { fence.to_owned() } else { op.to_owned() };
            parts.iter().map(|part| format!("{} (scope {})", name(part), part.scope.keyword())).collect()
        };
        let (tells, sees) = (format!("what announces {}", self.what), "what sees it");
        let mut all = names(&self.tells, [&tells, "the fence before what announces it"]);
        if !self.releases {
            all = vec![format!("{tells} (no release)")];
        }
        if self.acquires {
            all.extend(names(&self.takes, [sees, "the fence after what sees it"]));
        } else {
            all.push(format!("{sees} (no acquire)"));
        }
        all
    }

    fn help(&self, scope: &str, miss: &Miss) -> String {
        let all = self.all();
        if all.len() > 1 {
            return format!("each of these is too weak: {}; release and acquire at scope {scope}", all.join(", "));
        }
        let is_fence = |parts: &[&Part]| parts.first().is_some_and(|part| part.is_fence);
        match self.kind() {
            Kind::MissingAcquire => format!("what sees it has to acquire at scope {scope}"),
            Kind::NarrowRelease if is_fence(&self.tells) => {
                format!("the fence before it releases too narrowly: scope {scope} covers both")
            }
            Kind::NarrowRelease => format!("it releases too narrowly: scope {scope} covers both"),
            Kind::NarrowAcquire if is_fence(&self.takes) => {
                format!("the fence after it acquires too narrowly: scope {scope} covers both")
            }
            Kind::NarrowAcquire if miss.takes.len() > 1 => format!(
                "it reads too narrowly, and a fence after it acquires no more than it reads: scope {scope} covers both"
            ),
            Kind::NarrowAcquire => format!("it acquires too narrowly: scope {scope} covers both"),
            _ if self.is_early => {
                format!("a release at scope {scope} has to come after {}: what is released is before it", self.what)
            }
            _ => format!("what announces {} has to release at scope {scope}", self.what),
        }
    }
}
