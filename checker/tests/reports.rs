//! What reports say: all ops that are too weak at once, the right one of several, and nothing left out.

use std::sync::Arc;
use symm_abi::wait::Compare;
use symm_checker::check::{Report, Schedules, check};
use symm_checker::finding::Kind;
use symm_checker::lines::Lines;
use symm_checker::op::{Op, Order, Range, Signal, Site, Strong, Until};
use symm_checker::run::{Execution, Limits, Program};
use symm_checker::task::{Scope, Task};

const DATA: Range = Range { heap: 1, start: 64, bytes: 4 };
const OTHER: Range = Range { heap: 1, start: 72, bytes: 4 };
const FLAG: Range = Range { heap: 1, start: 128, bytes: 4 };
const GO: Range = Range { heap: 1, start: 136, bytes: 4 };
const LINES: [Range; 2] = [Range { heap: 1, start: 256, bytes: 16 }, Range { heap: 1, start: 272, bytes: 16 }];

type Ops = Vec<(&'static str, Op)>;

/// A program whose heaps begin with places of barriers of all ranks.
struct Meeting(Lines, u64);

impl Program for Meeting {
    fn tasks(&self) -> Vec<Task> {
        self.0.tasks()
    }

    fn first(&self) -> Vec<usize> {
        self.0.first()
    }

    fn reserved(&self) -> std::ops::Range<u64> {
        0..self.1
    }

    fn start(&self) -> Box<dyn Execution + '_> {
        self.0.start()
    }
}

/// Block 0 of each rank does this, after a host has allocated.
fn program(ranks: Vec<Ops>) -> Lines {
    let alloc = |heap| ("allocates".into(), Op::Alloc(Range { heap, start: 0, bytes: 1024 }, true));
    let launch: (Site, Op) = ("launches".into(), Op::Launch((1..=ranks.len()).collect::<Arc<[usize]>>()));
    let host = (Task::block(99, 0), (0..5).map(alloc).chain([launch]).collect());
    let sites = |ops: Ops| ops.into_iter().map(|(site, op)| (site.into(), op)).collect();
    let tasks = (0..).zip(ranks).map(|(rank, ops)| (Task::block(rank, 0), sites(ops)));
    Lines::new(std::iter::once(host).chain(tasks).collect())
}

fn in_turn(ranks: Vec<Ops>) -> Report {
    check(&program(ranks), &Schedules::InTurn, Limits::default())
}

fn kinds(report: &Report) -> Vec<Kind> {
    report.found.iter().map(|found| found.finding.kind).filter(|kind| !kind.is_note()).collect()
}

/// The only finding: its kind, its places after the two accesses, and its help.
fn only(ranks: Vec<Ops>) -> (Kind, Vec<String>, String) {
    let report = in_turn(ranks);
    assert_eq!(report.found.len(), 1, "{report}");
    let finding = &report.found[0].finding;
    (finding.kind, finding.at.iter().skip(2).map(|at| at.site.to_string()).collect(), finding.help.clone())
}

fn strong(at: Range, order: Order, scope: Scope) -> Strong {
    Strong { at, order, scope }
}

fn set(at: Range, order: Order, scope: Scope) -> Op {
    Op::Signal(strong(at, order, scope), Signal::Set(1))
}

fn add(at: Range, order: Order) -> Op {
    Op::Signal(strong(at, order, Scope::Sys), Signal::Add(1))
}

fn wait(at: Range, value: u64, order: Order, scope: Scope) -> Op {
    Op::Wait(strong(at, order, scope), Until { compare: Compare::Ge, value, timeout: false })
}

fn write(at: Range) -> Op {
    Op::Write(vec![at], vec![1; 4])
}

fn read(at: Range) -> Op {
    Op::Read(vec![at])
}

