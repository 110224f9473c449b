//! Protocols between ranks, and the bugs that others have shipped in them (found with hardware, as hangs and as wrong
//! numbers once a week): each right in all schedules that are tried, and found where it is wrong.

use std::collections::BTreeSet;
use std::sync::Arc;
use symm_abi::wait::Compare;
use symm_checker::check::{Report, Schedules, check};
use symm_checker::finding::Kind;
use symm_checker::lines::Lines;
use symm_checker::op::{Op, Order, Range, Signal, Strong, Until};
use symm_checker::run::Limits;
use symm_checker::task::{Scope, Task, TaskId};

const HEAP_BYTES: u64 = 1 << 16;
/// The flags of a rank, and its slots.
const TAIL: u64 = 0;
const HEAD: u64 = 64;
const SLOTS: u64 = 1024;
const SLOT_BYTES: u64 = 256;

fn at(rank: u32, start: u64, bytes: u64) -> Range {
    Range { heap: rank, start, bytes }
}

fn flag(rank: u32, start: u64, order: Order) -> Strong {
    Strong { at: at(rank, start, 4), order, scope: Scope::Sys }
}

fn slot(rank: u32, number: u64) -> Range {
    at(rank, SLOTS + number * SLOT_BYTES, SLOT_BYTES)
}

fn signal(rank: u32, start: u64, value: u64) -> Op {
    Op::Signal(flag(rank, start, Order::Release), Signal::Set(value))
}

fn wait(rank: u32, start: u64, compare: Compare, value: u64) -> Op {
    Op::Wait(flag(rank, start, Order::Acquire), Until { compare, value, timeout: false })
}

fn ge(rank: u32, start: u64, value: u64) -> Op {
    wait(rank, start, Compare::Ge, value)
}

fn fill(range: Range) -> Op {
    Op::Write(vec![range], vec![1; usize::try_from(range.bytes).unwrap()])
}

/// Blocks that a host launches one kernel after the other, after it has allocated the heaps. `kernels[k]` are the tasks
/// of kernel k, whose ops have their numbers as places.
fn program(ranks: u32, kernels: &[Vec<(Task, Vec<Op>)>]) -> Lines {
    let site = |task: Task, nth: usize| -> Arc<str> { format!("{task}, op {nth}").into() };
    let mut host: Vec<_> = (0..ranks).map(|rank| Op::Alloc(at(rank, 0, HEAP_BYTES), true)).collect();
    let mut tasks = Vec::new();
    for kernel in kernels {
        let ids: Arc<[TaskId]> = (1 + tasks.len()..=tasks.len() + kernel.len()).collect();
        host.extend([Op::Launch(ids.clone()), Op::Join(ids)]);
        tasks.extend(kernel.clone());
    }
    let all = std::iter::once((Task::block(ranks, 0), host)).chain(tasks);
    let with_sites = |(task, ops): (Task, Vec<Op>)| {
        (task, ops.into_iter().enumerate().map(|(nth, op)| (site(task, nth), op)).collect())
    };
    Lines::new(all.map(with_sites).collect())
}

fn random(program: &Lines) -> Report {
    check(program, &Schedules::Random { seed: 1, executions: 200, changes: 3 }, Limits::default())
}

fn kinds(report: &Report) -> BTreeSet<&'static str> {
    report.found.iter().filter(|found| !found.finding.kind.is_note()).map(|found| found.finding.kind.name()).collect()
}

fn finds(program: &Lines, kind: Kind) {
    let report = random(program);
    assert!(kinds(&report).contains(kind.name()), "{report}");
}

fn is_right(program: &Lines) {
    for schedules in [Schedules::InTurn, Schedules::All { executions: 300 }] {
        let report = check(program, &schedules, Limits::default());
        assert!(report.is_clean(), "{report}");
    }
    let report = random(program);
    assert!(report.is_clean(), "{report}");
}

/// How a ring tells that a slot is free.
#[derive(Clone, Copy, PartialEq)]
enum Credit {
    Release,
    Relaxed,
    None,
    OneTooEarly,
}

