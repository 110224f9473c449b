//! One execution of a program: its tasks, one step after the other.

mod outcome;
mod retries;
mod vain;

use crate::ahead::{Ahead, Sides, watch};
use crate::explore::touched;
use crate::finding::Kind;
use crate::machine::Machine;
use crate::op::{Answer, Op, Site};
use crate::pages::Pages;
use crate::parked::Parked;
use crate::polls::Polls;
use crate::schedule::{Choice, Schedule};
use crate::task::{Task, TaskId};
use crate::trace::Trace;
use retries::Retries;
use std::collections::BTreeSet;

/// A program that can be executed again and again: with the same answers its tasks do the same.
pub trait Program {
    /// Its tasks. A task's number is its place here, or after these among those that an execution adds.
    fn tasks(&self) -> Vec<Task>;

    /// The tasks that start by themselves, which are all of them unless ops launch some.
    fn first(&self) -> Vec<TaskId> {
        (0..self.tasks().len()).collect()
    }

    /// Whether a task may be let through a wait for what never comes, to see what it would do: it does nothing but
    /// its ops, and an error of it is a step like another.
    fn may_be_let_through(&self) -> bool {
        false
    }

    /// The bytes of each heap that belong to barriers of all ranks (`symm_abi::heap`).
    fn reserved(&self) -> std::ops::Range<u64> {
        0..0
    }

    /// Whether something has ended an execution from outside, so that what did not come in it may be its fault. The
    /// check ends with it: executions after it only repeat what was found before.
    fn has_broken_off(&self) -> bool {
        false
    }

    /// A new execution, before its first step.
    fn start(&self) -> Box<dyn Execution + '_>;
}

/// The tasks of a program on their way.
pub trait Execution {
    /// What a task does next. The answer is that of its last op.
    fn next(&mut self, task: TaskId, answer: Answer) -> Next;

    /// The same, where the task may make its next accesses by itself.
    fn next_ahead(&mut self, task: TaskId, answer: Answer, _: &mut Ahead) -> Next {
        self.next(task, answer)
    }

    /// The tasks that it has added to its program's, before it launches them. Their numbers depend on nothing but the
    /// steps so far, so that a schedule means the same in each process. A task may be launched again when it has ended.
    fn added(&self) -> Vec<Task> {
        Vec::new()
    }

    /// After all tasks have ended: which check of the program failed, if one did.
    fn failed_check(&mut self) -> Option<String> {
        None
    }
}

/// What a task does next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// An op, and where it stands.
    Op(Op, Site),
    /// Nothing more.
    End,
    /// A check of the program failed there, for this reason; the task ends.
    Fail(Site, String),
    /// Likewise, and the task goes on.
    Failed(Site, String),
    /// It did there what ends a process, such as a division by zero; the task ends.
    Fault(Site, String),
    /// Likewise, and nobody can tell what else that has done: the execution ends.
    Crash(Site, String),
}

/// What is said of a crash besides what it is.
const CRASHED: &str = "the check ends with it: nothing is known of what comes later, nor of other schedules";

/// What an execution has at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Steps of one execution. One that takes more is given up, and counted.
    pub steps: usize,
    /// Blocks of a rank that fit on its device at once.
    pub blocks: usize,
    /// How often a loop reads the same until it is known that it goes on only when that changes.
    pub polls: usize,
    /// Steps of all executions that look for shorter schedules, however many the check itself has.
    pub reducing: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 1_000_000, blocks: usize::MAX, polls: 10_000, reducing: 500_000 }
    }
}

/// A task that can go on, and in how many ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enabled {
    /// The task.
    pub task: TaskId,
    /// In how many ways; way 0 reads the newest values.
    pub ways: usize,
}

/// An execution under way.
pub struct Run<'p> {
    pub(crate) machine: Machine,
    program: &'p dyn Program,
    execution: Box<dyn Execution + 'p>,
    pub(crate) pending: Vec<Option<(Op, Site)>>,
    /// What was done so far.
    pub choices: Schedule,
    /// Whether a task has failed: others may wait for it.
    has_failed: bool,
    /// Whether a task has crashed: there are no steps after that.
    has_crashed: bool,
    limits: Limits,
    parked: Parked,
    polls: Vec<Polls>,
    retries: Retries,
    pages: Pages,
    /// What was done, if it is to be drawn.
    trace: Option<Trace>,
}

