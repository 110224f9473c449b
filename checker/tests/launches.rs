//! Programs whose tasks are known only when they are launched, and hosts.

use std::cell::Cell;
use symm_checker::check::{Report, Schedules, check};
use symm_checker::finding::Kind;
use symm_checker::op::{Answer, Float, Op, Order, Range, SHARED, Strong, Update};
use symm_checker::run::{Execution, Limits, Next, Program};
use symm_checker::task::{Scope, Task, TaskId};

const PLACE: Range = Range { heap: 0, start: 8, bytes: 4 };

/// A host that fails a check, allocates, launches two blocks that write the same place, and joins them. Block 1 fails
/// where it comes to the end first.
struct Launches;

impl Program for Launches {
    fn tasks(&self) -> Vec<Task> {
        vec![Task::host(0)]
    }

    fn first(&self) -> Vec<TaskId> {
        vec![0]
    }

    fn start(&self) -> Box<dyn Execution + '_> {
        Box::new(Running { at: vec![0; 3], added: Vec::new() })
    }
}

struct Running {
    at: Vec<usize>,
    added: Vec<Task>,
}

impl Execution for Running {
    fn added(&self) -> Vec<Task> {
        self.added.clone()
    }

    fn next(&mut self, task: TaskId, answer: Answer) -> Next {
        self.at[task] += 1;
        let count = Op::Atomic(
            Strong { at: Range { start: 12, ..PLACE }, order: Order::Relaxed, scope: Scope::Sys },
            Update::Add(1),
        );
        match (task, self.at[task]) {
            (0, 1) => Next::Failed("check".into(), "one is not two".into()),
            (0, 2) => Next::Op(Op::Alloc(Range { bytes: 8, ..PLACE }, true), "alloc".into()),
            (0, 3) => {
                self.added = vec![Task::thread(0, 0, 0), Task::thread(0, 1, 0)];
                Next::Op(Op::Launch([1, 2].into()), "launch".into())
            }
            (0, 4) => Next::Op(Op::Join([1, 2].into()), "launch".into()),
            (1 | 2, 1) => Next::Op(Op::Write(vec![PLACE], vec![if task == 1 { 1 } else { 2 }; 4]), "write".into()),
            (1 | 2, 2) => Next::Op(count, "count".into()),
            (2, 3) if answer == Answer::Word(0) => Next::Fail("first".into(), "block 1 comes first".into()),
            _ => Next::End,
        }
    }
}

fn checked(schedules: &Schedules, limits: Limits) -> Report {
    check(&Launches, schedules, limits)
}

#[test]
fn tasks_that_an_execution_adds_are_followed() {
    for schedules in [Schedules::InTurn, Schedules::All { executions: 100 }] {
        let report = checked(&schedules, Limits::default());
        let kinds: Vec<_> = report.found.iter().map(|found| found.finding.kind).collect();
        assert_eq!(kinds[..2], [Kind::Race, Kind::FailedCheck], "{schedules:?}");
    }
}

#[test]
fn launched_tasks_come_in_any_order() {
    let comes_first = |schedules: &Schedules| {
        let report = checked(schedules, Limits::default());
        report.found.iter().any(|found| found.finding.at.iter().any(|at| &*at.site == "first"))
    };
    assert!(!comes_first(&Schedules::InTurn));
    assert!(comes_first(&Schedules::All { executions: 100 }));
    assert!(comes_first(&Schedules::Random { seed: 1, executions: 10, changes: 0 }));
}

#[test]
fn a_failed_check_is_the_hosts_and_does_not_end_it() {
    let report = checked(&Schedules::InTurn, Limits::default());
    let text = report.to_string();
    assert!(text.contains("check: rank 0 host: one is not two"), "{text}");
    assert!(text.contains("write: rank 0 block 1 thread 0: writes 4 bytes at 0x8 of rank 0's heap"), "{text}");
}

#[test]
fn a_host_takes_no_place_on_the_device() {
    let report = checked(&Schedules::InTurn, Limits { blocks: 1, ..Limits::default() });
    assert!(report.found.iter().all(|found| found.finding.kind != Kind::TooManyBlocks), "{report}");
}

#[test]
fn memory_of_blocks_is_no_ranks() {
    let shared = Range { heap: SHARED, start: 16, bytes: 4 };
    assert_eq!(shared.to_string(), "0x10 of the blocks' shared memory");
}

#[test]
fn floats_are_added() {
    let sum = |float, one, other, bytes| Update::AddFloat(float, other).apply(one, bytes);
    assert_eq!(sum(Float::F32, 1.5f32.to_bits().into(), 2f32.to_bits().into(), 4), Some(3.5f32.to_bits().into()));
    assert_eq!(sum(Float::F64, 1.5f64.to_bits(), 2f64.to_bits(), 8), Some(3.5f64.to_bits()));
    // 1 and 2 in half precision and in bfloat16.
    assert_eq!(sum(Float::F16, 0x3c00, 0x4000, 2), Some(0x4200));
    assert_eq!(sum(Float::Bf16, 0x3f80, 0x4000, 2), Some(0x4040));
}

/// The same, whose first execution is its last: in all others its tasks end at once.
struct Stops(Cell<usize>);

impl Program for Stops {
    fn tasks(&self) -> Vec<Task> {
        Launches.tasks()
    }

    fn first(&self) -> Vec<TaskId> {
        Launches.first()
    }

    fn start(&self) -> Box<dyn Execution + '_> {
        let nth = self.0.replace(self.0.get() + 1);
        Box::new(Running { at: if nth == 0 { vec![0; 3] } else { vec![9; 3] }, added: Vec::new() })
    }
}

#[test]
fn a_program_that_an_error_has_stopped_is_followed_no_further() {
    for schedules in [Schedules::All { executions: 9 }, Schedules::Random { seed: 1, executions: 9, changes: 3 }] {
        let report = check(&Stops(Cell::new(0)), &schedules, Limits::default());
        assert!(report.executions > 0, "{report}");
    }
}

#[test]
fn steps_of_another_program_are_counted() {
    let left_out = |text: &str| {
        let schedule = text.parse().unwrap();
        check(&Launches, &Schedules::Replay(schedule), Limits::default()).left_out
    };
    assert_eq!(left_out("0*2 2 1*2"), 0);
    assert_eq!(left_out("0*2 9*40 1.7 2*2 1"), 41);
    for found in check(&Launches, &Schedules::All { executions: 100 }, Limits::default()).found {
        assert_eq!(left_out(&found.schedule.to_string()), 0, "{}", found.schedule);
    }
}
