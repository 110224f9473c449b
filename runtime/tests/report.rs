//! What a run that does not end says, and how soon.

mod common;

use std::ffi::{CStr, c_void};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{EQ, GE, SOON, alloc, barrier_all, env, failure, launch, signal, threads, wait};
use symm_runtime::abi::{symm_rt_check_failed, symm_rt_wait64};
use symm_runtime::{Coords, Error, run};

fn assert_contains(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "no {part:?} in\n{message}");
    }
}

/// Block 0 of rank 0 runs for ever; all other blocks wait for what never comes.
unsafe extern "C" fn consume(args: *const *const c_void, coords: *const Coords) {
    // SAFETY: started by `launch`.
    let (env, at) = unsafe { env(args, coords) };
    if env.rank() == 0 && at.block[0] == 0 {
        sleep(Duration::from_secs(3600));
    }
    let flag = env.flag(8 * at.block[0].cast_unsigned());
    signal(flag, (-2_i64).cast_unsigned());
    wait(&env, flag, if at.block[0] == 1 { EQ } else { GE }, 3, c"heat.mlir:41:7");
}

#[test]
fn a_timeout_says_what_everyone_does() {
    let mut config = threads(3);
    config.timeout = Some(Duration::from_millis(2500));
    let message = failure(&config, |rank| {
        let data = alloc(rank, 4096, c"heat.mlir:10:1");
        if rank.rank() == 2 {
            barrier_all(rank, c"heat.mlir:12:3");
        }
        launch(rank, c"kernels::consume", consume, 4, data, c"heat.mlir:13:3");
    });
    assert_contains(
        &message,
        &[
            "not finished after 2.5s (the timeout)",
            "rank 1, block (3,0,0) of @kernels::consume: wait at heat.mlir:41:7: flag rank 1 heap+0x2000c0: saw -2, \
             expected >= 3, for ",
            "rank 0, block (1,0,0) of @kernels::consume: wait at heat.mlir:41:7: flag rank 0 heap+0x200040: saw -2, \
             expected == 3,",
            "rank 0, block (0,0,0) of @kernels::consume: running for ",
            "rank 0: launch of @kernels::consume at heat.mlir:13:3, for ",
            "4 of 4 blocks have not finished",
            "rank 2: barrier_all at heat.mlir:12:3, for ",
            "waits for ranks 0, 1",
        ],
    );
}

#[test]
fn long_reports_are_cut() {
    let mut config = threads(1);
    config.timeout = Some(Duration::from_secs(3));
    let message = failure(&config, |rank| {
        let data = alloc(rank, 1 << 16, c"p:1:1");
        launch(rank, c"consume", consume, 100, data, c"p:2:1");
    });
    assert_contains(&message, &["and 68 more blocks"]);
    assert!(message.lines().count() < 40, "{message}");
}

#[test]
fn a_host_function_that_does_not_return_is_named() {
    let mut config = threads(2);
    config.timeout = Some(Duration::from_secs(2));
    let message = failure(&config, |rank| {
        if rank.rank() == 1 {
            sleep(Duration::from_secs(3600));
        }
    });
    assert_contains(&message, &["rank 0: returned", "rank 1: host function running for "]);
}

#[test]
fn a_returned_rank_that_another_waits_for_is_reported_at_once() {
    let start = Instant::now();
    let message = failure(&threads(2), |rank| {
        alloc(rank, 8, c"p:1:1");
        if rank.rank() == 0 {
            barrier_all(rank, c"p:2:1");
        }
    });
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    assert_contains(
        &message,
        &[
            "rank 1 will never come to the collective operation that rank 0 waits in",
            "rank 0: barrier_all at p:2:1",
            "waits for rank 1",
            "rank 1: returned",
        ],
    );
}

/// Every rank waits for the other to signal first.
unsafe extern "C" fn after_you(args: *const *const c_void, coords: *const Coords) {
    // SAFETY: started by `launch`.
    let (env, _) = unsafe { env(args, coords) };
    wait(&env, env.flag(0), GE, 1, c"p:20:1");
    signal(env.remote(env.flag(0), (env.rank() + 1) % env.num_ranks()), 1);
}

#[test]
fn a_deadlock_is_reported_before_the_deadline() {
    let start = Instant::now();
    let message = failure(&threads(2), |rank| {
        let data = alloc(rank, 8, c"p:1:1");
        launch(rank, c"after_you", after_you, 1, data, c"p:2:1");
    });
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    let part = |rank| {
        format!(
            "rank {rank}, block (0,0,0) of @after_you: wait at p:20:1: flag rank {rank} heap+0x200000: saw 0, \
             expected >= 1,"
        )
    };
    assert_contains(&message, &["deadlock", &part(0), &part(1)]);
}

#[test]
fn a_barrier_on_one_side_and_a_wait_on_the_other_is_a_deadlock() {
    let message = failure(&threads(2), |rank| {
        let data = alloc(rank, 8, c"p:1:1");
        if rank.rank() == 0 {
            barrier_all(rank, c"p:2:1");
        } else {
            launch(rank, c"after_you", after_you, 1, data, c"p:3:1");
        }
    });
    assert_contains(&message, &["deadlock", "rank 0: barrier_all at p:2:1", "waits for rank 1", "wait at p:20:1"]);
}