impl<'p> Run<'p> {
    /// Before the first step.
    pub fn new(program: &'p dyn Program, limits: Limits) -> Self {
        let tasks = program.tasks();
        let pending = tasks.iter().map(|_| None).collect();
        let polls = tasks.iter().map(|_| Polls::default()).collect();
        let mut parked = Parked::default();
        parked.grow(tasks.len());
        let (machine, execution, choices) = (Machine::new(tasks), program.start(), Schedule::default());
        let (trace, pages) = (None, Pages::default());
        let mut run = Self {
            machine,
            program,
            execution,
            pending,
            choices,
            has_failed: false,
            has_crashed: false,
            limits,
            parked,
            polls,
            retries: Retries::default(),
            pages,
            trace,
        };
        run.machine.reserved = program.reserved();
        for task in program.first() {
            run.machine.start(task);
            run.ask(task, Answer::None, 0);
        }
        run
    }

    /// Asks a task what it does next, after at most this many accesses of its own; how many it has made.
    fn ask(&mut self, task: TaskId, answer: Answer, more: usize) -> usize {
        let (mut answer, mut done) = (answer, 0);
        if self.has_crashed {
            return done;
        }
        let next = loop {
            let polls = &mut self.polls[task];
            let left = if polls.is_idle() { 0 } else { more - done };
            let Self { machine, parked, pages, .. } = self;
            let mut ahead = Ahead::new(Sides { machine, parked, polls, pages }, task, left, self.limits.polls);
            let next = self.execution.next_ahead(task, answer, &mut ahead);
            done += ahead.end();
            self.machine.catch_up(task);
            let Next::Failed(site, reason) = next else { break next };
            let at = self.machine.at(task, &site, reason);
            self.machine.find(Kind::FailedCheck, vec![at], "");
            answer = Answer::None;
        };
        self.choices.push(Choice { task, way: 0 }, done);
        self.pending[task] = match next {
            Next::Op(op, site) => Some((op, site)),
            Next::End | Next::Failed(..) => {
                self.end(task);
                None
            }
            Next::Fail(site, reason) => self.fail(task, Kind::FailedCheck, (&site, reason), ""),
            Next::Fault(site, reason) => self.fail(task, Kind::Fault, (&site, reason), ""),
            Next::Crash(site, reason) => {
                self.fail(task, Kind::Fault, (&site, reason), CRASHED);
                self.has_crashed = true;
                self.pending.fill(None);
                None
            }
        };
        self.parked.wake(task);
        done
    }

    /// A task ends with an error. It has no next op.
    fn fail(&mut self, task: TaskId, kind: Kind, (site, reason): (&Site, String), help: &str) -> Option<(Op, Site)> {
        self.has_failed = true;
        let at = self.machine.at(task, site, reason);
        self.machine.find(kind, vec![at], help);
        self.end(task);
        None
    }

    fn end(&mut self, task: TaskId) {
        self.machine.end(task);
        self.parked.wake_joins();
        if self.limits.blocks != usize::MAX {
            self.parked.wake_all();
        }
    }

    /// What a task does next, if it has started and not ended.
    #[must_use]
    pub fn op(&self, task: TaskId) -> Option<&Op> {
        self.pending.get(task)?.as_ref().map(|(op, _)| op)
    }

    /// How many tasks there are so far.
    #[must_use]
    pub fn tasks(&self) -> usize {
        self.pending.len()
    }

    /// In how many ways a task can go on: 0 if it can't.
    pub fn ways(&mut self, task: TaskId) -> usize {
        if self.pending.get(task).is_none_or(Option::is_none) || self.parked.holds(task) {
            return 0;
        }
        self.watch_polls(task);
        if self.is_retrying(task) {
            return 0;
        }
        let Some((op, _)) = &self.pending[task] else { return 0 };
        let is_vain = self.polls[task].vain.as_ref();
        let ways = if is_vain.is_some() || !self.fitting()(self.machine.tasks()[task]) {
            0
        } else {
            self.machine.ways(task, op)
        };
        let ways = self.new_ways(task, ways);
        if ways == 0 {
            self.parked.park(task, op, is_vain.map_or(&[], |(ranges, _)| ranges));
        }
        ways
    }

