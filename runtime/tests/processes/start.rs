//! Starting ranks by hand, as torchrun would, and looking at what they leave.

use std::io::Read;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

pub fn rank(rank: u32, of: u32, run: &str, what: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--as", what]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = format!("{run}-{}", std::process::id());
    command.env("RANK", rank.to_string()).env("WORLD_SIZE", of.to_string()).env("TORCHELASTIC_RUN_ID", run);
    command.env_remove("LOCAL_WORLD_SIZE").env_remove("GROUP_WORLD_SIZE").env("MASTER_PORT", port().to_string());
    command
}

pub fn signal(pid: u32, signal: Signal) {
    let _ = kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal);
}

pub fn start(ranks: u32, run: &str, what: &str) -> Vec<Child> {
    (0..ranks).map(|r| rank(r, ranks, run, what).spawn().unwrap()).collect()
}

/// The next line that a child prints; the rest of its output stays where it is.
pub fn next_line(child: &mut Child) -> String {
    let output = child.stdout.as_mut().unwrap();
    let (mut line, mut byte) = (Vec::new(), [0]);
    while output.read(&mut byte).unwrap() > 0 && byte != [b'\n'] {
        line.extend(byte);
    }
    String::from_utf8(line).unwrap()
}

/// Output of each child, all of which have to end within `limit`.
pub fn outputs(mut children: Vec<Child>, limit: Duration) -> Vec<(bool, String)> {
    let end = Instant::now() + limit;
    while Instant::now() < end && children.iter_mut().any(|child| child.try_wait().unwrap().is_none()) {
        sleep(Duration::from_millis(5));
    }
    let late: Vec<_> = children.iter_mut().map(|child| child.try_wait().unwrap().is_none()).collect();
    for child in &mut children {
        let _ = child.kill();
    }
    let outputs: Vec<_> = children.into_iter().map(|child| text(&child.wait_with_output().unwrap())).collect();
    assert!(!late.contains(&true), "some did not end: {late:?} {outputs:?}");
    leaves_nothing();
    outputs
}

pub fn text(output: &Output) -> (bool, String) {
    let both = [&output.stdout[..], &output.stderr].concat();
    (output.status.success(), String::from_utf8(both).unwrap())
}

pub fn leaves_nothing() {
    let end = Instant::now() + crate::SOON;
    let marker = format!("-{}-", port());
    let unix = || std::fs::read_to_string("/proc/net/unix").unwrap_or_default();
    while unix().contains(&marker) && Instant::now() < end {
        sleep(Duration::from_millis(5));
    }
    assert!(!unix().contains(&marker), "a socket is left");
    let mut shm = std::fs::read_dir("/dev/shm").into_iter().flatten().flatten();
    assert!(!shm.any(|file| file.file_name().to_string_lossy().contains("symm")), "shared memory is left");
    // Processes that were started and not waited for would still be children of this one; as the first process of a
    // namespace it also has those that its ranks have left.
    if std::process::id() != 1 {
        assert_eq!(children_of_this_process(), 0, "a process is left");
    }
}

fn children_of_this_process() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    tasks
        .filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok())
        .map(|children| children.split_whitespace().count())
        .sum()
}

/// A port of this test's own, so that its sockets can be told from other runs'.
pub fn port() -> u32 {
    20_000 + std::process::id() % 40_000
}
