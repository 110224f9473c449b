//! The state of an execution, and what each op does to it: docs/memory-model.md as code.

mod access;
mod floats;
mod near;
mod order;
mod packet;
mod senders;
mod strong;
mod weak;

use crate::clock::{Clock, Epoch};
use crate::diagnose::{Raced, Waited};
use crate::filter::Filter;
use crate::finding::{At, Finding, Kind};
use crate::history::{Head, History, Knowledge};
use crate::memory::{MOST_BYTES, Memory};
use crate::missed::{Miss, Unacquired};
use crate::op::{Answer, Op, Order, Range, Site, truncated};
use crate::shadow::Shadow;
use crate::task::{Scope, Task, TaskId};
use crate::trace::Edge;
use floats::FloatLine;
pub(crate) use packet::LINE;
use packet::Line;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// What the machine knows of a task.
#[derive(Debug, Default)]
struct State {
    knowledge: Knowledge,
    /// What its release fences cover, one a scope: its later relaxed writes hand it over.
    fences: Vec<Rc<Head>>,
    /// What its relaxed reads have seen of releases: a later acquire fence takes it.
    unacquired: Vec<Unacquired>,
    /// The misses of its relaxed reads that no wide fence has followed, each the last of what a task wrote to a flag.
    unfenced: BTreeMap<(Range, TaskId), usize>,
    has_started: bool,
    has_ended: bool,
    barrier: Option<Arrival>,
    /// The last step before its part of a put, where it has done nothing since.
    before_put: Option<u32>,
    /// What its group has put: its writes come after that, and do not hand it over.
    put: Option<Rc<Clock>>,
    /// The same, of the puts before this one, while it puts its part.
    puts_before: Option<Rc<Clock>>,
}

/// Where a task is that has come to a barrier.
#[derive(Debug)]
enum Arrival {
    Waits,
    MayLeave(Rc<Knowledge>),
}

/// A launch: the place in the program, how many launches its host has made there, and what comes before it.
#[derive(Debug)]
pub(crate) struct Launched {
    pub site: Site,
    pub nth: u32,
    pub known: Clock,
}

/// One execution.
#[derive(Debug)]
pub struct Machine {
    tasks: Vec<Task>,
    states: Vec<State>,
    memory: Memory,
    shadow: Shadow,
    cells: BTreeMap<Range, History>,
    /// The places of these, and of the lines.
    strong: Filter,
    lined: Filter,
    lines: HashMap<Range, Line>,
    floats: HashMap<Range, FloatLine>,
    /// Who is at each barrier.
    barriers: HashMap<u64, Vec<TaskId>>,
    /// How often a host has come to a barrier at a place of its program.
    arrivals: HashMap<(TaskId, Site), usize>,
    pub(crate) raced: Vec<Raced>,
    pub(crate) misses: Vec<Miss>,
    pub(crate) waited: Vec<Waited>,
    /// Whether a read could have taken a value that its place does not keep any more.
    pub(crate) has_forgotten: bool,
    /// Who has seen what whom wrote, if it is to be drawn.
    pub(crate) edges: Option<Vec<Edge>>,
    findings: BTreeSet<Finding>,
    /// The accesses of memory that is not there, by kind and place: a loop may make millions.
    faults: HashSet<(Kind, Site)>,
    /// Flags that somebody has looked at, and the first signal to each flag.
    watched: BTreeSet<Range>,
    signalled: BTreeMap<Range, At>,
    /// How many launches a task has made at a place, and of each task in which of these it was from a step on.
    launches: HashMap<(TaskId, Site), u32>,
    launched: HashMap<TaskId, Vec<(u32, Rc<Launched>)>>,
    /// The bytes of each heap that belong to barriers of all ranks.
    pub(crate) reserved: std::ops::Range<u64>,
}

impl Machine {
    /// Before the first step. Nothing is allocated, and no task has started.
    #[must_use]
    pub fn new(tasks: Vec<Task>) -> Self {
        let states = tasks.iter().map(|_| State::default()).collect();
        Self {
            tasks,
            states,
            memory: Memory::default(),
            shadow: Shadow::default(),
            cells: BTreeMap::new(),
            strong: Filter::default(),
            lined: Filter::default(),
            lines: HashMap::new(),
            floats: HashMap::new(),
            barriers: HashMap::new(),
            arrivals: HashMap::new(),
            raced: Vec::new(),
            misses: Vec::new(),
            waited: Vec::new(),
            has_forgotten: false,
            edges: None,
            findings: BTreeSet::new(),
            faults: HashSet::new(),
            watched: BTreeSet::new(),
            signalled: BTreeMap::new(),
            launches: HashMap::new(),
            launched: HashMap::new(),
            reserved: 0..0,
        }
    }

    /// Takes in more tasks, after those that it has.
    pub fn grow(&mut self, tasks: Vec<Task>) {
        self.states.resize_with(tasks.len(), State::default);
        self.tasks = tasks;
    }

    /// The tasks.
    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Whether a task has started and not ended.
    #[must_use]
    pub fn is_alive(&self, task: TaskId) -> bool {
        self.states[task].has_started && !self.states[task].has_ended
    }

