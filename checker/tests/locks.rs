//! Locks that are taken by trying again and again, in all schedules.

use symm_checker::check::{Report, Schedules, check};
use symm_checker::finding::Kind;
use symm_checker::op::{Answer, Op, Order, Range, Strong, Update};
use symm_checker::run::{Execution, Limits, Next, Program};
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
