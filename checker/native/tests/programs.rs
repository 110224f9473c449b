//! Programs as compiled code is: functions that call `symm_rt_…` and `symm_chk_…` by their addresses.

mod code;

use code::{Message, at, chk, host, rank, ranks, rt};
use std::ffi::c_void;
use symm_abi::check::{Group, Order, Scope};
use symm_abi::kernel::{Coords, ThreadCoords};
use symm_abi::trace::SignalKind;
use symm_abi::wait::Compare;
use symm_checker::check::{Report, Schedules, check};
use symm_checker::finding::Kind;
use symm_checker::run::Limits;
use symm_checker_native::{Front, Host};

fn checked(host: Host, ranks: u32, schedules: &Schedules) -> Report {
    let front = Front::new(host, ranks, 64 << 20, None).unwrap();
    check(&front, schedules, Limits::default())
}

fn kinds(report: &Report) -> Vec<Kind> {
    report.found.iter().map(|found| found.finding.kind).collect()
}

const ALL: Schedules = Schedules::All { executions: 10_000 };
const RANDOM: Schedules = Schedules::Random { seed: 1, executions: 20, changes: 3 };

/// Stores a word into the next rank's heap, signals it, and reads what the rank before has stored.
unsafe extern "C" fn pass(args: *const *const c_void, _: *const Coords) {
    // SAFETY: launched with a message.
    let message = unsafe { at::<Message>(args) };
    let (me, next) = (rank(message.ctx), (rank(message.ctx) + 1) % ranks(message.ctx));
    chk::write(message.there(next, message.mail), &me.to_le_bytes(), c"mail");
    chk::signal(message.there(next, message.flag), SignalKind::Set, 1, message.order, message.scope, c"signal");
    chk::wait(message.flag, Compare::Eq, 1, Order::Acquire, Group::Thread, c"wait");
    let from = chk::read(message.mail, c"read");
    assert_eq!(from, (me + ranks(message.ctx) - 1) % ranks(message.ctx));
}

fn passes(order: Order, scope: Scope) -> Host {
    host(move |ctx| {
        let (mail, flag) = (rt::alloc(ctx, 4, c"alloc mail"), rt::alloc(ctx, 4, c"alloc flag"));
        let message = Message { ctx, mail, flag, order, scope };
        rt::launch(pass, [1, 1, 1], [1, 1, 1], &message);
        rt::free(ctx, flag, c"free flag");
        rt::free(ctx, mail, c"free mail");
    })
}

#[test]
fn a_right_message_is_right_in_every_schedule() {
    let report = checked(passes(Order::Release, Scope::Sys), 2, &ALL);
    assert!(report.is_exhausted && report.found.is_empty(), "{report}");
    for ranks in [1, 2, 3] {
        for schedules in [Schedules::InTurn, RANDOM] {
            let report = checked(passes(Order::Release, Scope::Sys), ranks, &schedules);
            assert!(report.found.is_empty(), "{ranks} ranks: {report}");
        }
    }
}

#[test]
fn a_message_without_release_is_found() {
    for schedules in [Schedules::InTurn, RANDOM, ALL] {
        let report = checked(passes(Order::Relaxed, Scope::Sys), 2, &schedules);
        assert!(kinds(&report).contains(&Kind::MissingRelease), "{report}");
        let report = checked(passes(Order::Release, Scope::Gpu), 2, &schedules);
        assert!(kinds(&report).contains(&Kind::NarrowRelease), "{report}");
    }
}

#[test]
fn the_same_seed_and_the_schedule_of_a_report_show_it_again() {
    let first = checked(passes(Order::Relaxed, Scope::Sys), 2, &RANDOM);
    assert_eq!(first.to_string(), checked(passes(Order::Relaxed, Scope::Sys), 2, &RANDOM).to_string());
    for found in &first.found {
        let again = checked(passes(Order::Relaxed, Scope::Sys), 2, &Schedules::Replay(found.schedule.clone()));
        assert!(kinds(&again).contains(&found.finding.kind), "{found:?}\n{again}");
    }
}

/// In the last of three rounds rank 2 leaves a word at rank 0, which says so if it finds it.
unsafe extern "C" fn looks(args: *const *const c_void, _: *const Coords) {
    // SAFETY: launched with a message and the round.
    let (message, round) = unsafe { at::<(Message, i64)>(args) };
    match (rank(message.ctx), *round) {
        (2, 2) => chk::write(message.there(0, message.mail), &1u32.to_le_bytes(), c"mail"),
        (0, 2) if chk::read(message.mail, c"read") == 1 => rt::check_failed(c"it is late", &[], c"late"),
        _ => {}
    }
}

