//! Packets (rule P1): a line's value comes with its epoch and orders nothing else. A line may be written again when the
//! writer knows, from a release or from another packet, that what it held has been received.

use super::Machine;
use crate::clock::{Clock, Epoch};
use crate::finding::Kind;
use crate::op::{Answer, Op, Range, Site};
use crate::task::{Scope, TaskId};
use std::rc::Rc;

/// What a line holds.
#[derive(Debug)]
pub(super) struct Line {
    epoch: u32,
    data: u64,
    by: Epoch,
    site: Site,
    /// What the sender had seen.
    seen: Rc<Clock>,
    received: Vec<Epoch>,
    /// The epochs that it held before, and that nobody has received, as far as they are kept.
    lost: Vec<u32>,
}

/// The most epochs that are kept of those that nobody has received.
const MOST_LOST: usize = 16;

impl Line {
    /// What nobody has received of a line that is written again.
    fn with_lost(mut self) -> Vec<u32> {
        if self.received.is_empty() {
            self.lost.truncate(MOST_LOST - 1);
            self.lost.insert(0, self.epoch);
        }
        self.lost
    }
}

/// The bytes of a line.
pub(crate) const LINE: u64 = 16;

/// The most lines that are named beside one.
const MOST_BESIDE: usize = 2;

/// How many lines besides the first have not come.
pub(super) fn and_more(missing: usize) -> String {
    match missing {
        0 | 1 => String::new(),
        2 => "; 1 more line has not come".into(),
        _ => format!("; {} more lines have not come", missing - 1),
    }
}

impl Machine {
    /// The epoch of a line: that of its last packet, else 0.
    pub(super) fn epoch_of(&self, line: Range) -> u32 {
        self.lines.get(&line).map_or(0, |line| line.epoch)
    }

    /// Which of these lines has not the epoch, what is seen there, and who has put it.
    pub(crate) fn missing_packet(&self, lines: &[Range], epoch: u32) -> String {
        let missing: Vec<_> = lines.iter().filter(|&&line| self.epoch_of(line) != epoch).collect();
        let Some(&&first) = missing.first() else { return format!("the packet of epoch {epoch}, which has come") };
        let seen = match self.lines.get(&first) {
            None => {
                let others = [self.no_packet(first), self.puts_beside(first)].concat();
                format!("sees epoch 0; nobody has put a packet there{others}")
            }
            Some(line) => {
                let lost = if line.lost.contains(&epoch) {
                    format!("; that of epoch {epoch} was there, and was overwritten before it was received")
                } else {
                    String::new()
                };
                format!("sees epoch {}; put by {} ({}){lost}", line.epoch, self.tasks[line.by.task], line.site)
            }
        };
        format!("the packet of epoch {epoch} at {first}, {seen}{}", and_more(missing.len()))
    }

    /// The lines of a packet, or of floats, that have not come and that an op waits or looks for.
    pub(crate) fn lines_of(&self, op: &Op) -> Option<Vec<Range>> {
        let of = |lines: &[Range], is_there: &dyn Fn(Range) -> bool| {
            Some(lines.iter().copied().filter(|&line| !is_there(line)).collect())
        };
        match op {
            Op::WaitPacket(lines, epoch) | Op::TryPacket(lines, epoch) => {
                of(lines, &|line| self.epoch_of(line) == *epoch)
            }
            Op::WaitFloats(lines, bits) | Op::TryFloats(lines, bits) => {
                of(lines, &|line| self.floats_have_come(&[line], *bits))
            }
            Op::Poll(_, _, Some(look)) => self.lines_of(look),
            _ => None,
        }
    }

    /// Whether an op waits or looks for a packet that was overwritten before anybody has received it.
    pub(crate) fn has_lost(&self, op: &Op) -> bool {
        match op {
            Op::WaitPacket(lines, epoch) | Op::TryPacket(lines, epoch) => {
                let has_lost = |line: &Line| line.epoch != *epoch && line.lost.contains(epoch);
                lines.iter().filter_map(|line| self.lines.get(line)).any(has_lost)
            }
            Op::Poll(_, _, Some(look)) => self.has_lost(look),
            _ => false,
        }
    }

    /// Whether anybody has put a packet, or floats, into a line.
    pub(crate) fn is_sent(&self, line: Range) -> bool {
        self.lines.contains_key(&line) || self.floats_are_put(line)
    }

    /// Whether the task of a step has put a packet, or floats, into a heap after it.
    pub(super) fn has_put_after(&self, heap: u32, step: Epoch) -> bool {
        let packets = self.lines.iter().map(|(at, line)| (at.heap, line.by));
        let puts = packets.chain(self.floats.keys().filter_map(|at| Some((at.heap, self.floats_at(*at)?.0))));
        puts.into_iter().any(|(at, by)| at == heap && by.task == step.task && by.step > step.step)
    }