#[test]
fn all_ops_that_are_too_weak_are_in_one_finding() {
    let (relaxed, release, acquire) = (Order::Relaxed, Order::Release, Order::Acquire);
    // A signal or a wait whose scope does not cover both is a narrow-atomic, too.
    let fences = |release_scope, signal_scope, wait_scope, acquire_scope| {
        let tells = vec![
            ("writes", write(DATA)),
            ("release fence", Op::Fence(release, release_scope)),
            ("signals", set(FLAG, relaxed, signal_scope)),
        ];
        let takes = vec![
            ("waits", wait(FLAG, 1, relaxed, wait_scope)),
            ("acquire fence", Op::Fence(acquire, acquire_scope)),
            ("reads", read(DATA)),
        ];
        let report = in_turn(vec![tells, takes]);
        let found = report.found.iter().map(|found| &found.finding).filter(|each| each.kind != Kind::NarrowAtomic);
        let said: Vec<_> = found.map(|each| (each.kind, each.at.len(), each.help.clone())).collect();
        assert_eq!(said.len(), 1, "{report}");
        said[0].clone()
    };
    let (gpu, sys) = (Scope::Gpu, Scope::Sys);
    let (kind, places, help) = fences(gpu, sys, sys, gpu);
    assert_eq!((kind, places), (Kind::NarrowRelease, 6));
    assert_eq!(
        help,
        "each of these is too weak: the fence before what announces it (scope gpu), the fence after what sees it \
         (scope gpu); release and acquire at scope sys"
    );
    let (kind, _, help) = fences(gpu, gpu, sys, sys);
    assert_eq!(kind, Kind::NarrowRelease);
    assert!(help.contains("announces it (scope gpu), what announces the first access (scope gpu); release"), "{help}");
    let (kind, _, help) = fences(sys, sys, gpu, sys);
    assert_eq!(kind, Kind::NarrowAcquire);
    assert_eq!(
        help,
        "it reads too narrowly, and a fence after it acquires no more than it reads: scope sys covers both"
    );
    let (kind, _, help) = fences(sys, sys, sys, gpu);
    assert_eq!(
        (kind, help.as_str()),
        (Kind::NarrowAcquire, "the fence after it acquires too narrowly: scope sys covers both")
    );
}

#[test]
fn a_signal_and_a_wait_that_are_both_relaxed_are_in_one_finding() {
    let tells = vec![("writes", write(DATA)), ("signals", set(FLAG, Order::Relaxed, Scope::Sys))];
    let takes = vec![("waits", wait(FLAG, 1, Order::Relaxed, Scope::Sys)), ("reads", read(DATA))];
    let (kind, places, help) = only(vec![tells, takes]);
    assert_eq!((kind, places), (Kind::MissingRelease, vec!["signals".to_owned(), "waits".into()]));
    assert!(help.contains("the first access (no release), what sees it (no acquire); release and acquire"), "{help}");
}

#[test]
fn of_several_that_add_the_one_that_tells_of_the_access_is_named() {
    let adds = |site, order| vec![(site, add(FLAG, order))];
    let mut first = vec![("writes", write(DATA))];
    first.extend(adds("first adds", Order::Relaxed));
    let last = vec![("waits", wait(FLAG, 3, Order::Acquire, Scope::Sys)), ("reads", read(DATA))];
    let ranks = vec![first, adds("second adds", Order::Release), adds("third adds", Order::Release), last];
    let (kind, places, _) = only(ranks);
    assert_eq!((kind, places), (Kind::MissingRelease, vec!["first adds".to_owned(), "waits".into()]));
}

#[test]
fn a_plain_read_is_a_look_at_a_flag() {
    let (release, acquire, sys) = (Order::Release, Order::Acquire, Scope::Sys);
    let tells = || vec![("tells", set(FLAG, release, sys))];
    let goes = || vec![("goes", set(GO, release, sys))];
    let starts = || vec![("starts", wait(GO, 1, acquire, sys))];
    let reads = || vec![("reads", read(FLAG))];
    for ranks in [
        vec![[tells(), goes()].concat(), [starts(), reads()].concat()],
        vec![[starts(), tells()].concat(), [reads(), goes()].concat()],
    ] {
        let report = in_turn(ranks);
        assert!(report.found.is_empty(), "{report}");
    }
    let report = in_turn(vec![[tells(), goes()].concat(), starts()]);
    assert_eq!(report.found.iter().map(|found| found.finding.kind).collect::<Vec<_>>(), [Kind::NeverWaited]);
}

#[test]
fn a_race_of_one_kind_does_not_hide_one_of_another_kind_at_the_same_places() {
    let (release, acquire, sys) = (Order::Release, Order::Acquire, Scope::Sys);
    let ranks = vec![
        // The wait of rank 2 ends with this signal, and the one of rank 1 comes later.
        vec![("other signal", set(FLAG, release, sys))],
        vec![("reads", read(DATA)), ("starts", wait(GO, 1, acquire, sys)), ("signals", set(FLAG, release, sys))],
        vec![("waits", wait(FLAG, 1, acquire, sys)), ("writes", write(DATA)), ("goes", set(GO, Order::Relaxed, sys))],
        vec![("reads", read(OTHER))],
        vec![("writes", write(OTHER))],
    ];
    assert_eq!(kinds(&in_turn(ranks)), [Kind::WriteAfterRead, Kind::WrongEvent]);
}

