//! Signals that mean no harm, sent to whatever processes this one has started, at random times.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// The longest time that a process is stopped, and that none gets a signal, in microseconds.
const STOPPED: u64 = 3000;
const PAUSE: u64 = 300;
/// What a process ignores that stops itself.
const MARK: Signal = Signal::USR2;
/// Longer than a storm looks at one process.
const SEES_IN: Duration = Duration::from_millis(200);

/// Lasts until it is dropped.
pub struct Storm {
    over: Arc<AtomicBool>,
    sent: Arc<AtomicU32>,
    thread: Option<JoinHandle<()>>,
}

impl Storm {
    pub fn begin() -> Self {
        let (over, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
        let (until, count) = (Arc::clone(&over), Arc::clone(&sent));
        let thread = std::thread::spawn(move || {
            while !until.load(Ordering::Relaxed) {
                for pid in descendants(std::process::id()) {
                    count.fetch_add(u32::from(strike(pid)), Ordering::Relaxed);
                    sleep(Duration::from_micros(fastrand::u64(..PAUSE)));
                }
                sleep(Duration::from_micros(PAUSE));
            }
        });
        Self { over, sent, thread: Some(thread) }
    }

    /// Signals sent so far.
    pub fn sent(&self) -> u32 {
        self.sent.load(Ordering::Relaxed)
    }
}

impl Drop for Storm {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let _ = self.thread.take().expect("a storm").join();
    }
}

/// Whether a signal was sent; one that has stopped for another reason is left alone.
fn strike(pid: u32) -> bool {
    let Some(process) = Pid::from_raw(pid.cast_signed()) else { return false };
    let Ok(process) = pidfd_open(process, PidfdFlags::empty()) else { return false };
    let send = |signal| pidfd_send_signal(&process, signal).is_ok();
    match fastrand::u32(..3) {
        0 => send(Signal::CHILD),
        // Ranks have a handler; whoever is no rank ignores it, or has not begun.
        1 => handles(pid, Signal::USR1) && send(Signal::USR1),
        _ if is_stopped(pid) || is_marked(pid) => false,
        _ => {
            let stopped = send(Signal::STOP);
            sleep(Duration::from_micros(fastrand::u64(..STOPPED)));
            send(Signal::CONT) && stopped
        }
    }
}

fn status(pid: u32, field: &str) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| Some(line.strip_prefix(field)?.trim().to_owned()))
}

fn handles(pid: u32, signal: Signal) -> bool {
    is_in(pid, "SigCgt:", signal)
}

/// Whether a process's set of signals has this one.
fn is_in(pid: u32, set: &str, signal: Signal) -> bool {
    let set = status(pid, set).and_then(|set| u64::from_str_radix(&set, 16).ok());
    set.is_some_and(|set| set & (1 << (signal.as_raw() - 1)) != 0)
}

fn is_stopped(pid: u32) -> bool {
    status(pid, "State:").is_some_and(|state| state.starts_with('T'))
}

/// Whether it is about to stop itself, or has done so: a storm would let it go on.
fn is_marked(pid: u32) -> bool {
    is_in(pid, "SigIgn:", MARK)
}

/// Whether it has stopped itself, and not by a storm.
pub fn has_stopped_itself(pid: u32) -> bool {
    is_marked(pid) && is_stopped(pid)
}

/// Stops this process until another lets it go on.
pub fn stop_self() {
    // SAFETY: it is ignored from here on.
    unsafe { libc::signal(MARK.as_raw(), libc::SIG_IGN) };
    // A storm that has not seen the mark lets it go on within this time.
    sleep(SEES_IN);
    crate::start::signal(std::process::id(), Signal::STOP);
}

/// Children, their children and so on.
fn descendants(of: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{of}/task")).into_iter().flatten().flatten();
    let children = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let children: Vec<u32> =
        children.collect::<String>().split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
    children.iter().flat_map(|child| std::iter::once(*child).chain(descendants(*child))).collect()
}