/// A wait that gives up by itself, long after a deadlock would have been reported.
unsafe extern "C" fn patient(args: *const *const c_void, coords: *const Coords) {
    // SAFETY: started by `launch`.
    let (env, _) = unsafe { env(args, coords) };
    let give_up = 3_500_000_000;
    // SAFETY: an aligned flag of this heap.
    let satisfied = unsafe { symm_rt_wait64(env.ctx, env.flag(0).cast(), GE, 1, give_up, c"p:30:1".as_ptr()) };
    assert_eq!(satisfied, 0);
}

/// The other ways not to be a deadlock: someone is slow, in a kernel or on the host.
unsafe extern "C" fn slow_signal(args: *const *const c_void, coords: *const Coords) {
    // SAFETY: started by `launch`.
    let (env, at) = unsafe { env(args, coords) };
    if at.block[0] == 0 {
        sleep(Duration::from_millis(3500));
        signal(env.flag(0), 1);
    } else {
        wait(&env, env.flag(0), GE, 1, c"p:40:1");
    }
}

#[test]
fn what_may_still_end_is_no_deadlock() {
    let slow: [fn(&symm_runtime::Rank, *mut u8); 3] = [
        |rank, data| launch(rank, c"patient", patient, 1, data, c"p:2:1"),
        |rank, data| launch(rank, c"slow_signal", slow_signal, 3, data, c"p:3:1"),
        |rank, data| {
            if rank.rank() == 0 {
                sleep(Duration::from_millis(3500));
                let env = common::Env { ctx: rank.ctx(), data };
                signal(env.remote(data, 1), 1);
            } else {
                launch(rank, c"after_you", after_you, 1, data, c"p:4:1");
            }
        },
    ];
    let runs = slow.map(|act| {
        std::thread::spawn(move || {
            run(&threads(2), move |rank| {
                let data = alloc(rank, 64, c"p:1:1");
                act(rank, data);
                Ok(())
            })
        })
    });
    for result in runs {
        result.join().unwrap().unwrap();
    }
}

#[test]
fn failed_checks_are_told_with_the_fault_that_followed() {
    let fail = |loc: &CStr| {
        // SAFETY: no values.
        unsafe {
            symm_rt_check_failed(c"lost a row".as_ptr(), c"".as_ptr(), std::ptr::null(), loc.as_ptr());
        };
    };
    let error = run(&threads(1), move |_| -> Result<(), Error> {
        fail(c"p:7:1");
        Err(Error::Program("gave up".to_owned()))
    })
    .unwrap_err();
    assert!(matches!(error.error.cause(), Error::Program(_)));
    assert_contains(&error.to_string(), &["gave up", "1 check(s)", "p:7:1: rank 0: check failed: lost a row"]);
}

/// What `symm.barrier` is on the CPU: see passes/src/lower/cpu/order.rs.
unsafe extern "C" fn meet(args: *const *const c_void, coords: *const Coords) {
    // SAFETY: started by `launch`.
    let (env, at) = unsafe { env(args, coords) };
    let (me, ranks) = (env.rank(), env.num_ranks());
    // SAFETY: the table has a base for each rank.
    let base = |rank: u64| unsafe { *env.ctx.add(2 + usize::try_from(rank).unwrap()) } as *mut u8;
    let word = |rank: u64, index: u64| {
        base(rank).wrapping_add(usize::try_from(8 * (at.block[0].cast_unsigned() * (ranks + 1) + index)).unwrap())
    };
    signal(word(me, 0), 1);
    for rank in 0..ranks {
        signal(word(rank, 1 + me), 1);
    }
    for rank in 0..ranks {
        wait(&env, word(me, 1 + rank), GE, 1, c"meet.mlir:4:5");
    }
}

#[test]
fn a_barrier_that_hangs_is_called_one() {
    let message = failure(&threads(3), |rank| {
        let data = alloc(rank, 8, c"p:1:1");
        if rank.rank() == 1 {
            barrier_all(rank, c"p:2:1");
        }
        launch(rank, c"kernels::meet", meet, if rank.rank() == 0 { 2 } else { 1 }, data, c"p:3:1");
    });
    assert_contains(
        &message,
        &[
            "rank 0, block (0,0,0) of @kernels::meet: barrier at meet.mlir:4:5: waits for rank 1, for ",
            "rank 0, block (1,0,0) of @kernels::meet: barrier at meet.mlir:4:5: waits for ranks 1, 2, for ",
            "rank 2, block (0,0,0) of @kernels::meet: barrier at meet.mlir:4:5: waits for rank 1, for ",
            "@kernels::meet was launched with different grids: (2,1,1) on rank 0, (1,1,1) on rank 2",
        ],
    );
    assert!(!message.contains("flag rank"), "{message}");
}
