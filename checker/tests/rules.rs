//! Each kind of finding by the smallest program that has it, and the same program mended, in all executions.

use std::collections::BTreeSet;
use std::sync::Arc;
use symm_abi::wait::Compare;
use symm_checker::check::{Report, Schedules, check};
use symm_checker::finding::Kind;
use symm_checker::lines::Lines;
use symm_checker::machine::Machine;
use symm_checker::op::{Op, Order, Range, Signal, Strong, Until};
use symm_checker::run::{Limits, Program};
use symm_checker::task::{Scope, Task, TaskId};

const DATA: Range = Range { heap: 1, start: 64, bytes: 4 };
const FLAG: Range = Range { heap: 1, start: 128, bytes: 4 };
const CREDIT: Range = Range { heap: 0, start: 192, bytes: 4 };
const LINE: Range = Range { heap: 1, start: 256, bytes: 16 };

fn write(at: Range) -> Op {
    Op::Write(vec![at], vec![1; usize::try_from(at.bytes).unwrap()])
}

fn read(at: Range) -> Op {
    Op::Read(vec![at])
}

fn strong(at: Range, order: Order, scope: Scope) -> Strong {
    Strong { at, order, scope }
}

fn set(at: Range, value: u64) -> Op {
    Op::Signal(strong(at, Order::Release, Scope::Sys), Signal::Set(value))
}

fn add(at: Range) -> Op {
    Op::Signal(strong(at, Order::Release, Scope::Sys), Signal::Add(1))
}

fn signal(order: Order, scope: Scope) -> Op {
    Op::Signal(strong(FLAG, order, scope), Signal::Set(1))
}

fn wait_as(strong: Strong, compare: Compare, value: u64) -> Op {
    Op::Wait(strong, Until { compare, value, timeout: false })
}

fn wait(at: Range, value: u64) -> Op {
    wait_as(strong(at, Order::Acquire, Scope::Sys), Compare::Ge, value)
}

fn lines(task: &Task, ops: Vec<Op>) -> (Task, Vec<(Arc<str>, Op)>) {
    let site = |(nth, op): (usize, Op)| (format!("{task}, op {nth}").into(), op);
    (*task, ops.into_iter().enumerate().map(site).collect())
}

/// A host that allocates 1 KiB of each of two heaps, and then launches these tasks.
fn program(tasks: &[(Task, Vec<Op>)]) -> Lines {
    let launched = Op::Launch((1..=tasks.len()).collect());
    let alloc = |heap| Op::Alloc(Range { heap, start: 0, bytes: 1024 }, true);
    let host = lines(&Task::block(9, 0), vec![alloc(0), alloc(1), launched]);
    Lines::new(std::iter::once(host).chain(tasks.iter().map(|(task, ops)| lines(task, ops.clone()))).collect())
}

fn report_of(program: &Lines) -> Report {
    let report = check(program, &Schedules::All { executions: 10_000 }, Limits::default());
    assert!(report.is_exhausted, "{report}");
    report
}

fn kinds(program: &Lines) -> BTreeSet<&'static str> {
    report_of(program).found.iter().map(|found| found.finding.kind.name()).collect()
}

/// What is found where block 0 of ranks 0 and 1 do this.
fn two(first: Vec<Op>, second: Vec<Op>) -> BTreeSet<&'static str> {
    kinds(&program(&[(Task::block(0, 0), first), (Task::block(1, 0), second)]))
}

fn only(kind: Kind) -> BTreeSet<&'static str> {
    BTreeSet::from([kind.name()])
}

#[test]
fn o1_a_release_that_is_acquired_orders() {
    let none = two(vec![write(DATA), set(FLAG, 1)], vec![wait(FLAG, 1), read(DATA)]);
    assert_eq!(none, BTreeSet::new());
    let found = two(vec![set(FLAG, 1), write(DATA)], vec![wait(FLAG, 1), read(DATA)]);
    assert_eq!(found, BTreeSet::from(["race", "write-after-read"]));
}

