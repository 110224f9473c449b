//! Which devices the ranks of several processes use. Numbers do not identify them: `CUDA_VISIBLE_DEVICES` gives each
//! process its own.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::control::{Control, ENGINE_FAILED, ENGINE_ID_WORDS, ENGINE_KNOWN, ENGINE_UNKNOWN, EngineSlot, RankArea};
use crate::driver::gpu::api::Identity;
use crate::engine::nvshmem::Nvshmem;
use crate::error::Error;
use crate::heap::GoesOn;
use symm_abi::far::NVSHMEM;

/// How long to wait for the others' identities, which they post as soon as they have met. Without them a pair of
/// devices is not checked beforehand; the vendor's library then refuses it in its own words.
const SAYS_IN: Duration = Duration::from_secs(2);
/// How long rank 0 may take to say what the engine calls the run.
const STARTS_IN: Duration = Duration::from_secs(30);
const RETRY: Duration = Duration::from_millis(1);

/// The identities of all ranks' devices, as far as they are known; `own` is that of `rank`.
pub(crate) fn identities(control: &Control, rank: u32, own: Option<Identity>) -> Vec<Option<Identity>> {
    say(&control.areas()[rank as usize], own);
    let end = Instant::now() + SAYS_IN;
    let identity = |area: &RankArea| {
        while area.host.identified.load(Ordering::Acquire) == 0 && Instant::now() < end {
            std::thread::sleep(RETRY);
        }
        heard(area)
    };
    control.areas().iter().map(identity).collect()
}

fn say(area: &RankArea, own: Option<Identity>) {
    let words = own.unwrap_or_default();
    for (to, from) in area.host.identity.iter().zip(words.chunks(8)) {
        to.store(u64::from_le_bytes(from.try_into().expect("eight bytes")), Ordering::Relaxed);
    }
    area.host.identified.store(1, Ordering::Release);
}

fn heard(area: &RankArea) -> Option<Identity> {
    let mut identity = Identity::default();
    for (to, from) in identity.chunks_mut(8).zip(&area.host.identity) {
        to.copy_from_slice(&from.load(Ordering::Relaxed).to_le_bytes());
    }
    (identity != Identity::default()).then_some(identity)
}

/// What the engine calls this run, which rank 0 has it say: in `slot`, which `show` makes known to the others. While
/// these wait, `goes_on` says whether they still should.
pub(crate) fn engine_id(
    slot: &EngineSlot,
    rank: u32,
    engine: &Nvshmem,
    show: impl FnOnce(),
    goes_on: GoesOn<'_>,
) -> Result<[u64; ENGINE_ID_WORDS], Error> {
    if rank == 0 {
        let made = engine.new_id();
        for (to, from) in slot.id.iter().zip(made.as_ref().map_or(&[][..], |id| &id[..])) {
            to.store(*from, Ordering::Relaxed);
        }
        slot.state.store(if made.is_ok() { ENGINE_KNOWN } else { ENGINE_FAILED }, Ordering::Release);
        show();
        return made;
    }
    let end = Instant::now() + STARTS_IN;
    while slot.state.load(Ordering::Acquire) == ENGINE_UNKNOWN && Instant::now() < end {
        goes_on()?;
        std::thread::sleep(RETRY);
    }
    match slot.state.load(Ordering::Acquire) {
        ENGINE_KNOWN => Ok(std::array::from_fn(|word| slot.id[word].load(Ordering::Relaxed))),
        _ => Err(Error::NoEngine(NVSHMEM, "rank 0 could not start it".to_owned())),
    }
}
