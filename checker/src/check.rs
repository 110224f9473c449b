//! Executes a program in many schedules, and reports what was found in any of them.

use crate::allow::Allowed;
use crate::explore::Search;
use crate::finding::{At, Finding, Kind};
use crate::history::KEPT;
use crate::op::Site;
use crate::picture::{self, Picture};
use crate::reduce::Reducer;
use crate::run::{Limits, Program, Run};
use crate::schedule::{ByPriority, Chooser, Follow, InTurn, Schedule};
use crate::would::explain;
use std::collections::BTreeMap;
use std::fmt;

/// Which schedules are tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Schedules {
    /// One: each task goes on until it is blocked, and reads the newest values.
    InTurn,
    /// Random ones: priorities, and `changes` changes of them, from the seeds `seed`, `seed` + 1, ….
    Random {
        /// The first seed.
        seed: u64,
        /// How many executions.
        executions: usize,
        /// How often priorities change in each.
        changes: usize,
    },
    /// All that differ, but no more than this many executions.
    All {
        /// The most executions.
        executions: usize,
    },
    /// This one.
    Replay(Schedule),
}

/// A finding, and how to see it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The finding.
    pub finding: Finding,
    /// The seed of the execution that has it, if it was a random one.
    pub seed: Option<u64>,
    /// A schedule that has it, with few switches of tasks. After its end tasks go on in turn; an empty one is that
    /// alone.
    pub schedule: Schedule,
}

/// What came of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// What was found, each once, in a fixed order.
    pub found: Vec<Found>,
    /// How many executions there were.
    pub executions: usize,
    /// How many of them were given up, because they took too many steps.
    pub given_up: usize,
    /// Where the tasks were of the first of these that still could go on.
    pub unfinished: Vec<At>,
    /// Whether a task has crashed: no more executions were tried.
    pub has_crashed: bool,
    /// How many more were begun, and left as soon as it was known that they read the same as others.
    pub left_early: usize,
    /// The most executions that were to be tried, if the search for all has ended there.
    pub limit: Option<usize>,
    /// How many schedules may have more switches than they need: to shorten them would take too long.
    pub not_shortest: usize,
    /// How many steps of a schedule that was replayed could not be followed: it is one of another program.
    pub left_out: usize,
    /// Whether the search for all has left out reads of values that their place did not keep
    /// ([`KEPT`](crate::history::KEPT)).
    pub has_forgotten: bool,
    /// Whether there is no other execution that reads other values.
    pub is_exhausted: bool,
    /// What was found and is allowed.
    pub allowed: Vec<(Found, Allowed)>,
    /// Allowances of nothing that was found, each as a text with its place.
    pub unused: Vec<String>,
    /// What was repaired in the program before it was executed, each as a text with its place; a front says so.
    pub repairs: Vec<String>,
    /// What was remarked at ops of the program that are executed as they stand, likewise.
    pub remarks: Vec<String>,
}

impl Report {
    /// Whether nothing is wrong: there are notes at most, and what is allowed.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.found.iter().all(|found| found.finding.kind.is_note())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for found in &self.found {
            write!(f, "{}", found.finding)?;
            if let Some(seed) = found.seed {
                writeln!(f, "  seed {seed}")?;
            }
            writeln!(f, "  schedule: '{}'\n", found.schedule)?;
        }
        let (count, given_up) = (self.executions, self.given_up);
        let what =
            if self.found.is_empty() { "nothing found" } else { "each of these is in a real execution of the model" };
        write!(f, "{what}; {count} {} tried", if count == 1 { "execution" } else { "executions" })?;
        if given_up > 0 {
            write!(f, ", {given_up} given up after too many steps")?;
        }
        if let Some(limit) = self.limit {
            write!(f, "; {} left early, which equal others; the limit of {limit} is reached", self.left_early)?;
        }
        if self.has_forgotten {
            write!(f, "; older values than the newest {KEPT} of a place were not read")?;
        }
        let space = if self.is_exhausted { "there are no others that differ" } else { "nothing is known of others" };
        writeln!(f, "; {space}")
    }
}

/// Executes a program in these schedules.
#[must_use]
pub fn check(program: &dyn Program, schedules: &Schedules, limits: Limits) -> Report {
    let mut check = Check { program, limits, steps: 0, report: Report::default(), found: BTreeMap::new() };
    match schedules {
        Schedules::InTurn => drop(check.in_turn()),
        Schedules::Replay(schedule) => {
            let mut follow = Follow::new(schedule);
            check.run(&mut follow, None);
            check.report.left_out = follow.left_out;
        }
        Schedules::Random { seed, executions, changes } => check.random(*seed, *executions, *changes),
        Schedules::All { executions } => check.all(*executions),
    }
    check.reduced()
}

