//! A stage that does not end is ended, so that a run in CI says which it was and what it was doing.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use std::{fs, process};

/// Far above what any stage takes on two busy cores, and far below what CI grants the whole.
const LIMIT: Duration = Duration::from_secs(60 * 60);

/// Runs a stage. In CI, what it has started is listed and killed once the stage is over its limit.
pub fn stage<T>(body: impl FnOnce() -> T) -> T {
    if std::env::var_os("CI").is_none() { body() } else { within(LIMIT, process::id(), body) }
}

fn within<T>(limit: Duration, of: u32, body: impl FnOnce() -> T) -> T {
    let (ended, ends) = mpsc::channel::<()>();
    let watch = thread::spawn(move || {
        let mut wait = limit;
        // The stage may start more, until it has seen that all of it fails.
        while ends.recv_timeout(wait) == Err(mpsc::RecvTimeoutError::Timeout) {
            let started = descendants(of);
            eprintln!("not finished after {limit:?}; killed:");
            for (id, line) in &started {
                eprintln!("{id:>8} {line}");
            }
            let ids: Vec<String> = started.keys().map(ToString::to_string).collect();
            let _ = Command::new("sh").args(["-c", &format!("kill -9 {}", ids.join(" "))]).status();
            wait = Duration::from_secs(1);
        }
    });
    let value = body();
    drop(ended);
    let _ = watch.join();
    value
}

/// The processes that a process has started, and those that they have started, each with its command line.
fn descendants(of: u32) -> BTreeMap<u32, String> {
    let parents: Vec<(u32, u32)> =
        fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|entry| parent(&entry)).collect();
    let mut found = vec![of];
    let mut next = 0;
    while let Some(&id) = found.get(next) {
        found.extend(parents.iter().filter(|(_, parent)| *parent == id).map(|(child, _)| child));
        next += 1;
    }
    found[1..].iter().map(|&id| (id, line(id))).collect()
}

/// A process and its parent.
fn parent(entry: &fs::DirEntry) -> Option<(u32, u32)> {
    let id = entry.file_name().to_str()?.parse().ok()?;
    let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
    // After the name, which may hold anything, stand the state and the parent.
    let (_, rest) = stat.rsplit_once(')')?;
    Some((id, rest.split_whitespace().nth(1)?.parse().ok()?))
}

fn line(id: u32) -> String {
    let words = fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
    words.replace('\0', " ").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn what_does_not_end_is_killed_with_all_that_it_has_started() {
        let begun = Instant::now();
        let mut child = Command::new("sh").args(["-c", "sh -c 'sleep 1000; true'; exit 3"]).spawn().unwrap();
        let status = within(Duration::from_millis(200), child.id(), || child.wait());
        assert_eq!(status.unwrap().code(), Some(3));
        assert!(begun.elapsed() < Duration::from_secs(500));
    }

    #[test]
    fn what_ends_is_left_alone() {
        let mut child = Command::new("sh").args(["-c", "sh -c 'true; exit 4'"]).spawn().unwrap();
        let status = within(Duration::from_secs(1000), child.id(), || child.wait());
        assert_eq!(status.unwrap().code(), Some(4));
    }
}
