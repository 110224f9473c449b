//! The thread that called `run`: waits for the ranks, and ends the run when it fails or cannot end.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::clock;
use crate::control::{FAULT_CLAIMED, FAULT_COMPLETE, HostState, NO_FAULT};
use crate::error::Error;
use crate::far::Far;
use crate::futex;
use crate::interrupt;
use crate::report::{report, stopped_process};
use crate::stall::Stall;
use crate::standard::say;
use crate::stuck::Detector;
use crate::world::{WRITES_FAULT_IN, World};

/// Time between two looks for stopped processes.
const LOOK_FOR_STOPPED_EVERY: Duration = Duration::from_millis(500);
/// How often in a row a process must be seen stopped before the others report it.
const STOPPED_FOR: u32 = 6;

/// The longest sleep between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// A deadline and its length.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Limit {
    /// The whole run.
    Run(Duration),
    /// Each call in which a rank of this process waits.
    Call(Duration),
}

impl Limit {
    /// The time that has passed, if it has.
    fn over(self, world: &World, start: Instant) -> Option<Duration> {
        match self {
            Self::Run(limit) => (start.elapsed() >= limit).then_some(limit),
            Self::Call(limit) => {
                let waits = |rank: u32| {
                    let host = &world.control.areas()[rank as usize].host;
                    matches!(host.state(), HostState::InCollective | HostState::InLaunch | HostState::OnDevice)
                        && clock::since(host.since.load(Ordering::Relaxed)) >= limit
                };
                world.local().iter().any(|local| waits(local.rank)).then_some(limit)
            }
        }
    }

    fn left(self, start: Instant) -> Duration {
        match self {
            Self::Run(limit) => limit.saturating_sub(start.elapsed()),
            Self::Call(limit) => limit / 4,
        }
    }
}

/// Returns when all ranks of all processes have returned, or when one has failed.
pub(crate) fn supervise(world: &World, limit: Option<Limit>) -> Result<(), Error> {
    watch(world, limit);
    if all_returned(world) && !world.failed() {
        return Ok(());
    }
    Err(world
        .fault()
        .unwrap_or_else(|| Error::Program("stopped because a rank died while it reported a fault".to_owned())))
}

/// The same, but leaves the fault in place.
pub(crate) fn watch(world: &World, limit: Option<Limit>) {
    let start = Instant::now();
    let mut detector = Detector::default();
    let (mut claimed_since, mut stopped, mut stall) = (None, Stopped::default(), Stall::default());
    let me = world.local()[0].rank;
    loop {
        let events = world.control.events.0.load(Ordering::Acquire);
        world.listen();
        let state = world.control.fault.state.load(Ordering::Acquire);
        if state == FAULT_COMPLETE || (state == NO_FAULT && all_returned(world)) {
            return;
        }
        if state == FAULT_CLAIMED {
            let since = *claimed_since.get_or_insert_with(Instant::now);
            if since.elapsed() > WRITES_FAULT_IN {
                return;
            }
        } else if let Some(after) = limit.and_then(|limit| limit.over(world, start)) {
            world.fail(me, Error::Timeout { after, report: report(world) });
            continue;
        } else if !world.joined && interrupt::is_asked() {
            world.fail(me, Error::Interrupted { report: report(world) });
            continue;
        } else if let Some(rank) = world.far.as_ref().and_then(Far::lost) {
            // What it has said comes before its end.
            world.fail(me, Error::RankDied { rank });
            continue;
        } else if let Some(stuck) = detector.look(world) {
            world.fail(me, stuck);
            continue;
        }
        stopped.look(world);
        if limit.is_none() {
            stall.look(world);
        }
        let left = limit.map_or(LOOK_EVERY, |limit| limit.left(start));
        futex::sleep(&world.control.events.0, events, Some(left.clamp(Duration::from_millis(1), LOOK_EVERY)));
    }
}

/// Reports stopped ranks while others wait: without a timeout, nothing else would.
#[derive(Debug, Default)]
struct Stopped {
    looked: Option<Instant>,
    /// For each rank, how often in a row it was seen stopped.
    seen: Vec<u32>,
}

impl Stopped {
    fn look(&mut self, world: &World) {
        if self.looked.is_some_and(|looked| looked.elapsed() < LOOK_FOR_STOPPED_EVERY) {
            return;
        }
        self.looked = Some(Instant::now());
        let areas = world.control.areas();
        self.seen.resize(areas.len(), 0);
        let stopped: Vec<_> = areas.iter().map(stopped_process).collect();
        // Only one of the running processes reports it.
        let speaks = stopped.iter().position(Option::is_none) == Some(world.local()[0].rank as usize);
        for ((rank, pid), seen) in (0..).zip(stopped).zip(&mut self.seen) {
            *seen = if pid.is_some() { seen.saturating_add(1) } else { 0 };
            if let Some(pid) = pid.filter(|_| *seen == STOPPED_FOR && speaks) {
                say(&format!(
                    "symm: rank {rank} (process {pid}) has been stopped by a signal such as SIGSTOP for {:?}, and the \
                     others wait for it; `kill -CONT {pid}` resumes it",
                    LOOK_FOR_STOPPED_EVERY * STOPPED_FOR
                ));
            }
        }
    }
}

/// Whether the host functions of all ranks have returned.
pub(crate) fn all_returned(world: &World) -> bool {
    world.control.areas().iter().all(|area| area.host.state() == HostState::Returned)
}
