//! Ranks that [`spawn_processes`] starts: their output, their ends, and what they leave.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use symm_runtime::{Spawn, spawn_processes};

use crate::SOON;
use crate::start::{leaves_nothing, rank};
use crate::users::ordinary;

pub const TESTS: [(&str, fn()); 10] = [
    ("the_spawner_reports_and_cleans_up", the_spawner_reports_and_cleans_up),
    ("a_straggler_is_killed_after_the_grace", a_straggler_is_killed_after_the_grace),
    ("a_rank_that_dies_before_it_comes_is_named", a_rank_that_dies_before_it_comes_is_named),
    ("a_rank_stopped_in_the_run_is_named_and_killed", a_rank_stopped_in_the_run_is_named_and_killed),
    ("output_that_is_lost_is_an_error", output_that_is_lost_is_an_error),
    ("a_limit_on_files_is_named", a_limit_on_files_is_named),
    ("whatever_memory_there_is_nothing_panics", whatever_memory_there_is_nothing_panics),
    ("no_rank_outlives_its_spawner", no_rank_outlives_its_spawner),
    ("a_pipe_that_a_child_keeps_holds_nobody", a_pipe_that_a_child_keeps_holds_nobody),
    (
        "a_spawner_whose_parent_ignores_its_children_keeps_statuses",
        a_spawner_whose_parent_ignores_its_children_keeps_statuses,
    ),
];

fn spawn(what: &str, grace: Duration) -> Result<(), symm_runtime::Error> {
    let program = std::env::current_exe().unwrap();
    spawn_processes(&Spawn { ranks: 3, program, args: vec!["--as".into(), what.into()], input: Vec::new(), grace })
}

/// What ignores SIGCHLD hands that down.
fn a_spawner_whose_parent_ignores_its_children_keeps_statuses() {
    for (what, ends_well) in [("spawn around", true), ("spawn exit at once", false)] {
        let output = ordinary(&rank(0, 1, "ignored", what), "trap '' CHLD; ").output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.success(), ends_well, "{text}");
        assert!(ends_well || text.contains("exited with code 1"), "{text}");
    }
}

fn the_spawner_reports_and_cleans_up() {
    spawn("around", Duration::ZERO).unwrap();
    let message = spawn("kill 2", SOON).unwrap_err().to_string();
    for part in ["rank 2 was killed by signal 9", "rank 0 exited with code 1", "rank 1 exited with code 1"] {
        assert!(message.contains(part), "no {part:?} in {message}");
    }
    leaves_nothing();
    let missing =
        Spawn { ranks: 1, program: "/nonexistent".into(), args: Vec::new(), input: Vec::new(), grace: Duration::ZERO };
    assert!(spawn_processes(&missing).unwrap_err().to_string().contains("/nonexistent"));
}

/// Rank 1 fails before it joins; the others do something else for an hour.
fn a_straggler_is_killed_after_the_grace() {
    let begin = Instant::now();
    let message = spawn("stay away", Duration::from_millis(300)).unwrap_err().to_string();
    assert!(begin.elapsed() >= Duration::from_millis(300) && begin.elapsed() < SOON);
    assert!(message.starts_with("rank 1 exited with code 1"), "{message}");
    assert!(message.contains("rank 2 did not end after another had failed, and was killed"), "{message}");
    leaves_nothing();
}

/// It has not said a word; whoever started it tells the others.
fn a_rank_that_dies_before_it_comes_is_named() {
    for r in [0, 1] {
        let begin = Instant::now();
        let spawner = rank(0, 1, "dumb", &format!("spawn die at once {r}")).output().unwrap();
        let text = String::from_utf8_lossy(&spawner.stderr).into_owned();
        assert!(begin.elapsed() < SOON, "{:?}", begin.elapsed());
        assert_eq!(text.matches(&format!("rank {r} died")).count(), 2, "{text}");
    }
}

fn a_rank_stopped_in_the_run_is_named_and_killed() {
    let begin = Instant::now();
    let spawner = rank(0, 1, "stop in run", "spawn stop 1").output().unwrap();
    let text = String::from_utf8_lossy(&spawner.stderr).into_owned();
    assert!(begin.elapsed() < SOON, "it did not wait for rank 1");
    for part in
        ["not finished after 2s", "rank 1: ", ": stopped by a signal such as SIGSTOP", "rank 1 had been stopped"]
    {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    leaves_nothing();
}

fn output_that_is_lost_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let spawner = rank(0, 1, "lost", "spawn around").stdout(full).output().unwrap();
    let text = String::from_utf8_lossy(&spawner.stderr).into_owned();
    assert!(!spawner.status.success() && text.contains("cannot write the ranks' output: No space left"), "{text}");
}

/// What ranks say that are started under a limit of the shell's.
fn limited(limit: &str) -> String {
    let run = rank(0, 1, "limited", "spawn around");
    let mut shell = Command::new("sh");
    let limit = format!("ulimit {limit}; exec \"$0\" \"$@\"");
    shell.args(["-c", &limit]).arg(run.get_program()).args(run.get_args());
    shell.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
    String::from_utf8_lossy(&shell.output().unwrap().stderr).into_owned()
}

/// The system would end a process that makes shared memory beyond it with a signal.
fn a_limit_on_files_is_named() {
    let text = limited("-f 1000");
    for part in ["cannot make 8388608 bytes of shared memory: ", "(ulimit -f)", "rank 2 exited with code 1"] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
}

/// A thread that cannot be started is an error like others.
fn whatever_memory_there_is_nothing_panics() {
    let mut failed = 0;
    for kib in (20_000..400_000).step_by(20_000) {
        let text = limited(&format!("-v {kib}"));
        assert!(!text.contains("panicked"), "with {kib} KiB: {text}");
        failed += u32::from(text.contains("(ulimit -"));
    }
    assert!(failed > 0, "no limit was low enough");
}

fn no_rank_outlives_its_spawner() {
    let mut spawner = rank(0, 1, "spawner", "spawner").spawn().unwrap();
    let lines = BufReader::new(spawner.stdout.take().unwrap()).lines();
    let pids: Vec<String> = lines.take(3).map(Result::unwrap).collect();
    // One that has ended may stay as a zombie until the system's first process looks at it.
    let runs = |pid: &&String| {
        let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat"));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    let alive = || pids.iter().filter(runs).count();
    assert_eq!(alive(), 3, "{pids:?}");
    spawner.kill().unwrap();
    spawner.wait().unwrap();
    let end = Instant::now() + SOON;
    while alive() > 0 && Instant::now() < end {
        sleep(Duration::from_millis(5));
    }
    assert_eq!(alive(), 0, "{pids:?}");
}

/// The child lives for longer. What the rank itself has written is forwarded, an unfinished line too.
fn a_pipe_that_a_child_keeps_holds_nobody() {
    for (what, ends_well) in [("keep", true), ("keep and fail", false)] {
        let begin = Instant::now();
        let spawner = rank(0, 1, "keep", &format!("spawn {what}")).output().unwrap();
        let took = begin.elapsed();
        let text = String::from_utf8_lossy(&[spawner.stdout, spawner.stderr].concat()).into_owned();
        assert!(took < SOON, "{what}: {took:?} {text}");
        assert_eq!(spawner.status.success(), ends_well, "{text}");
        assert_eq!(text.matches("an unfinished line").count(), 3, "{text}");
    }
    // No grace is too long.
    assert!(spawn("exit at once", Duration::MAX).is_err());
}
