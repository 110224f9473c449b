//! How the ranks of a run meet: as threads, as processes of one host or of several, or through an engine.

use crate::control::Control;
use crate::driver::{Device, Driver};
use crate::engine::nvshmem::Nvshmem;
use crate::error::Error;
use crate::far::{EngineRanks, Far};
use crate::heap::{GoesOn, HeapMap};
use crate::interrupt;
use crate::memory;
use crate::peers;
use crate::process::{Bootstrap, Link, Offer, join};
use crate::run::{Config, Ranks};
use crate::standard;
use crate::world::World;

impl World {
    /// Meets the other ranks; `joined` says that the caller runs the ranks of this process itself.
    pub(crate) fn start(config: &Config, joined: bool) -> Result<(Self, Vec<Link>), Error> {
        config.check()?;
        standard::keep_apart()?;
        match &config.ranks {
            Ranks::Threads(ranks) => Ok((in_threads(config, *ranks, joined)?, Vec::new())),
            Ranks::Process(bootstrap) => in_process(config, bootstrap, joined),
            Ranks::Engine(ranks) => Ok((by_engine(config, ranks, joined)?, Vec::new())),
        }
    }
}

fn in_threads(config: &Config, ranks: u32, joined: bool) -> Result<World, Error> {
    let driver = config.device.open()?;
    let control = memory::create("symm-control", Control::bytes(ranks as usize))?;
    let control = Control::map(control, ranks as usize)?;
    let local: Vec<u32> = (0..ranks).collect();
    driver.prepare(&local)?;
    let heap = |rank: &u32| driver.create_heap(*rank, config.heap_size).map_err(|error| cannot(*rank, &error));
    let heaps = local.iter().map(heap).collect::<Result<_, _>>()?;
    let identities = vec![None; local.len()];
    let heaps = driver.map_heaps(heaps, config.heap_size, &local, &identities)?;
    World::new(control, heaps, None, &local, driver, config.mode(joined))
}

fn in_process(config: &Config, bootstrap: &Bootstrap, joined: bool) -> Result<(World, Vec<Link>), Error> {
    let (rank, num_ranks) = (bootstrap.rank, bootstrap.num_ranks);
    let one_host = bootstrap.network.is_none();
    if !one_host && config.engine.is_none() {
        let what = "ranks on several hosts".to_owned();
        return Err(Error::InvalidConfig { what, mend: "only an engine reaches them, NVSHMEM on NVIDIA GPUs" });
    }
    bootstrap.announce()?;
    let prepared = config.device.open().and_then(|driver| {
        driver.prepare(&[rank])?;
        let engine = config.engine.as_ref().map(|_| Nvshmem::load(one_host)).transpose()?;
        // The heap is the engine's where there is one.
        let heap = engine.is_none().then(|| driver.create_heap(rank, config.heap_size)).transpose()?;
        Ok((driver, engine, heap))
    });
    let (driver, engine, heap) =
        prepared.map_err(|error| cannot(rank, &error)).inspect_err(|error| bootstrap.decline(&error.to_string()))?;
    let (heap_size, mode, device) = (config.heap_size, config.mode(joined), driver.name());
    let trace = mode.trace;
    let session = join(bootstrap, Offer { heap, heap_size, trace, device, sealed: driver.checks_heaps() })?;
    let control = Control::map(session.control, num_ranks as usize)?;
    let (far, links) = if one_host {
        (None, session.links)
    } else {
        (Some(Far::over_sockets(rank, num_ranks, session.links)?), Vec::new())
    };
    let heaps = match engine {
        None => {
            let identity = |_| peers::identities(&control, rank, driver.identity(rank));
            let identities = driver.queues().map(identity).unwrap_or_default();
            driver.map_heaps(session.heaps, config.heap_size, &[rank], &identities)
        }
        Some(engine) => {
            let goes_on = || {
                interrupt::check()?;
                far.as_ref().map_or_else(|| links.iter().try_for_each(Link::goes_on), Far::goes_on)
            };
            by_gpus(config, &*driver, engine, (rank, num_ranks), (&control, far.as_ref()), &goes_on)
        }
    };
    let others = far.clone();
    let world = heaps.and_then(|heaps| World::new(control, heaps, far, &[rank], driver, mode));
    let world = world.inspect_err(|error| {
        // What another rank has said, it has said to all.
        if let Some(others) = others.filter(|_| !matches!(error, Error::Stopped { .. })) {
            others.tell(rank, &error.to_string());
        }
    })?;
    Ok((world, links))
}

/// Heaps of an engine of GPUs, which all ranks start.
fn by_gpus(
    config: &Config,
    driver: &dyn Driver,
    engine: Nvshmem,
    (rank, num_ranks): (u32, u32),
    (control, far): (&Control, Option<&Far>),
    goes_on: GoesOn<'_>,
) -> Result<HeapMap, Error> {
    let domain = config.engine.as_ref().and_then(|engine| engine.domain);
    let node = |other: u32| domain.map_or(0, |ranks| other / ranks.max(1));
    let is_of_node = |other| node(other) == node(rank);
    let slot = far.map_or(&control.engine, Far::engine_slot);
    let id = peers::engine_id(slot, rank, &engine, || far.into_iter().for_each(Far::show_engine), goes_on)?;
    driver.map_engine(engine, (rank, num_ranks, config.heap_size), id, &is_of_node, goes_on)
}

fn by_engine(config: &Config, ranks: &EngineRanks, joined: bool) -> Result<World, Error> {
    let rank = ranks.rank();
    if !matches!(config.device, Device::Cpu) || config.trace {
        let what = "an engine with GPUs or a timeline".to_owned();
        return Err(Error::InvalidConfig { what, mend: "engines reach ranks on CPUs, and record nothing" });
    }
    let driver = config.device.open()?;
    let control = memory::create("symm-control", Control::bytes(ranks.num_ranks() as usize))?;
    let control = Control::map(control, ranks.num_ranks() as usize)?;
    let (heaps, far) = ranks.map(config.heap_size)?;
    far.progress()?;
    World::new(control, heaps, Some(far), &[rank], driver, config.mode(joined))
}

/// Why a rank cannot take part.
fn cannot(rank: u32, error: &Error) -> Error {
    Error::Refused { rank, reason: error.to_string() }
}