    /// Of packets and floats in other lines of the memory of one, those that nobody has received: one may be meant for
    /// it.
    pub(super) fn puts_beside(&self, line: Range) -> String {
        let Some(memory) = self.memory.allocation(line) else { return String::new() };
        let packets = self.lines.iter().filter(|(_, line)| line.received.is_empty());
        let packets =
            packets.map(|(at, line)| (*at, format!("the packet of epoch {}", line.epoch), line.by, &line.site));
        let floats = self.unreceived_floats().map(|(at, by, site)| (at, "floats".to_owned(), by, site));
        let mut beside: Vec<_> = packets.chain(floats).filter(|(at, ..)| memory.overlaps(*at) && *at != line).collect();
        beside.sort_by_key(|(at, ..)| *at);
        let say = |(at, what, by, site): &(Range, String, Epoch, &Site)| {
            format!("; {} has put {what} at {at} ({site}), which nobody has received", self.tasks[by.task])
        };
        beside.iter().take(MOST_BESIDE).map(say).collect()
    }

    /// Who has written a line that no packet was put into.
    fn no_packet(&self, line: Range) -> String {
        if let Some((by, site, _)) = self.floats_at(line) {
            let by = self.tasks[by.task];
            return format!(", but {by} ({site}) has put or cleared floats, which wait_floats receives (rule P1)");
        }
        let history = self.cells.iter().find(|(at, _)| at.overlaps(line)).map(|(_, history)| history.newest());
        let Some((by, site)) = history.and_then(|written| Some((written.by?, &written.site))) else {
            return String::new();
        };
        format!(", and what {} ({site}) has written is none: put_packet sends one (rule P1)", self.tasks[by.task])
    }

    /// Who has put a packet, or floats, into the line that a place lies in, last, and what that task had seen.
    pub(crate) fn put_at(&self, at: Range) -> Option<(Epoch, &Site, &Rc<Clock>)> {
        let line = Range { start: at.start / LINE * LINE, bytes: LINE, ..at };
        let packet = self.lines.get(&line).map(|line| (line.by, &line.site, &line.seen));
        packet.or_else(|| self.floats_at(line))
    }

    /// The last packet, or floats, that a task has received and that was put after a step: who has put it, and where.
    pub(super) fn packet_after(&self, task: TaskId, step: Epoch) -> Option<(Epoch, Site)> {
        if !self.states[task].knowledge.seen.covers(step) {
            return None;
        }
        let is_one = |received: &[Epoch], seen: &Clock| seen.covers(step) && received.iter().any(|by| by.task == task);
        let packets = self.lines.values().filter(|line| is_one(&line.received, &line.seen));
        let packets = packets.map(|line| (line.by, &line.site)).chain(self.floats_for(&is_one));
        let (by, site) = packets.max_by_key(|(by, _)| (by.task, by.step))?;
        Some((by, site.clone()))
    }

    /// Does an op on packets.
    pub(super) fn packet_step(&mut self, task: TaskId, op: &Op, site: &Site, way: usize) -> Answer {
        match op {
            Op::PutPacket(lines, data, epoch) => self.put_packet(task, lines, data, *epoch, site),
            Op::WaitPacket(lines, epoch) => return Answer::Bytes(self.wait_packet(task, lines, *epoch, site)),
            Op::TryPacket(lines, epoch) => return Answer::Bytes(self.try_packet(task, lines, *epoch, way == 0, site)),
            _ => unreachable!("an op of packets"),
        }
        Answer::None
    }

    fn put_packet(&mut self, task: TaskId, lines: &[Range], data: &[u64], epoch: u32, site: &Site) {
        let seen = Rc::new(self.states[task].knowledge.seen.clone());
        let by = self.now(task);
        for (&at, &data) in lines.iter().zip(data) {
            self.access(task, at, Some(Scope::Sys), true, site);
            self.check_received(task, at, epoch, data, site);
            let halves = [data & 0xffff_ffff, data >> 32].map(|half| half | u64::from(epoch) << 32);
            let written = halves.map(u64::to_le_bytes).concat();
            if let Err(kind) = self.memory.write(at, &written) {
                self.fault(kind, task, at, site);
            }
            self.overwrite(task, at, site);
            let lost = self.lines.remove(&at).map_or_else(Vec::new, Line::with_lost);
            let line = Line { epoch, data, by, site: site.clone(), seen: seen.clone(), received: Vec::new(), lost };
            self.lined.add(at);
            self.lines.insert(at, line);
        }
    }

