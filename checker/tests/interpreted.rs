//! What a front asks for whose tasks are interpreted: it finds loops that poll by itself, and allocates on all ranks.

use std::sync::Arc;
use symm_checker::check::{Report, Schedules, check};
use symm_checker::finding::Kind;
use symm_checker::lines::Lines;
use symm_checker::op::{Op, Order, Range, Signal, Strong};
use symm_checker::run::Limits;
use symm_checker::task::{Scope, Task};

const DATA: Range = Range { heap: 1, start: 64, bytes: 4 };
const FLAG: Range = Range { heap: 1, start: 128, bytes: 4 };
const MORE: Range = Range { heap: 1, start: 2048, bytes: 64 };

fn strong(order: Order) -> Strong {
    Strong { at: FLAG, order, scope: Scope::Sys }
}

/// What is found where a host allocates 1 KiB, and block 0 of ranks 0 and 1 do this.
fn report(first: Vec<Op>, second: Vec<Op>) -> Report {
    let lines = |task: Task, ops: Vec<Op>| {
        let sites = (0..ops.len()).map(|nth| Arc::from(format!("{task}, op {nth}")));
        (task, sites.zip(ops).collect())
    };
    let host = vec![Op::Alloc(Range { heap: 1, start: 0, bytes: 1024 }, true), Op::Launch([1, 2].into())];
    let program = Lines::new(vec![
        lines(Task::block(9, 0), host),
        lines(Task::block(0, 0), first),
        lines(Task::block(1, 0), second),
    ]);
    let report = check(&program, &Schedules::All { executions: 10_000 }, Limits::default());
    assert!(report.is_exhausted, "{report}");
    report
}

#[test]
fn a_loop_that_polls_waits_for_another_value() {
    let looks = || {
        let poll = Op::Poll(vec![FLAG], vec![0; 4], None);
        vec![poll, Op::Load(strong(Order::Acquire)), Op::Read(vec![DATA])]
    };
    let write = || Op::Write(vec![DATA], vec![1; 4]);
    let signal = Op::Signal(strong(Order::Release), Signal::Set(1));
    assert_eq!(report(vec![write(), signal], looks()).found, []);
    let report = report(vec![write()], looks());
    assert_eq!(report.found[0].finding.kind, Kind::NeverSignalled);
    assert!(report.to_string().contains("polls 0x80 of rank 1's heap in vain, sees 0; nobody"), "{report}");
}

#[test]
fn ranks_that_allocate_together_all_say_so() {
    let alloc = || Op::Alloc(MORE, true);
    assert_eq!(report(vec![alloc()], vec![alloc()]).executions, 1);
    let used = vec![alloc(), Op::Write(vec![MORE], vec![1; 64]), Op::Read(vec![MORE])];
    assert_eq!(report(used, vec![alloc()]).found, []);
}