#[test]
fn barriers_of_all_ranks_are_no_events_of_the_program() {
    // Each rank has a word for each other one; the data lie after these.
    let word = |heap: u32, of: u32| Range { heap, start: 8 * u64::from(1 + of), bytes: 4 };
    let meet = |me: u32, epoch: u64| -> Ops {
        let others = || (0..3).filter(move |&rank| rank != me);
        let tells = others().map(|rank| {
            let strong = strong(word(rank, me), Order::Release, Scope::Sys);
            ("barrier", Op::Signal(strong, Signal::Set(epoch)))
        });
        let waits = others().map(|rank| ("barrier", wait(word(me, rank), epoch, Order::Acquire, Scope::Sys)));
        tells.chain(waits).collect()
    };
    let rank = |me, between: Ops| [meet(me, 1), between, meet(me, 2), meet(me, 3)].concat();
    let ranks = vec![rank(0, vec![("writes", write(DATA))]), rank(1, vec![("reads", read(DATA))]), rank(2, vec![])];
    for schedules in [Schedules::InTurn, Schedules::Random { seed: 1, executions: 50, changes: 3 }] {
        let report = check(&Meeting(program(ranks.clone()), 64), &schedules, Limits::default());
        assert!(kinds(&report).iter().all(|kind| [Kind::Race, Kind::WriteAfterRead].contains(kind)), "{report}");
        assert!(!report.is_clean() && report.to_string().contains("one more barrier of all ranks"), "{report}");
    }
}

#[test]
fn deadlocks_of_packets_say_which_line_waits_for_what() {
    let (first, second) = (LINES[0], LINES[1]);
    let put = Op::PutPacket(vec![first], vec![7], 1);
    let waits = Op::WaitPacket(LINES.to_vec(), 2);
    let report = in_turn(vec![vec![("puts", put)], vec![("waits", waits)]]);
    let finding = &report.found[0].finding;
    assert_eq!(finding.kind, Kind::Deadlock);
    assert_eq!(
        finding.at[0].what,
        "waits for the packet of epoch 2 at 0x100 of rank 1's heap, sees epoch 1; put by rank 0 block 0 (puts); 1 more \
         line has not come"
    );
    let clear = Op::PutFloats(vec![second], vec![[u64::MAX; 2]]);
    let report = in_turn(vec![vec![("clears", clear)], vec![("waits", Op::WaitFloats(vec![second], 32))]]);
    let what = &report.found[0].finding.at[0].what;
    let wanted = "waits for the floats at 0x110 of rank 1's heap, sees it cleared; cleared by rank 0 block 0 (clears)";
    assert_eq!(what, wanted);
}

#[test]
fn a_wrong_event_names_what_has_satisfied_the_wait() {
    let (release, acquire, sys) = (Order::Release, Order::Acquire, Scope::Sys);
    let reader = |wait_for: u64, first: Ops| {
        let reads =
            vec![("reads", read(DATA)), ("starts", wait(GO, 1, acquire, sys)), ("meant", set(FLAG, release, sys))];
        let waits = vec![
            ("waits", wait(FLAG, wait_for, acquire, sys)),
            ("writes", write(DATA)),
            ("goes", set(GO, release, sys)),
        ];
        let report = in_turn(vec![first, reads, waits]);
        let finding = report.found.into_iter().map(|found| found.finding).find(|each| each.kind == Kind::WrongEvent);
        let places = finding.unwrap().at.into_iter().skip(2);
        places.map(|at| format!("{}: {}: {}", at.site, at.task, at.what)).collect::<Vec<_>>()
    };
    assert_eq!(
        reader(1, vec![("other", set(FLAG, release, sys))]),
        [
            "waits: rank 2 block 0: waits, and is satisfied by another event than the one that is meant",
            "meant: rank 1 block 0: signals that the first access is done",
            "other: rank 0 block 0: satisfies the wait: the flag is 1"
        ]
    );
    // Of a sum the signal that completes it, with the sum.
    let places = reader(2, vec![("one", add(FLAG, release)), ("two", add(FLAG, release))]);
    assert_eq!(places[2], "two: rank 0 block 0: satisfies the wait: the flag is 2");
    // No event at all.
    let places = reader(0, vec![]);
    assert_eq!(places[0], "waits: rank 2 block 0: waits, and is satisfied by what the flag has held from the start, 0");
    assert_eq!(places.len(), 2);
}

