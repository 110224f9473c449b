//! Finds a schedule that has a finding with few switches of tasks. The work is bounded by steps and executions, never
//! by time, so that the same check gives the same report: [`Budget`].

use crate::check::{Found, execute};
use crate::finding::Finding;
use crate::run::{Limits, Program};
use crate::schedule::{Follow, InTurn, Schedule};
use std::collections::HashMap;

/// How many times the check's own steps may be tried, and the part of [`Limits::reducing`] that may be tried anyway.
const TIMES: usize = 4;
const ANYWAY: usize = 4;
/// The most executions that are tried.
const MOST_EXECUTIONS: usize = 2000;

/// What may still be tried: together at most so many steps and executions, and those of one execution more.
#[derive(Clone, Copy)]
struct Budget {
    steps: usize,
    executions: usize,
}

impl Budget {
    /// That of a check with so many steps.
    fn of(limits: Limits, steps: usize) -> Self {
        let steps = (TIMES * steps).max(limits.reducing / ANYWAY).min(limits.reducing);
        Self { steps, executions: MOST_EXECUTIONS }
    }

    /// What each of so many findings may take of it.
    fn share(self, findings: usize) -> Self {
        let share = |all: usize| all.div_ceil(findings.max(1));
        Self { steps: share(self.steps), executions: share(self.executions) }
    }

    fn is_spent(self) -> bool {
        self.steps == 0 || self.executions == 0
    }

    fn spend(&mut self, steps: usize) {
        *self = Self { steps: self.steps.saturating_sub(steps), executions: self.executions.saturating_sub(1) };
    }
}

/// Reduces the schedules of findings, one after the other.
pub(crate) struct Reducer<'p> {
    program: &'p dyn Program,
    limits: Limits,
    /// What may be tried for all findings, and for this one.
    left: Budget,
    mine: Budget,
    /// Whether something was not tried for this one.
    has_stopped: bool,
    /// What is found without a schedule, once it is known.
    in_turn: Option<Vec<Finding>>,
    /// How many turns the schedules have that were put together.
    #[cfg(test)]
    turns: usize,
}

impl<'p> Reducer<'p> {
    /// For the findings of a check that had so many steps.
    pub fn new(program: &'p dyn Program, limits: Limits, steps: usize) -> Self {
        let left = Budget::of(limits, steps);
        Self {
            program,
            limits,
            left,
            mine: left,
            has_stopped: false,
            in_turn: None,
            #[cfg(test)]
            turns: 0,
        }
    }

    /// Moves steps of a task together and leaves steps out, as long as the finding stays; so many findings come after
    /// it. Whether it has ended before all was tried.
    pub fn reduce(&mut self, found: &mut Found, after: usize) -> bool {
        if found.schedule.is_empty() {
            return false;
        }
        self.mine = self.left.share(after + 1);
        self.has_stopped = false;
        if let Some(finding) = self.in_turn(found) {
            *found = Found { finding, schedule: Schedule::default(), seed: found.seed };
            return false;
        }
        // Where not each turn can be moved, most are left out first, which takes few executions.
        if found.schedule.turns().len() > self.mine.steps / found.schedule.len() {
            self.cut(found);
        }
        let mut from = 0;
        while let Some((at, schedule, finding)) = self.with_fewer_switches(found, from) {
            *found = Found { finding, schedule, seed: found.seed };
            from = at;
        }
        self.cut(found);
        self.has_stopped
    }

    /// The same finding without a schedule.
    fn in_turn(&mut self, found: &Found) -> Option<Finding> {
        if self.in_turn.is_none() && !self.is_spent() {
            let executed = execute(self.program, &mut InTurn::default(), self.limits);
            self.spend(executed.schedule.len());
            self.in_turn = Some(executed.findings);
        }
        let key = found.finding.key();
        self.in_turn.iter().flatten().find(|finding| finding.key() == key).cloned()
    }

    /// Whether no more may be tried of what is left to try.
    fn is_spent(&mut self) -> bool {
        let is_spent = self.left.is_spent() || self.mine.is_spent();
        self.has_stopped |= is_spent;
        is_spent
    }

    fn spend(&mut self, steps: usize) {
        self.left.spend(steps);
        self.mine.spend(steps);
    }

    /// The first schedule, from the pair `from` on and then around, in which a turn of a task comes right after the one
    /// before it, and the finding stays; and which pair that is.
    fn with_fewer_switches(&mut self, found: &Found, from: usize) -> Option<(usize, Schedule, Finding)> {
        let (turns, switches) = (found.schedule.turns(), found.schedule.switches());
        let pairs = pairs(&turns);
        let from = from.min(pairs.len());
        for at in (from..pairs.len()).chain(0..from) {
            // Putting a schedule together takes as long as it is, so none is that will not be tried.
            if self.is_spent() {
                break;
            }
            #[cfg(test)]
            {
                self.turns += turns.len();
            }
            let (first, next) = pairs[at];
            let candidate = moved(&turns, first, next);
            if let Some((schedule, finding)) = self.shows(found, &candidate)
                && schedule.switches() < switches
            {
                return Some((at, schedule, finding));
            }
        }
        None
    }

    /// Leaves out what comes in turn after a schedule's first steps.
    fn cut(&mut self, found: &mut Found) {
        let (mut too_few, mut enough) = (0, found.schedule.len());
        while too_few + 1 < enough && !self.is_spent() {
            let middle = usize::midpoint(too_few, enough);
            let start = found.schedule.first(middle);
            if let Some((_, finding)) = self.shows(found, &start) {
                enough = middle;
                *found = Found { finding, schedule: start, seed: found.seed };
            } else {
                too_few = middle;
            }
        }
    }

