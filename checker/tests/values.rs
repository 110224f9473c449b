//! Flags that have had more values than are kept: what is claimed then, and what is still known of the older ones.

use std::sync::Arc;
use symm_abi::wait::Compare;
use symm_checker::check::{Report, Schedules, check};
use symm_checker::finding::Kind;
use symm_checker::history::KEPT;
use symm_checker::lines::Lines;
use symm_checker::op::{Op, Order, Range, Signal, Site, Strong, Until, Update};
use symm_checker::report::Front;
use symm_checker::run::Limits;
use symm_checker::task::{Scope, Task};

const FLAG: Range = Range { heap: 0, start: 0, bytes: 4 };
const OTHER: Range = Range { start: 4, ..FLAG };
const MANY: u64 = KEPT as u64 + 36;

fn relaxed(at: Range) -> Strong {
    Strong { at, order: Order::Relaxed, scope: Scope::Sys }
}

fn set(at: Range, value: u64) -> Op {
    Op::Signal(relaxed(at), Signal::Set(value))
}

fn wait(at: Range, compare: Compare, value: u64) -> Op {
    Op::Wait(relaxed(at), Until { compare, value, timeout: false })
}

/// What is found where each task of its own rank does these ops, after a host has allocated the flags.
fn report(tasks: Vec<Vec<Op>>, schedules: &Schedules) -> Report {
    let launched: Arc<[usize]> = (1..=tasks.len()).collect();
    let host = vec![Op::Alloc(Range { bytes: 64, ..FLAG }, true), Op::Launch(launched)];
    let all = std::iter::once((Task::host(0), host)).chain((0..).map(|rank| Task::block(rank, 0)).zip(tasks));
    let lines = |(task, ops): (Task, Vec<Op>)| {
        let site = |(nth, op)| -> (Site, Op) { (format!("{task}, op {nth}").into(), op) };
        (task, ops.into_iter().enumerate().map(site).collect())
    };
    check(&Lines::new(all.map(lines).collect()), schedules, Limits::default())
}

/// The same, of all executions in which one task counts a flag up to a value and tells of it, before another one does
/// this.
fn after(last: u64, reads: Op) -> Report {
    let counts = (1..=last).map(|value| set(FLAG, value)).chain([set(OTHER, 1)]).collect();
    let schedules = Schedules::All { executions: 10_000 };
    report(vec![counts, vec![wait(OTHER, Compare::Ge, 1), reads]], &schedules)
}

#[test]
fn a_search_that_could_read_a_value_that_is_not_kept_is_not_exhaustive() {
    let changes = Op::Atomic(relaxed(FLAG), Update::Add(1));
    for (last, reads, is_exhausted) in [
        (MANY, Op::Load(relaxed(FLAG)), false),
        (KEPT as u64 - 1, Op::Load(relaxed(FLAG)), true),
        // What is not kept does not end the wait, or no atomic that changes it may read it.
        (MANY, wait(FLAG, Compare::Ge, MANY), true),
        (MANY, wait(FLAG, Compare::Ge, 3), false),
        (MANY, changes, true),
        // A comparison that fails is a load.
        (MANY, Op::Atomic(relaxed(FLAG), Update::Compare { expected: 0, desired: 6 }), false),
    ] {
        let said = format!("{last} {reads:?}");
        let report = after(last, reads);
        assert_eq!((report.is_exhausted, report.has_forgotten), (is_exhausted, !is_exhausted), "{said}: {report}");
        assert!(report.found.is_empty() && report.limit.is_none(), "{said}: {report}");
        let mut text = Vec::new();
        let front = Front { name: "c", again: &|_| String::new(), steps: "" };
        symm_checker::report::text(&mut text, &report, front).unwrap();
        let told = "a flag had more than 64 values that a read could take, and none older than the newest 64 was \
                    tried; nothing is known of other schedules";
        assert_eq!(String::from_utf8(text).unwrap().contains(told), !is_exhausted, "{said}");
    }
}

#[test]
fn a_value_that_is_not_kept_any_more_has_passed_a_wait_by() {
    let kind = |sets: Vec<u64>, waits: Vec<Op>| {
        let report = report(vec![sets.into_iter().map(|value| set(FLAG, value)).collect(), waits], &Schedules::InTurn);
        let [found] = &report.found[..] else { panic!("{report}") };
        (found.finding.kind, found.finding.help.contains("compare with ge"))
    };
    let waits = |value| vec![wait(FLAG, Compare::Eq, value)];
    assert_eq!(kind((1..=MANY).collect(), waits(3)), (Kind::PassedBy, true));
    assert_eq!(kind((1..=MANY).collect(), waits(MANY + 1)), (Kind::Deadlock, false));
    // What the flag held from the start has no event.
    assert_eq!(kind((1..=MANY).collect(), waits(0)), (Kind::Deadlock, false));
}

#[test]
fn who_has_read_what_came_after_a_write_knows_of_it_however_many_came() {
    let adds = vec![vec![Op::Atomic(relaxed(FLAG), Update::Add(1))]; usize::try_from(MANY).unwrap()];
    let resets = vec![wait(FLAG, Compare::Ge, MANY), Op::Write(vec![FLAG], vec![0; 4])];
    let report = report([adds, vec![resets]].concat(), &Schedules::InTurn);
    assert!(report.found.is_empty(), "{report}");
}