#[test]
fn o1_what_is_missing_is_named() {
    let relaxed_wait = wait_as(strong(FLAG, Order::Relaxed, Scope::Sys), Compare::Eq, 1);
    let found = two(vec![write(DATA), signal(Order::Relaxed, Scope::Sys)], vec![wait(FLAG, 1), read(DATA)]);
    assert_eq!(found, only(Kind::MissingRelease));
    let found = two(vec![write(DATA), set(FLAG, 1)], vec![relaxed_wait.clone(), read(DATA)]);
    assert_eq!(found, only(Kind::MissingAcquire));
    let fences = |release, acquire| {
        two(
            vec![write(DATA), Op::Fence(Order::Release, release), signal(Order::Relaxed, Scope::Sys)],
            vec![relaxed_wait.clone(), Op::Fence(Order::Acquire, acquire), read(DATA)],
        )
    };
    assert_eq!(fences(Scope::Sys, Scope::Sys), BTreeSet::new());
    assert_eq!(fences(Scope::Gpu, Scope::Sys), only(Kind::NarrowRelease));
    assert_eq!(fences(Scope::Sys, Scope::Gpu), only(Kind::NarrowAcquire));
    // A fence before the write releases nothing of it, however wide it is.
    for scope in [Scope::Gpu, Scope::Sys] {
        let early = vec![Op::Fence(Order::Release, scope), write(DATA), signal(Order::Relaxed, Scope::Sys)];
        assert_eq!(two(early, vec![wait(FLAG, 1), read(DATA)]), only(Kind::MissingRelease));
    }
}

#[test]
fn o1_a_fence_takes_the_newest_of_what_was_read_in_any_order() {
    let late = Range { start: 132, ..FLAG };
    let relaxed = |at| strong(at, Order::Relaxed, Scope::Sys);
    let sends = vec![
        Op::Fence(Order::Release, Scope::Sys),
        Op::Store(relaxed(FLAG), 1),
        write(DATA),
        Op::Fence(Order::Release, Scope::Sys),
        Op::Store(relaxed(late), 1),
    ];
    let takes = vec![
        wait_as(relaxed(late), Compare::Eq, 1),
        wait_as(relaxed(FLAG), Compare::Eq, 1),
        Op::Fence(Order::Acquire, Scope::Sys),
        read(DATA),
    ];
    assert_eq!(two(sends, takes), BTreeSet::new());
}

#[test]
fn o1_fences_order_in_both_directions() {
    let relaxed = |at| strong(at, Order::Relaxed, Scope::Sys);
    let fence = || Op::Fence(Order::AcqRel, Scope::Sys);
    let comes = |at, value| wait_as(relaxed(at), Compare::Eq, value);
    // A slot that goes there and comes back twice, each flag taken back by a plain store of who waits.
    let taken_back = |at| Op::Write(vec![at], vec![0; 4]);
    let sends =
        |_| vec![write(DATA), fence(), Op::Store(relaxed(FLAG), 1), comes(CREDIT, 1), fence(), taken_back(CREDIT)];
    let takes = |_| vec![comes(FLAG, 1), fence(), read(DATA), taken_back(FLAG), fence(), Op::Store(relaxed(CREDIT), 1)];
    assert_eq!(two((0..2).flat_map(sends).collect(), (0..2).flat_map(takes).collect()), BTreeSet::new());
}

#[test]
fn what_several_threads_of_one_op_store_alike_is_a_note() {
    let site: Arc<str> = "store".into();
    let stores = |value: u8| vec![(site.clone(), Op::Write(vec![DATA], vec![value; 4]))];
    let with = |values: [u8; 2]| {
        let host = program(&[(Task::thread(1, 0, 0), vec![]), (Task::thread(1, 0, 1), vec![])]);
        let tasks = host.tasks();
        let start: Vec<_> = lines(
            &tasks[0],
            vec![Op::Alloc(Range { heap: 1, start: 0, bytes: 1024 }, true), Op::Launch([1, 2].into())],
        )
        .1;
        Lines::new(vec![(tasks[0], start), (tasks[1], stores(values[0])), (tasks[2], stores(values[1]))])
    };
    assert_eq!(kinds(&with([7, 7])), BTreeSet::from(["same-value"]));
    assert!(report_of(&with([7, 7])).is_clean());
    assert_eq!(kinds(&with([7, 8])), only(Kind::Race));
}

#[test]
fn o1_a_release_is_cumulative() {
    let middle = vec![wait(FLAG, 1), set(CREDIT, 1)];
    let tasks = [
        (Task::block(0, 0), vec![write(DATA), set(FLAG, 1)]),
        (Task::block(1, 0), middle),
        (Task::block(0, 1), vec![wait(CREDIT, 1), read(DATA)]),
    ];
    assert_eq!(kinds(&program(&tasks)), BTreeSet::new());
}

