//! Finds a schedule that has a finding with few switches of tasks. The work is bounded: all schedules that are tried
//! together have at most [`Limits::reducing`] steps, and those of one execution more.

use crate::check::{Found, execute};
use crate::finding::Finding;
use crate::run::{Limits, Program};
use crate::schedule::{Follow, Schedule};
use std::collections::HashMap;

/// How often a schedule gets fewer switches.
const MOST_TO_REDUCE: usize = 200;

/// Reduces the schedules of findings, one after the other.
pub(crate) struct Reducer<'p> {
    program: &'p dyn Program,
    limits: Limits,
    /// How many more steps may be tried.
    left: usize,
    /// How many turns the schedules have that were put together.
    #[cfg(test)]
    turns: usize,
}

impl<'p> Reducer<'p> {
    pub fn new(program: &'p dyn Program, limits: Limits) -> Self {
        Self {
            program,
            limits,
            left: limits.reducing,
            #[cfg(test)]
            turns: 0,
        }
    }

    /// Moves steps of a task together and leaves steps out, as long as the finding stays.
    pub fn reduce(&mut self, found: &mut Found) {
        if found.schedule.is_empty() {
            return;
        }
        if let Some((_, finding)) = self.shows(found, &Schedule::default()) {
            *found = Found { finding, schedule: Schedule::default(), seed: found.seed };
            return;
        }
        for _ in 0..MOST_TO_REDUCE {
            let Some((schedule, finding)) = self.with_fewer_switches(found) else { break };
            *found = Found { finding, schedule, seed: found.seed };
        }
        self.cut(found);
    }

    /// The first schedule in which a turn of a task comes right after the one before it, and the finding stays.
    fn with_fewer_switches(&mut self, found: &Found) -> Option<(Schedule, Finding)> {
        let (turns, switches) = (found.schedule.turns(), found.schedule.switches());
        for (first, next) in pairs(&turns) {
            // Putting a schedule together takes as long as it is, so none is that will not be tried.
            if self.left == 0 {
                break;
            }
            #[cfg(test)]
            {
                self.turns += turns.len();
            }
            let candidate = moved(&turns, first, next);
            if let Some(better) = self.shows(found, &candidate)
                && better.0.switches() < switches
            {
                return Some(better);
            }
        }
        None
    }

    /// Leaves out what comes in turn after a schedule's first steps.
    fn cut(&mut self, found: &mut Found) {
        let (mut too_few, mut enough) = (0, found.schedule.len());
        while too_few + 1 < enough && self.left > 0 {
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
        if self.left == 0 {
            return None;
        }
        let executed = execute(self.program, &mut Follow::new(schedule), self.limits);
        // Steps that can't be followed are looked at, too.
        self.left = self.left.saturating_sub(executed.schedule.len().max(schedule.len()));
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
            let mut reducer = Reducer::new(&program, Limits { reducing, ..Limits::default() });
            for _ in 0..10 {
                reducer.reduce(&mut found.clone());
            }
            assert_eq!(reducer.left, 0);
            let most = reducing + found.schedule.len();
            assert!(reducer.turns <= most, "{} turns of at most {most} were put together", reducer.turns);
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
