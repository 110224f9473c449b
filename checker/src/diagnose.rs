//! Why two accesses race: which edge is missing, and which op would make it.

use crate::clock::{Clock, Epoch};
use crate::finding::{At, Finding, Kind};
use crate::machine::{LINE, Machine};
use crate::op::{Range, Site, Until};
use crate::shadow::Access;
use crate::task::{Scope, TaskId};
use std::collections::HashMap;
use std::rc::Rc;

/// Two accesses that race, and what the later one's task knew.
#[derive(Debug)]
pub(crate) struct Raced {
    pub earlier: Access,
    pub later: Access,
    pub known: Rc<Clock>,
    /// Both are of one op, and write the same.
    pub is_same: bool,
    /// A read and a write, and the reader's task has waited for nothing of the writer's.
    pub is_first: bool,
    /// A packet, or floats, that the later one's task has received after the earlier one: these order nothing else.
    pub packet: Option<(Epoch, Site)>,
}

impl Raced {
    /// What the race is called, if nothing else is known of it.
    fn kind(&self) -> Kind {
        if self.earlier.writes { Kind::Race } else { Kind::WriteAfterRead }
    }

    /// What to do where a flag that one task signals is read by another one as data are.
    fn of_flag(&self) -> Option<&'static str> {
        let Self { earlier, later, .. } = self;
        let (signal, read) = if earlier.writes { (earlier, later) } else { (later, earlier) };
        let is_flag = signal.strong.is_some() && signal.range.bytes < LINE && signal.range == read.range;
        let reads = read.strong.is_none() && !read.writes;
        (is_flag && reads).then_some(
            "what one task signals, or updates, another one reads by a plain load: wait for it, or read it by an \
             atomic or a volatile load, or order the two",
        )
    }
}

/// A wait that ended, and the write that it ended with.
#[derive(Debug)]
pub(crate) struct Waited {
    pub wait: Epoch,
    pub flag: Range,
    pub site: Site,
    /// What it has compared the flag with, and what that was.
    pub until: Until,
    pub value: u64,
    pub by: Option<Epoch>,
    /// Where that is.
    pub by_site: Site,
    /// Where no event has made the value: the write that did, if there was one.
    pub stored: Option<(Epoch, Site)>,
}

impl Waited {
    /// The value that it ended with.
    fn shown(&self) -> String {
        self.until.shown(self.value, self.flag.bytes)
    }
}

/// Two atomics of one place that are not atomic for each other.
fn narrow_atomic(Raced { earlier, later, .. }: &Raced, scope: &str, at: Vec<At>) -> Finding {
    // Only lines have so many bytes.
    let of_packet = [earlier, later].map(|access| access.range.bytes == LINE);
    let help = if of_packet[0] == of_packet[1] {
        format!("two atomics on one place: give both scope {scope} and the same bytes")
    } else {
        "a line of a packet or of floats is sent and received by their own ops alone (rule P1); for a signal use a \
         flag of its own"
            .into()
    };
    Finding { kind: Kind::NarrowAtomic, at, help }
}

/// Threads of a block come to a barrier of all ranks by themselves.
fn alone_at_barrier(mut at: Vec<At>) -> Finding {
    for at in &mut at {
        at.what = "is at a barrier of all ranks, as a thread alone".into();
    }
    let help = "a block comes to it once: give it group block, or let one thread of the block come to it";
    Finding { kind: Kind::Race, at, help: help.into() }
}

