//! Who the calling thread is: a rank's host thread, or one of its blocks.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::control::{BlockSlot, RankArea};
use crate::error::{Error, Place};
use crate::loc::Loc;
use crate::trace::Recorder;
use crate::world::World;

/// The identity of a thread that runs compiled code.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) world: Arc<World>,
    pub(crate) rank: u32,
    /// The block that it runs now, counted x first; `None` on a host thread outside of launches.
    pub(crate) block: Cell<Option<u32>>,
    pub(crate) recorder: Option<Recorder>,
}

thread_local! {
    static CURRENT: OnceCell<Agent> = const { OnceCell::new() };
}

impl Agent {
    /// Makes the calling thread an agent of `rank` for the rest of its life.
    pub(crate) fn enter(world: Arc<World>, rank: u32) {
        let recorder = world.trace.is_some().then(Recorder::default);
        let agent = Self { world, rank, block: Cell::new(None), recorder };
        CURRENT.with(|current| current.set(agent).expect("a thread is one agent"));
    }

    /// The calling thread's agent. Without one there is no run that could report the fault: the process ends.
    #[inline]
    pub(crate) fn with<R>(use_it: impl FnOnce(&Agent) -> R) -> R {
        CURRENT.with(|current| {
            let Some(agent) = current.get() else {
                eprintln!("symm: compiled code called the runtime from a thread that symm_runtime::run did not start");
                std::process::abort();
            };
            use_it(agent)
        })
    }

    /// The calling thread's agent, if it is one.
    pub(crate) fn try_with<R>(use_it: impl FnOnce(&Agent) -> R) -> Option<R> {
        CURRENT.try_with(|current| current.get().map(use_it)).ok().flatten()
    }

    /// The control memory of this rank.
    pub(crate) fn area(&self) -> &RankArea {
        &self.world.control.areas()[self.rank as usize]
    }

    /// This block's control memory.
    pub(crate) fn slot(&self) -> Option<&BlockSlot> {
        self.block.get().map(|block| &self.area().blocks[block as usize])
    }

    /// Where this thread is in the program.
    pub(crate) fn place(&self, loc: Loc<'_>) -> Place {
        let host = &self.area().host;
        let block = self.block.get().map(|block| (coordinates(block, host.grid()), host.kernel.get()));
        Place { rank: self.rank, block, loc: loc.text() }
    }

    /// Ends the run with `error` and parks this thread for ever: compiled code cannot unwind.
    pub(crate) fn fatal(&self, loc: Loc<'_>, error: Error) -> ! {
        let error = Error::At { place: self.place(loc), source: Box::new(error) };
        self.world.fail(self.rank, error);
        park_for_ever()
    }

    /// Counts this thread as able to run, or not.
    pub(crate) fn count_runnable(&self, change: i32) {
        self.world.control.runnable.0.fetch_add(change, Ordering::Relaxed);
    }

    /// Says that this rank's state changed, for the detection of deadlocks.
    pub(crate) fn transition(&self) {
        self.area().transitions.0.fetch_add(1, Ordering::AcqRel);
    }
}

/// Coordinates of block `index` in `grid`, x fastest.
pub(crate) fn coordinates(index: u32, grid: [i64; 3]) -> [i64; 3] {
    let index = i64::from(index);
    let (x, y) = (grid[0].max(1), grid[1].max(1));
    [index % x, index / x % y, index / x / y]
}

/// Never returns; the thread costs nothing from here on.
pub(crate) fn park_for_ever() -> ! {
    loop {
        std::thread::park();
    }
}

#[cfg(test)]
mod tests {
    use super::coordinates;

    #[test]
    fn x_is_fastest() {
        let all: Vec<_> = (0..12).map(|i| coordinates(i, [2, 3, 2])).collect();
        assert_eq!(all[1], [1, 0, 0]);
        assert_eq!(all[2], [0, 1, 0]);
        assert_eq!(all[11], [1, 2, 1]);
    }
}
