//! A process for each rank. The test starts itself as the ranks; `--as` and a word say what they do.

#[path = "../common/mod.rs"]
mod common;
mod forks;
mod hosts;
mod ranks;
mod signals;
mod spawner;
mod start;
mod storm;
mod users;
mod worlds;

use std::io::Write;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::process::{Child, ExitCode};
use std::thread::sleep;
use std::time::{Duration, Instant};

use start::{next_line, outputs, port, rank, start};

/// Long enough for a busy machine, and less than [`PATIENCE`].
const SOON: Duration = Duration::from_secs(60);

/// How long a rank waits for another that says nothing.
const PATIENCE: Duration = Duration::from_secs(90);

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("--as") => ranks::as_rank(&std::env::args().nth(2).expect("what to do")),
        // The harness's own flags, such as --list, ask for nothing that this file has.
        Some(flag) if flag.starts_with("--") && flag != "--nocapture" => ExitCode::SUCCESS,
        filter => test_all(filter.filter(|text| !text.starts_with('-'))),
    }
}

fn test_all(filter: Option<&str>) -> ExitCode {
    let tests: [(&str, fn()); 23] = [
        ("ranks_exchange_data", ranks_exchange_data),
        ("ranks_join_and_leave", ranks_join_and_leave),
        ("a_killed_rank_is_named", a_killed_rank_is_named),
        ("a_killed_rank_0_is_named", a_killed_rank_0_is_named),
        ("a_silent_exit_is_a_death", a_silent_exit_is_a_death),
        ("a_fault_reaches_all_ranks", a_fault_reaches_all_ranks),
        ("a_deadlock_across_processes_is_found", a_deadlock_across_processes_is_found),
        ("a_missing_rank_is_named", a_missing_rank_is_named),
        ("a_rank_that_dies_before_all_have_come_is_named", a_rank_that_dies_before_all_have_come_is_named),
        ("a_rank_that_dies_before_it_joins_is_named", a_rank_that_dies_before_it_joins_is_named),
        ("a_stopped_rank_0_does_not_answer", a_stopped_rank_0_does_not_answer),
        ("all_ranks_are_told_that_they_are_of_different_runs", all_ranks_are_told_that_they_are_of_different_runs),
        ("a_rank_claimed_twice_is_refused", a_rank_claimed_twice_is_refused),
        ("different_runs_are_refused", different_runs_are_refused),
        ("a_latecomer_to_a_refused_run_is_told", a_latecomer_to_a_refused_run_is_told),
        ("a_rank_that_cannot_take_part_is_named", a_rank_that_cannot_take_part_is_named),
        ("strangers_do_no_harm", strangers_do_no_harm),
        ("traces_come_together_on_rank_0", traces_come_together_on_rank_0),
        ("a_failed_run_has_a_trace", a_failed_run_has_a_trace),
        ("a_dead_rank_is_not_in_the_trace", a_dead_rank_is_not_in_the_trace),
        ("a_long_fingerprint_is_compared", a_long_fingerprint_is_compared),
        ("the_longest_times_are_times", the_longest_times_are_times),
        ("what_is_written_to_closed_outputs_reaches_nobody", what_is_written_to_closed_outputs_reaches_nobody),
    ];
    let own = std::fs::read_link("/proc/self").is_ok_and(|me| me.to_string_lossy() == std::process::id().to_string());
    if !own {
        println!("  signals: skipped, for /proc is of another PID namespace; unshare has --mount-proc");
    }
    // For the whole suite: SYMM_STORM=1.
    let storm = std::env::var_os("SYMM_STORM").filter(|_| own).map(|_| storm::Storm::begin());
    let signals = if own { &signals::TESTS[..] } else { &[] };
    let more = [&forks::TESTS[..], &hosts::TESTS, signals, &spawner::TESTS, &users::TESTS, &worlds::TESTS].concat();
    let (mut passed, mut failed) = (0, Vec::new());
    for (name, test) in tests.into_iter().chain(more) {
        if filter.is_none_or(|filter| name.contains(filter)) {
            let start = Instant::now();
            let outcome = if std::panic::catch_unwind(test).is_ok() {
                passed += 1;
                "ok"
            } else {
                failed.push(name);
                "FAILED"
            };
            println!("test {name} ... {outcome} ({:.1} s)", start.elapsed().as_secs_f64());
        }
    }
    drop(storm);
    users::clean_up();
    hosts::clean_up();
    summary(passed, &failed)
}