    /// A task starts by itself, before all others do anything.
    pub fn start(&mut self, task: TaskId) {
        self.states[task].has_started = true;
    }

    /// A task does no more.
    pub fn end(&mut self, task: TaskId) {
        self.states[task].has_ended = true;
    }

    /// In how many ways a task can do an op now: 0 while it is blocked. Way 0 reads the newest values.
    #[must_use]
    pub fn ways(&self, task: TaskId, op: &Op) -> usize {
        match op {
            Op::Load(strong) | Op::Look(strong) => self.readable(task, strong.at).count(),
            Op::Late(strong, issued) => self.late(task, *strong, *issued).len(),
            Op::Atomic(strong, update) => self.atomic_ways(task, *strong, *update).len(),
            Op::Wait(strong, until) => self.wait_ways(task, *strong, *until).len(),
            Op::Barrier(..) => usize::from(!matches!(self.states[task].barrier, Some(Arrival::Waits))),
            Op::Join(others) => usize::from(others.iter().all(|&other| self.states[other].has_ended)),
            Op::TryPacket(lines, epoch) => 1 + usize::from(self.may_miss(task, lines, *epoch)),
            Op::WaitPacket(lines, epoch) => usize::from(lines.iter().all(|&line| self.epoch_of(line) == *epoch)),
            Op::TryFloats(lines, bits) => {
                1 + usize::from(self.floats_have_come(lines, *bits) && self.may_miss_floats(task, lines))
            }
            Op::WaitFloats(lines, bits) => usize::from(self.floats_have_come(lines, *bits)),
            Op::Poll(ranges, bytes, _) => usize::from(self.memory.all(ranges) != *bytes),
            Op::Read(_)
            | Op::Write(..)
            | Op::Put(..)
            | Op::Issue
            | Op::Store(..)
            | Op::Signal(..)
            | Op::Fence(..)
            | Op::Launch(_)
            | Op::PutPacket(..)
            | Op::PutFloats(..)
            | Op::Alloc(..)
            | Op::Free(_) => 1,
        }
    }

    /// Does an op that is not blocked, in one of its ways. `None`: it has begun, and is to be done once more.
    pub fn step(&mut self, task: TaskId, op: &Op, site: &Site, way: usize) -> Option<Answer> {
        if !matches!(op, Op::Barrier(..)) {
            self.tick(task);
        }
        let answer = match op {
            Op::Read(ranges) => Answer::Bytes(self.read(task, ranges, site)),
            Op::Write(ranges, bytes) => {
                self.write(task, ranges, bytes, site);
                Answer::None
            }
            Op::Put(ranges, bytes) => {
                self.put(task, ranges, bytes, site);
                Answer::None
            }
            Op::Load(strong) | Op::Look(strong) => Answer::Word(self.load(task, *strong, way, site)?),
            Op::Issue => Answer::Word(self.now(task).step.into()),
            Op::Late(strong, issued) => Answer::Word(self.load_late(task, *strong, *issued, way, site)?),
            Op::Store(strong, value) => {
                self.strong_write(task, *strong, *value, site, None);
                Answer::None
            }
            Op::Atomic(strong, update) => Answer::Word(self.atomic(task, *strong, *update, way, site)?),
            Op::Signal(strong, signal) => {
                self.signal(task, *strong, *signal, site);
                Answer::None
            }
            Op::Wait(strong, until) => Answer::Word(self.wait(task, *strong, *until, way, site)),
            Op::Fence(order, scope) => {
                self.fence(task, *order, *scope, site);
                Answer::None
            }
            Op::Barrier(key, members) => return self.barrier(task, *key, members, site),
            Op::Launch(others) => {
                self.launch(task, others, site);
                Answer::None
            }
            Op::Join(others) => {
                self.join(task, others);
                Answer::None
            }
            Op::PutPacket(..) | Op::WaitPacket(..) | Op::TryPacket(..) => self.packet_step(task, op, site, way),
            Op::PutFloats(..) | Op::WaitFloats(..) | Op::TryFloats(..) => self.floats_step(task, op, site, way),
            Op::Poll(ranges, ..) => self.poll(task, ranges),
            Op::Alloc(range, zero) => {
                self.alloc(task, *range, *zero, site);
                Answer::None
            }
            Op::Free(range) => {
                self.free(task, *range, site);
                Answer::None
            }
        };
        Some(answer)
    }

    /// The bytes of some ranges.
    pub(crate) fn bytes(&self, ranges: &[Range]) -> Vec<u8> {
        self.memory.all(ranges)
    }

