//! A traced run, from the calls that compiled code makes to the JSON that Perfetto opens.

mod common;

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::time::Duration;

use common::{GE, alloc, barrier_all, env, launch, signal, threads, wait};
use serde_json::Value;
use symm_runtime::abi::{symm_rt_trace_begin, symm_rt_trace_end, symm_rt_trace_signal};
use symm_runtime::trace::{Event, What};
use symm_runtime::{Coords, run};

/// Puts to the next rank and signals it, then waits for the previous.
unsafe extern "C" fn pass(args: *const *const c_void, coords: *const Coords) {
    // SAFETY: started by `launch`.
    let (env, at) = unsafe { env(args, coords) };
    let flag = env.flag(at.block[0].cast_unsigned());
    let peer = (env.rank() + 1) % env.num_ranks();
    let remote = env.remote(flag, peer);
    let to = i32::try_from(peer).unwrap();
    for value in 1..=5 {
        // SAFETY: as compiled code calls them.
        unsafe {
            symm_rt_trace_begin(0, env.ctx, to, remote, 256, c"t.mlir:5:1".as_ptr());
            symm_rt_trace_end();
            signal(remote, value);
            symm_rt_trace_signal(env.ctx, to, remote, 0, value, c"t.mlir:6:1".as_ptr());
        }
        wait(&env, flag, GE, value, c"t.mlir:7:1");
    }
}

#[test]
fn every_wait_has_an_arrow_from_the_rank_before() {
    let mut config = threads(3);
    config.trace = true;
    let outcome = run(&config, |rank| {
        let data = alloc(rank, 64, c"t.mlir:1:1");
        launch(rank, c"kernels::pass", pass, 2, data, c"t.mlir:2:1");
        barrier_all(rank, c"t.mlir:3:1");
        Ok(())
    });
    let mut bytes = Vec::new();
    outcome.unwrap().trace.unwrap().write_chrome(&mut bytes).unwrap();
    let all: Value = serde_json::from_slice(&bytes).unwrap();
    let entries = all["traceEvents"].as_array().unwrap();
    let with = |key: &str, value: &str| entries.iter().filter(|entry| entry[key] == value).collect::<Vec<_>>();

    assert_eq!(with("cat", "launch").len(), 3);
    assert_eq!(with("cat", "block").len(), 6);
    assert_eq!(with("cat", "wait").len(), 30);
    assert_eq!(with("name", "barrier_all").len(), 3);
    let put = with("cat", "transfer")[0];
    assert!(put["name"].as_str().unwrap().starts_with("put, rank "));
    assert_eq!((&put["args"]["bytes"], &put["args"]["loc"]), (&256.into(), &"t.mlir:5:1".into()));

    let starts: BTreeMap<u64, &Value> = with("ph", "s").iter().map(|s| (s["id"].as_u64().unwrap(), *s)).collect();
    let ends = with("ph", "f");
    assert_eq!((starts.len(), ends.len()), (30, 30), "each wait saw one signal");
    for end in ends {
        let start = starts[&end["id"].as_u64().unwrap()];
        assert_eq!((start["pid"].as_u64().unwrap() + 1) % 3, end["pid"].as_u64().unwrap(), "from the rank before");
        assert_eq!(start["tid"], end["tid"], "from the same block");
        assert!(start["ts"].as_f64() <= end["ts"].as_f64());
    }
    let first = entries.iter().filter(|entry| entry["ph"] == "X").filter_map(|entry| entry["ts"].as_f64());
    assert!(first.fold(f64::MAX, f64::min).abs() < f64::EPSILON);
}

/// Waits for what comes, then, in the middle of a transfer, for what never does.
unsafe extern "C" fn stay(args: *const *const c_void, coords: *const Coords) {
    // SAFETY: started by `launch`.
    let (env, at) = unsafe { env(args, coords) };
    let flag = env.flag(at.block[0].cast_unsigned());
    signal(flag, 4);
    wait(&env, flag, GE, 4, c"t.mlir:8:1");
    // SAFETY: as compiled code calls it.
    unsafe { symm_rt_trace_begin(1, env.ctx, 1, flag, 8, c"t.mlir:9:1".as_ptr()) };
    wait(&env, flag, GE, 5, c"t.mlir:10:1");
}