#[test]
fn o1_additions_hand_on_the_releases_before_them() {
    let adds = |rank, place| (Task::block(rank, 0), vec![write(place), add(FLAG)]);
    let other = Range { start: 72, ..DATA };
    let waits = |count| (Task::block(1, 1), vec![wait(FLAG, count), read(DATA), read(other)]);
    assert_eq!(kinds(&program(&[adds(0, DATA), adds(1, other), waits(2)])), BTreeSet::new());
    let found = kinds(&program(&[adds(0, DATA), adds(1, other), waits(1)]));
    assert!(found.contains("wrong-event"), "{found:?}");
}

#[test]
fn o2_both_scopes_cover_the_pair() {
    let found = two(vec![write(DATA), signal(Order::Release, Scope::Gpu)], vec![wait(FLAG, 1), read(DATA)]);
    assert_eq!(found, BTreeSet::from(["narrow-release", "narrow-atomic"]));
    let narrow = wait_as(strong(FLAG, Order::Acquire, Scope::Gpu), Compare::Eq, 1);
    let found = two(vec![write(DATA), set(FLAG, 1)], vec![narrow.clone(), read(DATA)]);
    assert_eq!(found, BTreeSet::from(["narrow-acquire", "narrow-atomic"]));
    let within = [
        (Task::block(1, 0), vec![write(DATA), signal(Order::Release, Scope::Gpu)]),
        (Task::block(1, 1), vec![narrow, read(DATA)]),
    ];
    assert_eq!(kinds(&program(&within)), BTreeSet::new());
}

#[test]
fn o3_a_barrier_orders_its_group() {
    let members: Arc<[TaskId]> = [1, 2].into();
    let barrier = Op::Barrier(7, members);
    let threads = |first: Vec<Op>, second: Vec<Op>| {
        kinds(&program(&[(Task::thread(0, 0, 0), first), (Task::thread(0, 0, 1), second)]))
    };
    assert_eq!(threads(vec![write(DATA), barrier.clone()], vec![barrier.clone(), read(DATA)]), BTreeSet::new());
    assert_eq!(threads(vec![write(DATA)], vec![read(DATA)]), BTreeSet::from(["race", "write-after-read"]));
    assert_eq!(threads(vec![barrier.clone()], vec![read(DATA)]), only(Kind::BarrierDivergence));
    let twice = vec![barrier.clone(), write(DATA), barrier.clone()];
    assert_eq!(threads(twice, vec![barrier.clone(), barrier, read(DATA)]), BTreeSet::new());
}

#[test]
fn o3_one_thread_that_signals_for_its_block_without_a_barrier() {
    let tasks = [
        (Task::thread(0, 0, 0), vec![set(FLAG, 1)]),
        (Task::thread(0, 0, 1), vec![write(DATA)]),
        (Task::thread(1, 0, 0), vec![wait(FLAG, 1), read(DATA)]),
    ];
    assert_eq!(kinds(&program(&tasks)), BTreeSet::from(["race", "write-after-read"]));
}

#[test]
fn a_slot_that_is_used_again_without_a_credit() {
    let sends = |credit: Vec<Op>| [vec![write(DATA), set(FLAG, 1)], credit, vec![write(DATA), set(FLAG, 2)]].concat();
    let receives =
        |credit: Vec<Op>| [vec![wait(FLAG, 1), read(DATA)], credit, vec![wait(FLAG, 2), read(DATA)]].concat();
    let found = two(sends(vec![]), receives(vec![]));
    assert!(found.contains("write-after-read"), "{found:?}");
    assert_eq!(two(sends(vec![wait(CREDIT, 1)]), receives(vec![set(CREDIT, 1)])), BTreeSet::new());
    let relaxed = Op::Signal(strong(CREDIT, Order::Relaxed, Scope::Sys), Signal::Set(1));
    assert_eq!(two(sends(vec![wait(CREDIT, 1)]), receives(vec![relaxed])), only(Kind::MissingRelease));
}

#[test]
fn waits_that_no_event_satisfies() {
    let eq = wait_as(strong(FLAG, Order::Acquire, Scope::Sys), Compare::Eq, 1);
    assert_eq!(two(vec![set(FLAG, 1), set(FLAG, 2)], vec![eq.clone()]), only(Kind::PassedBy));
    assert_eq!(two(vec![set(FLAG, 1)], vec![wait(FLAG, 2)]), only(Kind::Deadlock));
    assert_eq!(two(vec![], vec![wait(FLAG, 1)]), only(Kind::NeverSignalled));
    let cycle = two(vec![wait(CREDIT, 1), set(FLAG, 1)], vec![wait(FLAG, 1), set(CREDIT, 1)]);
    assert_eq!(cycle, only(Kind::Deadlock));
    let found = two(vec![add(FLAG)], vec![set(FLAG, 1), wait(FLAG, 1)]);
    assert!(found.contains("set-against-add"), "{found:?}");
}

