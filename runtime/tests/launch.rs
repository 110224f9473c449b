//! Launches, waits and signals on many threads.

mod common;

use std::ffi::c_void;
use std::sync::LazyLock;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use common::{GE, SOON, alloc, atomic, env, failure, launch, launch_as, read, signal, threads, wait};
use symm_runtime::abi::{symm_rt_check_failed, symm_rt_copy, symm_rt_wait32, symm_rt_wait64};
use symm_runtime::{Coords, run};

/// Writes block coordinates, so that a block that runs twice, or not at all, shows.
unsafe extern "C" fn mark(args: *const *const c_void, coords: *const Coords) {
    // SAFETY: started by `launch`.
    let (env, at) = unsafe { env(args, coords) };
    let [x, y, z] = at.block;
    let index = x + at.grid[0] * (y + at.grid[1] * z);
    atomic(env.flag(index.cast_unsigned()))
        .fetch_add((1000 * env.rank()) + index.cast_unsigned() + 1, Ordering::Relaxed);
}

#[test]
fn every_block_runs_once() {
    run(&threads(2), |rank| {
        let data = alloc(rank, 1 << 16, c"p:1:1");
        for (round, dims) in [[3, 2, 4, 1, 1, 1, 0], [1, 1, 1, 32, 4, 1, 0], [40, 1, 1, 1, 1, 1, 0]].iter().enumerate()
        {
            let at = data.wrapping_add(round * 4096);
            launch_as(rank, c"mark", mark, *dims, c"cv", at, c"p:2:1");
            let blocks = dims[..3].iter().product::<i64>().cast_unsigned();
            for index in 0..=blocks {
                let want = if index < blocks { 1000 * u64::from(rank.rank()) + index + 1 } else { 0 };
                assert_eq!(
                    read(at.wrapping_add(8 * usize::try_from(index).unwrap())),
                    want,
                    "block {index} of {blocks}"
                );
            }
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn impossible_launches_are_fatal() {
    let message = failure(&threads(1), |rank| {
        launch_as(rank, c"mark", mark, [0, 1, 1, 1, 1, 1, 0], c"cv", std::ptr::null_mut(), c"p:9:1");
    });
    assert!(message.contains("p:9:1") && message.contains("@mark") && message.contains("[0, 1, 1]"), "{message}");
    let message = failure(&threads(64), |rank| {
        launch_as(rank, c"mark", mark, [4025, 1, 1, 1, 1, 1, 0], c"!cv", std::ptr::null_mut(), c"p:9:1");
    });
    assert!(message.contains("at most 4024 may use symm.barrier"), "{message}");
}

/// Passes a count around the ring of ranks, each block in a ring of its own.
unsafe extern "C" fn ring(args: *const *const c_void, coords: *const Coords) {
    // SAFETY: started by `launch`.
    let (env, at) = unsafe { env(args, coords) };
    let mine = env.flag(at.block[0].cast_unsigned());
    let next = env.remote(mine, (env.rank() + 1) % env.num_ranks());
    let (rank, ranks) = (env.rank(), env.num_ranks());
    for step in 0..2 * ranks - 2 {
        let value = step + 1;
        if rank == 0 {
            signal(next, value);
            wait(&env, mine, GE, value, c"ring.mlir:7:5");
        } else {
            wait(&env, mine, GE, value, c"ring.mlir:8:5");
            signal(next, value);
        }
    }
}

#[test]
fn a_ring_of_4096_threads_ends() {
    let start = Instant::now();
    let mut config = threads(64);
    config.heap_size = 4 << 20;
    config.timeout = Some(Duration::from_secs(120));
    let outcome = run(&config, |rank| {
        let data = alloc(rank, 64 * 8, c"p:1:1");
        launch(rank, c"ring", ring, 64, data, c"p:2:1");
        Ok((0..64).map(|block| read(data.wrapping_add(8 * block))).collect::<Vec<_>>())
    });
    println!("64 ranks x 64 blocks x 126 waits: {:?}", start.elapsed());
    for flags in outcome.unwrap().values {
        assert_eq!(flags, [126; 64]);
    }
}

#[test]
fn waits_compare_signed_and_give_up() {
    run(&threads(1), |rank| {
        let flag = alloc(rank, 16, c"p:1:1");
        signal(flag, (-3_i64).cast_unsigned());
        let (ctx, loc) = (rank.ctx(), c"p:2:1".as_ptr());
        let wait = |cmp, expected: i64| {
            // SAFETY: an aligned flag of this heap.
            unsafe { symm_rt_wait64(ctx, flag.cast(), cmp, expected.cast_unsigned(), 20_000_000, loc) }
        };
        assert_eq!(wait(5, -3), 1, "-3 >= -3");
        assert_eq!(wait(4, -4), 1, "-3 > -4");
        assert_eq!(wait(9, 5), 1, "unsigned: it is large");
        let start = Instant::now();
        assert_eq!(wait(5, 0), 0, "-3 >= 0 does not hold");
        assert!(start.elapsed() >= Duration::from_millis(20));
        assert!(start.elapsed() < SOON);
        // SAFETY: the low half of the flag.
        let narrow = unsafe { symm_rt_wait32(ctx, flag.cast(), 2, 0, 0, loc) };
        assert_eq!(narrow, 1, "-3 < 0 in 32 bits");
        Ok(())
    })
    .unwrap();
}

/// Whether a time is as it should be once: a busy machine may prolong it a few times, a mistake always.
fn sooner_or_later(is_soon: impl Fn() -> bool) -> bool {
    (0..5).any(|_| is_soon())
}

/// Long enough for sleeps that only double to have become longer than the bound of 50 ms by far.
const SILENT_FOR: Duration = Duration::from_millis(1200);

/// Nanoseconds since this was first asked, on one clock for all threads.
fn clock() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let start = *START;
    u64::try_from(start.elapsed().as_nanos()).unwrap()
}

/// Block 1 stores without waking anybody, as a plain atomic does; block 0 writes down when it saw that.
unsafe extern "C" fn silent_store(args: *const *const c_void, coords: *const Coords) {
    // SAFETY: started by `launch`.
    let (env, at) = unsafe { env(args, coords) };
    if at.block[0] == 0 {
        wait(&env, env.flag(0), GE, 1, c"p:1:1");
        atomic(env.flag(1)).store(clock(), Ordering::Relaxed);
    } else {
        std::thread::sleep(SILENT_FOR);
        atomic(env.flag(2)).store(clock(), Ordering::Relaxed);
        atomic(env.flag(0)).store(1, Ordering::Release);
    }
}

#[test]
fn a_lost_wake_costs_a_bounded_time() {
    let late = || {
        let outcome = run(&threads(1), |rank| {
            let data = alloc(rank, 64, c"p:1:1");
            launch(rank, c"silent", silent_store, 2, data, c"p:2:1");
            let env = common::Env { ctx: rank.ctx(), data };
            Ok([read(env.flag(1)), read(env.flag(2))])
        });
        let [seen, stored] = outcome.unwrap().values[0];
        Duration::from_nanos(seen.checked_sub(stored).expect("the wait ended before its signal"))
    };
    assert!(sooner_or_later(|| late() < Duration::from_millis(500)), "the waiter slept past its bound");
}

/// How often [`late_signals`] signals.
const ROUNDS: u64 = 12;

/// Block 1 signals long after block 0 has parked, and block 0 writes down how long that took to reach it.
unsafe extern "C" fn late_signals(args: *const *const c_void, coords: *const Coords) {
    // SAFETY: started by `launch`.
    let (env, at) = unsafe { env(args, coords) };
    for round in 1..=ROUNDS {
        if at.block[0] == 0 {
            wait(&env, env.flag(0), GE, round, c"p:1:1");
            atomic(env.flag(8 * round)).store(clock(), Ordering::Relaxed);
        } else {
            std::thread::sleep(Duration::from_millis(200));
            atomic(env.flag(8 * round + 1)).store(clock(), Ordering::Relaxed);
            signal(env.flag(0), round);
        }
    }
}

#[test]
fn a_signal_wakes_who_is_parked() {
    assert!(sooner_or_later(late_signals_arrive), "a signal wakes nobody");
}

fn late_signals_arrive() -> bool {
    let outcome = run(&threads(1), |rank| {
        let data = alloc(rank, 4096, c"p:1:1");
        launch(rank, c"late_signals", late_signals, 2, data, c"p:2:1");
        let env = common::Env { ctx: rank.ctx(), data };
        Ok((1..=ROUNDS)
            .map(|round| read(env.flag(8 * round)).abs_diff(read(env.flag(8 * round + 1))))
            .collect::<Vec<_>>())
    });
    let mut delays = outcome.unwrap().values.remove(0);
    delays.sort_unstable();
    // Without the wake each would be anywhere up to 50 ms, and hardly ever would a third of them be this early. A busy
    // machine delays the others.
    delays[3] < 3_000_000
}

#[test]
fn failed_checks_are_counted_and_the_program_goes_on() {
    let outcome = run(&threads(2), |rank| {
        let values = [7, 2.5f64.to_bits()];
        for _ in 0..20 * (1 + rank.rank()) {
            // SAFETY: two values, as the types say.
            unsafe {
                symm_rt_check_failed(c"{} is not {}".as_ptr(), c"if".as_ptr(), values.as_ptr(), c"p:3:1".as_ptr());
            };
        }
        Ok(rank.rank())
    })
    .unwrap();
    assert_eq!(outcome.values, [0, 1]);
    assert_eq!((outcome.checks.count, outcome.checks.first.len()), (60, 32));
    let first = outcome.checks.first[0].to_string();
    assert!(first.ends_with(": check failed: 7 is not 2.5") && first.starts_with("p:3:1: rank "), "{first}");
}

#[test]
fn copies_between_host_and_heap() {
    run(&threads(1), |rank| {
        let at = alloc(rank, 4, c"p:1:1");
        let (from, mut back) = ([1u8, 2, 3, 4], [0u8; 4]);
        // SAFETY: four bytes each.
        unsafe {
            symm_rt_copy(rank.ctx(), at, from.as_ptr(), 4, c"p:2:1".as_ptr());
            symm_rt_copy(rank.ctx(), back.as_mut_ptr(), at, 4, c"p:3:1".as_ptr());
        }
        assert_eq!(back, from);
        Ok(())
    })
    .unwrap();
}

/// Mappings of this process.
fn mappings() -> usize {
    std::fs::read_to_string("/proc/self/maps").unwrap().lines().count()
}

#[test]
fn a_block_costs_two_mappings() {
    let outcome = run(&threads(1), |rank| {
        let (data, blocks) = (alloc(rank, 8 * 1001, c"p:1:1"), 1001);
        launch(rank, c"mark", mark, 1, data, c"p:2:1");
        let before = mappings();
        launch(rank, c"mark", mark, blocks, data, c"p:3:1");
        Ok(mappings().saturating_sub(before))
    });
    // Of tests that run at the same time there are some, too.
    let grown = outcome.unwrap().values[0];
    assert!(grown < 2600, "{grown} mappings for 1000 threads");
}
