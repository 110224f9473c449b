//! Lines of floats (rule P1): a word with all bits set says that its line has not come. Its receiver clears it, and it
//! may be written again by who knows that this is done: from an order, or from a packet of a launch that came after the
//! one that cleared it.

use super::Machine;
use super::packet::and_more;
use crate::clock::{Clock, Epoch};
use crate::finding::Kind;
use crate::op::{Answer, CLEARED, Op, Range, Site, have_come};
use crate::task::{Scope, TaskId};
use std::rc::Rc;

/// What mends a line that holds something else than all bits when it is first used.
const FIRST_USE: &str =
    "its receiver sets all bits of a line before its first use: by fill_(-1), or put_packet … clear";

/// What was put into a line.
#[derive(Debug)]
pub(super) struct FloatLine {
    words: [u64; 2],
    is_clear: bool,
    by: Epoch,
    site: Site,
    /// What the sender had seen, and what was done before it was launched.
    seen: Rc<Clock>,
    settled: Rc<Clock>,
    received: Vec<Epoch>,
}

impl FloatLine {
    /// Whether these are its bytes.
    pub(super) fn holds(&self, bytes: &[u8]) -> bool {
        bytes == self.words.map(u64::to_le_bytes).concat()
    }
}

impl Machine {
    /// Who has put or cleared a line last, and what that task had seen.
    pub(super) fn floats_at(&self, line: Range) -> Option<(Epoch, &Site, &Rc<Clock>)> {
        self.floats.get(&line).map(|line| (line.by, &line.site, &line.seen))
    }

    /// Whether a line holds floats, and is not cleared.
    pub(super) fn floats_are_put(&self, line: Range) -> bool {
        self.floats.get(&line).is_some_and(|line| !line.is_clear)
    }