#[test]
fn o6_a_flag_below_zero() {
    let waits = |compare| vec![wait_as(strong(FLAG, Order::Acquire, Scope::Sys), compare, 0)];
    assert_eq!(two(vec![], waits(Compare::Ge)), BTreeSet::new());
    let below = |compare| kinds(&program(&[(Task::block(1, 0), [vec![set(FLAG, u64::MAX)], waits(compare)].concat())]));
    assert_eq!(below(Compare::Ge), only(Kind::PassedBy).into_iter().map(|_| "deadlock").collect());
    assert_eq!(below(Compare::UnsignedGe), BTreeSet::new());
}

#[test]
fn o5_more_waiting_blocks_than_fit() {
    let tasks: Vec<_> = (0..3).map(|block| (Task::block(0, block), vec![add(FLAG), wait(FLAG, 3)])).collect();
    assert_eq!(kinds(&program(&tasks)), BTreeSet::new());
    let limits = Limits { blocks: 2, ..Limits::default() };
    let report = check(&program(&tasks), &Schedules::All { executions: 1000 }, limits);
    assert_eq!(report.found[0].finding.kind, Kind::TooManyBlocks, "{report}");
}

#[test]
fn a_signal_that_nobody_waits_for_is_a_note() {
    let report = report_of(&program(&[(Task::block(0, 0), vec![set(FLAG, 1)])]));
    assert_eq!(report.found[0].finding.kind, Kind::NeverWaited);
    assert!(report.is_clean());
}

#[test]
fn memory_that_is_not_there() {
    let outside = Range { heap: 1, start: 1022, bytes: 4 };
    assert_eq!(two(vec![write(outside)], vec![]), only(Kind::OutOfHeap));
    assert_eq!(two(vec![], vec![read(Range { heap: 5, ..DATA })]), only(Kind::OutOfHeap));
    let heap = Range { heap: 1, start: 0, bytes: 1024 };
    assert_eq!(two(vec![Op::Free(heap), read(DATA)], vec![]), only(Kind::Freed));
    let poison = |first| vec![Op::Alloc(Range { heap: 1, start: 2048, bytes: 8 }, false), first];
    let there = Range { heap: 1, start: 2048, bytes: 8 };
    assert_eq!(two(poison(read(there)), vec![]), only(Kind::NeverWritten));
    assert_eq!(two([poison(write(there)), vec![read(there)]].concat(), vec![]), BTreeSet::new());
    let endless = Range { heap: 1, start: u64::MAX - 1, bytes: u64::MAX };
    assert_eq!(two(vec![Op::Alloc(endless, true)], vec![]), only(Kind::OutOfHeap));
}

#[test]
fn o1_to_free_comes_after_what_others_do_there() {
    let heap = Range { heap: 1, start: 0, bytes: 1024 };
    let found = two(vec![write(DATA)], vec![Op::Free(heap)]);
    assert_eq!(found, BTreeSet::from(["freed", "race"]));
}

#[test]
fn p1_a_line_is_used_again_when_its_packet_is_known_to_be_received() {
    let line = || vec![LINE];
    let answer = || vec![Range { heap: 0, ..LINE }];
    let put = |lines, epoch| Op::PutPacket(lines, vec![u64::from(epoch)], epoch);
    let take = Op::WaitPacket;
    let found = two(vec![put(line(), 1), put(line(), 2)], vec![take(line(), 2)]);
    assert_eq!(found, only(Kind::PacketOverwritten));
    let asks = vec![put(line(), 1), take(answer(), 1), put(line(), 2)];
    let answers = vec![take(line(), 1), put(answer(), 1), take(line(), 2)];
    assert_eq!(two(asks, answers), BTreeSet::new());
}

#[test]
fn p1_packets_order_nothing_else() {
    let lines = || vec![LINE];
    let sends = vec![write(DATA), Op::PutPacket(lines(), vec![5], 1)];
    let found = two(sends, vec![Op::WaitPacket(lines(), 1), read(DATA)]);
    assert!(found.contains("race"), "{found:?}");
}