/// Rank 1 receives a packet and says so, or clears a line of floats; rank 0 puts into the line again.
fn used_again(first: Op, receives: Op, order: Order, again: Op) -> (Vec<String>, String) {
    let (acquire, sys) = (Order::Acquire, Scope::Sys);
    let sends = vec![("first", first), ("waits", wait(GO, 1, acquire, sys)), ("again", again)];
    let receives = vec![("receives", receives), ("says so", set(GO, order, sys))];
    let report = in_turn(vec![sends, receives]);
    let Some(found) = report.found.into_iter().find(|found| found.finding.kind == Kind::PacketOverwritten) else {
        return (Vec::new(), String::new());
    };
    let places = found.finding.at.into_iter().map(|at| format!("{}: {}", at.site, at.what));
    (places.collect(), found.finding.help)
}

#[test]
fn a_credit_for_packets_that_is_too_weak_is_named() {
    let line = || vec![LINES[0]];
    let packet = |order, is_received: bool| {
        let put = |epoch| Op::PutPacket(line(), vec![7], epoch);
        let receives = if is_received { Op::WaitPacket(line(), 1) } else { read(DATA) };
        used_again(put(1), receives, order, put(2))
    };
    let (places, help) = packet(Order::Relaxed, true);
    assert_eq!(
        places,
        [
            "first: puts the packet of epoch 1",
            "again: puts that of epoch 2 into the same line",
            "says so: announces the receipt",
            "waits: sees it before the line is used again"
        ]
    );
    assert_eq!(help, "what announces the receipt has to release at scope sys");
    assert!(packet(Order::Release, true).0.is_empty());
    // A credit that nobody has earned.
    let (places, help) = packet(Order::Release, false);
    assert!(places.len() == 2 && help.starts_with("nothing tells the sender"), "{places:?} {help}");
}

#[test]
fn a_signal_that_a_line_of_floats_is_clear_is_named_where_it_is_too_weak() {
    let line = || vec![LINES[0]];
    let floats = |order| {
        let clear = Op::PutFloats(line(), vec![[u64::MAX; 2]]);
        used_again(Op::Fence(Order::Release, Scope::Sys), clear, order, Op::PutFloats(line(), vec![[1, 1]]))
    };
    let (places, help) = floats(Order::Relaxed);
    assert_eq!(places[2..], ["says so: announces the clearing", "waits: sees it before the line is used again"]);
    assert_eq!(help, "what announces the clearing has to release at scope sys");
    assert!(floats(Order::Release).0.is_empty());
}

#[test]
fn a_line_that_is_used_again_with_equal_data_is_found() {
    let line = || vec![LINES[0]];
    let finds = |put: &dyn Fn() -> Op, receive: Option<Op>| {
        let order = Order::Release;
        let (places, help) = used_again(put(), receive.unwrap_or_else(|| read(DATA)), order, put());
        (places.len(), help)
    };
    let packet = || Op::PutPacket(line(), vec![7], 1);
    let floats = || Op::PutFloats(line(), vec![[7; 2]]);
    for receive in [None, Some(Op::WaitPacket(line(), 1))] {
        let (places, help) = finds(&packet, receive);
        assert!(places == 2 && help.contains("count epochs on"), "{help}");
    }
    for receive in [None, Some(Op::WaitFloats(line(), 32))] {
        let (places, help) = finds(&floats, receive);
        assert!(places == 2 && help.starts_with("nobody has cleared the line"), "{help}");
    }
    // Whoever receives it sets the line back by stores, which come after the sender's first signal.
    for (put, receives, bytes) in
        [(&packet as &dyn Fn() -> Op, Op::WaitPacket(line(), 1), 0), (&floats, Op::WaitFloats(line(), 32), 0xff)]
    {
        let clears = || ("clears", Op::Write(line(), vec![bytes; 16]));
        let go = |at| set(at, Order::Release, Scope::Sys);
        let goes = |at| wait(at, 1, Order::Acquire, Scope::Sys);
        let sends =
            vec![("cleared", goes(FLAG)), ("first", put()), ("sent", go(OTHER)), ("waits", goes(GO)), ("again", put())];
        let takes = vec![
            clears(),
            ("go", go(FLAG)),
            ("takes", receives.clone()),
            ("sees", goes(OTHER)),
            clears(),
            ("go", go(GO)),
            ("takes", receives),
        ];
        let report = in_turn(vec![sends, takes]);
        assert!(report.is_clean(), "{report}");
    }
    // Several that put one thing together.
    for put in [&packet as &dyn Fn() -> Op, &floats] {
        let report = in_turn(vec![vec![("puts", put())], vec![("puts", put())], vec![]]);
        let is_lost = report.found.iter().any(|found| found.finding.kind == Kind::PacketOverwritten);
        assert!(!is_lost, "{report}");
    }
}
