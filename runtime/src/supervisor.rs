//! The thread that called `run`: waits for the ranks, and ends the run when it fails or cannot end.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::control::{FAULT_CLAIMED, HostState};
use crate::error::Error;
use crate::futex;
use crate::report::report;
use crate::stuck::Detector;
use crate::world::World;

/// The longest sleep between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long a rank may take to write down its fault before it counts as dead.
const WRITES_FAULT_IN: Duration = Duration::from_secs(1);

/// Returns when all ranks of all processes have returned, or when one has failed.
pub(crate) fn supervise(world: &World, timeout: Option<Duration>) -> Result<(), Error> {
    let start = Instant::now();
    let mut detector = Detector::default();
    let mut claimed_since = None;
    let me = world.local()[0].rank;
    loop {
        let events = world.control.events.0.load(Ordering::Acquire);
        if let Some(fault) = world.fault() {
            return Err(fault);
        }
        if all_returned(world) {
            return Ok(());
        }
        if world.control.fault.state.load(Ordering::Acquire) == FAULT_CLAIMED {
            let since = *claimed_since.get_or_insert_with(Instant::now);
            if since.elapsed() > WRITES_FAULT_IN {
                return Err(Error::Program("stopped, because a rank died while it reported a fault".to_owned()));
            }
        } else if let Some(after) = timeout.filter(|&after| start.elapsed() >= after) {
            world.fail(me, Error::Timeout { after, report: report(world) });
            continue;
        } else if let Some(stuck) = detector.look(world) {
            world.fail(me, stuck);
            continue;
        }
        let left = timeout.map_or(LOOK_EVERY, |after| after.saturating_sub(start.elapsed()));
        futex::sleep(&world.control.events.0, events, Some(left.clamp(Duration::from_millis(1), LOOK_EVERY)));
    }
}

/// Whether the host functions of all ranks have returned.
pub(crate) fn all_returned(world: &World) -> bool {
    world.control.areas().iter().all(|area| area.host.state() == HostState::Returned)
}
