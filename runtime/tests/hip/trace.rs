//! What kernels record in the trace buffer, and the devices' clocks.

use std::time::Duration;

use symm_runtime::trace::{Event, Trace, What};
use symm_runtime::{Config, Device, run};

use crate::common::barrier_all;
use crate::stand_in::{Turn, code};
use crate::{ONE_BLOCK, assert_has, config, launch_plain};

fn traced(ranks: u32) -> Config {
    let mut config = config(ranks);
    config.trace = true;
    config
}

/// What blocks did, on which rank, where.
fn on_device(trace: &Trace) -> Vec<&Event> {
    let mut events: Vec<_> = trace.events.iter().filter(|event| event.block.is_some()).collect();
    events.sort_by_key(|event| (event.rank, event.loc.clone()));
    events
}

#[test]
fn records_become_events_at_the_hosts_times() {
    let turn = Turn::new(|_| ());
    let once = |_| {
        let outcome = run(&traced(2), |rank| {
            // The clocks drift apart by milliseconds meanwhile.
            std::thread::sleep(Duration::from_millis(200));
            barrier_all(rank, c"p.mlir:4:1");
            launch_plain(rank, c"kernels::record", [3, 2, 1, 32, 1, 1, 0], c"c");
            Ok(())
        })
        .unwrap();
        assert_eq!(turn.state().live, [0; 11], "everything was given back");
        outcome.trace.unwrap()
    };
    // On a busy machine it may take long to ask for the time.
    let is_sure = |trace: &Trace| trace.clock_errors.values().all(|error| (1..20_000_000).contains(error));
    let trace = (0..50).map(once).find(is_sure).expect("clocks that were read in time");
    let found: Vec<String> = on_device(&trace).iter().map(|event| describe(event)).collect();
    let expected = |rank: u32, next: u32| {
        [
            format!("{rank} 0 t.mlir:2:1 kernels::record [0, 0, 0]"),
            format!("{rank} 0 t.mlir:3:1 Put, rank {next}, Some(1048640), 64 bytes"),
            format!("{rank} 0 t.mlir:4:1 signal to {next}, Some((1, 1048576)): Set Some(7)")
                .replace("((1", &format!("(({next}")),
            format!("{rank} 0 t.mlir:5:1 wait Some(({rank}, 1048576)) >= 7, saw 7, true"),
            format!("{rank} 5 t.mlir:6:1 barrier"),
            format!("{rank} 5 t.mlir:7:1 fence release sys"),
            format!("{rank} 5 t.mlir:8:1 signal to {next}, Some(({next}, 1048584)): Add None"),
        ]
    };
    assert_eq!(found, [expected(0, 1), expected(1, 0)].concat());

    assert_eq!(trace.clock_errors.keys().copied().collect::<Vec<_>>(), [0, 1]);
    let window = |rank: u32| {
        let is_launch = |event: &&Event| event.rank == rank && matches!(event.what, What::Launch { .. });
        let launch = trace.events.iter().find(is_launch).unwrap();
        let error = trace.clock_errors[&rank];
        launch.start - error..=launch.end + error
    };
    for event in on_device(&trace) {
        let window = window(event.rank);
        assert!(window.contains(&event.start) && window.contains(&event.end), "{event:?} is not in {window:?}");
    }
    let mut json = Vec::new();
    trace.write_chrome(&mut json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let starts = json["traceEvents"].as_array().unwrap().iter().filter(|entry| entry["ph"] == "s");
    assert_eq!(starts.count(), 2, "an arrow for each wait");
    assert_eq!(json["otherData"]["clock_error_ns"]["rank 1"], trace.clock_errors[&1]);
}

fn describe(event: &Event) -> String {
    let what = match &event.what {
        What::Block { kernel, coords } => format!("{kernel} {coords:?}"),
        What::Transfer { kind, peer, offset, bytes } => format!("{kind:?}, rank {peer}, {offset:?}, {bytes} bytes"),
        What::Signal { flag, peer, op, value } => {
            format!("signal to {peer}, {:?}: {op:?} {value:?}", flag.map(|flag| (flag.rank, flag.offset)))
        }
        What::Wait { flag, condition, saw, satisfied } => {
            format!("wait {:?} {condition}, saw {saw}, {satisfied}", flag.map(|flag| (flag.rank, flag.offset)))
        }
        What::DeviceBarrier => "barrier".to_owned(),
        What::Fence { order } => format!("fence {order}"),
        other => format!("{other:?}"),
    };
    format!("{} {} {} {what}", event.rank, event.block.unwrap(), event.loc)
}

#[test]
fn each_launch_has_the_whole_buffer_and_what_does_not_fit_is_counted() {
    let _turn = Turn::new(|_| ());
    let outcome = run(&traced(1), |rank| {
        launch_plain(rank, c"kernels::flood", ONE_BLOCK, c"c");
        launch_plain(rank, c"kernels::record", ONE_BLOCK, c"c");
        launch_plain(rank, c"kernels::flood", ONE_BLOCK, c"c");
        Ok(())
    })
    .unwrap();
    let trace = outcome.trace.unwrap();
    assert_eq!(trace.dropped, 10);
    let blocks = trace.events.iter().filter(|event| &*event.loc == "t.mlir:2:1");
    assert_eq!(blocks.count(), 1, "the launch between them fits, and is read once");
}

/// The events of a run that fails while `kernel` waits.
fn of_failed(kernel: &'static std::ffi::CStr, timeout: u64, says: &str) -> String {
    let _turn = Turn::new(|_| ());
    let mut config = traced(2);
    config.timeout = Some(Duration::from_millis(timeout));
    let failure = run(&config, move |rank| {
        if rank.rank() == 1 {
            launch_plain(rank, kernel, ONE_BLOCK, c"c");
        }
        barrier_all(rank, c"p.mlir:4:1");
        Ok(())
    })
    .unwrap_err();
    assert_has(&failure.to_string(), &[says]);
    let trace = failure.trace.unwrap();
    let [event] = on_device(&trace)[..] else { panic!("{trace:?}") };
    assert!(event.end - event.start > 300_000_000, "it ends with the run");
    describe(event)
}

#[test]
fn a_wait_that_never_ends_is_in_the_trace_of_the_failed_run() {
    let waits = "1 3 t.mlir:9:1 wait Some((1, 1048576)) < 18446744073709551615, saw 0, false";
    assert_eq!(of_failed(c"kernels::stall", 2000, "not finished after 2s"), waits);
    // Here the device cannot be read any more: what was seen before counts.
    assert_eq!(of_failed(c"kernels::stall_and_fail", 60_000, "unspecified launch failure"), waits);
}

#[test]
fn nothing_is_recorded_without_a_trace_or_by_code_that_has_no_clock() {
    let turn = Turn::new(|_| ());
    run(&config(1), |rank| {
        launch_plain(rank, c"kernels::nothing", ONE_BLOCK, c"c");
        Ok(())
    })
    .unwrap();
    assert_eq!(turn.state().launches().len(), 1, "no look at the clock");
    drop(turn);

    let _turn = Turn::new(|_| ());
    let mut config = traced(1);
    let mut plain = code();
    plain[0].image = b"nothing 8\n".to_vec();
    config.device = Device::Hip(plain);
    let outcome = run(&config, |rank| {
        launch_plain(rank, c"kernels::nothing", ONE_BLOCK, c"c");
        Ok(())
    })
    .unwrap();
    let trace = outcome.trace.unwrap();
    assert!(on_device(&trace).is_empty() && trace.clock_errors.is_empty());
}
