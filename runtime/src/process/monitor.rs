//! Notices when another rank's process ends: its connection closes.

use std::io;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{RecvFlags, recv};

use super::message::{receive, send};
use super::rendezvous::{Link, is_gone};
use crate::error::Error;
use crate::fork::Kept;
use crate::supervisor::all_returned;
use crate::trace::Trace;
use crate::world::World;

/// Time between two checks whether to go on.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long a rank may take to hand over its events.
const HANDS_OVER_IN: Duration = Duration::from_secs(60);
/// The same for all ranks together when the run has failed: some may be dead.
const FAILED_HANDS_OVER_IN: Duration = Duration::from_secs(5);
/// Bytes of the largest trace of one rank.
const MOST_TRACE: u64 = 16 << 30;

/// Watches the other ranks' connections on a thread of its own.
#[derive(Debug)]
pub(crate) struct Monitor {
    links: Arc<Vec<Link>>,
    closing: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Monitor {
    pub(crate) fn start(world: &Arc<World>, links: Vec<Link>) -> Result<Self, Error> {
        let (links, closing) = (Arc::new(links), Arc::new(AtomicBool::new(false)));
        let watched = (Arc::clone(world), Arc::clone(&links), Arc::clone(&closing));
        let thread = thread::Builder::new()
            .name("symm monitor".to_owned())
            .spawn(move || watch(&watched.0, &watched.1, &watched.2))
            .map_err(Error::io("start a thread"))?;
        Ok(Self { links, closing, thread })
    }

    /// Ends the watch once all ranks have returned, and gathers their events on rank 0.
    ///
    /// Returns the trace of all ranks on rank 0, none elsewhere or when nothing was traced.
    pub(crate) fn finish(self, trace: Option<Trace>) -> Result<Option<Trace>, Error> {
        let links = self.stop();
        let Some(mine) = trace else { return Ok(None) };
        let mut parts = vec![mine];
        let mut wrong = Ok(());
        for link in links.iter() {
            let failed = |error: io::Error| {
                if is_gone(&error) {
                    return Error::RankDied { rank: link.rank };
                }
                Error::io(format!("exchange the timeline with rank {}", link.rank))(error)
            };
            if link.rank == 0 {
                send(&link.stream, &parts[0], &[], HANDS_OVER_IN).map_err(failed)?;
                return Ok(None);
            }
            // A dead rank does not keep the others' events from being read.
            let time = if wrong.is_ok() { HANDS_OVER_IN } else { FAILED_HANDS_OVER_IN };
            match receive(&link.stream, MOST_TRACE, time) {
                Ok((part, _)) => parts.push(part),
                Err(error) => wrong = wrong.and(Err(failed(error))),
            }
        }
        wrong.map(|()| Some(Trace::merge(parts)))
    }

    /// The same after the run has failed, from the ranks that are still there.
    pub(crate) fn finish_failed(self, trace: Option<Trace>) -> Option<Trace> {
        let links = self.stop();
        let mut parts = vec![trace?];
        let end = Instant::now() + FAILED_HANDS_OVER_IN;
        for link in links.iter() {
            let left = end.saturating_duration_since(Instant::now());
            if link.rank == 0 {
                // If rank 0 is gone, nobody writes the file.
                let _ = send(&link.stream, &parts[0], &[], left);
                return None;
            }
            let received = receive(&link.stream, MOST_TRACE, left);
            parts.extend(received.map(|(part, _)| part));
        }
        Some(Trace::merge(parts))
    }

    /// Ends the watch.
    fn stop(self) -> Arc<Vec<Link>> {
        self.closing.store(true, Ordering::Release);
        // The thread has nothing that panics, and its work is over either way.
        let _ = self.thread.join();
        self.links
    }
}

fn watch(world: &World, links: &[Link], closing: &AtomicBool) {
    let mut open: Vec<&Link> = links.iter().collect();
    let timeout = Timespec::try_from(LOOK_EVERY).expect("a short time");
    while !open.is_empty() && !closing.load(Ordering::Acquire) {
        let mut ready: Vec<_> =
            open.iter().map(|link| PollFd::new(&link.stream, PollFlags::IN | PollFlags::RDHUP)).collect();
        if poll(&mut ready, Some(&timeout)).is_err() {
            continue;
        }
        let changed: Vec<bool> = ready.iter().map(|fd| !fd.revents().is_empty()).collect();
        let mut changed = changed.into_iter();
        open.retain(|link| {
            if !changed.next().unwrap_or(false) {
                return true;
            }
            // A process stays until all ranks have returned; then it hands over its events and goes. A close before
            // that is a death, however far the rank had come.
            if is_closed(&link.stream) && !all_returned(world) {
                world.fail(world.local()[0].rank, Error::RankDied { rank: link.rank });
            }
            false
        });
    }
}

impl Link {
    /// Whether the rank is still there, before the run has begun.
    pub(crate) fn goes_on(&self) -> Result<(), Error> {
        if is_closed(&self.stream) { Err(Error::RankDied { rank: self.rank }) } else { Ok(()) }
    }
}

fn is_closed(stream: &Kept) -> bool {
    let mut byte = [MaybeUninit::<u8>::uninit(); 1];
    match recv(stream, &mut byte, RecvFlags::PEEK | RecvFlags::DONTWAIT) {
        Ok((_, received)) => received == 0,
        Err(errno) => errno != rustix::io::Errno::AGAIN && errno != rustix::io::Errno::INTR,
    }
}
