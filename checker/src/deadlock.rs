//! Why no task can go on: who waits for what, and who could have made it come.

use crate::clock::Epoch;
use crate::finding::{At, Kind};
use crate::history::Written;
use crate::machine::word;
use crate::op::{Op, Range, Site, Strong, Until, holds};
use crate::run::Run;
use crate::task::TaskId;
use std::collections::BTreeSet;
use symm_abi::wait::Compare;

/// The most tasks that are named of those that may be to signal.
const MOST_NAMED: usize = 2;

impl Run<'_> {
    /// Says what kind of deadlock it is, with one line for each task that is blocked.
    pub(crate) fn deadlock(&mut self, blocked: &[TaskId]) {
        // A host that waits for its kernel says nothing of its own.
        let launched = |task: &&TaskId| matches!(self.op(**task), Some(Op::Join(_)));
        let is_all = blocked.iter().all(|task| launched(&task));
        let mut tasks: Vec<_> = blocked.iter().filter(|task| is_all || !launched(task)).copied().collect();
        // Who is at a barrier waits for the others.
        tasks.sort_by_key(|&task| self.is_at_barrier(task));
        let at: Vec<_> = tasks.into_iter().filter_map(|task| self.blocked_at(task)).collect();
        let (kind, help) = self.kind_of_deadlock(blocked);
        self.machine.find(kind, at, help);
    }

    fn blocked_at(&self, task: TaskId) -> Option<At> {
        let (op, site) = self.pending[task].as_ref()?;
        if let Some((ranges, seen)) = self.vain(task) {
            return Some(self.machine.at(task, site, self.polls_in_vain(task, op, ranges, seen)));
        }
        let what = match op {
            _ if !self.fits(task) => "its block waits for a place on the device".into(),
            Op::Wait(strong, until) => self.wait_in_vain(task, *strong, *until),
            Op::Barrier(key, members) => self.at_barrier(task, site, *key, members),
            Op::Join(_) => "waits until what it has launched ends".into(),
            Op::WaitPacket(..) | Op::WaitFloats(..) => format!("waits for {}", self.missing(op).unwrap_or_default()),
            Op::Poll(ranges, seen, look) => self.polls_in_vain(task, look.as_deref().unwrap_or(op), ranges, seen),
            _ => "is blocked".into(),
        };
        Some(self.machine.at(task, site, what))
    }

    /// The lines of a packet, or of floats, that an op waits or looks for and that have not come.
    fn missing(&self, op: &Op) -> Option<String> {
        match op {
            Op::WaitPacket(lines, epoch) | Op::TryPacket(lines, epoch) => {
                Some(self.machine.missing_packet(lines, *epoch))
            }
            Op::WaitFloats(lines, bits) | Op::TryFloats(lines, bits) => Some(self.machine.missing_floats(lines, *bits)),
            _ => None,
        }
    }

    fn at_barrier(&self, task: TaskId, site: &Site, key: u64, members: &[TaskId]) -> String {
        let is_here = |task: TaskId| matches!(self.op(task), Some(Op::Barrier(theirs, _)) if *theirs == key);
        let missing = members.iter().copied().filter(|&member| !is_here(member));
        let tasks = self.machine.tasks();
        if !members.iter().all(|&member| tasks[member].is_host()) {
            let missing: Vec<_> = missing.map(|other| tasks[other].to_string()).collect();
            return format!("is at a barrier to which these do not come: {}", listed(&missing));
        }
        let mut reasons: Vec<([&str; 2], Vec<String>)> = Vec::new();
        for other in missing {
            let (why, rank) = (self.why_not_at_barrier(other), tasks[other].rank.to_string());
            match reasons.iter_mut().find(|(known, _)| *known == why) {
                Some((_, ranks)) => ranks.push(rank),
                None => reasons.push((why, vec![rank])),
            }
        }
        let say = |([one, several], ranks): ([&str; 2], Vec<String>)| match &ranks[..] {
            [rank] => format!("the host of rank {rank} does not come: {one}"),
            ranks => format!("the hosts of ranks {} do not come: {several}", listed(ranks)),
        };
        let missing: Vec<_> = reasons.into_iter().map(say).collect();
        let again = match self.machine.arrivals(task, site) {
            0 | 1 => String::new(),
            nth => format!(" (for the {} time at this line)", ordinal(nth)),
        };
        format!("is at a barrier of all hosts{again}, to which {}", missing.join("; and "))
    }

    /// Why a host is not at a barrier: of one, and of several.
    fn why_not_at_barrier(&self, host: TaskId) -> [&'static str; 2] {
        match self.op(host) {
            None => ["it has ended", "they have ended"],
            Some(Op::Join(_)) => ["it waits for its kernel", "they wait for their kernels"],
            Some(Op::Barrier(..)) => ["it is at another barrier", "they are at another barrier"],
            Some(_) => ["it waits", "they wait"],
        }
    }

    /// Whether a task waits for others at a barrier: of its group, of the hosts, or of all ranks.
    fn is_at_barrier(&self, task: TaskId) -> bool {
        matches!(self.op(task), Some(Op::Barrier(..))) || self.is_at_barrier_of_ranks(task)
    }

    fn is_at_barrier_of_ranks(&self, task: TaskId) -> bool {
        self.event_of(task).is_some_and(|flag| self.machine.misses_barrier(flag).is_some())
    }

    fn wait_in_vain(&self, task: TaskId, strong: Strong, until: Until) -> String {
        if let Some(missing) = self.machine.misses_barrier(strong.at) {
            return missing;
        }
        let seen = word(&self.machine.bytes(&[strong.at]));
        let (sign, who) = (until.compare, self.who_signalled(task, strong.at));
        let [value, seen] = [until.value, seen].map(|value| until.shown(value, strong.at.bytes));
        format!("waits for {} {sign} {value}, sees {seen}; {who}", strong.at)
    }

    fn polls_in_vain(&self, task: TaskId, look: &Op, ranges: &[Range], seen: &[u8]) -> String {
        if let Some(missing) = self.missing(look) {
            return format!("polls in vain for {missing}");
        }
        match ranges {
            &[at] if at.bytes <= 8 => {
                let seen = seen.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
                format!("polls {at} in vain, sees {seen}; {}", self.who_signalled(task, at))
            }
            [at] => format!("polls {at} in vain; {}", self.who_signalled(task, *at)),
            [first, ..] => format!("polls {} places in vain, the first is {first}", ranges.len()),
            [] => "runs in a loop that never ends".into(),
        }
    }

    /// Who has written a flag that a task waits for.
    fn who_signalled(&self, task: TaskId, at: Range) -> String {
        let by = |written: &Written| Some(format!("{} ({})", self.machine.tasks()[written.by?.task], written.site));
        let mut who: Vec<_> = self.written(at).iter().filter_map(by).collect();
        who.dedup();
        if let Some((by, site, _)) = self.machine.put_at(at)
            && self.written(at).last().is_none_or(|last| last.by.is_none_or(|last| last == by))
        {
            let by = self.machine.tasks()[by.task];
            return format!("nobody has signalled it; what {by} ({site}) has put there is no signal (rule P1)");
        }
        if who.is_empty() {
            if let Some((by, site)) = self.machine.stored(at) {
                let by = self.machine.tasks()[by.task];
                return format!("nobody has signalled it; what {by} ({site}) has written there is no signal");
            }
            let others = self.machine.signals_beside(at, &self.waited_for());
            let others = if others.is_empty() { self.stores_without_signal(task, at) } else { others };
            return format!("nobody has signalled it{others}");
        }
        format!("signalled by {}", who.join(", "))
    }

    /// Who has written into the heap of a flag that nobody has signalled, and told nobody there: it may be to do so.
    fn stores_without_signal(&self, task: TaskId, at: Range) -> String {
        let tasks = self.machine.tasks();
        let stores = self.machine.stores_without_signal(at.heap, tasks[task].rank);
        let say = |(by, site): &(Epoch, Site)| {
            let by = tasks[by.task];
            format!(
                "; {by} has written to the same heap ({site}) and signals nobody there after that: it may be the one \
                 to signal"
            )
        };
        stores.iter().take(MOST_NAMED).map(say).collect()
    }

    /// The flags that tasks wait for.
    fn waited_for(&self) -> BTreeSet<Range> {
        (0..self.pending.len()).filter_map(|task| self.flag_of(task)).collect()
    }

    fn written(&self, at: Range) -> &[Written] {
        self.machine.history(at).map_or(&[], |history| history.all())
    }

    fn fits(&self, task: TaskId) -> bool {
        self.fitting()(self.machine.tasks()[task])
    }

    fn kind_of_deadlock(&self, blocked: &[TaskId]) -> (Kind, String) {
        if blocked.iter().any(|&task| !self.fits(task)) {
            let at_once = self.limits().blocks;
            return (
                Kind::TooManyBlocks,
                format!("{at_once} blocks fit at once, and they wait for others: launch no more"),
            );
        }
        if let Some(help) = blocked.iter().find_map(|&task| self.passed_by(task)) {
            return (Kind::PassedBy, help.into());
        }
        if blocked.iter().filter_map(|&task| self.op(task)).any(|op| self.machine.has_lost(op)) {
            let help = "a packet has come and was overwritten before it was received: its sender waits for an answer \
                        before it uses the line again (a credit), or uses more lines in turn";
            return (Kind::Deadlock, help.into());
        }
        if let Some(help) = self.divergence(blocked) {
            return (Kind::BarrierDivergence, help.into());
        }
        let is_first = |task: &&TaskId| !matches!(self.op(**task), Some(Op::Join(_) | Op::Barrier(..)));
        let mut waits = blocked.iter().filter(is_first).peekable();
        if waits.peek().is_some() && waits.all(|&task| self.is_at_barrier_of_ranks(task)) {
            let help =
                "every rank has to launch the kernel, with as many blocks, and each block has to come to the barrier";
            let mut flags = blocked.iter().filter_map(|&task| self.event_of(task));
            let is_one = flags.all(|flag| self.written(flag).iter().all(|written| written.by.is_none()));
            return (if is_one { Kind::NeverSignalled } else { Kind::Deadlock }, help.into());
        }
        self.never_signalled(blocked).unwrap_or_else(|| (Kind::Deadlock, self.missing_events(blocked).into()))
    }

    /// How to mend a barrier that some of its tasks have left out, if tasks are blocked by one.
    fn divergence(&self, blocked: &[TaskId]) -> Option<&'static str> {
        let is_divergent = |task: TaskId| match self.op(task) {
            Some(Op::Barrier(key, members)) => members.iter().any(|&other| match self.op(other) {
                None => true,
                Some(Op::Barrier(theirs, _)) => theirs != key,
                Some(_) => false,
            }),
            _ => false,
        };
        let divergent: Vec<_> = blocked.iter().copied().filter(|&task| is_divergent(task)).collect();
        let is_of_hosts = divergent.iter().all(|&task| self.machine.tasks()[task].is_host());
        let keys: BTreeSet<_> = divergent.iter().filter_map(|&task| self.barrier_of(task)).collect();
        match keys.len() {
            0 => None,
            _ if !is_of_hosts => Some("all tasks of a group come to its barrier, or none does"),
            1 => Some("every rank's host has to come to it, as often as the others"),
            _ => Some("the hosts are at different barriers: every rank's host has to come to the same ones"),
        }
    }

    /// What is missing where tasks wait for several flags or packets.
    fn missing_events(&self, blocked: &[TaskId]) -> &'static str {
        // Who waits for what it has launched waits for these.
        let waits = || blocked.iter().copied().filter(|&task| !matches!(self.op(task), Some(Op::Join(_))));
        let is_lost = |task| self.is_at_barrier(task) || self.event_of(task).is_some() && !self.is_sent(task);
        match waits().count() {
            1 => "nobody is left who could end it: a signal or a packet is missing, or it waits for more than has come",
            _ if waits().all(is_lost) => {
                "nobody has sent any of these: a signal or a packet is missing, or each is sent only after another wait"
            }
            _ => "each waits for what another one does later, or a signal or a packet is missing",
        }
    }

    /// That all tasks wait, in the end, for one flag or packet that nobody has ever sent.
    fn never_signalled(&self, blocked: &[TaskId]) -> Option<(Kind, String)> {
        let is_first = |task: &&TaskId| !matches!(self.op(**task), Some(Op::Join(_))) && !self.is_at_barrier(**task);
        let (mut events, mut is_packet) = (BTreeSet::new(), false);
        for &task in blocked.iter().filter(is_first) {
            let event = self.event_of(task)?;
            is_packet = self.machine.lines_of(self.op(task)?).is_some();
            if self.is_sent(task) {
                return None;
            }
            events.insert(event);
        }
        if events.len() != 1 {
            return None;
        }
        let is_met = blocked.iter().any(|&task| self.is_at_barrier(task));
        let help = match (is_packet, is_met) {
            (false, false) => "nobody is left who could signal it: the signal is missing",
            (true, false) => "nobody sends this packet, and nobody is left who could: the op that puts it is missing",
            (false, true) => {
                "nobody has signalled it, and all others wait for this wait: the signal is missing, or it comes only \
                 after their barrier"
            }
            (true, true) => {
                "nobody has sent this packet, and all others wait for this wait: the op that puts it is missing, or it \
                 comes only after their barrier"
            }
        };
        Some((Kind::NeverSignalled, help.into()))
    }

    /// How to mend a wait whose flag held once, which its task has not seen.
    fn passed_by(&self, task: TaskId) -> Option<&'static str> {
        let (strong, until) = self.waiting(task)?;
        let holds_by = |compare, value| holds(compare, value, until.value, strong.at.bytes);
        let history = self.machine.history(strong.at)?;
        history.had_unread(task, |value| holds_by(until.compare, value)).then_some(())?;
        let is_past = until.compare == Compare::Eq && holds_by(Compare::Ge, history.newest().value);
        Some(if is_past {
            "the flag was what the wait waits for, and went on: compare with ge, or signal only after the wait"
        } else {
            "the flag was what the wait waits for, and was changed before the wait had looked: change it only after \
             the wait, or give each event a flag of its own"
        })
    }

    /// Whether anybody has signalled the flag, or sent the packet, that a task waits for.
    fn is_sent(&self, task: TaskId) -> bool {
        let is_written = |event| self.written(event).iter().any(|each| each.by.is_some());
        self.event_of(task).is_some_and(|event| self.machine.is_sent(event) || is_written(event))
    }

    /// The number of the barrier that a task is at.
    fn barrier_of(&self, task: TaskId) -> Option<u64> {
        match self.op(task)? {
            Op::Barrier(key, _) => Some(*key),
            _ => None,
        }
    }

    /// The flag that a task waits for, if it is one.
    pub(crate) fn flag_of(&self, task: TaskId) -> Option<Range> {
        if let Some((ranges, _)) = self.vain(task) {
            return ranges.first().copied();
        }
        match self.op(task)? {
            Op::Wait(strong, _) => Some(strong.at),
            Op::Poll(ranges, ..) if ranges.len() == 1 => ranges.first().copied(),
            _ => None,
        }
    }

    /// The flag that a task waits for, or the first line of a packet or of floats that has not come.
    pub(crate) fn event_of(&self, task: TaskId) -> Option<Range> {
        let missing = self.op(task).and_then(|op| self.machine.lines_of(op)).and_then(|lines| lines.first().copied());
        missing.or_else(|| self.flag_of(task))
    }

    fn waiting(&self, task: TaskId) -> Option<(Strong, Until)> {
        match self.op(task)? {
            Op::Wait(strong, until) => Some((*strong, *until)),
            _ => None,
        }
    }
}

/// Names, the last one after an `and`.
fn listed(names: &[String]) -> String {
    match names {
        [names @ .., last] if !names.is_empty() => format!("{} and {last}", names.join(", ")),
        names => names.concat(),
    }
}

/// 2nd, 3rd, 4th, …
fn ordinal(number: usize) -> String {
    let end = match (number % 10, number % 100 / 10) {
        (1, tens) if tens != 1 => "st",
        (2, tens) if tens != 1 => "nd",
        (3, tens) if tens != 1 => "rd",
        _ => "th",
    };
    format!("{number}{end}")
}