/// What is drawn of a finding: its schedule is executed once more.
#[must_use]
pub fn draw(program: &dyn Program, found: &Found, limits: Limits) -> Picture {
    let mut run = Run::new(program, limits);
    run.record();
    let mut chooser = Follow::new(&found.schedule);
    while chooser.advance(&mut run) {}
    let trace = run.recorded().unwrap_or_default();
    let key = found.finding.key();
    let same = run.findings().into_iter().find(|finding| finding.key() == key);
    same.map_or_else(Picture::default, |finding| picture::of(&trace, &finding))
}

struct Check<'p> {
    program: &'p dyn Program,
    limits: Limits,
    /// How many steps the executions had so far.
    steps: usize,
    report: Report,
    found: BTreeMap<(Kind, Vec<Site>), Found>,
}

impl Check<'_> {
    /// The execution without a schedule; returns how many tasks and steps it had.
    fn in_turn(&mut self) -> (usize, usize) {
        let executed = execute(self.program, &mut InTurn::default(), self.limits);
        let size = (executed.tasks, executed.steps);
        self.note(Executed { schedule: Schedule::default(), ..executed }, None);
        size
    }

    fn run(&mut self, chooser: &mut dyn Chooser, seed: Option<u64>) {
        let executed = execute(self.program, chooser, self.limits);
        self.note(executed, seed);
    }

    fn note(&mut self, executed: Executed, seed: Option<u64>) {
        let Executed { findings, schedule, steps, unfinished, has_crashed, .. } = executed;
        self.steps += steps;
        self.report.executions += 1;
        self.report.has_crashed |= has_crashed;
        self.report.given_up += usize::from(!unfinished.is_empty());
        if self.report.unfinished.is_empty() {
            self.report.unfinished = unfinished;
        }
        let has_broken_off = self.program.has_broken_off();
        for finding in findings.into_iter().filter(|each| !(has_broken_off && each.kind.is_of_what_did_not_come())) {
            let found = || Found { finding: finding.clone(), seed, schedule: schedule.clone() };
            self.found.entry(finding.key()).or_insert_with(found);
        }
    }

    fn random(&mut self, seed: u64, executions: usize, changes: usize) {
        // How long the others are about, and what they launch; it depends on no seed, so that a seed by itself gives
        // its execution again.
        let (tasks, steps) = self.in_turn();
        for seed in (0..executions as u64).map(|nth| seed.wrapping_add(nth)) {
            if self.is_stopped() {
                break;
            }
            self.run(&mut ByPriority::new(seed, tasks, steps, changes), Some(seed));
        }
    }

    fn all(&mut self, executions: usize) {
        let mut search = Search::new(self.program, self.limits);
        for _ in 0..executions {
            if search.is_over() || self.is_stopped() {
                break;
            }
            match search.next() {
                Some(executed) => {
                    self.report.has_forgotten |= executed.has_forgotten;
                    self.note(executed, None);
                }
                None => self.report.left_early += 1,
            }
        }
        let is_stopped = self.is_stopped();
        self.report.limit = (!search.is_over() && !is_stopped).then_some(executions);
        let is_whole = self.report.given_up == 0 && !self.report.has_forgotten;
        self.report.is_exhausted = search.is_over() && is_whole && !is_stopped;
    }

    /// Whether something has ended the check.
    fn is_stopped(&self) -> bool {
        self.report.has_crashed || self.program.has_broken_off()
    }

    fn reduced(mut self) -> Report {
        let mut reducer = Reducer::new(self.program, self.limits, self.steps);
        let mut after = self.found.values().filter(|found| !found.schedule.is_empty()).count();
        for mut found in std::mem::take(&mut self.found).into_values() {
            after -= usize::from(!found.schedule.is_empty());
            // After a crash nothing is executed any more.
            if !self.report.has_crashed {
                self.report.not_shortest += usize::from(reducer.reduce(&mut found, after));
                explain(self.program, self.limits, &mut found);
            }
            self.report.found.push(found);
        }
        self.report
    }
}

/// What came of one execution.
pub(crate) struct Executed {
    pub findings: Vec<Finding>,
    pub schedule: Schedule,
    tasks: usize,
    steps: usize,
    /// Where its tasks were that still could go on, if it has not come to its end.
    unfinished: Vec<At>,
    has_crashed: bool,
    has_forgotten: bool,
}

impl Executed {
    /// What came of a run, as far as it went.
    pub fn of(mut run: Run) -> Self {
        let unfinished = if run.is_at_limit() { run.unfinished() } else { Vec::new() };
        let (schedule, tasks, has_crashed) = (run.choices.clone(), run.machine.tasks().len(), run.has_crashed());
        let (steps, has_forgotten) = (schedule.len(), run.machine.has_forgotten);
        Self { findings: run.findings(), schedule, tasks, steps, unfinished, has_crashed, has_forgotten }
    }
}

pub(crate) fn execute(program: &dyn Program, chooser: &mut dyn Chooser, limits: Limits) -> Executed {
    let mut run = Run::new(program, limits);
    while chooser.advance(&mut run) {}
    Executed::of(run)
}
