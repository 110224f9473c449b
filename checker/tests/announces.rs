//! What is said to announce the first of two accesses that race: another op than the two, after the first.

use std::sync::Arc;
use symm_checker::check::{Schedules, check};
use symm_checker::finding::{Finding, Kind};
use symm_checker::lines::Lines;
use symm_checker::op::{Op, Order, Range, Signal, Site, Strong, Until, Update};
use symm_checker::run::Limits;
use symm_checker::task::{Scope, Task};

const DATA: Range = Range { heap: 1, start: 0, bytes: 4 };
const FLAG: Range = Range { start: 4, ..DATA };
const MORE: Range = Range { start: 8, ..DATA };

type Ops = Vec<(&'static str, Op)>;

fn relaxed(at: Range) -> Strong {
    Strong { at, order: Order::Relaxed, scope: Scope::Sys }
}

fn write(at: Range) -> Op {
    Op::Write(vec![at], vec![7; 4])
}

fn read(at: Range) -> Op {
    Op::Read(vec![at])
}

fn signal(order: Order) -> Op {
    Op::Signal(Strong { order, ..relaxed(FLAG) }, Signal::Set(1))
}

fn wait(order: Order) -> Op {
    let until = Until { compare: symm_abi::wait::Compare::Ge, value: 1, timeout: false };
    Op::Wait(Strong { order, ..relaxed(FLAG) }, until)
}

fn add(at: Range) -> Op {
    Op::Atomic(relaxed(at), Update::Add(1))
}

/// What is found where ranks 0 and 1 do these ops.
fn found(first: &Ops, second: &Ops) -> Vec<Finding> {
    let host = vec![("alloc", Op::Alloc(Range { bytes: 64, ..DATA }, true)), ("launch", Op::Launch([1, 2].into()))];
    let tasks = [(Task::host(0), &host), (Task::block(0, 0), first), (Task::block(1, 0), second)];
    let lines = |(task, ops): (Task, &Ops)| {
        (task, ops.iter().map(|(site, op)| -> (Site, Op) { (Arc::from(*site), op.clone()) }).collect())
    };
    let program = Lines::new(tasks.into_iter().map(lines).collect());
    let report = check(&program, &Schedules::InTurn, Limits::default());
    report.found.into_iter().map(|found| found.finding).collect()
}

/// The kind of the only finding, its places, and its help.
fn only(first: &Ops, second: &Ops) -> (Kind, Vec<String>, String) {
    let findings = found(first, second);
    let [Finding { kind, at, help }] = &findings[..] else { panic!("{findings:?}") };
    (*kind, at.iter().map(|at| at.site.to_string()).collect(), help.clone())
}

#[test]
fn a_fence_after_a_relaxed_read_acquires_what_is_not_released() {
    let sends = |order| vec![("write", write(DATA)), ("signal", signal(order))];
    let fence = |scope| Op::Fence(Order::Acquire, scope);
    let takes = |fences: Ops| [vec![("wait", wait(Order::Relaxed))], fences, vec![("read", read(DATA))]].concat();
    let (kind, places, help) = only(&sends(Order::Relaxed), &takes(vec![("fence", fence(Scope::Sys))]));
    assert_eq!(kind, Kind::MissingRelease);
    assert_eq!(places, ["write", "read", "signal", "wait"]);
    assert_eq!(help, "what announces the first access has to release at scope sys");
    // A release that comes before the data is no release of them.
    let early = vec![
        ("early", Op::Fence(Order::Release, Scope::Sys)),
        ("write", write(DATA)),
        ("signal", signal(Order::Relaxed)),
    ];
    let (kind, _, help) = only(&early, &takes(vec![("fence", fence(Scope::Sys))]));
    assert_eq!(kind, Kind::MissingRelease);
    assert!(help.starts_with("a release at scope sys has to come after the first access"), "{help}");
    // Both sides are too weak where the fence is too narrow, and where there is none; the widest of several counts.
    let (_, _, help) = only(&sends(Order::Relaxed), &takes(vec![("fence", fence(Scope::Gpu))]));
    let wanted = "each of these is too weak: what announces the first access (no release), the fence after what sees \
                  it (scope gpu); release and acquire at scope sys";
    assert_eq!(help, wanted);
    assert!(only(&sends(Order::Relaxed), &takes(vec![])).2.contains("(no release), what sees it (no acquire)"));
    let both = vec![("fence", fence(Scope::Gpu)), ("wide", fence(Scope::Sys))];
    let (_, _, help) = only(&sends(Order::Relaxed), &takes(both));
    assert_eq!(help, "what announces the first access has to release at scope sys");
    // A fence acquires nothing for what comes before it.
    let late = vec![("wait", wait(Order::Relaxed)), ("read", read(DATA)), ("fence", fence(Scope::Sys))];
    let (kind, _, help) = only(&sends(Order::Release), &late);
    assert_eq!((kind, help.as_str()), (Kind::MissingAcquire, "what sees it has to acquire at scope sys"));
}

#[test]
fn an_access_does_not_announce_or_see_itself() {
    // The atomic on the data has seen another one, and the wait before it is to acquire.
    let adds = vec![("write", write(DATA)), ("add", add(DATA)), ("signal", signal(Order::Release))];
    let (kind, places, help) = only(&adds, &vec![("wait", wait(Order::Relaxed)), ("other", add(DATA))]);
    assert_eq!(kind, Kind::MissingAcquire);
    assert_eq!(places, ["write", "other", "signal", "wait"]);
    assert_eq!(help, "what sees it has to acquire at scope sys");
    // Without a signal nothing announces it.
    let (kind, places, _) = only(&vec![("write", write(DATA))], &vec![("add", add(DATA))]);
    assert_eq!((kind, places.join(" ").as_str()), (Kind::Race, "write add"));
    // A plain store after an atomic on the same place announces nothing of itself.
    let stores = |value| Op::Write(vec![DATA], vec![value; 4]);
    let both = |first, second, value| vec![(first, add(DATA)), (second, stores(value))];
    let kinds = found(&both("add", "store", 1), &both("other add", "other store", 2));
    let kinds: Vec<_> = kinds.into_iter().map(|finding| finding.kind).collect();
    assert!(!kinds.is_empty() && kinds.iter().all(|kind| *kind == Kind::Race), "{kinds:?}");
}

#[test]
fn a_signal_on_another_place_is_preferred_to_an_atomic_on_the_data() {
    let sends = vec![("write", write(MORE)), ("signal", signal(Order::Release)), ("add", add(MORE))];
    let takes = vec![("wait", wait(Order::Relaxed)), ("look", Op::Load(relaxed(MORE))), ("read", read(MORE))];
    let findings = found(&sends, &takes);
    let of_read =
        findings.iter().find(|finding| finding.at[1].site.as_ref() == "read" && &*finding.at[0].site == "write");
    let places: Vec<_> = of_read.unwrap().at.iter().map(|at| at.site.to_string()).collect();
    assert_eq!(places, ["write", "read", "signal", "wait"], "{findings:?}");
}