#[test]
fn every_finding_of_a_random_schedule_is_shown_by_a_new_front() {
    // Launches of ranks come in any order, and each has its own number of threads.
    let program = || {
        host(|ctx| {
            let mail = rt::alloc(ctx, 4, c"alloc");
            for round in 0..3 {
                rt::launch(looks, [1, 1, 1], [1 + round, 1, 1], &(Message::to(ctx, mail), round));
            }
        })
    };
    let report = checked(program(), 3, &RANDOM);
    assert!(kinds(&report).contains(&Kind::FailedCheck), "{report}");
    for found in &report.found {
        let again = checked(program(), 3, &Schedules::Replay(found.schedule.clone()));
        let same = again.found.iter().find(|other| other.finding == found.finding);
        assert_eq!(same.map(|same| &same.schedule), Some(&found.schedule), "{found:?}\n{again}");
    }
}

/// Each thread writes a word of shared memory and, after a barrier, reads that of the next one.
unsafe extern "C" fn share(args: *const *const c_void, coords: *const Coords) {
    // SAFETY: launched with whether there is a barrier, and run with a thread's coordinates.
    let (meets, coords) = unsafe { (at::<bool>(args), coords.cast::<ThreadCoords>().read()) };
    let ([thread, ..], [threads, ..]) = (coords.thread, coords.threads);
    let shared = chk::shared(0, 4 * 64, c"shared");
    let word = |thread: i64| shared.wrapping_add(4 * usize::try_from(thread).unwrap());
    chk::write(word(thread), &i32::try_from(thread).unwrap().to_le_bytes(), c"write");
    if *meets {
        chk::barrier(Group::Block, c"barrier");
    }
    chk::read(word((thread + 1) % threads), c"read");
}

#[test]
fn threads_of_a_block_share_memory() {
    let shares = |meets: bool| host(move |_| rt::launch(share, [2, 1, 1], [4, 1, 1], &meets));
    for schedules in [Schedules::InTurn, RANDOM] {
        let report = checked(shares(true), 1, &schedules);
        assert!(report.found.is_empty(), "{report}");
        let found = kinds(&checked(shares(false), 1, &schedules));
        assert!(found.contains(&Kind::Race) || found.contains(&Kind::WriteAfterRead), "{found:?}");
    }
}

/// Two threads add to a word in turn, with a barrier between their turns or without.
unsafe extern "C" fn add_in_turn(args: *const *const c_void, coords: *const Coords) {
    // SAFETY: launched with the word and whether there are barriers, and run with a thread's coordinates.
    let ((word, meets), thread) =
        unsafe { (at::<(*mut u8, bool)>(args), coords.cast::<ThreadCoords>().read().thread[0]) };
    for turn in 0..6 {
        (0..50).filter(|_| turn % 2 == thread).for_each(|_| chk::change(*word, 1, c"reads", c"writes"));
        if *meets {
            chk::barrier(Group::Block, c"barrier");
        }
    }
}

#[test]
fn a_change_is_a_read_and_a_write() {
    let adds = |meets: bool| {
        host(move |ctx| {
            let word = rt::alloc(ctx, 4, c"alloc");
            rt::launch(add_in_turn, [1, 1, 1], [2, 1, 1], &(word, meets));
            if chk::read(word, c"check") != 300 {
                rt::check_failed(c"300", &[], c"check");
            }
        })
    };
    for schedules in [Schedules::InTurn, RANDOM] {
        let report = checked(adds(true), 1, &schedules);
        assert!(report.found.is_empty(), "{report}");
        let report = checked(adds(false), 1, &schedules);
        let has = |one: &str, other: &str| {
            report.found.iter().any(|found| {
                let sites: Vec<&str> = found.finding.at.iter().map(|at| &*at.site).collect();
                sites == [one, other]
            })
        };
        assert!(has("writes", "reads") || has("reads", "writes"), "{report}");
        assert!(has("writes", "writes"), "{report}");
    }
}

/// Only the first thread comes to the barrier.
unsafe extern "C" fn part(_: *const *const c_void, coords: *const Coords) {
    // SAFETY: run with a thread's coordinates.
    if unsafe { coords.cast::<ThreadCoords>().read() }.thread[0] == 0 {
        chk::barrier(Group::Block, c"barrier");
    }
}

