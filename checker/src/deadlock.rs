//! Why no task can go on: who waits for what, and who could have made it come.

use crate::finding::{At, Kind};
use crate::history::Written;
use crate::op::{Op, Range, Strong, Until, holds};
use crate::run::Run;
use crate::task::TaskId;
use std::collections::BTreeSet;

impl Run<'_> {
    /// Says what kind of deadlock it is, with one line for each task that is blocked.
    pub(crate) fn deadlock(&mut self, blocked: &[TaskId]) {
        // A host that waits for its kernel says nothing of its own.
        let launched = |task: &&TaskId| matches!(self.op(**task), Some(Op::Join(_)));
        let is_all = blocked.iter().all(|task| launched(&task));
        let mut tasks: Vec<_> = blocked.iter().filter(|task| is_all || !launched(task)).copied().collect();
        // Who is at a barrier waits for the others.
        tasks.sort_by_key(|&task| matches!(self.op(task), Some(Op::Barrier(..))));
        let at: Vec<_> = tasks.into_iter().filter_map(|task| self.blocked_at(task)).collect();
        let (kind, help) = self.kind_of_deadlock(blocked);
        self.machine.find(kind, at, help);
    }

    fn blocked_at(&self, task: TaskId) -> Option<At> {
        let (op, site) = self.pending[task].as_ref()?;
        if let Some((ranges, seen)) = self.vain(task) {
            let what = match op {
                Op::TryPacket(lines, epoch) => {
                    format!("polls in vain for {}", self.machine.missing_packet(lines, *epoch))
                }
                Op::TryFloats(lines, bits) => {
                    format!("polls in vain for {}", self.machine.missing_floats(lines, *bits))
                }
                _ => self.polls_in_vain(ranges, seen),
            };
            return Some(self.machine.at(task, site, what));
        }
        let what = match op {
            _ if !self.fits(task) => "its block waits for a place on the device".into(),
            Op::Wait(strong, until) => self.wait_in_vain(*strong, *until),
            Op::Barrier(key, members) => self.at_barrier(*key, members),
            Op::Join(_) => "waits until what it has launched ends".into(),
            Op::WaitPacket(lines, epoch) => format!("waits for {}", self.machine.missing_packet(lines, *epoch)),
            Op::WaitFloats(lines, bits) => format!("waits for {}", self.machine.missing_floats(lines, *bits)),
            Op::Poll(ranges, seen) => self.polls_in_vain(ranges, seen),
            _ => "is blocked".into(),
        };
        Some(self.machine.at(task, site, what))
    }

    fn at_barrier(&self, key: u64, members: &[TaskId]) -> String {
        let is_missing = |&&other: &&TaskId| !matches!(self.op(other), Some(Op::Barrier(..)));
        let missing = members.iter().filter(is_missing);
        let tasks = self.machine.tasks();
        if !members.iter().all(|&member| tasks[member].is_host()) {
            let missing: Vec<_> = missing.map(|&other| tasks[other].to_string()).collect();
            return format!("is at a barrier to which these do not come: {}", missing.join(", "));
        }
        let why = |other: TaskId| match self.op(other) {
            None => "it has ended",
            Some(Op::Join(_)) => "it waits for its kernel",
            Some(_) => "it is elsewhere",
        };
        let say = |&other: &TaskId| format!("the host of rank {} does not come: {}", tasks[other].rank, why(other));
        let missing: Vec<_> = missing.map(say).collect();
        let nth = 1 + self.machine.met(key);
        format!("is at a barrier of all hosts (number {nth} of its kind), to which {}", missing.join(", "))
    }

    fn wait_in_vain(&self, strong: Strong, until: Until) -> String {
        if let Some(missing) = self.machine.misses_barrier(strong.at) {
            return missing;
        }
        let seen = self.written(strong.at).last().map_or(0, |last| last.value);
        let (sign, who) = (until.compare, self.who_signalled(strong.at));
        let [value, seen] = [until.value, seen].map(|value| until.shown(value, strong.at.bytes));
        format!("waits for {} {sign} {value}, sees {seen}; {who}", strong.at)
    }

    fn polls_in_vain(&self, ranges: &[Range], seen: &[u8]) -> String {
        match ranges {
            &[at] if at.bytes <= 8 => {
                let seen = seen.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
                format!("polls {at} in vain, sees {seen}; {}", self.who_signalled(at))
            }
            [at] => format!("polls {at} in vain; {}", self.who_signalled(*at)),
            [first, ..] => format!("polls {} places in vain, the first is {first}", ranges.len()),
            [] => "runs in a loop that never ends".into(),
        }
    }

    /// Who has written a flag.
    fn who_signalled(&self, at: Range) -> String {
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
            let others = self.machine.signals_beside(at, &self.waited_for());
            return format!("nobody has signalled it{others}");
        }
        format!("signalled by {}", who.join(", "))
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
        let divergent = |&task: &TaskId| match self.op(task) {
            Some(Op::Barrier(key, members)) => members.iter().any(|&other| match self.op(other) {
                None => true,
                Some(Op::Barrier(theirs, _)) => theirs != key,
                Some(_) => false,
            }),
            _ => false,
        };
        if blocked.iter().any(|&task| !self.fits(task)) {
            let at_once = self.limits().blocks;
            return (
                Kind::TooManyBlocks,
                format!("{at_once} blocks fit at once, and they wait for others: launch no more"),
            );
        }
        if blocked.iter().any(|&task| self.has_missed(task)) {
            let help =
                "the flag was what the wait waits for, and went on: compare with ge, or signal only after the wait";
            return (Kind::PassedBy, help.into());
        }
        if blocked.iter().any(divergent) {
            let is_of_hosts =
                blocked.iter().filter(|task| divergent(task)).all(|&task| self.machine.tasks()[task].is_host());
            let help = if is_of_hosts {
                "every rank's host has to come to it, as often as the others"
            } else {
                "all tasks of a group come to its barrier, or none does"
            };
            return (Kind::BarrierDivergence, help.into());
        }
        let flags: BTreeSet<_> = blocked.iter().filter_map(|&task| self.flag_of(task)).collect();
        if !flags.is_empty() && flags.iter().all(|flag| self.machine.misses_barrier(*flag).is_some()) {
            let help =
                "every rank has to launch the kernel, with as many blocks, and each block has to come to the barrier";
            let is_one = flags.iter().all(|flag| self.written(*flag).iter().all(|written| written.by.is_none()));
            return (if is_one { Kind::NeverSignalled } else { Kind::Deadlock }, help.into());
        }
        self.never_signalled(blocked).unwrap_or_else(|| {
            // Who waits for what it has launched waits for these.
            let help = match blocked.iter().filter(|&&task| !matches!(self.op(task), Some(Op::Join(_)))).count() {
                1 => {
                    "nobody is left who could end it: a signal or a packet is missing, or it waits for more than has \
                     come"
                }
                _ => "each waits for what another one does later, or a signal or a packet is missing",
            };
            (Kind::Deadlock, help.into())
        })
    }

    /// That all tasks wait, in the end, for one flag or packet that nobody has ever sent.
    fn never_signalled(&self, blocked: &[TaskId]) -> Option<(Kind, String)> {
        let is_first = |task: &&TaskId| !matches!(self.op(**task), Some(Op::Join(_) | Op::Barrier(..)));
        let (mut events, mut is_packet) = (BTreeSet::new(), false);
        for &task in blocked.iter().filter(is_first) {
            let event = self.event_of(task)?;
            is_packet = self.machine.lines_of(self.op(task)?).is_some();
            if self.machine.is_sent(event) || self.written(event).iter().any(|each| each.by.is_some()) {
                return None;
            }
            events.insert(event);
        }
        if events.len() != 1 {
            return None;
        }
        let is_met = blocked.iter().any(|&task| matches!(self.op(task), Some(Op::Barrier(..))));
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

    /// Whether the flag that a task waits for held once, and the task has not seen it.
    fn has_missed(&self, task: TaskId) -> bool {
        let Some((strong, until)) = self.waiting(task) else { return false };
        let holds = |written: &Written| holds(until.compare, written.value, until.value, strong.at.bytes);
        let is_seen = |written: &Written| written.readers.iter().any(|read| read.task == task);
        self.written(strong.at).iter().any(|written| written.by.is_some() && holds(written) && !is_seen(written))
    }

    /// The flag that a task waits for, if it is one.
    pub(crate) fn flag_of(&self, task: TaskId) -> Option<Range> {
        if let Some((ranges, _)) = self.vain(task) {
            return ranges.first().copied();
        }
        match self.op(task)? {
            Op::Wait(strong, _) => Some(strong.at),
            Op::Poll(ranges, _) if ranges.len() == 1 => ranges.first().copied(),
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