    /// A weak write over lines: what they held is not there any more, unless it is as it was.
    #[cold]
    pub(super) fn overwrite_lines(&mut self, range: Range) {
        let Self { lines, floats, memory, .. } = self;
        let stays = |at: Range, is_it: &dyn Fn(&[u8]) -> bool| !at.overlaps(range) || is_it(&memory.all(&[at]));
        let has_epoch = |epoch: u32| {
            move |bytes: &[u8]| [4, 12].iter().all(|&at| bytes.get(at..at + 4) == Some(&epoch.to_le_bytes()[..]))
        };
        lines.retain(|&at, line| stays(at, &has_epoch(line.epoch)));
        floats.retain(|&at, line| stays(at, &|bytes| line.holds(bytes)));
    }

    fn check_received(&mut self, task: TaskId, at: Range, epoch: u32, data: u64, site: &Site) {
        let Some(line) = self.lines.get(&at) else { return };
        if (line.epoch, line.data) == (epoch, data) && self.may_be_one(task, line.by, &line.received) {
            return;
        }
        let seen = &self.states[task].knowledge.seen;
        let unknown = line.received.iter().find(|receipt| !seen.covers(**receipt)).copied();
        if !line.received.is_empty() && unknown.is_none() && line.epoch != epoch {
            return;
        }
        let before = self.at_step(line.by, &line.site, format!("puts the packet of epoch {}", line.epoch));
        let after = self.at(task, site, format!("puts that of epoch {epoch} into the same line"));
        let weak = unknown.filter(|_| line.epoch != epoch).and_then(|step| self.too_weak(step, task, "the receipt"));
        if let Some((more, help)) = weak {
            let at = [vec![before, after], more].concat();
            return self.find(Kind::PacketOverwritten, at, help);
        }
        let help = if line.epoch == epoch {
            "the line already holds a packet of this epoch, which a wait may take for the new one: count epochs on, \
             from launch to launch, too"
        } else {
            "nothing tells the sender that the packet has been received: wait for an answer, or use more lines in turn"
        };
        self.find(Kind::PacketOverwritten, vec![before, after], help);
    }

    /// Whether what a task puts into a line may be one with what the line holds, if both are equal: several put it
    /// together, and nobody has received it.
    pub(super) fn may_be_one(&self, task: TaskId, by: Epoch, received: &[Epoch]) -> bool {
        by == self.now(task) || received.is_empty() && !self.clock(task).covers(by)
    }

    fn wait_packet(&mut self, task: TaskId, lines: &[Range], epoch: u32, site: &Site) -> Vec<u8> {
        let received = lines.iter().map(|&line| self.receive(task, line, epoch, site).unwrap_or(0));
        received.flat_map(u64::to_le_bytes).collect()
    }

    /// Whether a poll for packets that are there may still come too early.
    pub(super) fn may_miss(&self, task: TaskId, lines: &[Range], epoch: u32) -> bool {
        let seen = &self.states[task].knowledge.seen;
        lines.iter().filter_map(|line| self.lines.get(line)).any(|line| {
            let is_received = line.received.iter().any(|receipt| receipt.task == task);
            line.epoch == epoch && !is_received && !seen.covers(line.by)
        })
    }

    /// One look at lines, at what is there or before it has come.
    fn try_packet(&mut self, task: TaskId, lines: &[Range], epoch: u32, is_late: bool, site: &Site) -> Vec<u8> {
        let is_there = |machine: &Self, line: &Range| is_late || !machine.may_miss(task, &[*line], epoch);
        let mut found = Vec::new();
        for line in lines {
            let epoch = if is_there(self, line) { epoch } else { !epoch };
            found.push(self.receive(task, *line, epoch, site));
        }
        let data = found.iter().flat_map(|data| data.unwrap_or(0).to_le_bytes());
        data.chain(found.iter().map(|data| u8::from(data.is_some()))).collect()
    }

    /// The data of a line, if it has the epoch.
    fn receive(&mut self, task: TaskId, at: Range, epoch: u32, site: &Site) -> Option<u64> {
        let now = self.now(task);
        self.access(task, at, Some(Scope::Sys), false, site);
        let Some(line) = self.lines.get_mut(&at) else {
            return (epoch == 0).then(|| self.first_data(task, at, site));
        };
        if line.epoch != epoch {
            return None;
        }
        line.received.push(now);
        let (data, seen, by) = (line.data, line.seen.clone(), line.by);
        self.draw(by, now, true);
        self.states[task].knowledge.seen.join(&seen);
        Some(data)
    }

    /// The data of a line that no packet has come to yet.
    fn first_data(&mut self, task: TaskId, at: Range, site: &Site) -> u64 {
        let (bytes, fault) = self.memory.read(at);
        if let Some(kind) = fault {
            self.fault(kind, task, at, site);
        }
        let half = |from: usize| bytes[from..from + 4].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        half(0) | half(8) << 32
    }
}