#[test]
fn threads_that_part_before_a_barrier_are_found() {
    let report = checked(host(|_| rt::launch(part, [1, 1, 1], [2, 1, 1], &())), 1, &Schedules::InTurn);
    assert_eq!(kinds(&report), [Kind::BarrierDivergence]);
}

/// All threads of a block wait together; the last one reads.
unsafe extern "C" fn together(args: *const *const c_void, coords: *const Coords) {
    // SAFETY: launched with a message, and run with a thread's coordinates.
    let (message, thread) = unsafe { (at::<Message>(args), coords.cast::<ThreadCoords>().read().thread[0]) };
    let me = rank(message.ctx);
    if thread == 1 {
        chk::write(message.there(me ^ 1, message.mail), &7u32.to_le_bytes(), c"mail");
    }
    let flag = message.there(me ^ 1, message.flag);
    chk::group_signal(flag, SignalKind::Add, 1, Group::Block, c"signal");
    assert!(chk::wait(message.flag, Compare::Ge, 1, Order::Acquire, Group::Block, c"wait"));
    assert_eq!(chk::read(message.mail, c"read"), 7);
}

#[test]
fn a_group_signals_and_waits_as_one() {
    let program = || {
        host(|ctx| {
            let (mail, flag) = (rt::alloc(ctx, 4, c"alloc mail"), rt::alloc(ctx, 4, c"alloc flag"));
            let message = Message { ctx, mail, flag, order: Order::Release, scope: Scope::Sys };
            rt::launch(together, [1, 1, 1], [3, 1, 1], &message);
        })
    };
    for schedules in [Schedules::InTurn, RANDOM] {
        let report = checked(program(), 2, &schedules);
        assert!(report.found.is_empty(), "{report}");
    }
}

unsafe extern "C" fn waits(args: *const *const c_void, _: *const Coords) {
    // SAFETY: launched with a message.
    let message = unsafe { at::<Message>(args) };
    chk::wait(message.flag, Compare::Eq, 1, Order::Acquire, Group::Thread, c"wait");
}

#[test]
fn a_deadlock_names_who_waits() {
    let program = host(|ctx| {
        let flag = rt::alloc(ctx, 4, c"alloc");
        rt::launch(waits, [1, 1, 1], [1, 1, 1], &Message::to(ctx, flag));
    });
    let report = checked(program, 2, &Schedules::InTurn);
    assert_eq!(kinds(&report), [Kind::Deadlock], "{report}");
    assert!(report.to_string().contains("wait: rank 0 block 0 thread 0: waits for"), "{report}");
}

#[test]
fn what_a_host_does_wrong_is_said() {
    let reason = |body: fn(*const i64)| {
        let report = checked(host(body), 2, &Schedules::InTurn);
        report.found.iter().map(|found| found.finding.to_string()).collect::<String>()
    };
    let differs = reason(|ctx| {
        rt::alloc(ctx, 4 + 4 * u64::from(rank(ctx)), c"alloc");
    });
    assert!(
        differs.contains(
            "this rank allocates 4 bytes, aligned to 256, where rank 1 allocates 8 bytes, aligned to 256 (alloc)"
        ),
        "{differs}"
    );
    assert_eq!(differs.matches("error").count(), 1, "that the others wait follows from it: {differs}");
    let large = reason(|ctx| {
        rt::alloc(ctx, 1 << 30, c"alloc");
    });
    assert!(large.contains("out of heap: 1073741824 bytes, and 65011712 are left"), "{large}");
    let twice = reason(|ctx| {
        let memory = rt::alloc(ctx, 4, c"alloc");
        rt::free(ctx, memory, c"free");
        rt::free(ctx, memory, c"again");
    });
    let wanted = "again: rank 0 host: frees what is not allocated, or not any more";
    assert!(twice.contains("error: fault") && twice.contains(wanted), "{twice}");
    let elsewhere = reason(|ctx| rt::free(ctx, (1u64 << 60) as *mut u8, c"free"));
    assert!(elsewhere.contains("error: fault") && elsewhere.contains("is not in this rank's heap"), "{elsewhere}");
    let after = reason(|ctx| {
        let memory = rt::alloc(ctx, 4, c"alloc");
        rt::free(ctx, memory, c"free");
        chk::read(memory, c"late");
    });
    // Of the ranks the one that comes first: the last to free goes on.
    assert!(after.contains("error: freed") && after.contains("late: rank 1 host"), "{after}");
    let wild = reason(|_| {
        chk::read((1u64 << 60) as *mut u8, c"wild");
    });
    let wanted = "wild: rank 0 host: accesses 4 bytes at 0x1000000000000000, where there is no memory";
    assert!(wild.contains("error: fault") && wild.contains(wanted), "{wild}");
    let many = reason(|_| rt::launch(part, [1, 1, 1], [2048, 1, 1], &()));
    assert!(many.contains("a block has at most 1024"), "{many}");
}

