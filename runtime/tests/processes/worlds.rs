//! Several runs at once, which ranks leave in different orders.

use std::time::Duration;

use symm_runtime::{Bootstrap, Config, Error, Rank, Ranks, join};

use crate::SOON;
use crate::start::{outputs, start};

pub const TESTS: [(&str, fn()); 6] = [
    ("runs_are_left_in_any_order", runs_are_left_in_any_order),
    ("a_run_is_left_while_others_meet_in_another", a_run_is_left_while_others_meet_in_another),
    ("a_run_is_left_while_others_look_into_another", a_run_is_left_while_others_look_into_another),
    (
        "what_fails_in_a_run_after_its_leave_is_told_at_the_last",
        what_fails_in_a_run_after_its_leave_is_told_at_the_last,
    ),
    ("a_rank_that_has_left_a_run_is_missed_there", a_rank_that_has_left_a_run_is_missed_there),
    ("the_last_leave_waits_no_longer_than_a_call_may", the_last_leave_waits_no_longer_than_a_call_may),
];

/// What a rank does; `what` begins with "worlds".
pub fn as_rank(what: &str) -> Result<String, Error> {
    let timeout = Some(Duration::from_secs(if what == "worlds, late" { 3 } else { 90 }));
    let join = |_| {
        let config = Config::new(Ranks::Process(Bootstrap::from_env()?));
        Ok(join(&Config { timeout, heap_size: 4 << 20, ..config })?.remove(0))
    };
    let mut runs = (0..3).map(join).collect::<Result<Vec<Rank>, Error>>()?;
    let me = runs[0].rank();
    match what {
        "worlds, turned" => runs.rotate_left(me as usize % 3),
        "worlds, met" => meet(me, &mut runs)?,
        "worlds, looked at" => look(me, &mut runs)?,
        _ => return part(what, me, runs),
    }
    runs.into_iter().try_for_each(Rank::leave)?;
    Ok("left".to_owned())
}

/// Some leave the first run where others wait for them in the second.
fn meet(me: u32, runs: &mut Vec<Rank>) -> Result<(), Error> {
    if me != 0 {
        runs[1].barrier()?;
        runs[1].alloc(64, 0)?;
    }
    let first = runs.remove(0);
    if me == 0 {
        first.leave()?;
        runs[0].barrier()?;
        return runs[0].alloc(64, 0).map(drop);
    }
    first.leave()
}

/// Rank 1 waits for rank 0 in the second run as nobody can see.
fn look(me: u32, runs: &mut Vec<Rank>) -> Result<(), Error> {
    let mail = runs[1].alloc(1, 0)?;
    let first = runs.remove(0);
    if me == 0 {
        first.leave()?;
        return runs[0].write(runs[0].as_remote(mail, 1)?, &[1]);
    }
    let mut got = [0];
    while got == [0] {
        runs[0].read(mail, &mut got)?;
        std::thread::sleep(Duration::from_millis(5));
    }
    first.leave()
}

/// Rank 0 leaves the first run while rank 1 waits for it in the second.
fn part(what: &str, me: u32, mut runs: Vec<Rank>) -> Result<String, Error> {
    let (last, second, first) = (runs.remove(2), runs.remove(1), runs.remove(0));
    if me == 0 {
        first.leave()?;
        second.barrier()?;
        second.leave()?;
        return Ok(last.leave().expect_err("a failed run").to_string());
    }
    second.barrier()?;
    match what {
        "worlds, misused" => {
            let said = first.barrier().expect_err("rank 0 has left").to_string();
            let again = first.barrier().expect_err("a failed run").to_string();
            drop(first);
            second.leave()?;
            last.leave()?;
            Ok(said + " | " + &again)
        }
        "worlds, late" => {
            second.leave()?;
            last.leave()?;
            std::thread::sleep(Duration::from_secs(7));
            Ok(first.leave().expect_err("too late").to_string())
        }
        _ => {
            second.leave()?;
            last.leave()?;
            drop(first);
            Ok("dropped".to_owned())
        }
    }
}

fn runs_are_left_in_any_order() {
    for ranks in [1, 2, 4] {
        let found = outputs(start(ranks, "turned", "worlds, turned"), SOON);
        assert!(found.iter().all(|(ok, text)| *ok && text.trim() == "left"), "{found:?}");
    }
}

fn a_run_is_left_while_others_meet_in_another() {
    let found = outputs(start(3, "met", "worlds, met"), SOON);
    assert!(found.iter().all(|(ok, text)| *ok && text.trim() == "left"), "{found:?}");
}

fn a_run_is_left_while_others_look_into_another() {
    let found = outputs(start(2, "looked at", "worlds, looked at"), SOON);
    assert!(found.iter().all(|(ok, text)| *ok && text.trim() == "left"), "{found:?}");
}

fn what_fails_in_a_run_after_its_leave_is_told_at_the_last() {
    let found = outputs(start(2, "dropped", "worlds, dropped"), SOON);
    assert!(found[0].0 && found[0].1.contains("rank 1 was dropped"), "{found:?}");
    assert!(found[1].0 && found[1].1.trim() == "dropped", "{found:?}");
}

fn a_rank_that_has_left_a_run_is_missed_there() {
    let found = outputs(start(2, "misused", "worlds, misused"), SOON);
    assert!(found[0].0 && found[0].1.contains("rank 0: leave"), "{found:?}");
    let (said, again) = found[1].1.split_once(" | ").unwrap_or_default();
    assert!(said.contains("rank 0: leave") && said.contains("rank 1: barrier_all"), "{found:?}");
    assert!(again.contains("rank 0 had left the run, and another rank called something else"), "{found:?}");
    assert!(said.contains("rank 0: leave at runtime/tests/processes/worlds.rs:"), "{found:?}");
}

fn the_last_leave_waits_no_longer_than_a_call_may() {
    let found = outputs(start(2, "late", "worlds, late"), SOON);
    assert!(found.iter().all(|(ok, text)| *ok && text.contains("not finished after 3s")), "{found:?}");
}
