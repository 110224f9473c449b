//! Recognises runs that cannot end, without a deadline and without ever being wrong, provided that only ranks and their
//! blocks set flags. A caller whose helpers do says so (`Config::helpers_signal`).
//!
//! A deadlock: each host thread has returned, or is in an incomplete collective operation, or in a launch with
//! unfinished blocks. Each of those blocks is parked in a wait without timeout, on a flag in a heap that does not
//! satisfy it now. And between the first look and the last, no thread changed its state. Then none of them wrote a flag
//! in between, and nothing is left that could write one.

use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

use crate::clock;
use crate::control::{BLOCK_WAITING, BlockSlot, HostState, RankArea};
use crate::error::Error;
use crate::report::{flag, in_barrier, launched, missing, report};
use crate::world::World;

/// How long the state must be unchanged before a deadlock is checked for. It makes looks rarer, not more certain.
const QUIET: Duration = Duration::from_secs(2);

/// Remembers since when nothing changed.
#[derive(Debug, Default)]
pub(crate) struct Detector {
    transitions: Vec<u64>,
    since: u64,
}

impl Detector {
    /// Looks once. `None` means that the run may still end.
    pub(crate) fn look(&mut self, world: &World) -> Option<Error> {
        rank_returned(world).or_else(|| {
            if world.helpers_signal {
                return None;
            }
            let transitions = transitions(world);
            if transitions != self.transitions {
                (self.transitions, self.since) = (transitions, clock::now());
            }
            (clock::since(self.since) >= QUIET && deadlocked(world)).then(|| Error::Deadlock { report: report(world) })
        })
    }
}

/// A rank that has returned will not come to the barrier in which others already are.
fn rank_returned(world: &World) -> Option<Error> {
    let areas = world.control.areas();
    // In this order: a rank seen as returned here cannot complete the barrier that is read afterwards.
    let returned: Vec<u32> =
        (0..).zip(areas).filter(|(_, area)| area.host.state() == HostState::Returned).map(|(rank, _)| rank).collect();
    if returned.is_empty() {
        return None;
    }
    let current = world.control.generation.0.load(Ordering::Acquire);
    let waiting: Vec<u32> =
        (0..).zip(areas).filter(|(_, area)| in_barrier(area, current)).map(|(rank, _)| rank).collect();
    let still = world.control.generation.0.load(Ordering::Acquire) == current;
    (still && !waiting.is_empty()).then(|| Error::RankReturned { missing: returned, waiting, report: report(world) })
}

fn deadlocked(world: &World) -> bool {
    let before = transitions(world);
    let areas = world.control.areas();
    let complete = missing(world).is_empty();
    let current = world.control.generation.0.load(Ordering::Acquire);
    let hosts = areas.iter().all(|area| match area.host.state() {
        HostState::Returned => true,
        HostState::InCollective | HostState::Leaving => !complete && in_barrier(area, current),
        HostState::InLaunch => all_blocked(world, area),
        HostState::Starting | HostState::Running | HostState::OnDevice => false,
    });
    let all_returned = areas.iter().all(|area| area.host.state() == HostState::Returned);
    fence(Ordering::SeqCst);
    hosts && !all_returned && transitions(world) == before
}

pub(crate) fn all_blocked(world: &World, area: &RankArea) -> bool {
    let live = area.live.0.load(Ordering::Acquire);
    let stuck = |slot: &&BlockSlot| {
        let waits = slot.state.load(Ordering::Acquire) == BLOCK_WAITING;
        let (condition, place) = flag(slot);
        let saw = place.and_then(|place| world.heaps.peek(place, condition.bits));
        waits && slot.gives_up.load(Ordering::Relaxed) == 0 && saw.is_some_and(|saw| !condition.holds(saw))
    };
    live > 0 && launched(area).iter().filter(stuck).count() == live as usize
}

fn transitions(world: &World) -> Vec<u64> {
    world.control.areas().iter().map(|area| area.transitions.0.load(Ordering::Acquire)).collect()
}
