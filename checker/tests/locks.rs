//! Locks that are taken by trying again and again, in all schedules.

use std::collections::BTreeSet;
use symm_checker::check::{Report, Schedules, check};
use symm_checker::finding::Kind;
use symm_checker::op::{Answer, Op, Order, Range, Strong, Update};
use symm_checker::run::{Execution, Limits, Next, Program};
use symm_checker::schedule::Random;
use symm_checker::task::{Scope, Task, TaskId};

const LOCK: Range = Range { heap: 0, start: 0, bytes: 4 };
const DATA: Range = Range { heap: 0, start: 64, bytes: 4 };

/// Tasks that take a lock, change what it protects, and give it back.
#[derive(Clone, Copy)]
struct Locked {
    ranks: u32,
    /// How often each tries at most, and whether it gives the lock back.
    tries: usize,
    returns: bool,
}

impl Program for Locked {
    fn tasks(&self) -> Vec<Task> {
        std::iter::once(Task::host(0)).chain((0..self.ranks).map(|rank| Task::block(rank, 0))).collect()
    }

    fn first(&self) -> Vec<TaskId> {
        vec![0]
    }

    fn start(&self) -> Box<dyn Execution + '_> {
        let tasks = self.ranks as usize + 1;
        Box::new(Locking { program: *self, at: vec![0; tasks], tries: vec![0; tasks] })
    }
}

struct Locking {
    program: Locked,
    at: Vec<usize>,
    tries: Vec<usize>,
}

impl Execution for Locking {
    fn next(&mut self, task: TaskId, answer: Answer) -> Next {
        let lock = |order| Strong { at: LOCK, order, scope: Scope::Sys };
        let op = |op, site: &str| Next::Op(op, site.into());
        let launched = (1..=self.program.ranks as usize).collect();
        self.at[task] += 1;
        match (task, self.at[task]) {
            (0, 1) => op(Op::Alloc(Range { heap: 0, start: 0, bytes: 1024 }, true), "alloc"),
            (0, 2) => op(Op::Launch(launched), "launch"),
            (0, _) => Next::End,
            (_, 1) => op(Op::Atomic(lock(Order::Acquire), Update::Compare { expected: 0, desired: 1 }), "takes"),
            (_, 2) if answer != Answer::Word(0) => {
                self.tries[task] += 1;
                self.at[task] = 0;
                if self.tries[task] == self.program.tries { Next::End } else { self.next(task, Answer::None) }
            }
            (_, 2) => op(Op::Read(vec![DATA]), "reads"),
            (_, 3) => op(Op::Write(vec![DATA], vec![1; 4]), "writes"),
            (_, 4) if self.program.returns => op(Op::Store(lock(Order::Release), 0), "returns"),
            _ => Next::End,
        }
    }
}

fn all(program: Locked) -> Report {
    check(&program, &Schedules::All { executions: 2000 }, Limits::default())
}

#[test]
fn a_lock_takes_few_executions() {
    for (ranks, most) in [(2, 8), (3, 400)] {
        let report = all(Locked { ranks, tries: usize::MAX, returns: true });
        let executions = report.executions + report.left_early;
        assert!(report.found.is_empty() && report.is_exhausted && executions <= most, "{executions}: {report}");
    }
}

#[test]
fn a_lock_that_is_not_given_back_is_a_deadlock() {
    let report = all(Locked { ranks: 2, tries: usize::MAX, returns: false });
    let kinds: Vec<_> = report.found.iter().map(|found| found.finding.kind).collect();
    assert!(kinds == [Kind::Deadlock] && report.is_exhausted && report.executions <= 8, "{report}");
}

#[test]
fn who_gives_up_after_some_tries_does_not_wait_for_ever() {
    let report = all(Locked { ranks: 2, tries: 5, returns: false });
    assert!(report.found.is_empty() && report.is_exhausted, "{report}");
}

/// Tasks that do a few strong ops each, of which `Op::Atomic` is tried until it finds zero where it is to lock; at the
/// end the last one says what all have found.
struct Few(Vec<Vec<(Op, bool)>>);

struct Doing<'f> {
    program: &'f Few,
    at: Vec<usize>,
    found: Vec<Vec<u64>>,
    ended: usize,
}

impl Program for Few {
    fn tasks(&self) -> Vec<Task> {
        (0..).zip(&self.0).map(|(rank, _)| Task::block(rank, 0)).collect()
    }

    fn first(&self) -> Vec<TaskId> {
        vec![0]
    }

    fn start(&self) -> Box<dyn Execution + '_> {
        let tasks = self.0.len();
        Box::new(Doing { program: self, at: vec![0; tasks], found: vec![Vec::new(); tasks], ended: 0 })
    }
}

impl Execution for Doing<'_> {
    fn next(&mut self, task: TaskId, answer: Answer) -> Next {
        let ops = &self.program.0[task];
        if let Answer::Word(word) = answer {
            if ops[self.at[task] - 1].1 && word != 0 {
                self.at[task] -= 1;
            } else {
                self.found[task].push(word);
            }
        }
        let Some((op, _)) = ops.get(self.at[task]) else {
            self.ended += 1;
            let all = self.ended == self.program.0.len();
            let said = format!("{:?}", self.found);
            return if all { Next::Fail(said.into(), "the end".into()) } else { Next::End };
        };
        self.at[task] += 1;
        Next::Op(op.clone(), format!("task {task}, op {}", self.at[task]).into())
    }
}

#[test]
fn all_outcomes_of_random_schedules_are_in_all_executions() {
    let (mut random, mut exhausted) = (Random::new(7), 0);
    for round in 0..60 {
        let flag = |nth: usize| Range { heap: 0, start: 64 * nth as u64, bytes: 4 };
        let strong = |nth| Strong { at: flag(nth), order: Order::AcqRel, scope: Scope::Sys };
        let mut op = || {
            let at = strong(random.below(2));
            let take = Op::Atomic(at, Update::Compare { expected: 0, desired: 1 });
            match random.below(5) {
                0 => (Op::Load(at), false),
                1 | 2 => (Op::Store(at, 0), false),
                3 => (take, false),
                _ => (take, true),
            }
        };
        let launch = Op::Launch([1, 2, 3].into());
        let first = [Op::Alloc(flag(0), true), Op::Alloc(flag(1), true), launch].map(|op| (op, false)).to_vec();
        let others = (0..3).map(|_| (0..3).map(|_| op()).collect());
        let program = Few(std::iter::once(first).chain(others).collect());
        let outcomes = |schedules| {
            let report = check(&program, &schedules, Limits { polls: 20, reducing: 0, ..Limits::default() });
            let ends = report.found.iter().filter(|found| found.finding.kind == Kind::FailedCheck);
            (ends.map(|end| end.finding.at[0].site.clone()).collect::<BTreeSet<_>>(), report.is_exhausted)
        };
        let (all, is_exhausted) = outcomes(Schedules::All { executions: 2000 });
        let (some, _) = outcomes(Schedules::Random { seed: 1, executions: 100, changes: 5 });
        assert!(!is_exhausted || some.is_subset(&all), "{round}: {some:?} {all:?} {:?}", program.0);
        exhausted += usize::from(is_exhausted);
    }
    assert!(exhausted > 30, "{exhausted}");
}
