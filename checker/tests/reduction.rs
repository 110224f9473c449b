//! The search with partial-order reduction finds what a search of all interleavings finds, in small random programs.

use std::collections::BTreeSet;
use symm_abi::wait::Compare;
use symm_checker::check::{Schedules, check};
use symm_checker::finding::Kind;
use symm_checker::lines::Lines;
use symm_checker::op::{Op, Order, Range, Signal, Site, Strong, Until, Update};
use symm_checker::run::{Limits, Run};
use symm_checker::schedule::{Choice, Random};
use symm_checker::task::{Scope, Task};

type Keys = BTreeSet<(Kind, Vec<Site>)>;

fn random_op(random: &mut Random) -> Op {
    let at = |number: usize| Range { heap: 0, start: 8 * number as u64, bytes: 4 };
    let data = at(random.below(2));
    let order = [Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel][random.below(4)];
    let scope = [Scope::Gpu, Scope::Sys, Scope::Sys][random.below(3)];
    let strong = Strong { at: at(2 + random.below(2)), order, scope };
    let value = random.below(3) as u64;
    let until = Until { compare: [Compare::Eq, Compare::Ge][random.below(2)], value, timeout: random.below(3) == 0 };
    match random.below(9) {
        0 => Op::Read(vec![data]),
        1 => Op::Write(vec![data], vec![1; 4]),
        2 => Op::Load(strong),
        3 => Op::Store(strong, value),
        4 => Op::Atomic(strong, Update::Add(value)),
        5 => Op::Signal(strong, Signal::Set(value)),
        6 => Op::Signal(strong, Signal::Add(1)),
        7 => Op::Wait(strong, until),
        _ => Op::Fence(order, scope),
    }
}

fn random_program(seed: u64) -> Lines {
    let mut random = Random::new(seed);
    let tasks = 2 + random.below(2);
    let most = if tasks == 2 { 4 } else { 2 };
    let host = Op::Alloc(Range { heap: 0, start: 0, bytes: 64 }, true);
    let launch = Op::Launch((1..=tasks).collect());
    let host = (Task::block(9, 0), vec![("alloc".into(), host), ("launch".into(), launch)]);
    let task = |number: usize| {
        let ops = (0..=random.below(most)).map(|nth| (format!("{number}.{nth}").into(), random_op(&mut random)));
        (Task::block(u32::try_from(number % 2).unwrap(), u32::try_from(number).unwrap()), ops.collect())
    };
    Lines::new(std::iter::once(host).chain((1..=tasks).map(task)).collect())
}

/// What is found in all interleavings, and how many there are.
fn by_force(program: &Lines) -> (Keys, usize) {
    let (mut keys, mut executions) = (Keys::new(), 0);
    let mut prefixes = vec![Vec::<Choice>::new()];
    while let Some(prefix) = prefixes.pop() {
        let mut run = Run::new(program, Limits::default());
        for &choice in &prefix {
            run.step(choice);
        }
        let enabled = run.enabled();
        for each in &enabled {
            let ways = (0..each.ways).map(|way| Choice { task: each.task, way });
            prefixes.extend(ways.map(|choice| prefix.iter().copied().chain([choice]).collect::<Vec<_>>()));
        }
        if enabled.is_empty() {
            executions += 1;
            keys.extend(run.findings().iter().map(symm_checker::finding::Finding::key));
        }
    }
    (keys, executions)
}

#[test]
fn nothing_is_lost_by_the_reduction() {
    let (mut all, mut reduced) = (0, 0);
    for seed in 0..300 {
        let program = random_program(seed);
        let (keys, executions) = by_force(&program);
        let report = check(&program, &Schedules::All { executions: 100_000 }, Limits::default());
        let found: Keys = report.found.iter().map(|found| found.finding.key()).collect();
        assert_eq!(found, keys, "seed {seed}\n{report}");
        assert!(report.is_exhausted && report.executions <= executions, "seed {seed}");
        all += executions;
        reduced += report.executions;
    }
    assert!(reduced * 5 < all, "{reduced} of {all} executions");
}
