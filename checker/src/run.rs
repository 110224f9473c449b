//! One execution of a program: its tasks, one step after the other.

use crate::finding::{Finding, Kind};
use crate::machine::Machine;
use crate::op::{Answer, Op, Site};
use crate::schedule::Choice;
use crate::task::{Task, TaskId};
use std::collections::BTreeSet;

/// A program that can be executed again and again: with the same answers its tasks do the same.
pub trait Program {
    /// Its tasks. A task's number is its place here, or after these among those that an execution adds.
    fn tasks(&self) -> Vec<Task>;

    /// The tasks that start by themselves, which are all of them unless ops launch some.
    fn first(&self) -> Vec<TaskId> {
        (0..self.tasks().len()).collect()
    }

    /// A new execution, before its first step.
    fn start(&self) -> Box<dyn Execution + '_>;
}

/// The tasks of a program on their way.
pub trait Execution {
    /// What a task does next. The answer is that of its last op.
    fn next(&mut self, task: TaskId, answer: Answer) -> Next;

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
}

/// What an execution has at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Steps of one execution. One that takes more is given up, and counted.
    pub steps: usize,
    /// Blocks of a rank that fit on its device at once.
    pub blocks: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 1_000_000, blocks: usize::MAX }
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
    pub choices: Vec<Choice>,
    /// Whether a task has failed: others may wait for it.
    has_failed: bool,
    limits: Limits,
}

impl<'p> Run<'p> {
    /// Before the first step.
    pub fn new(program: &'p dyn Program, limits: Limits) -> Self {
        let tasks = program.tasks();
        let pending = tasks.iter().map(|_| None).collect();
        let (machine, execution, choices) = (Machine::new(tasks), program.start(), Vec::new());
        let mut run = Self { machine, program, execution, pending, choices, has_failed: false, limits };
        for task in program.first() {
            run.machine.start(task);
            run.ask(task, Answer::None);
        }
        run
    }

    fn ask(&mut self, task: TaskId, answer: Answer) {
        let mut next = self.execution.next(task, answer);
        while let Next::Failed(site, reason) = next {
            let at = self.machine.at(task, &site, reason);
            self.machine.find(Kind::FailedCheck, vec![at], "");
            next = self.execution.next(task, Answer::None);
        }
        self.pending[task] = match next {
            Next::Op(op, site) => Some((op, site)),
            Next::End | Next::Failed(..) => {
                self.machine.end(task);
                None
            }
            Next::Fail(site, reason) => {
                self.has_failed = true;
                let at = self.machine.at(task, &site, reason);
                self.machine.find(Kind::FailedCheck, vec![at], "");
                self.machine.end(task);
                None
            }
        };
    }

    /// What a task does next, if it has started and not ended.
    #[must_use]
    pub fn op(&self, task: TaskId) -> Option<&Op> {
        self.pending[task].as_ref().map(|(op, _)| op)
    }

    /// The tasks that can go on, by their numbers.
    #[must_use]
    pub fn enabled(&self) -> Vec<Enabled> {
        let fit = self.fitting();
        let of = |(task, pending): (TaskId, &Option<(Op, Site)>)| {
            let ways = self.machine.ways(task, &pending.as_ref()?.0);
            (ways > 0 && fit(self.machine.tasks()[task])).then_some(Enabled { task, ways })
        };
        self.pending.iter().enumerate().filter_map(of).collect()
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

    /// Whether the execution has taken as many steps as it may.
    #[must_use]
    pub fn is_at_limit(&self) -> bool {
        self.choices.len() >= self.limits.steps
    }

    /// Lets a task that is enabled do its step.
    pub fn step(&mut self, choice: Choice) {
        let Some((op, site)) = self.pending[choice.task].take() else { return };
        self.choices.push(choice);
        if let Op::Launch(others) = &op {
            self.grow(others);
        }
        let Some(answer) = self.machine.step(choice.task, &op, &site, choice.way) else {
            self.pending[choice.task] = Some((op, site));
            return;
        };
        if let Op::Launch(others) = op {
            for &other in others.iter() {
                self.ask(other, Answer::None);
            }
        }
        self.ask(choice.task, answer);
    }

    /// Takes in the tasks that the execution has added.
    fn grow(&mut self, launched: &[TaskId]) {
        if launched.iter().any(|&task| task >= self.pending.len()) {
            self.machine.grow([self.program.tasks(), self.execution.added()].concat());
            self.pending.resize_with(self.machine.tasks().len(), || None);
        }
    }

    /// What was found, after no task can go on.
    #[must_use]
    pub fn findings(mut self) -> Vec<Finding> {
        let blocked: Vec<_> = (0..self.pending.len()).filter(|&task| self.pending[task].is_some()).collect();
        if blocked.is_empty() {
            self.machine.finish();
            if let Some(reason) = self.execution.failed_check() {
                self.machine.find(Kind::FailedCheck, vec![], reason);
            }
        } else if !self.is_at_limit() && !self.has_failed {
            self.deadlock(&blocked);
        }
        self.machine.findings()
    }
}

impl Run<'_> {
    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }
}