    /// All that was found so far, in a fixed order.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        let mut known = HashSet::new();
        let sites = |finding: &Finding| finding.at.iter().map(|at| at.site.clone()).collect::<Vec<_>>();
        let each = self.raced.iter().map(|raced| self.diagnose(raced));
        let mut found: Vec<_> = each.filter(|finding| known.insert((finding.kind, sites(finding)))).collect();
        found.extend(self.findings.iter().cloned());
        found.sort();
        found.dedup();
        found
    }

    /// Notes what is odd after a run to the end: signals to flags that nobody has looked at.
    pub fn finish(&mut self) {
        let is_unseen = |flag: Range| !self.watched.contains(&flag) && !self.is_of_barrier(flag);
        let unseen = self.signalled.iter().filter(|(flag, _)| is_unseen(**flag));
        let notes: Vec<_> = unseen.map(|(_, at)| at.clone()).collect();
        for at in notes {
            self.find(Kind::NeverWaited, vec![at], "nobody waits for this flag or reads it");
        }
    }

    pub(crate) fn find(&mut self, kind: Kind, at: Vec<At>, help: impl Into<String>) {
        self.findings.insert(Finding { kind, at, help: help.into() });
    }

    /// What a task does now.
    pub(crate) fn at(&self, task: TaskId, site: &Site, what: impl Into<String>) -> At {
        self.at_step(self.now(task), site, what)
    }

    /// What a task has done in one of its steps.
    pub(crate) fn at_step(&self, step: Epoch, site: &Site, what: impl Into<String>) -> At {
        At { task: self.tasks[step.task], site: site.clone(), what: what.into(), step: Some(step) }
    }

    /// Notes that a step has seen what another task's step wrote.
    fn draw(&mut self, from: Epoch, to: Epoch, orders: bool) {
        if from.task != to.task
            && let Some(edges) = &mut self.edges
        {
            edges.push(Edge { from, to, orders });
        }
    }

    pub(crate) fn history(&self, at: Range) -> Option<&History> {
        self.cells.get(&at)
    }

    fn tick(&mut self, task: TaskId) {
        self.tick_order(task);
        self.catch_up(task);
    }

    /// The same where `seen` is brought up later: by [`Machine::catch_up`].
    #[inline]
    fn tick_order(&mut self, task: TaskId) -> Epoch {
        let state = &mut self.states[task];
        state.before_put = None;
        state.knowledge.order.tick(task)
    }

    /// A task has seen what it has done itself.
    pub(crate) fn catch_up(&mut self, task: TaskId) {
        let Knowledge { order, seen, .. } = &mut self.states[task].knowledge;
        seen.reach(Epoch { task, step: order.of(task) });
    }

    #[inline]
    pub(crate) fn now(&self, task: TaskId) -> Epoch {
        Epoch { task, step: self.clock(task).of(task) }
    }

    #[inline]
    pub(crate) fn clock(&self, task: TaskId) -> &Clock {
        &self.states[task].knowledge.order
    }

    /// What comes before a task's writes, where that is more than what comes before its reads.
    fn with_put(&mut self, task: TaskId) -> Option<Clock> {
        let State { knowledge, put, .. } = &mut self.states[task];
        drop(put.take_if(|put| knowledge.order.includes(put)));
        let put = put.as_ref()?;
        let mut known = knowledge.order.clone();
        known.join(put);
        Some(known)
    }

    fn fault(&mut self, kind: Kind, task: TaskId, range: Range, site: &Site) {
        if !self.faults.insert((kind, site.clone())) {
            return;
        }
        let what = format!("{} bytes at {range}", range.bytes);
        let help = match kind {
            Kind::NeverWritten => "nothing has been written there",
            Kind::Freed => "this memory was freed",
            _ => "no allocation has these bytes",
        };
        self.find(kind, vec![self.at(task, site, what)], help);
    }

    fn alloc(&mut self, task: TaskId, range: Range, zero: bool, site: &Site) {
        if range.bytes > MOST_BYTES || range.start.checked_add(range.bytes).is_none() {
            return self.fault(Kind::OutOfHeap, task, range, site);
        }
        if self.memory.has(range) {
            // Ranks that allocate together all say so.
            return;
        }
        self.memory.alloc(range, zero);
        self.shadow.forget(range);
        self.cells.retain(|cell, _| !cell.overlaps(range));
        self.lines.retain(|line, _| !line.overlaps(range));
        self.floats.retain(|line, _| !line.overlaps(range));
    }

    /// To free is to write: what others do there has to come before.
    fn free(&mut self, task: TaskId, range: Range, site: &Site) {
        match self.memory.free(range) {
            Ok(()) => self.access(task, range, None, true, site),
            Err(kind) => self.fault(kind, task, range, site),
        }
    }
}

pub(crate) fn word(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

fn bytes_of(value: u64, bytes: u64) -> Vec<u8> {
    let value = truncated(value, bytes).to_le_bytes();
    value[..usize::try_from(bytes.min(8)).unwrap_or(8)].to_vec()
}

/// Whether an order acquires for a task what another one has released.
fn reaches(head: &Head, tasks: &[Task], reader: TaskId, scope: Scope) -> (bool, bool) {
    let (from, to) = (tasks[head.task], tasks[reader]);
    (head.scope.covers(from, to), scope.covers(to, from))
}

/// The order of a read, which a release is not part of.
fn read_order(order: Order) -> Order {
    if order.acquires() { Order::Acquire } else { Order::Relaxed }
}