#[test]
fn p1_a_poll_that_finds_its_epoch_is_a_receipt() {
    let (line, answer) = (LINE, Range { heap: 0, ..LINE });
    let put = |line, epoch| Op::PutPacket(vec![line], vec![u64::from(epoch)], epoch);
    let asks = vec![put(line, 1), Op::WaitPacket(vec![answer], 1), put(line, 2)];
    let polls = |epoch| vec![Op::TryPacket(vec![line], epoch), put(answer, 1)];
    // Where it comes too early, or asks for another epoch, it has received nothing.
    assert_eq!(two(asks.clone(), polls(1)), only(Kind::PacketOverwritten));
    assert_eq!(two(asks.clone(), polls(2)), only(Kind::PacketOverwritten));
    let looks_again = [vec![Op::WaitPacket(vec![line], 1), Op::TryPacket(vec![line], 3)], polls(1)].concat();
    assert_eq!(two(asks, looks_again), BTreeSet::new());
}

#[test]
fn launches_and_joins_order() {
    let host = |ops| {
        lines(&Task::block(0, 9), [vec![Op::Alloc(Range { heap: 1, start: 0, bytes: 1024 }, true)], ops].concat())
    };
    let kernel = lines(&Task::block(0, 0), vec![read(DATA), write(DATA)]);
    let launch = || Op::Launch([1].into());
    let right = Lines::new(vec![host(vec![write(DATA), launch(), Op::Join([1].into()), read(DATA)]), kernel.clone()]);
    assert_eq!(kinds(&right), BTreeSet::new());
    let found = kinds(&Lines::new(vec![host(vec![write(DATA), launch(), read(DATA)]), kernel]));
    assert_eq!(found, BTreeSet::from(["race", "write-after-read"]));
}

#[test]
fn a_finding_is_replayed_by_its_schedule_and_by_its_seed() {
    let tasks = [
        (Task::block(0, 0), vec![write(DATA), signal(Order::Relaxed, Scope::Sys)]),
        (Task::block(1, 0), vec![wait(FLAG, 1), read(DATA)]),
    ];
    let program = program(&tasks);
    let random =
        |seed, executions| check(&program, &Schedules::Random { seed, executions, changes: 2 }, Limits::default());
    let report = random(7, 20);
    assert_eq!(report, random(7, 20), "the same seed gives the same report");
    let found = &report.found[0];
    assert!(found.schedule.is_empty(), "tasks in turn have it too: {report}");
    let again = check(&program, &Schedules::Replay(found.schedule.to_string().parse().unwrap()), Limits::default());
    assert_eq!(again.found[0].finding, found.finding);
    if let Some(seed) = found.seed {
        assert_eq!(random(seed, 1).found[0].finding.key(), found.finding.key());
    }
}

#[test]
fn a_program_that_does_not_end_is_given_up() {
    let ops = vec![read(DATA); 100];
    let program = program(&[(Task::block(0, 0), ops)]);
    let report = check(&program, &Schedules::All { executions: 10 }, Limits { steps: 50, ..Limits::default() });
    assert!(!report.is_exhausted && report.given_up == 1, "{report}");
    assert!(report.to_string().contains("1 given up after too many steps"), "{report}");
}

#[test]
fn steps_that_commute_are_tried_in_one_order() {
    let at = |start| Range { heap: 1, start, bytes: 4 };
    let far: Vec<_> = (0..4).map(|block| (Task::block(0, block), vec![write(at(16 * u64::from(block))); 3])).collect();
    assert_eq!(report_of(&program(&far)).executions, 1);
    let near = [(Task::block(0, 0), vec![set(FLAG, 1)]), (Task::block(1, 0), vec![set(FLAG, 2)])];
    assert_eq!(report_of(&program(&near)).executions, 2);
}

#[test]
fn a_wait_gives_up_only_where_it_may_see_another_value() {
    let mut machine = Machine::new(vec![Task::block(0, 0), Task::block(1, 0)]);
    let site: Arc<str> = "here".into();
    for op in [Op::Alloc(Range { heap: 1, start: 0, bytes: 1024 }, true), signal(Order::Release, Scope::Sys)] {
        machine.step(0, &op, &site, 0);
    }
    let waits = |value| {
        let until = Until { compare: Compare::Ge, value, timeout: true };
        Op::Wait(strong(FLAG, Order::Acquire, Scope::Sys), until)
    };
    // Who has set it sees it. Another one may see it, or give up before. What does not hold nobody waits for.
    assert_eq!((machine.ways(0, &waits(1)), machine.ways(1, &waits(1))), (1, 2));
    assert_eq!((machine.ways(0, &waits(2)), machine.ways(1, &waits(2))), (1, 1));
}