impl Machine {
    /// What kind of race it is.
    pub(crate) fn diagnose(&self, raced: &Raced) -> Finding {
        let Raced { earlier, later, .. } = raced;
        let mut at = vec![self.place(earlier), self.place(later)];
        let scope = Scope::between(self.tasks()[earlier.epoch.task], self.tasks()[later.epoch.task]).keyword();
        if self.is_of_barrier(earlier.range) && earlier.site == later.site {
            return alone_at_barrier(at);
        }
        if earlier.strong.is_some() && later.strong.is_some() {
            return narrow_atomic(raced, scope, at);
        }
        if raced.is_same {
            let help = "both write what is there already: one of the two is enough";
            return Finding { kind: Kind::SameValue, at, help: help.into() };
        }
        if let Some(miss) = self.missed_between(raced)
            && let Some(finding) = self.of_miss(raced, miss, at.clone())
        {
            return finding;
        }
        if let Some(help) = raced.of_flag() {
            return Finding { kind: raced.kind(), at, help: help.into() };
        }
        let mut is_ahead = false;
        // Barriers of all ranks are no events of the program's own, but they tell who is ahead.
        if let Some((waited, _)) = self.wrong_event(raced, true) {
            is_ahead = self.is_ahead(raced, waited);
        }
        if let Some((waited, signal)) = self.wrong_event(raced, false) {
            is_ahead = self.is_ahead(raced, waited);
            if !is_ahead {
                at.extend([self.waited_at(waited), signal]);
                at.extend(self.satisfied_at(waited));
                let help = "give each event a flag of its own, or wait for a value that only this one can make";
                return Finding { kind: Kind::WrongEvent, at, help: help.into() };
            }
        }
        if let Some(help) = self.of_packet(raced, &mut at) {
            return Finding { kind: raced.kind(), at, help: help.into() };
        }
        if earlier.writes && !is_ahead {
            let more = [self.between_launches(raced), self.between_barriers(raced)].concat();
            let signals = || format!("signal after the first, and wait before the second{more}");
            let help = self.without_signals(raced).map_or_else(signals, str::to_owned);
            return Finding { kind: Kind::Race, at, help: format!("nothing orders the two: {help}") };
        }
        if earlier.writes {
            // The write is what comes too early.
            at.swap(0, 1);
        }
        if let Some(help) = self.without_signals(raced) {
            return Finding { kind: Kind::WriteAfterRead, at, help: format!("nothing orders the two: {help}") };
        }
        let mut help = "nothing tells the writer that the place has been read: signal after the read (a credit), and \
                        wait before the write"
            .to_owned();
        if raced.is_first {
            help += "; if the read is to see this write, wait for the writer before it";
        }
        help += self.between_launches(raced);
        help += self.between_barriers(raced);
        Finding { kind: Kind::WriteAfterRead, at, help }
    }