    /// The lines of which this holds: who has received them, and what their sender had seen.
    pub(super) fn floats_for<'m>(
        &'m self,
        is_one: &'m impl Fn(&[Epoch], &Clock) -> bool,
    ) -> impl Iterator<Item = (Epoch, &'m Site)> {
        let lines = self.floats.values().filter(|line| !line.is_clear && is_one(&line.received, &line.seen));
        lines.map(|line| (line.by, &line.site))
    }

    /// The floats that nobody has received: where they are, and who has put them.
    pub(super) fn unreceived_floats(&self) -> impl Iterator<Item = (Range, Epoch, &Site)> {
        let lines = self.floats.iter().filter(|(_, line)| !line.is_clear && line.received.is_empty());
        lines.map(|(at, line)| (*at, line.by, &line.site))
    }

    /// Whether all lines have come.
    pub(super) fn floats_have_come(&self, lines: &[Range], bits: u32) -> bool {
        lines.iter().all(|&line| have_come(&self.memory.all(&[line]), bits))
    }

    /// Which of these lines has not come, and who has cleared it.
    pub(crate) fn missing_floats(&self, lines: &[Range], bits: u32) -> String {
        let missing: Vec<_> = lines.iter().filter(|&&line| !self.floats_have_come(&[line], bits)).collect();
        let Some(&&first) = missing.first() else { return "floats, which have come".into() };
        let seen = match self.floats.get(&first) {
            None => format!("sees it cleared; nobody has put floats there{}", self.puts_beside(first)),
            Some(line) => {
                let (task, site) = (self.tasks[line.by.task], &line.site);
                let is_put = "sees a word with all bits set, as in cleared ones; put by";
                let beside = if line.is_clear { self.puts_beside(first) } else { String::new() };
                format!(
                    "{} {task} ({site}){beside}",
                    if line.is_clear { "sees it cleared; cleared by" } else { is_put }
                )
            }
        };
        format!("the floats at {first}, {seen}{}", and_more(missing.len()))
    }

    /// Does an op on lines of floats.
    pub(super) fn floats_step(&mut self, task: TaskId, op: &Op, site: &Site, way: usize) -> Answer {
        match op {
            Op::PutFloats(lines, data) => self.put_floats(task, lines, data, site),
            Op::WaitFloats(lines, _) => return Answer::Bytes(self.wait_floats(task, lines, site)),
            Op::TryFloats(lines, bits) => return Answer::Bytes(self.try_floats(task, lines, *bits, way == 0, site)),
            _ => unreachable!("an op of floats"),
        }
        Answer::None
    }

    fn put_floats(&mut self, task: TaskId, lines: &[Range], data: &[[u64; 2]], site: &Site) {
        let (seen, settled) = {
            let knowledge = &self.states[task].knowledge;
            (Rc::new(knowledge.seen.clone()), Rc::new(knowledge.settled.clone()))
        };
        let by = self.now(task);
        for (&at, &words) in lines.iter().zip(data) {
            let is_clear = words == [CLEARED; 2];
            self.access(task, at, Some(Scope::Sys), true, site);
            self.check_free(task, at, words, is_clear, site);
            if let Err(kind) = self.memory.write(at, &words.map(u64::to_le_bytes).concat()) {
                self.fault(kind, task, at, site);
            }
            self.overwrite(task, at, site);
            let (site, seen, settled) = (site.clone(), seen.clone(), settled.clone());
            let line = FloatLine { words, is_clear, by, site, seen, settled, received: Vec::new() };
            self.lined.add(at);
            self.floats.insert(at, line);
        }
    }

    fn check_free(&mut self, task: TaskId, at: Range, words: [u64; 2], is_clear: bool, site: &Site) {
        let Some(line) = self.floats.get(&at) else {
            if !is_clear && matches!(self.memory.read(at), (bytes, None) if bytes.iter().any(|&byte| byte != 0xff)) {
                let place = self.at(task, site, format!("puts floats at {at}, which nobody has cleared before"));
                self.find(Kind::WrongEvent, vec![place], FIRST_USE);
            }
            return;
        };
        let knowledge = &self.states[task].knowledge;
        let is_known = match (line.is_clear, is_clear) {
            (true, true) => true,
            (true, false) => knowledge.order.covers(line.by) || knowledge.settled.covers(line.by),
            (false, true) => {
                !line.received.is_empty() && line.received.iter().all(|&receipt| knowledge.seen.covers(receipt))
            }
            (false, false) => line.words == words && self.may_be_one(task, line.by, &line.received),
        };
        if is_known {
            return;
        }
        let does = |clears: bool| if clears { "clears a line" } else { "puts floats into a line" };
        let before = self.at_step(line.by, &line.site, does(line.is_clear));
        let help = match (line.is_clear, is_clear) {
            (_, true) => "nothing tells who clears the line that its floats have been received",
            (true, _) => {
                "nothing tells the sender that the line is clear by now: wait for a packet of a launch that comes \
                 after the one that clears it, or for a signal"
            }
            _ => "nobody has cleared the line: clear it when it has been received, or use more lines in turn",
        };
        let after = self.at(task, site, format!("{}, the same one", does(is_clear)));
        let unknown = || line.received.iter().find(|receipt| !knowledge.seen.covers(**receipt)).copied();
        let weak = match (line.is_clear, is_clear) {
            (true, _) => self.too_weak(line.by, task, "the clearing"),
            (_, true) => unknown().and_then(|receipt| self.too_weak(receipt, task, "the receipt")),
            _ => None,
        };
        if let Some((more, help)) = weak {
            let at = [vec![before, after], more].concat();
            return self.find(Kind::PacketOverwritten, at, help);
        }
        self.find(Kind::PacketOverwritten, vec![before, after], help);
    }

    fn wait_floats(&mut self, task: TaskId, lines: &[Range], site: &Site) -> Vec<u8> {
        lines.iter().flat_map(|&line| self.receive_floats(task, line, site)).collect()
    }

    /// Whether a look at lines that have come may still come too early.
    pub(super) fn may_miss_floats(&self, task: TaskId, lines: &[Range]) -> bool {
        let seen = &self.states[task].knowledge.seen;
        lines.iter().filter_map(|line| self.floats.get(line)).any(|line| {
            let is_received = line.received.iter().any(|receipt| receipt.task == task);
            !line.is_clear && !is_received && !seen.covers(line.by)
        })
    }

    /// One look at lines, at what is there or before it has come.
    fn try_floats(&mut self, task: TaskId, lines: &[Range], bits: u32, is_late: bool, site: &Site) -> Vec<u8> {
        let (mut data, mut valid) = (Vec::new(), Vec::new());
        for &line in lines {
            let is_there = self.floats_have_come(&[line], bits) && (is_late || !self.may_miss_floats(task, &[line]));
            if is_there {
                data.extend(self.receive_floats(task, line, site));
            } else {
                self.access(task, line, Some(Scope::Sys), false, site);
                data.extend([CLEARED; 2].map(u64::to_le_bytes).concat());
            }
            valid.push(u8::from(is_there));
        }
        [data, valid].concat()
    }

    fn receive_floats(&mut self, task: TaskId, at: Range, site: &Site) -> Vec<u8> {
        let now = self.now(task);
        self.access(task, at, Some(Scope::Sys), false, site);
        let (bytes, fault) = self.memory.read(at);
        if let Some(kind) = fault {
            self.fault(kind, task, at, site);
        }
        if !self.floats.contains_key(&at) && fault.is_none() {
            let place = self.at(task, site, format!("takes what is at {at} for floats, but nobody has put them there"));
            self.find(Kind::WrongEvent, vec![place], FIRST_USE);
        }
        if let Some(line) = self.floats.get_mut(&at) {
            line.received.push(now);
            let (seen, settled, by) = (line.seen.clone(), line.settled.clone(), line.by);
            self.draw(by, now, true);
            let knowledge = &mut self.states[task].knowledge;
            knowledge.seen.join(&seen);
            knowledge.settled.join(&settled);
        }
        bytes
    }
}
