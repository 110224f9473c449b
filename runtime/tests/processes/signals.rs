//! Signals that a rank handles, ignores or is stopped by for a moment change nothing; one that stays stopped is named.

use std::io::{BufRead, BufReader};
use std::sync::mpsc::RecvTimeoutError;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::hosts;
use crate::start::{next_line, outputs, signal, start};
use crate::storm::Storm;
use crate::{PATIENCE, SOON};

pub const TESTS: [(&str, fn()); 5] = [
    ("signals_change_nothing", signals_change_nothing),
    ("signals_do_not_hide_why_a_rank_fails", signals_do_not_hide_why_a_rank_fails),
    ("signals_do_not_disturb_the_gathering_of_traces", signals_do_not_disturb_the_gathering_of_traces),
    ("a_rank_that_dies_while_traces_are_gathered_is_named", a_rank_that_dies_while_traces_are_gathered_is_named),
    ("a_stopped_rank_is_named_while_the_others_wait", a_stopped_rank_is_named_while_the_others_wait),
];

/// More than this with `SYMM_STORM_ROUNDS`.
const ROUNDS: u32 = 6;

fn rounds() -> u32 {
    std::env::var("SYMM_STORM_ROUNDS").map_or(ROUNDS, |rounds| rounds.parse().expect("SYMM_STORM_ROUNDS: a number"))
}

fn signals_change_nothing() {
    let storm = Storm::begin();
    let mut round = 0;
    while round < rounds() || storm.sent() <= 100 {
        round += 1;
        for (ok, text) in outputs(start(4, "storm", "slow start"), SOON) {
            assert!(ok, "{text}");
        }
    }
}

/// Over a network: it is told before the rank ends.
fn signals_do_not_hide_why_a_rank_fails() {
    let _storm = Storm::begin();
    for _ in 0..rounds() {
        hosts::a_failure_is_said_by_all();
    }
}

fn signals_do_not_disturb_the_gathering_of_traces() {
    let storm = Storm::begin();
    let mut round = 0;
    while round < rounds().div_ceil(2) || storm.sent() <= 30 {
        round += 1;
        for (ok, text) in outputs(start(3, "storm, trace", "long trace"), SOON) {
            assert!(ok, "{text}");
        }
    }
}

/// Rank 1 has returned, and is stopped when it should hand over its events; rank 2's do not fit the connection.
fn a_rank_that_dies_while_traces_are_gathered_is_named() {
    let mut children = start(3, "late", "late trace");
    let pid = children[1].id();
    // Before that it would be a death in the run.
    for r in [0, 2] {
        assert_eq!(next_line(&mut children[r]), "returns");
    }
    sleep(Duration::from_millis(1500));
    signal(pid, Signal::KILL);
    let found = outputs(children, SOON);
    assert!(!found[0].0 && found[0].1.contains("rank 1 died"), "{found:?}");
    assert!(found[2].0, "it has handed over its events: {found:?}");
}

/// There is no timeout that would end the run. One of those who wait says it, and one continued rank ends it well.
fn a_stopped_rank_is_named_while_the_others_wait() {
    let mut children = start(3, "stopped for a while", "stop 1 for a while");
    let (begin, pid) = (Instant::now(), children[1].id());
    let mut said = BufReader::new(children[0].stderr.take().unwrap());
    let mut line = String::new();
    let (ends, ended) = std::sync::mpsc::channel::<()>();
    std::thread::spawn(move || {
        if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            // Ends the test where nothing is said.
            signal(pid, Signal::CONT);
        }
    });
    said.read_line(&mut line).unwrap();
    assert!(begin.elapsed() < SOON, "nothing was said");
    assert!(line.contains(&format!("rank 1 (process {pid}) has been stopped by a signal")), "{line}");
    assert!(line.contains(&format!("kill -CONT {pid}")), "{line}");
    signal(pid, Signal::CONT);
    let found = outputs(children, SOON);
    assert!(found.iter().all(|(ok, text)| *ok && !text.contains("has been stopped")), "{found:?}");
    drop(ends);
}
