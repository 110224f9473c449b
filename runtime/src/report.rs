//! What every rank and block is doing, in words, for a run that does not end.

pub(crate) mod barrier;

use std::fmt::Write;
use std::sync::atomic::Ordering;

use crate::agent::coordinates;
use crate::clock;
use crate::collective::at;
use crate::condition::Condition;
use crate::control::{BLOCK_RUNNING, BLOCK_WAITING, BlockSlot, HostState, MAX_BLOCKS, NO_RANK, RankArea};
use crate::heap::HeapAddress;
use crate::process::{ProcessState, state};
use crate::world::World;

/// Most lines about host threads, and most about blocks.
const MOST_HOSTS: usize = 16;
const MOST_BLOCKS: usize = 32;

/// One line for each host thread and each block that has not finished; the kind that has waited longest comes first.
/// Where each rank has a process that others do not see, one rank after the other, as these answer.
pub(crate) fn report(world: &World) -> String {
    world.far.as_ref().map_or_else(|| of_this_process(world), |far| far.reports(|| of_this_process(world)))
}

/// The same of what this process sees.
pub(crate) fn of_this_process(world: &World) -> String {
    let is_seen = |rank: &u32| world.far.is_none() || world.local().iter().any(|local| local.rank == *rank);
    let areas = || (0..).zip(world.control.areas()).filter(|(rank, _)| is_seen(rank));
    let hosts = areas().map(|(rank, area)| host(world, rank, area) + &stopped(area)).collect();
    let blocks = |state| areas().flat_map(move |(rank, area)| blocks(world, rank, area, state));
    let in_barriers: Vec<_> = barrier::on_devices(world).iter().map(|waiting| waiting.describe(world)).collect();
    let grids = barrier::grids(world, !in_barriers.is_empty());
    let blocks = in_barriers.into_iter().chain(blocks(BLOCK_WAITING)).chain(blocks(BLOCK_RUNNING)).collect();
    let mut out = String::new();
    limited(&mut out, hosts, MOST_HOSTS, "host threads");
    limited(&mut out, blocks, MOST_BLOCKS, "blocks");
    for line in grids {
        writeln!(out, "  {line}").expect("writing to a String");
    }
    out.truncate(out.trim_end().len());
    out
}

fn limited(out: &mut String, lines: Vec<String>, most: usize, what: &str) {
    let more = lines.len().saturating_sub(most);
    for line in lines.into_iter().take(most) {
        writeln!(out, "  {line}").expect("writing to a String");
    }
    if more > 0 {
        writeln!(out, "  and {more} more {what}").expect("writing to a String");
    }
}

/// The ranks whose host threads are missing in the current barrier.
pub(crate) fn missing(world: &World) -> Vec<u32> {
    if let Some(far) = &world.far {
        return far.missing(far.generation()).collect();
    }
    let current = world.control.generation.0.load(Ordering::Acquire);
    let areas = (0..).zip(world.control.areas());
    areas.filter(|(_, area)| !in_barrier(area, current)).map(|(rank, _)| rank).collect()
}

/// Whether the rank is in the host barrier number `current`.
pub(crate) fn in_barrier(area: &RankArea, current: u32) -> bool {
    matches!(area.host.state(), HostState::InCollective | HostState::Leaving)
        && area.host.generation.load(Ordering::Relaxed) == current
}

fn host(world: &World, rank: u32, area: &RankArea) -> String {
    let slot = &area.host;
    let time = seconds(slot.since.load(Ordering::Relaxed));
    match slot.state() {
        HostState::Starting => format!("rank {rank}: not started"),
        HostState::Running => format!("rank {rank}: host function running for {time}"),
        HostState::Returned => format!("rank {rank}: returned"),
        HostState::InLaunch => {
            let blocks: i64 = slot.grid().iter().product();
            let (kernel, loc) = (slot.kernel.get(), slot.loc.get());
            let doing = match (area.wanted.0.load(Ordering::Relaxed), area.live.0.load(Ordering::Relaxed)) {
                (0, live) => format!("{live} of {blocks} blocks have not finished"),
                (wanted, _) => format!("{wanted} of {blocks} blocks have no thread yet"),
            };
            format!("rank {rank}: launch of @{kernel}{}, for {time}: {doing}", at(&loc))
        }
        HostState::OnDevice => {
            let (kernel, loc) = (slot.kernel.get(), slot.loc.get());
            let last = if kernel.is_empty() { String::new() } else { format!("; the last launch was of @{kernel}") };
            format!("rank {rank}: waits for its device{}, for {time}{last}", at(&loc))
        }
        HostState::InCollective | HostState::Leaving => {
            let post = area.posts[(slot.post.load(Ordering::Relaxed) % 2) as usize].get(rank);
            format!("{post}, for {time}: waits for {}", ranks(&missing(world)))
        }
    }
}

