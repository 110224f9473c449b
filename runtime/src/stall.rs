//! Says once what a run on GPUs waits for, where nothing else would: the blocks of a device cannot be looked into, so
//! nobody can be sure of a deadlock of theirs, and without a timeout the run goes on forever.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::clock;
use crate::report::{barrier, report};
use crate::world::World;

/// Time between two looks at barriers: a block that waits for the same ones in both is told of.
const LOOK_EVERY: Duration = Duration::from_secs(3);
/// How long kernels may run, and no rank come further, until they are told of: some take that long.
const QUIET: Duration = Duration::from_secs(60);

/// What was seen at the last look.
#[derive(Debug, Default)]
pub(crate) struct Stall {
    told: bool,
    transitions: Vec<u64>,
    /// Since when those are the same, in the clock's nanoseconds.
    since: u64,
    looked: u64,
    waiting: Vec<barrier::OnDevice>,
}

impl Stall {
    /// Looks now and then. The process of rank 0 speaks for all.
    pub(crate) fn look(&mut self, world: &World) {
        if self.told || world.driver.queues().is_none() || world.local()[0].rank != 0 {
            return;
        }
        let transitions = || world.control.areas().iter().map(|area| area.transitions.0.load(Ordering::Acquire));
        if !transitions().eq(self.transitions.iter().copied()) {
            (self.transitions, self.since) = (transitions().collect(), clock::now());
        }
        if clock::since(self.looked.max(self.since)) < LOOK_EVERY {
            return;
        }
        let waiting = barrier::on_devices(world);
        let waits = waiting.iter().any(|waiting| self.waiting.contains(waiting));
        (self.looked, self.waiting) = (clock::now(), waiting);
        let runs = || world.control.areas().iter().any(|area| barrier::is_on_device(world, area));
        let what = if waits {
            format!("blocks on GPUs have waited in a barrier for {LOOK_EVERY:?} and more")
        } else if clock::since(self.since) >= QUIET && runs() {
            format!("kernels have run on GPUs for {QUIET:?}, and no rank has come further")
        } else {
            return;
        };
        self.told = true;
        eprintln!(
            "symm: {what}:\n{}\nsymm: if it is a deadlock, Ctrl-C ends the run; with a timeout (symm-run --timeout \
             SECONDS) it ends by itself",
            report(world)
        );
    }
}