/// Each rank sends `steps` chunks to the next one through `slots` slots, and reads those of the rank before: a receiver
/// tells by HEAD how many it has read, a sender by TAIL how many it has written. Senders and receivers are blocks.
fn ring(ranks: u32, steps: u64, slots: u64, credit: Credit) -> Lines {
    let mut tasks = Vec::new();
    for rank in 0..ranks {
        let (next, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        let (mut sends, mut receives) = (Vec::new(), Vec::new());
        for step in 0..steps {
            let early = u64::from(credit == Credit::OneTooEarly);
            if credit != Credit::None && step >= slots {
                sends.push(ge(rank, HEAD, step + 1 - slots - early));
            }
            sends.extend([fill(slot(next, step % slots)), signal(next, TAIL, step + 1)]);
            receives.extend([ge(rank, TAIL, step + 1), Op::Read(vec![slot(rank, step % slots)])]);
            let order = if credit == Credit::Relaxed { Order::Relaxed } else { Order::Release };
            receives.push(Op::Signal(flag(before, HEAD, order), Signal::Set(step + 1)));
        }
        tasks.extend([(Task::block(rank, 0), sends), (Task::block(rank, 1), receives)]);
    }
    program(ranks, &[tasks])
}

#[test]
fn a_ring_with_credits_is_right() {
    is_right(&ring(2, 3, 2, Credit::Release));
    is_right(&ring(4, 6, 2, Credit::Release));
}

#[test]
fn a_ring_without_head_is_found() {
    finds(&ring(2, 3, 2, Credit::None), Kind::WriteAfterRead);
    finds(&ring(4, 6, 2, Credit::None), Kind::WriteAfterRead);
    // A sender that is ahead of what its receiver waits for is that too, and no wrong event.
    assert_eq!(kinds(&random(&ring(2, 3, 2, Credit::None))), BTreeSet::from(["write-after-read"]));
}

#[test]
fn ranks_that_exchange_without_credits_are_told_of_credits_alone() {
    let exchange = |rank: u32| {
        let peer = 1 - rank;
        let round = |round| {
            [fill(slot(peer, 0)), signal(peer, TAIL, round), ge(rank, TAIL, round), Op::Read(vec![slot(rank, 0)])]
        };
        (Task::block(rank, 0), (1..4).flat_map(round).collect())
    };
    let report = random(&program(2, &[vec![exchange(0), exchange(1)]]));
    assert_eq!(kinds(&report), BTreeSet::from(["write-after-read"]), "{report}");
    // Whichever of the two came first, the read is told first.
    for found in &report.found {
        let what: Vec<_> = found.finding.at.iter().map(|at| at.what.split(' ').next()).collect();
        assert_eq!(what, [Some("reads"), Some("writes")], "{report}");
    }
}

#[test]
fn a_relaxed_head_is_found() {
    let report = random(&ring(2, 3, 2, Credit::Relaxed));
    assert_eq!(kinds(&report), BTreeSet::from(["missing-release"]), "{report}");
}

#[test]
fn a_credit_that_is_one_too_early_is_found() {
    let found = kinds(&random(&ring(2, 4, 2, Credit::OneTooEarly)));
    assert!(found.contains("write-after-read") || found.contains("wrong-event"), "{found:?}");
}

#[test]
fn a_count_of_what_two_senders_add_is_found() {
    let add = || Op::Signal(flag(2, TAIL, Order::Release), Signal::Add(1));
    let sender = |rank: u32| {
        let chunks = [u64::from(2 * rank), u64::from(2 * rank) + 1];
        (Task::block(rank, 0), chunks.into_iter().flat_map(|chunk| [fill(slot(2, chunk)), add()]).collect())
    };
    // Two have come: not the first of each sender, but maybe both of one.
    let receiver = |count| (Task::block(2, 0), vec![ge(2, TAIL, count), Op::Read(vec![slot(2, 0), slot(2, 2)])]);
    finds(&program(3, &[vec![sender(0), sender(1), receiver(2)]]), Kind::WrongEvent);
    is_right(&program(3, &[vec![sender(0), sender(1), receiver(4)]]));
}

#[test]
fn a_flag_that_the_receiver_resets_while_the_next_signal_comes_is_found() {
    let sends = vec![signal(1, TAIL, 1), signal(1, TAIL, 1)];
    let reset = || signal(1, TAIL, 0);
    let receives = vec![wait(1, TAIL, Compare::Eq, 1), reset(), wait(1, TAIL, Compare::Eq, 1), reset()];
    let report = random(&program(2, &[vec![(Task::block(0, 0), sends), (Task::block(1, 0), receives)]]));
    assert!(kinds(&report).contains("passed-by"), "{report}");
}

#[test]
fn a_flag_of_the_last_replay_is_found() {
    let kernel = |replay: u64| {
        vec![
            (Task::block(0, 0), vec![fill(slot(1, 0)), signal(1, TAIL, replay)]),
            (Task::block(1, 0), vec![ge(1, TAIL, replay), Op::Read(vec![slot(1, 0)])]),
        ]
    };
    is_right(&program(2, &[kernel(1), kernel(2)]));
    let report = random(&program(2, &[kernel(1), kernel(1)]));
    assert!(kinds(&report).contains("wrong-event"), "{report}");
    assert!(report.to_string().contains("satisfies the wait, from an earlier launch: the flag is 1"), "{report}");
}

#[test]
fn a_signal_that_is_missing_is_told_from_one_that_was_passed_by() {
    let receives = |times: usize| {
        let once = [wait(1, TAIL, Compare::Eq, 1), signal(1, TAIL, 0), signal(0, HEAD, 1)];
        (Task::block(1, 0), once.iter().cycle().take(3 * times).cloned().collect::<Vec<_>>())
    };
    let sends = |ops| (Task::block(0, 0), ops);
    let once = program(2, &[vec![sends(vec![signal(1, TAIL, 1), ge(0, HEAD, 1)]), receives(1)]]);
    is_right(&once);
    let report = random(&program(2, &[vec![sends(vec![signal(1, TAIL, 1)]), receives(2)]]));
    assert_eq!(kinds(&report), BTreeSet::from(["deadlock"]), "{report}");
    let report = random(&program(2, &[vec![sends(vec![]), receives(1)]]));
    assert_eq!(kinds(&report), BTreeSet::from(["never-signalled"]), "{report}");
}

/// A barrier of one's own: each rank tells all others, and waits for as many.
fn own_barrier(ranks: u32, told: impl Fn(u32, u32) -> bool) -> Lines {
    let tasks = (0..ranks).map(|rank| {
        let add = |to: u32| Op::Signal(flag(to, TAIL, Order::Release), Signal::Add(1));
        let mut ops = vec![fill(slot((rank + 1) % ranks, 0))];
        ops.extend((0..ranks).filter(|&to| to != rank && told(rank, to)).map(add));
        ops.extend([ge(rank, TAIL, u64::from(ranks) - 1), Op::Read(vec![slot(rank, 0)])]);
        (Task::block(rank, 0), ops)
    });
    program(ranks, &[tasks.collect()])
}

#[test]
fn a_barrier_of_ones_own_with_a_signal_too_few_is_found() {
    is_right(&own_barrier(3, |_, _| true));
    let report = random(&own_barrier(3, |from, to| (from, to) != (0, 2)));
    assert!(!report.is_clean(), "{report}");
}

#[test]
fn message_passing_of_two_ranks_with_two_blocks_is_exhausted() {
    let block = |rank: u32, block: u32| {
        let (other, number) = (1 - rank, u64::from(block));
        let tail = TAIL + 16 * number;
        let sends = [fill(slot(other, number)), signal(other, tail, 1)];
        let receives = [ge(rank, tail, 1), Op::Read(vec![slot(rank, number)])];
        (Task::block(rank, block), sends.into_iter().chain(receives).collect())
    };
    let blocks = [block(0, 0), block(0, 1), block(1, 0), block(1, 1)];
    let report = check(&program(2, &[blocks.to_vec()]), &Schedules::All { executions: 100_000 }, Limits::default());
    assert!(report.is_exhausted && report.is_clean(), "{report}");
}

#[test]
fn a_report_says_who_what_and_how_to_see_it_again() {
    let sends = vec![fill(slot(1, 0)), Op::Signal(flag(1, TAIL, Order::Relaxed), Signal::Set(1))];
    let receives = vec![ge(1, TAIL, 1), Op::Read(vec![slot(1, 0)])];
    let program = program(2, &[vec![(Task::block(0, 0), sends), (Task::block(1, 0), receives)]]);
    let report = check(&program, &Schedules::InTurn, Limits::default());
    let expected = "\
error: missing-release (O1)
  rank 0 block 0, op 0: rank 0 block 0: writes 256 bytes at 0x400 of rank 1's heap
  rank 1 block 0, op 1: rank 1 block 0: reads 256 bytes at 0x400 of rank 1's heap
  rank 0 block 0, op 1: rank 0 block 0: announces the first access
  rank 1 block 0, op 0: rank 1 block 0: sees it before the second
  what announces the first access has to release at scope sys
  schedule: ''

each of these is in a real execution of the model; 1 execution tried; nothing is known of others
";
    assert_eq!(report.to_string(), expected);
}