    /// What to do where a packet, or floats, tell of the first access; where they are put is one more place.
    fn of_packet(&self, raced: &Raced, at: &mut Vec<At>) -> Option<&'static str> {
        if self.without_signals(raced).is_some() {
            return None;
        }
        let (by, site) = raced.packet.as_ref()?;
        at.push(self.at_step(*by, site, "puts what the other one has received when it comes to the second"));
        Some(
            "a packet, and floats, order nothing but their own line (rule P1): send it in them, or signal after the \
             first, and wait before the second",
        )
    }

    /// What orders two accesses of tasks that need no signal for it.
    fn without_signals(&self, Raced { earlier, later, .. }: &Raced) -> Option<&'static str> {
        let [one, other] = [earlier, later].map(|access| self.tasks()[access.epoch.task]);
        if one.is_host() || other.is_host() {
            return Some("a barrier of all hosts (symm.barrier_all) between them");
        }
        if (one.rank, one.block) == (other.rank, other.block) {
            return Some("a barrier of the block (gpu.barrier) between them");
        }
        None
    }

    /// What else orders them, if they are of two launches.
    fn between_launches(&self, Raced { earlier, later, .. }: &Raced) -> &'static str {
        if !self.are_of_two_launches(earlier.epoch, later.epoch) {
            return "";
        }
        "; they are of two launches, and a barrier of all hosts (symm.barrier_all) between these orders them, too"
    }

    /// What else orders them, if both tasks come to barriers of all ranks.
    fn between_barriers(&self, Raced { earlier, later, .. }: &Raced) -> &'static str {
        let meets =
            |task: TaskId| self.waited.iter().any(|waited| waited.wait.task == task && self.is_of_barrier(waited.flag));
        if meets(earlier.epoch.task) && meets(later.epoch.task) {
            "; or both come to one more barrier of all ranks (symm.barrier), between the two"
        } else {
            ""
        }
    }

    /// Whether one of a reader and a writer is ahead: it has accessed the place once more, and the other one is still
    /// at an earlier event of its. Where one event lets a task through twice, it is the event that is wrong.
    fn is_ahead(&self, Raced { earlier, later, known, .. }: &Raced, waited: &Waited) -> bool {
        let is_before = |by: Epoch| by.task == earlier.epoch.task && by.step < earlier.epoch.step;
        let is_again = |other: &Waited| {
            let is_other = other.by == waited.by && other.wait != waited.wait && known.covers(other.wait);
            is_other && waited.until.value <= other.until.value
        };
        let is_new = waited.by.is_some_and(is_before) && !self.waited.iter().any(is_again);
        let is_stale = || self.lets_through_twice([earlier.epoch.task, later.epoch.task]);
        is_new && earlier.writes != later.writes && (earlier.writes || !is_stale())
    }

    /// Whether one of these tasks has waited twice, the second time for no more, and both waits ended with one event.
    fn lets_through_twice(&self, tasks: [TaskId; 2]) -> bool {
        let mut ended = HashMap::new();
        let mut waits = self.waited.iter().filter(|waited| tasks.contains(&waited.wait.task));
        waits.any(|waited| {
            let Some(by) = waited.by else { return false };
            let before = ended.insert((waited.wait.task, by.task, by.step), waited.until.value);
            before.is_some_and(|before| waited.until.value <= before)
        })
    }

    /// A wait that a wrong event satisfies.
    fn waited_at(&self, waited: &Waited) -> At {
        let what = match waited.by {
            Some(_) => "waits, and is satisfied by another event than the one that is meant".to_owned(),
            None if waited.stored.is_some() => {
                format!("waits, and is satisfied by what was written to the flag before, {}", waited.shown())
            }
            None => format!("waits, and is satisfied by what the flag has held from the start, {}", waited.shown()),
        };
        self.at_step(waited.wait, &waited.site, what)
    }

    /// The event that has satisfied it, or who has written what the flag held without one.
    fn satisfied_at(&self, waited: &Waited) -> Option<At> {
        let Some(by) = waited.by else {
            let (by, site) = waited.stored.as_ref()?;
            return Some(self.at_step(*by, site, format!("has written {} there, which is no signal", waited.shown())));
        };
        let is_stale =
            self.launch_of(by).is_some() && self.launch_of(waited.wait).is_some_and(|launch| launch.known.covers(by));
        let when = if is_stale { ", from an earlier launch" } else { "" };
        Some(self.at_step(by, &waited.by_site, format!("satisfies the wait{when}: the flag is {}", waited.shown())))
    }

    fn place(&self, access: &Access) -> At {
        let verb = if access.writes { "writes" } else { "reads" };
        let what = format!("{verb} {} bytes at {}", access.range.bytes, access.range);
        self.at_step(access.epoch, &access.site, what)
    }

    /// A wait of the later task, at a barrier of all ranks or not, and a signal to its flag after the earlier access
    /// that is not the one it ended with.
    fn wrong_event(&self, raced: &Raced, of_barriers: bool) -> Option<(&Waited, At)> {
        let is_one =
            |waited: &&Waited| raced.known.covers(waited.wait) && self.is_of_barrier(waited.flag) == of_barriers;
        let waits = self.waited.iter().rev().filter(is_one);
        waits.into_iter().find_map(|waited| {
            // A task does not wait for what it signals itself.
            let is_other = |by: Epoch| Some(by) != waited.by && by.task != waited.wait.task;
            let signal = self
                .history(waited.flag)?
                .all()
                .iter()
                .find(|written| written.by.is_some_and(is_other) && written.full.covers(raced.earlier.epoch))?;
            Some((waited, self.at_step(signal.by?, &signal.site, "signals that the first access is done")))
        })
    }
}