    /// The first task from one on that can go on; after the last comes the first.
    pub fn next_enabled(&mut self, from: TaskId) -> Option<Enabled> {
        let tasks = self.tasks();
        (from..tasks).chain(0..from.min(tasks)).find_map(|task| {
            let ways = self.ways(task);
            (ways > 0).then_some(Enabled { task, ways })
        })
    }

    /// The tasks that can go on, by their numbers.
    pub fn enabled(&mut self) -> Vec<Enabled> {
        let each = (0..self.tasks()).map(|task| Enabled { task, ways: self.ways(task) });
        each.filter(|each| each.ways > 0).collect()
    }

    /// Whether a block is on its device: of those of its rank that have not ended, the first ones are.
    pub(crate) fn fitting(&self) -> impl Fn(Task) -> bool {
        let limit = self.limits.blocks;
        let alive = (0..self.pending.len()).filter(|&task| self.machine.is_alive(task));
        let blocks: BTreeSet<_> = if limit == usize::MAX {
            BTreeSet::new()
        } else {
            alive.map(|task| (self.machine.tasks()[task].rank, self.machine.tasks()[task].block)).collect()
        };
        move |task| {
            limit == usize::MAX
                || task.is_host()
                || blocks.range((task.rank, 0)..(task.rank, task.block)).count() < limit
        }
    }

    /// Whether a task has crashed, and the execution with it.
    #[must_use]
    pub fn has_crashed(&self) -> bool {
        self.has_crashed
    }

    /// Whether the execution has taken as many steps as it may.
    #[must_use]
    pub fn is_at_limit(&self) -> bool {
        self.choices.len() >= self.limits.steps
    }

    /// Lets a task that is enabled do its step.
    pub fn step(&mut self, choice: Choice) {
        self.steps(choice, 0);
    }

    /// Lets a task that is enabled do its step, and this many more by itself as long as nobody else may come first; how
    /// many it has done so.
    pub fn steps(&mut self, choice: Choice, more: usize) -> usize {
        // A program that was stopped by an error has no tasks any more.
        let Some((op, site)) = self.pending.get_mut(choice.task).and_then(Option::take) else { return 0 };
        self.choices.push(choice, 1);
        if let Op::Launch(others) = &op {
            self.grow(others);
        }
        let answer = self.machine.step(choice.task, &op, &site, choice.way);
        if let Some(trace) = &mut self.trace
            && !(matches!(op, Op::Barrier(..)) && answer.is_some())
        {
            trace.note(self.machine.now(choice.task), &op, &site);
        }
        let Some(answer) = answer else {
            if let Op::Barrier(_, members) = &op
                && self.machine.ways(choice.task, &op) > 0
            {
                members.iter().for_each(|&member| self.parked.wake(member));
            }
            self.pending[choice.task] = Some((op, site));
            return 0;
        };
        let mut is_alone = self.trace.is_none();
        if let (ranges, true) = touched(&op) {
            is_alone &= !self.parked.wake_at(ranges);
        }
        let site = self.machine.site(&site);
        if self.polls[choice.task].note(&op, site, choice.way, &answer, self.limits.polls) {
            watch(&mut self.polls[choice.task], &self.machine);
        }
        self.note_retry(choice.task);
        if let Op::Launch(others) = op {
            is_alone = false;
            for &other in others.iter() {
                self.ask(other, Answer::None, 0);
            }
        }
        let more = more.min(self.limits.steps.saturating_sub(self.choices.len()));
        self.ask(choice.task, answer, if is_alone { more } else { 0 })
    }

    /// Takes in the tasks that the execution has added.
    fn grow(&mut self, launched: &[TaskId]) {
        if launched.iter().any(|&task| task >= self.pending.len()) {
            self.machine.grow([self.program.tasks(), self.execution.added()].concat());
            let tasks = self.machine.tasks().len();
            self.pending.resize_with(tasks, || None);
            self.polls.resize_with(tasks, Polls::default);
            self.parked.grow(tasks);
        }
    }
}

impl Run<'_> {
    /// Lets a task go on that waits, as if the flag had come.
    pub(crate) fn let_through(&mut self, task: TaskId) {
        self.pending[task] = None;
        self.ask(task, Answer::Word(1), 0);
    }

    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }
}