#[test]
fn a_launch_that_is_too_large_for_the_checker_ends_the_check() {
    for schedules in [Schedules::Random { seed: 0, executions: 5, changes: 1 }, Schedules::All { executions: 5 }] {
        let program = host(|ctx| {
            let flag = rt::alloc(ctx, 4, c"alloc");
            if rank(ctx) == 0 {
                rt::launch(waits, [1 << 15, 2, 1], [1, 1, 1], &Message::to(ctx, flag));
            }
            rt::alloc(ctx, 4, c"meets");
        });
        let front = Front::new(program, 2, 64 << 20, None).unwrap();
        let report = check(&front, &schedules, Limits::default());
        assert!(report.found.is_empty() && report.executions == 1 && !report.is_exhausted, "{report}");
        let limit = "launch: 65536 threads, and a launch has at most 32768 here: launch fewer blocks";
        assert_eq!(front.reached_limit(), Some(limit));
    }
}

#[test]
fn a_failed_check_is_told_and_the_host_goes_on() {
    let program = host(|_| {
        rt::check_failed(c"{} is not {}", &[1, 2], c"first");
        rt::check_failed(c"and then", &[], c"second");
    });
    let report = checked(program, 1, &Schedules::InTurn);
    assert_eq!(kinds(&report), [Kind::FailedCheck; 2]);
    assert!(report.to_string().contains("first: rank 0 host: 1 is not 2"), "{report}");
}

/// How many threads have run is what the flag counts.
unsafe extern "C" fn counts(args: *const *const c_void, coords: *const Coords) {
    // SAFETY: launched with a message, and run with a thread's coordinates.
    let (message, coords) = unsafe { (at::<Message>(args), coords.cast::<ThreadCoords>().read()) };
    assert_eq!(coords.threads, [2, 2, 1]);
    chk::add(message.flag, 1, c"count");
}

#[test]
fn a_block_gets_no_more_threads_than_asked_for() {
    let program = host(|ctx| {
        let flag = rt::alloc(ctx, 4, c"alloc");
        rt::launch(counts, [3, 1, 1], [2, 64, 4], &Message::to(ctx, flag));
        if chk::read(flag, c"count") != 12 {
            rt::check_failed(c"12 threads", &[], c"check");
        }
    });
    let front = Front::new(program, 1, 64 << 20, Some(4)).unwrap();
    let report = check(&front, &RANDOM, Limits::default());
    assert!(report.found.is_empty(), "{report}");
}

/// Writes a word, and accesses memory that is not there.
unsafe extern "C" fn crashes(args: *const *const c_void, _: *const Coords) {
    // SAFETY: launched with a message.
    let message = unsafe { at::<Message>(args) };
    chk::write(message.there(0, message.mail), &1u32.to_le_bytes(), c"write");
    if rank(message.ctx) == 1 {
        // SAFETY: none; it is what the test is about.
        unsafe { std::ptr::without_provenance::<u32>(64).read_volatile() };
    }
}

#[test]
fn a_crash_is_found_and_ends_the_check() {
    let program = || {
        host(|ctx| {
            let mail = rt::alloc(ctx, 4, c"alloc");
            rt::launch(crashes, [1, 1, 1], [1, 1, 1], &Message::to(ctx, mail));
        })
    };
    for schedules in [Schedules::InTurn, RANDOM, ALL] {
        let report = checked(program(), 2, &schedules);
        assert!(report.has_crashed && !report.is_exhausted && report.limit.is_none(), "{report}");
        let said = report.to_string();
        assert!(
            said.contains("write: rank 1 block 0 thread 0: accesses address 0x40, where there is no memory"),
            "{said}"
        );
        let found = report.found.iter().find(|found| found.finding.kind == Kind::Fault).unwrap();
        let again = checked(program(), 2, &Schedules::Replay(found.schedule.clone()));
        assert!(kinds(&again).contains(&Kind::Fault), "{again}");
    }
    // In turn rank 0 has written before.
    let report = checked(program(), 2, &Schedules::InTurn);
    assert_eq!(report.executions, 1);
    // The process is as it was.
    let report = checked(passes(Order::Release, Scope::Sys), 2, &ALL);
    assert!(report.is_exhausted && report.found.is_empty(), "{report}");
}
