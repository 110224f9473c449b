//! Prints once what a run on GPUs waits for. A device's blocks cannot be inspected, so a deadlock of theirs is never
//! certain, and without a timeout the run would wait silently forever.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::clock;
use crate::report::{barrier, report};
use crate::standard::say;
use crate::world::World;

/// Time between two looks at barriers: a block that waits for the same ranks in both is reported.
const LOOK_EVERY: Duration = Duration::from_secs(3);
/// How long kernels may run without any rank's progress before they are reported: some take this long.
const QUIET: Duration = Duration::from_secs(60);

/// What was seen at the last look.
#[derive(Debug, Default)]
pub(crate) struct Stall {
    told: bool,
    transitions: Vec<u64>,
    /// Since when they have been the same, in the clock's nanoseconds.
    since: u64,
    looked: u64,
    waiting: Vec<barrier::OnDevice>,
}

impl Stall {
    /// Looks now and then. Only the process of rank 0 reports.
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
            format!("blocks on GPUs have waited in a barrier for {LOOK_EVERY:?} or more")
        } else if clock::since(self.since) >= QUIET && runs() {
            format!("kernels have run on GPUs for {QUIET:?}, and no rank has made progress")
        } else {
            return;
        };
        self.told = true;
        say(&format!(
            "symm: {what}:\n{}\nsymm: if it is a deadlock, Ctrl-C ends the run; with a timeout (symm-run --timeout \
             SECONDS) it ends by itself",
            report(world)
        ));
    }
}
