//! Barriers of blocks: which waits belong to one, which ranks are missing, and whether the grids can meet at all.
//!
//! The words are those of `passes/src/lower/cpu/order.rs` at the start of each heap: for each block an epoch, then a
//! flag for each rank, which that rank sets to the epoch that it has reached.

use std::collections::BTreeMap;

use super::{flag, ranks};
use crate::agent::coordinates;
use crate::control::{BLOCK_WAITING, BlockSlot, HostState, RankArea};
use crate::heap::HeapAddress;
use crate::report::launched;
use crate::world::World;
use symm_abi::heap::RESERVED_BYTES;

/// How many blocks of a rank on a device are inspected.
const MOST_LOOKED_AT: u32 = 256;

/// A barrier that a block waits in.
pub(super) struct Barrier {
    loc: String,
    missing: Vec<u32>,
}

/// The barrier that a waiting block is in, if its flag is one of a barrier.
pub(super) fn of(world: &World, slot: &BlockSlot) -> Option<Barrier> {
    let (condition, place) = flag(slot);
    let place = place.filter(|place| place.offset < RESERVED_BYTES && condition.bits == 64)?;
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
        // All may have arrived since.
        let waits = if missing.is_empty() { String::new() } else { format!(" waits for {},", ranks(missing)) };
        format!("barrier at {loc}:{waits}")
    }
}

/// A block on a device that waits in a barrier.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OnDevice {
    rank: u32,
    block: u32,
    /// The barrier's number.
    epoch: u64,
    missing: Vec<u32>,
}

/// The blocks on devices that wait in barriers: only their words in the heaps show it. A device that does not answer is
/// skipped.
pub(crate) fn on_devices(world: &World) -> Vec<OnDevice> {
    let mut found = Vec::new();
    for (rank, area) in (0..).zip(world.control.areas()).filter(|(_, area)| is_on_device(world, area)) {
        for block in 0..blocks(area.host.grid()).min(MOST_LOOKED_AT) {
            let Some(waiting) = OnDevice::new(world, rank, block) else { return found };
            if !waiting.missing.is_empty() {
                found.push(waiting);
            }
        }
    }
    found
}

impl OnDevice {
    /// The ranks that are missing in the barrier where a block on a device waits, empty if it is in none; `None` if
    /// that cannot be seen.
    fn new(world: &World, rank: u32, block: u32) -> Option<Self> {
        let num_ranks = world.num_ranks();
        let row = u64::from(block) * (u64::from(num_ranks) + 1);
        let read = |index: u64| world.heaps.peek(HeapAddress { rank, offset: 8 * (row + index) }, 64);
        let epoch = read(0)?;
        let flags: Option<Vec<u64>> = (0..num_ranks).map(|peer| read(1 + u64::from(peer))).collect();
        let missing = (0..num_ranks).zip(flags?).filter(|(_, flag)| *flag < epoch).map(|(peer, _)| peer).collect();
        Some(Self { rank, block, epoch, missing })
    }

    pub(super) fn describe(&self, world: &World) -> String {
        let host = &world.control.areas()[self.rank as usize].host;
        let ([x, y, z], kernel) = (coordinates(self.block, host.grid()), host.kernel.get());
        format!("rank {}, block ({x},{y},{z}) of @{kernel}: barrier: waits for {}", self.rank, ranks(&self.missing))
    }
}

/// Whether a kernel of a rank may be running on a device.
pub(crate) fn is_on_device(world: &World, area: &RankArea) -> bool {
    let runs = matches!(area.host.state(), HostState::InLaunch | HostState::OnDevice);
    runs && world.driver.queues().is_some() && !area.host.kernel.get().is_empty()
}

fn blocks(grid: [i64; 3]) -> u32 {
    grid.iter().product::<i64>().try_into().unwrap_or(u32::MAX)
}

/// For each kernel that ranks launched with different grids while blocks wait in a barrier, a note of it: blocks
/// without a counterpart on every rank never meet. `on_devices` says that blocks on devices wait in one.
pub(super) fn grids(world: &World, on_devices: bool) -> Vec<String> {
    let mut launches: BTreeMap<String, BTreeMap<[i64; 3], Vec<u32>>> = BTreeMap::new();
    let areas = (0..).zip(world.control.areas());
    let mut meets = on_devices;
    let launches_a_kernel = |area: &RankArea| area.host.state() == HostState::InLaunch || is_on_device(world, area);
    for (rank, area) in areas.filter(|(_, area)| launches_a_kernel(area)) {
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
