//! What is said of launches one after the other, on ranks that differ in how many they make.

use symm_abi::wait::Compare;
use symm_checker::check::{Report, Schedules, check};
use symm_checker::finding::Kind;
use symm_checker::lines::Lines;
use symm_checker::op::{Op, Order, Range, Signal, Site, Strong, Until};
use symm_checker::run::Limits;
use symm_checker::task::{Scope, Task};

const DATA: Range = Range { heap: 1, start: 64, bytes: 4 };
const OTHER: Range = Range { heap: 1, start: 72, bytes: 4 };
const FLAG: Range = Range { heap: 1, start: 128, bytes: 4 };
const GO: Range = Range { heap: 1, start: 136, bytes: 4 };

type Ops = Vec<(&'static str, Op)>;

fn set(at: Range) -> Op {
    Op::Signal(Strong { at, order: Order::Release, scope: Scope::Sys }, Signal::Set(1))
}

fn wait(at: Range) -> Op {
    let until = Until { compare: Compare::Ge, value: 1, timeout: false };
    Op::Wait(Strong { at, order: Order::Acquire, scope: Scope::Sys }, until)
}

fn write(at: Range) -> Op {
    Op::Write(vec![at], vec![1; 4])
}

fn read(at: Range) -> Op {
    Op::Read(vec![at])
}

/// The hosts of ranks, and the kernels that each launches one after the other: the place of a launch, and what it does.
fn launches(hosts: Vec<Vec<(&'static str, Ops)>>) -> Report {
    let ranks = hosts.len();
    let sites = |ops: Ops| ops.into_iter().map(|(site, op)| (site.into(), op)).collect::<Vec<(Site, Op)>>();
    let (mut tasks, mut blocks) = (Vec::new(), Vec::new());
    for (rank, kernels) in (0..).zip(hosts) {
        let alloc = |heap| ("allocates", Op::Alloc(Range { heap, start: 0, bytes: 1024 }, true));
        let mut host = vec![alloc(0), alloc(1)];
        for (site, ops) in kernels {
            let task = [ranks + blocks.len()];
            host.extend([(site, Op::Launch(task.into())), ("joins", Op::Join(task.into()))]);
            blocks.push((Task::block(rank, 0), sites(ops)));
        }
        tasks.push((Task::host(rank), sites(host)));
    }
    check(
        &Lines::new([tasks, blocks].concat()),
        &Schedules::Random { seed: 1, executions: 50, changes: 3 },
        Limits::default(),
    )
}

#[test]
fn launches_of_ranks_that_differ_in_their_number_are_told_by_their_place() {
    let help = |warms_up: &'static str| {
        let report = launches(vec![
            vec![(warms_up, vec![("warms", read(OTHER))]), ("launches", vec![("writes", write(DATA))])],
            vec![("launches", vec![("reads", read(DATA))])],
        ]);
        assert!(report.found.iter().all(|found| matches!(found.finding.kind, Kind::Race | Kind::WriteAfterRead)));
        report.found.iter().map(|found| found.finding.help.clone()).collect::<Vec<_>>().join("\n")
    };
    // The second one of rank 0 is the first one of rank 1; or it is another launch of the same line.
    let of_one = help("warms up");
    assert!(of_one.contains("signal after") && !of_one.contains("they are of two launches"), "{of_one}");
    let of_two = help("launches");
    assert!(of_two.contains("they are of two launches"), "{of_two}");
}

#[test]
fn two_kernels_that_need_each_other_are_not_two_launches_to_meet_between() {
    let one = vec![("writes", write(DATA)), ("signals", set(FLAG)), ("waits for the answer", wait(GO))];
    let other = vec![("waits", wait(FLAG)), ("reads", read(OTHER)), ("answers", set(GO))];
    let both = |other: Ops| launches(vec![vec![("launches one", one.clone())], vec![("launches other", other)]]);
    let early = [vec![("reads early", read(DATA))], other].concat();
    let report = both(early);
    assert!(!report.found.is_empty() && !report.to_string().contains("they are of two launches"), "{report}");
}

#[test]
fn an_event_is_of_an_earlier_launch_if_that_has_ended_before() {
    let said = |hosts| {
        let report = launches(hosts);
        let wrong = report.found.iter().find(|found| found.finding.kind == Kind::WrongEvent);
        let wrong = wrong.unwrap_or_else(|| panic!("{report}"));
        wrong.finding.at.iter().map(|at| at.what.clone()).find(|what| what.starts_with("satisfies the wait")).unwrap()
    };
    let waits = || vec![("waits", wait(FLAG)), ("reads", read(DATA))];
    let sends = || vec![("writes", write(DATA)), ("signals", set(FLAG))];
    // The second launch of one rank meets the first ones of the others.
    let warm = ("warms up", vec![("warms", read(OTHER))]);
    let other = vec![("launches", vec![("other", set(FLAG))])];
    let what = said(vec![vec![("launches", sends())], vec![warm.clone(), ("launches", waits())], other]);
    assert_eq!(what, "satisfies the wait: the flag is 1");
    // Each has made two launches when the first event comes to the second wait.
    let what = said(vec![
        vec![warm, ("sends", vec![("old", set(FLAG))]), ("sends", sends())],
        vec![("waits", vec![("first", wait(FLAG))]), ("waits", waits())],
    ]);
    assert_eq!(what, "satisfies the wait, from an earlier launch: the flag is 1");
}
