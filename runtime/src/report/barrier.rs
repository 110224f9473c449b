//! Barriers of blocks: which waits are a part of one, who is missing in it, and whether the grids can meet at all.
//!
//! The words are those of `passes/src/lower/cpu/order.rs` at the start of each heap: for each block an epoch, then a flag
//! for each rank, which that rank sets to the epoch that it has come to.

use std::collections::BTreeMap;

use super::{flag, ranks};
use crate::control::{BLOCK_WAITING, BlockSlot, HostState};
use crate::heap::{HeapAddress, SIGNAL_PAD_BYTES};
use crate::report::launched;
use crate::world::World;

/// A barrier that a block waits in.
pub(super) struct Barrier {
    loc: String,
    missing: Vec<u32>,
}

/// The barrier that a waiting block is in, if its flag is one of a barrier.
pub(super) fn of(world: &World, slot: &BlockSlot) -> Option<Barrier> {
    let (condition, place) = flag(slot);
    let place = place.filter(|place| place.offset < SIGNAL_PAD_BYTES && condition.bits == 64)?;
    let num_ranks = world.num_ranks();
    let row = place.offset / 8 / (u64::from(num_ranks) + 1) * (u64::from(num_ranks) + 1);
    let has_come = |rank: u32| {
        let offset = 8 * (row + 1 + u64::from(rank));
        world.heaps.peek(HeapAddress { offset, ..place }, 64).is_some_and(|saw| condition.holds(saw))
    };
    let missing = (0..num_ranks).filter(|rank| !has_come(*rank)).collect();
    Some(Barrier { loc: slot.loc.get(), missing })
}

impl Barrier {
    pub(super) fn describe(&self) -> String {
        let Self { loc, missing } = self;
        // All may have come since.
        let waits = if missing.is_empty() { String::new() } else { format!(" waits for {},", ranks(missing)) };
        format!("barrier at {loc}:{waits}")
    }
}

/// That ranks whose blocks wait in a barrier have launched a kernel with different grids, for each such kernel: blocks
/// that have no counterpart on every rank never meet.
pub(super) fn grids(world: &World) -> Vec<String> {
    let mut launches: BTreeMap<String, BTreeMap<[i64; 3], Vec<u32>>> = BTreeMap::new();
    let areas = (0..).zip(world.control.areas());
    let mut meets = false;
    for (rank, area) in areas.filter(|(_, area)| area.host.state() == HostState::InLaunch) {
        launches.entry(area.host.kernel.get()).or_default().entry(area.host.grid()).or_default().push(rank);
        let waits = |slot: &&BlockSlot| slot.state.load(std::sync::atomic::Ordering::Acquire) == BLOCK_WAITING;
        meets |= launched(area).iter().filter(waits).any(|slot| of(world, slot).is_some());
    }
    launches.retain(|_, grids| meets && grids.len() > 1);
    let line = |(kernel, grids): (String, BTreeMap<[i64; 3], Vec<u32>>)| {
        let mut grids: Vec<_> = grids.into_iter().collect();
        grids.sort_by_key(|(_, on)| on[0]);
        let grids = grids.iter().map(|([x, y, z], on)| format!("({x},{y},{z}) on {}", ranks(on)));
        format!("@{kernel} was launched with different grids: {}", grids.collect::<Vec<_>>().join(", "))
    };
    launches.into_iter().map(line).collect()
}
