//! What an execution did, step by step, to draw it.

use crate::clock::Epoch;
use crate::op::{Op, Order, Range, Signal, Site, Strong};
use crate::task::{Task, TaskId};

/// A step.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    /// The task, and which of its steps; of one that is blocked at the end, the step before.
    pub step: Epoch,
    pub site: Site,
    pub verb: &'static str,
    /// Of what, or how.
    pub detail: String,
    /// Whether the task is still at it at the end.
    pub is_blocked: bool,
}

/// A read that saw what another task wrote.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    pub from: Epoch,
    pub to: Epoch,
    /// Whether all that the writer had done comes before what the reader does next.
    pub orders: bool,
}

/// An execution.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub tasks: Vec<Task>,
    pub events: Vec<Event>,
    pub edges: Vec<Edge>,
}

impl Trace {
    /// Notes a step that was done.
    pub fn note(&mut self, step: Epoch, op: &Op, site: &Site) {
        if let Some((verb, detail)) = said(op) {
            self.events.push(Event { step, site: site.clone(), verb, detail, is_blocked: false });
        }
    }

    /// Notes what a task can't do. Whoever waits at a barrier has come there in a step.
    pub fn block(&mut self, step: Epoch, op: &Op, site: &Site) {
        let last = self.events.iter_mut().rfind(|event| event.step.task == step.task);
        if let Some(last) = last.filter(|last| matches!(op, Op::Barrier(..)) && last.site == *site) {
            last.is_blocked = true;
            return;
        }
        self.note(step, op, site);
        if let Some(last) = self.events.last_mut() {
            last.is_blocked = true;
        }
    }

    /// The event of a step.
    pub fn event_of(&self, step: Epoch) -> Option<usize> {
        self.events.iter().position(|event| event.step == step && !event.is_blocked)
    }

    /// The step that a task is blocked at.
    pub fn blocked(&self, task: Task) -> Option<usize> {
        self.events.iter().position(|event| event.is_blocked && self.task(event.step.task) == Some(task))
    }

    pub fn task(&self, task: TaskId) -> Option<Task> {
        self.tasks.get(task).copied()
    }
}

/// What an op is called, and what it is done to. `None`: nothing that a reader would look for.
fn said(op: &Op) -> Option<(&'static str, String)> {
    Some(match op {
        Op::Issue => return None,
        Op::Read(ranges) => ("reads", places(ranges)),
        Op::Write(ranges, _) | Op::Put(ranges, _) => ("writes", places(ranges)),
        Op::Load(strong) | Op::Look(strong) | Op::Late(strong, _) => ("loads", ordered(*strong)),
        Op::Store(strong, value) => ("stores", format!("{value}, {}", ordered(*strong))),
        Op::Atomic(strong, _) => ("updates", ordered(*strong)),
        Op::Signal(strong, Signal::Set(value)) => ("signals", format!("= {value}, {}", ordered(*strong))),
        Op::Signal(strong, Signal::Add(value)) => ("signals", format!("+ {value}, {}", ordered(*strong))),
        Op::Wait(strong, until) => {
            let value = until.shown(until.value, strong.at.bytes);
            ("waits", format!("{} {value}, {}", until.compare, ordered(*strong)))
        }
        Op::Fence(order, scope) => ("fence", format!("{} {}", order_of(*order), scope.keyword())),
        Op::Barrier(_, members) => ("barrier", format!("of {} tasks", members.len())),
        Op::Launch(tasks) => ("launches", format!("{} tasks", tasks.len())),
        Op::Join(tasks) => ("joins", format!("{} tasks", tasks.len())),
        Op::PutPacket(lines, _, epoch) => ("puts", format!("packet {epoch}, {}", places(lines))),
        Op::WaitPacket(lines, epoch) => ("waits", format!("packet {epoch}, {}", places(lines))),
        Op::PutFloats(lines, ..) => ("puts", format!("floats, {}", places(lines))),
        Op::WaitFloats(lines, _) => ("waits", format!("floats, {}", places(lines))),
        Op::TryFloats(lines, _) => ("looks for", format!("floats, {}", places(lines))),
        Op::TryPacket(lines, epoch) => ("looks for", format!("packet {epoch}, {}", places(lines))),
        Op::Poll(ranges, ..) => ("polls", places(ranges)),
        Op::Alloc(range, _) => ("allocates", format!("{} bytes at {range}", range.bytes)),
        Op::Free(range) => ("frees", range.to_string()),
    })
}

fn ordered(strong: Strong) -> String {
    format!("{} {}, {}", order_of(strong.order), strong.scope.keyword(), strong.at)
}

fn order_of(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "relaxed",
        Order::Acquire => "acquire",
        Order::Release => "release",
        Order::AcqRel => "acq_rel",
    }
}

fn places(ranges: &[Range]) -> String {
    let bytes: u64 = ranges.iter().map(|range| range.bytes).sum();
    ranges.first().map_or_else(String::new, |first| format!("{bytes} bytes at {first}"))
}