#[test]
fn what_had_begun_ends_with_a_run_that_fails() {
    let mut config = threads(2);
    config.trace = true;
    let failure = run(&config, |rank| {
        let data = alloc(rank, 64, c"t.mlir:1:1");
        if rank.rank() == 0 {
            launch(rank, c"kernels::stay", stay, 2, data, c"t.mlir:2:1");
        }
        barrier_all(rank, c"t.mlir:3:1");
        Ok(())
    })
    .unwrap_err();
    assert!(failure.to_string().contains("deadlock"), "{failure}");
    let mut found: Vec<String> = failure.trace.unwrap().events.iter().map(describe).collect();
    found.sort();
    assert_eq!(
        found,
        [
            "0 None t.mlir:1:1 alloc",
            "0 None t.mlir:2:1 launch, until the end",
            "0 Some(0) t.mlir:10:1 wait >= 5 false, saw 4, until the end",
            "0 Some(0) t.mlir:2:1 block, until the end",
            "0 Some(0) t.mlir:8:1 wait >= 4 true, saw 4",
            "0 Some(0) t.mlir:9:1 transfer, until the end",
            "0 Some(1) t.mlir:10:1 wait >= 5 false, saw 4, until the end",
            "0 Some(1) t.mlir:2:1 block, until the end",
            "0 Some(1) t.mlir:8:1 wait >= 4 true, saw 4",
            "0 Some(1) t.mlir:9:1 transfer, until the end",
            "1 None t.mlir:1:1 alloc",
            "1 None t.mlir:3:1 barrier, until the end",
        ]
    );
}

#[test]
fn calls_that_fail_and_are_survived_have_an_end() {
    let mut config = threads(2);
    config.trace = true;
    let outcome = run(&config, |rank| {
        assert!(rank.alloc(1 << 40, 0).is_err());
        std::thread::sleep(Duration::from_millis(3100));
        rank.broadcast(1, &mut [0; 3])
    });
    let events = outcome.unwrap().trace.unwrap().events;
    assert_eq!(events.len(), 4);
    assert!(events.iter().all(|event| event.end - event.start < 3_000_000_000), "{events:?}");
    assert!(events.iter().any(|event| event.what == What::Broadcast { bytes: 3 } && event.loc.contains("tracing.rs:")));
}

/// A deadlock is found after two seconds: what has lasted for one has not ended by itself.
fn describe(event: &Event) -> String {
    let what = match &event.what {
        What::Launch { .. } => "launch".to_owned(),
        What::Block { .. } => "block".to_owned(),
        What::Barrier => "barrier".to_owned(),
        What::Alloc { .. } => "alloc".to_owned(),
        What::Transfer { .. } => "transfer".to_owned(),
        What::Wait { condition, saw, satisfied, .. } => format!("wait {condition} {satisfied}, saw {saw}"),
        other => format!("{other:?}"),
    };
    let until = if event.end - event.start > 1_000_000_000 { ", until the end" } else { "" };
    format!("{} {:?} {} {what}{until}", event.rank, event.block, event.loc)
}

/// Records more than is kept.
unsafe extern "C" fn chatter(args: *const *const c_void, coords: *const Coords) {
    // SAFETY: started by `launch`.
    let (env, _) = unsafe { env(args, coords) };
    for _ in 0..150_000 {
        // SAFETY: as compiled code calls it.
        unsafe { symm_rt_trace_signal(env.ctx, 0, env.flag(0), 0, 1, c"t.mlir:6:1".as_ptr()) };
    }
}

#[test]
fn a_process_keeps_so_many_events_and_counts_the_rest() {
    let mut config = threads(2);
    config.trace = true;
    let outcome = run(&config, |rank| {
        let data = alloc(rank, 64, c"t.mlir:1:1");
        for _ in 0..3 {
            launch(rank, c"kernels::chatter", chatter, 2, data, c"t.mlir:2:1");
        }
        Ok(())
    });
    let trace = outcome.unwrap().trace.unwrap();
    let all = 2 * (1 + 3 * (1 + 2 * (1 + 150_000)));
    // Threads take room in pieces.
    assert!(((1 << 20) - 1000..=1 << 20).contains(&trace.events.len()), "{}", trace.events.len());
    assert_eq!(trace.events.len() as u64 + trace.dropped, all);
}

#[test]
fn nothing_is_recorded_unless_asked_for() {
    assert!(run(&threads(1), |_| Ok(())).unwrap().trace.is_none());
}