/// A note if a rank's process cannot go on.
fn stopped(area: &RankArea) -> String {
    let stopped = stopped_process(area);
    stopped.map_or_else(String::new, |pid| format!("; process {pid}: {}", ProcessState::Stopped))
}

/// The rank's process, if this process can see that a signal has stopped it.
pub(crate) fn stopped_process(area: &RankArea) -> Option<i32> {
    let (pid, namespace) = (&area.host.pid, area.host.namespace.load(Ordering::Relaxed));
    let pid = pid.load(Ordering::Relaxed).cast_signed();
    (namespace != 0 && namespace == state::namespace() && state::of(pid) == ProcessState::Stopped).then_some(pid)
}

/// The slots of the blocks of the current launch.
pub(crate) fn launched(area: &RankArea) -> &[BlockSlot] {
    let blocks = area.host.grid().iter().product::<i64>().clamp(0, MAX_BLOCKS.into());
    if area.host.state() == HostState::InLaunch { &area.blocks[..blocks.cast_unsigned() as usize] } else { &[] }
}

fn blocks<'a>(world: &'a World, rank: u32, area: &'a RankArea, state: u32) -> impl Iterator<Item = String> + 'a {
    let slots = (0..).zip(launched(area));
    let slots = slots.filter(move |(_, slot)| slot.state.load(Ordering::Acquire) == state);
    slots.map(move |(block, slot)| {
        let [x, y, z] = coordinates(block, area.host.grid());
        let doing = match barrier::of(world, slot) {
            _ if state != BLOCK_WAITING => "running".to_owned(),
            Some(barrier) => barrier.describe(),
            None => waiting(world, slot),
        };
        let (kernel, time) = (area.host.kernel.get(), seconds(slot.since.load(Ordering::Relaxed)));
        format!("rank {rank}, block ({x},{y},{z}) of @{kernel}: {doing} for {time}")
    })
}

fn waiting(world: &World, slot: &BlockSlot) -> String {
    let (condition, flag_at) = flag(slot);
    let flag_text = match flag_at {
        Some(HeapAddress { rank, offset }) => format!("rank {rank} heap+{offset:#x}"),
        None => format!("{:#x}, in no heap", slot.flag_offset.load(Ordering::Relaxed)),
    };
    let saw = flag_at.and_then(|flag_at| world.heaps.peek(flag_at, condition.bits));
    let saw = saw.map_or("an unknown value".to_owned(), |saw| condition.show(saw));
    let (loc, compare, expected) = (slot.loc.get(), condition.compare, condition.show(condition.expected));
    format!("wait at {loc}: flag {flag_text}: saw {saw}, expected {compare} {expected},")
}

/// A waiting block's flag and condition; no address if the flag is in no heap.
pub(crate) fn flag(slot: &BlockSlot) -> (Condition, Option<HeapAddress>) {
    let expected = slot.expected.load(Ordering::Relaxed);
    let condition = Condition::decode(slot.condition.load(Ordering::Relaxed), expected);
    let rank = slot.flag_rank.load(Ordering::Relaxed);
    let flag_at = HeapAddress { rank, offset: slot.flag_offset.load(Ordering::Relaxed) };
    (condition, (rank != NO_RANK).then_some(flag_at))
}

/// `rank 3`, `ranks 1, 2`.
fn ranks(which: &[u32]) -> String {
    let numbers: Vec<String> = which.iter().map(u32::to_string).collect();
    format!("{} {}", if which.len() == 1 { "rank" } else { "ranks" }, numbers.join(", "))
}

fn seconds(start: u64) -> String {
    format!("{:.1} s", clock::since(start).as_secs_f64())
}
