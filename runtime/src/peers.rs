//! Which devices the ranks of several processes use. A number says nothing there: `CUDA_VISIBLE_DEVICES` gives each
//! process numbers of its own.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::control::{Control, RankArea};
use crate::driver::gpu::api::Identity;

/// How long to wait for the others to say it, which all do as soon as they have met. Without it a pair of devices is
/// not checked beforehand: then the vendor's library refuses it, in its own words.
const SAYS_IN: Duration = Duration::from_secs(2);
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