/// As Rust's own harness ends, for those that read it.
fn summary(passed: usize, failed: &[&str]) -> ExitCode {
    if !failed.is_empty() {
        println!("\nfailures:\n    {}", failed.join("\n    "));
    }
    let (outcome, count) = (if failed.is_empty() { "ok" } else { "FAILED" }, failed.len());
    println!("\ntest result: {outcome}. {passed} passed; {count} failed; 0 ignored");
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn ranks_exchange_data() {
    for ranks in [1, 2, 4] {
        for (r, (ok, text)) in (0_u32..).zip(outputs(start(ranks, "normal", "around"), SOON)) {
            let neighbour = (r + ranks - 1) % ranks;
            assert!(ok && text.contains(&format!("1 of {},", 100_000 + neighbour)), "{text}");
        }
    }
}

fn ranks_join_and_leave() {
    for ranks in [1, 3] {
        for (ok, text) in outputs(start(ranks, "join", "join"), SOON) {
            assert!(ok && text.trim() == "joined and left", "{text}");
        }
    }
    let found = outputs(start(3, "join and die", "join and die"), SOON);
    for r in [0, 2] {
        assert_eq!(
            found[r].1.trim(),
            "stopped, because rank 1 reported: rank 1 died: its connection closed before it had finished; \
             its own output says why"
                .replace("rank 1 reported", &format!("rank {} reported", reporter(&found[r].1)))
        );
    }
}

/// The rank named as the reporter: the first of the others to see it.
fn reporter(text: &str) -> char {
    text.chars().nth("stopped, because rank ".len()).unwrap_or('?')
}

fn a_killed_rank_is_named() {
    let begin = Instant::now();
    let outputs = outputs(start(4, "killed", "kill 2"), SOON);
    println!("  survivors of a killed rank ended after {:.2} s", begin.elapsed().as_secs_f64());
    for (r, (ok, text)) in outputs.iter().enumerate() {
        assert!(!ok);
        assert!(r == 2 || text.contains("rank 2 died"), "rank {r}: {text}");
    }
}

fn a_killed_rank_0_is_named() {
    let outputs = outputs(start(3, "killed 0", "kill 0"), SOON);
    for (ok, text) in &outputs[1..] {
        assert!(!ok && text.contains("rank 0 died"), "{text}");
    }
}

fn a_silent_exit_is_a_death() {
    let outputs = outputs(start(2, "exit", "exit 1"), SOON);
    assert!(outputs[0].1.contains("rank 1 died"), "{outputs:?}");
}

fn a_fault_reaches_all_ranks() {
    let found = outputs(start(3, "fault", "fault"), SOON);
    assert!(found.iter().all(|(ok, text)| !ok && text.contains("heap is exhausted")), "{found:?}");
    assert!(found.iter().any(|(_, text)| text.starts_with("act.mlir:6:1: rank")), "{found:?}");
    let found = outputs(start(3, "error", "error"), SOON);
    assert_eq!(found[1].1.trim(), "cannot compile");
    assert_eq!(found[2].1.trim(), "stopped, because rank 1 reported: cannot compile");
}

fn a_deadlock_across_processes_is_found() {
    let found = outputs(start(2, "deadlock", "deadlock"), SOON);
    assert!(found.iter().all(|(ok, text)| !ok && text.contains("deadlock")), "{found:?}");
    let full = &found.iter().find(|(_, text)| !text.starts_with("stopped")).unwrap().1;
    for part in [
        "rank 0, block (1,0,0) of @stuck: wait at act.mlir:30:5: flag rank 0 heap+0x200000: saw 0, expected >= 7,",
        "rank 1, block (0,0,0) of @stuck: wait at act.mlir:30:5: flag rank 1 heap+0x200000: saw 0, expected >= 7,",
    ] {
        assert!(full.contains(part), "no {part:?} in {full}");
    }
}

fn a_missing_rank_is_named() {
    let three = [0, 1, 3].map(|r| rank(r, 4, "missing", "short").spawn().unwrap());
    let found = outputs(three.into(), SOON);
    assert!(found.iter().all(|(ok, text)| !ok && text.contains("rank 2 did not join within 3s")), "{found:?}");
    let alone = vec![rank(1, 2, "nobody", "short").spawn().unwrap()];
    let said = &outputs(alone, SOON)[0].1;
    assert!(
        said.contains("rank 0 did not join within 3s")
            && said.trim_end().ends_with("engine between nodes, or give a longer timeout"),
        "{said}"
    );
}

/// Rank 2 never comes: the others would wait for it.
fn a_rank_that_dies_before_all_have_come_is_named() {
    let mut children = [0, 1].map(|r| rank(r, 3, "early death", "tell").spawn().unwrap());
    assert_eq!(next_line(&mut children[1]), "announced");
    children[1].kill().unwrap();
    let found = outputs(children.into(), SOON);
    assert!(!found[0].0 && found[0].1.contains("rank 1 died"), "{found:?}");
}

/// It has announced itself, and dies while all are getting ready.
fn a_rank_that_dies_before_it_joins_is_named() {
    let found = outputs(start(3, "early", "die early"), SOON);
    assert!([0, 2].iter().all(|r| !found[*r].0 && found[*r].1.contains("rank 1 died")), "{found:?}");
}

fn a_stopped_rank_0_does_not_answer() {
    let mut host = rank(0, 2, "stopped", "stop early").spawn().unwrap();
    let mut guest = rank(1, 2, "stopped", "stop early").spawn().unwrap();
    assert_eq!(next_line(&mut guest), "announced");
    let begin = Instant::now();
    let guest = guest.wait_with_output().unwrap();
    let (pid, text) = (host.id(), String::from_utf8_lossy(&guest.stderr).into_owned());
    host.kill().unwrap();
    host.wait().unwrap();
    let expected = format!("rank 0 (process {pid}) has not answered for 8s: stopped by a signal such as SIGSTOP");
    assert!(text.contains(&expected), "{text}");
    // An answer that does not come is waited for once, not twice.
    assert!(begin.elapsed() < Duration::from_secs(15), "{:?}", begin.elapsed());
}

/// Each of the three learns it, also the one that agrees with the first that came.
fn all_ranks_are_told_that_they_are_of_different_runs() {
    let sizes: Vec<_> = [(0, 2), (1, 3), (2, 3)].map(|(r, of)| rank(r, of, "three", "around").spawn().unwrap()).into();
    let found = outputs(sizes, SOON);
    let told = |text: &String| {
        [1, 2].iter().any(|r| text.contains(&format!("the number of ranks is 3 on rank {r} and 2 on rank 0")))
    };
    assert!(found.iter().all(|(ok, text)| !ok && told(text)), "{found:?}");
}

fn a_rank_claimed_twice_is_refused() {
    let mut children: Vec<_> = [0, 1, 1].map(|r| rank(r, 3, "twice", "around").spawn().unwrap()).into();
    let pids: Vec<_> = children[1..].iter().map(Child::id).collect();
    let found = outputs(std::mem::take(&mut children), SOON);
    assert!(found.iter().all(|(ok, text)| !ok && text.contains("both say that they are rank 1")), "{found:?}");
    assert!(pids.iter().all(|pid| found[0].1.contains(&pid.to_string())), "{found:?}");
    // All three learn it at once, and not when rank 1 could come no more.
    let hosts: Vec<_> = [0, 0, 2].map(|r| rank(r, 3, "twice 0", "around").spawn().unwrap()).into();
    let found = outputs(hosts, SOON);
    assert!(found.iter().all(|(ok, text)| !ok && text.contains("both say that they are rank 0")), "{found:?}");
}

fn different_runs_are_refused() {
    for (what, part) in [
        ("other heap", "the heap's size is 16777216 on rank 1 and 8388608 on rank 0"),
        ("other program", "the program is 02 on rank 1 and 01 on rank 0"),
        ("no program", "the program is none on rank 1 and 01 on rank 0"),
        ("no option", "steps is not given on rank 1 and 7 on rank 0"),
    ] {
        let found = outputs(start(3, what, what), SOON);
        assert!(found.iter().all(|(ok, text)| !ok && text.contains(part)), "{found:?}");
    }
    let found = outputs(start(2, "other option", "other option"), SOON);
    assert!(found.iter().all(|(_, text)| text.contains("steps is 1 on rank 1 and 0 on rank 0")), "{found:?}");
    let sizes: Vec<_> = [(0, 2), (1, 3)].map(|(r, of)| rank(r, of, "sizes", "around").spawn().unwrap()).into();
    let found = outputs(sizes, SOON);
    assert!(
        found.iter().all(|(_, text)| text.contains("the number of ranks is 3 on rank 1 and 2 on rank 0")),
        "{found:?}"
    );
}

/// Rank 2 comes when ranks 0 and 1 have long found that they disagree; alone it would wait for rank 0.
fn a_latecomer_to_a_refused_run_is_told() {
    let mut children: Vec<_> = [0, 1].map(|r| rank(r, 3, "late", "other heap").spawn().unwrap()).into();
    sleep(Duration::from_secs(1));
    children.push(rank(2, 3, "late", "other heap").spawn().unwrap());
    let found = outputs(children, SOON);
    assert!(found.iter().all(|(ok, text)| !ok && text.contains("on rank 1 and 8388608 on rank 0")), "{found:?}");
}

/// One rank is to run on a GPU that is not there: the others are told at once, instead of waiting for it.
/// Where there is a GPU, the ranks disagree on what they run on.
fn a_rank_that_cannot_take_part_is_named() {
    for without in [0, 1] {
        let found = outputs(start(3, "without", &format!("no device {without}")), SOON);
        let reasons = [format!("rank {without} could not join the run: no CUDA device"), "the driver is".to_owned()];
        let told = |text: &String| reasons.iter().any(|reason| text.contains(reason));
        assert!(found.iter().all(|(ok, text)| !ok && told(text)), "{found:?}");
    }
}

/// Connections that are not the run's ranks: one is silent, one talks something else.
fn strangers_do_no_harm() {
    let host = rank(0, 2, "strangers", "around").spawn().unwrap();
    let name = socket_of_run();
    let mut strangers: Vec<_> =
        (0..2).map(|_| UnixStream::connect_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap()).collect();
    strangers[1].write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let guest = rank(1, 2, "strangers", "around").spawn().unwrap();
    let found = outputs(vec![host, guest], SOON);
    assert!(found.iter().all(|(ok, _)| *ok), "{found:?}");
}

/// Waits for rank 0's socket to appear.
fn socket_of_run() -> String {
    let end = Instant::now() + SOON;
    loop {
        let unix = std::fs::read_to_string("/proc/net/unix").unwrap();
        let name = unix
            .split_whitespace()
            .find_map(|word| word.strip_prefix("@").filter(|name| name.contains(&format!("-{}-", port()))));
        if let Some(name) = name {
            return name.to_owned();
        }
        assert!(Instant::now() < end, "rank 0 does not listen");
        sleep(Duration::from_millis(2));
    }
}

fn traces_come_together_on_rank_0() {
    let found = outputs(start(3, "trace", "trace"), SOON);
    assert!(found[0].0 && found[0].1.contains(&format!("waits traced {}", 3 * 4 * 100)), "{found:?}");
    assert!(found[1].0 && found[1].1.contains("waits traced 0"), "{found:?}");
}

fn a_failed_run_has_a_trace() {
    let found = outputs(start(3, "deadlock trace", "deadlock, trace"), SOON);
    for waiting in ["rank 0, block Some(1): a wait saw 0\n", "rank 2, block Some(0): a wait saw 0\n"] {
        assert!(found[0].1.contains(waiting), "{found:?}");
    }
    assert!(!found[0].0 && !found[1].1.contains("a wait saw"), "{found:?}");
}

fn a_dead_rank_is_not_in_the_trace() {
    let found = outputs(start(3, "killed trace", "kill 2, trace"), SOON);
    assert!(
        found[0].1.contains("rank 2 died") && found[0].1.contains("rank 1, block Some(0): a wait saw"),
        "{found:?}"
    );
    assert!(!found[0].1.contains("rank 2, block"), "{found:?}");
}

/// Of any length, and none of it is printed at length.
fn a_long_fingerprint_is_compared() {
    let found = outputs(start(3, "long", "long program"), SOON);
    assert!(found.iter().all(|(ok, _)| *ok), "{found:?}");
    for what in ["other long program", "other long option"] {
        let found = outputs(start(3, what, what), SOON);
        let told = |text: &str| text.contains("ranks 1 and 0 do not belong to one run") && text.len() < 1000;
        assert!(found.iter().all(|(ok, text)| !ok && told(text)), "{found:?}");
    }
}

fn the_longest_times_are_times() {
    let found = outputs(start(2, "longest", "longest"), SOON);
    assert!(found.iter().all(|(ok, _)| *ok), "{found:?}");
}

/// Otherwise their numbers are those of connections and heaps.
fn what_is_written_to_closed_outputs_reaches_nobody() {
    let found = outputs(start(3, "closed", "join, closed"), SOON);
    assert!(found.iter().all(|(ok, text)| *ok && text.is_empty()), "{found:?}");
}