    /// What an execution by this schedule did, if it has the same finding.
    fn shows(&mut self, found: &Found, schedule: &Schedule) -> Option<(Schedule, Finding)> {
        let executed = execute(self.program, &mut Follow::new(schedule), self.limits);
        // Steps that can't be followed are looked at, too.
        self.spend(executed.schedule.len().max(schedule.len()));
        let key = found.finding.key();
        let same = executed.findings.into_iter().find(|finding| finding.key() == key)?;
        Some((executed.schedule, same))
    }
}

/// Each turn of a task, by its place, with the next one of the same task.
fn pairs(turns: &[Schedule]) -> Vec<(usize, usize)> {
    let mut next = HashMap::new();
    let backwards = turns.iter().enumerate().rev();
    let mut pairs: Vec<_> =
        backwards.filter_map(|(at, turn)| next.insert(turn.task(), at).map(|next| (at, next))).collect();
    pairs.reverse();
    pairs
}

/// The turns as one schedule, with turn `next` right after `first`.
fn moved(turns: &[Schedule], first: usize, next: usize) -> Schedule {
    let between = &turns[first + 1..next];
    turns[..=first].iter().chain([&turns[next]]).chain(between).chain(&turns[next + 1..]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{Schedules, check};
    use crate::finding::Kind;
    use crate::lines::Lines;
    use crate::op::{Op, Range};
    use crate::schedule::Choice;
    use crate::task::Task;

    /// Two tasks with this many steps each, and a schedule in which they alternate, of a finding that is in none.
    fn alternating(steps: usize) -> (Lines, Found) {
        let task = |rank| (Task::block(rank, 0), vec![("issues".into(), Op::Issue); steps]);
        let mut schedule = Schedule::default();
        (0..2 * steps).for_each(|nth| schedule.push(Choice { task: nth % 2, way: 0 }, 1));
        let finding = Finding { kind: Kind::Race, at: Vec::new(), help: String::new() };
        (Lines::new(vec![task(0), task(1)]), Found { finding, seed: None, schedule })
    }

    #[test]
    fn the_work_is_bounded_by_the_limit() {
        for (steps, reducing) in [(10_000, 0), (10_000, 50_000), (1000, 50_000)] {
            let (program, found) = alternating(steps);
            let mut reducer = Reducer::new(&program, Limits { reducing, ..Limits::default() }, reducing);
            for after in (0..10).rev() {
                assert!(reducer.reduce(&mut found.clone(), after));
            }
            assert_eq!(reducer.left.steps, 0);
            let most = reducing + found.schedule.len();
            assert!(reducer.turns <= most, "{} turns of at most {most} were put together", reducer.turns);
        }
    }

    #[test]
    fn the_work_is_bounded_by_that_of_the_check() {
        let (program, found) = alternating(1000);
        for (steps, most) in [(0, 125_000), (2000, 125_000), (50_000, 200_000), (1_000_000, 500_000)] {
            let mut reducer = Reducer::new(&program, Limits::default(), steps);
            assert_eq!(reducer.left.steps, most);
            assert!(reducer.reduce(&mut found.clone(), 0));
            assert!(reducer.turns <= most + found.schedule.len(), "{} of {most}", reducer.turns);
        }
    }

    #[test]
    fn few_executions_are_tried_however_short_they_are() {
        let (program, found) = alternating(100);
        let mut reducer = Reducer::new(&program, Limits { reducing: usize::MAX, ..Limits::default() }, 1);
        // All that can be tried of one is 198 pairs.
        let count = MOST_EXECUTIONS / 198 + 1;
        let stopped = (0..=count).rev().filter(|&after| reducer.reduce(&mut found.clone(), after));
        assert!(stopped.count() > 0);
        assert_eq!(reducer.left.executions, 0);
    }

    #[test]
    fn each_finding_has_its_share() {
        let (program, found) = alternating(1000);
        let mut reducer = Reducer::new(&program, Limits::default(), 0);
        for after in (0..5).rev() {
            let before = reducer.left.steps;
            assert!(before > 0, "nothing is left for the last {}", after + 1);
            assert!(reducer.reduce(&mut found.clone(), after));
        }
    }

    #[test]
    fn what_is_found_in_turn_needs_no_schedule_however_little_may_be_tried() {
        let write = || Op::Write(vec![Range { heap: 0, start: 0, bytes: 4 }], vec![1; 4]);
        let task = |rank| (Task::block(rank, 0), vec![("writes".into(), write())]);
        let program = Lines::new(vec![task(0), task(1)]);
        let limits = Limits { reducing: 0, ..Limits::default() };
        for schedules in [Schedules::InTurn, Schedules::Random { seed: 1, executions: 1, changes: 1 }] {
            let report = check(&program, &schedules, limits);
            assert!(!report.found.is_empty() && report.found.iter().all(|found| found.schedule.is_empty()));
        }
    }

    #[test]
    fn a_turn_comes_right_after_the_one_before_it() {
        let schedule: Schedule = "0 1*2 2 0.1 1 0".parse().unwrap();
        let turns = schedule.turns();
        let moved = pairs(&turns).into_iter().map(|(first, next)| moved(&turns, first, next).to_string());
        assert_eq!(moved.collect::<Vec<_>>(), ["0 0.1 1*2 2 1 0", "0 1*3 2 0.1 0", "0 1*2 2 0.1 0 1"]);
    }
}
