//! Who the calling thread is: a rank's host thread, or one of its blocks.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::control::{BlockSlot, RankArea};
use crate::error::{Error, Place};
use crate::interrupt;
use crate::loc::Loc;
use crate::report::report;
use crate::standard::say;
use crate::trace::{Recorder, Sink};
use crate::world::World;

/// The identity of a thread that runs compiled code.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) world: Arc<World>,
    pub(crate) rank: u32,
    /// The block that it runs now, counted x first; `None` on a host thread outside of launches.
    pub(crate) block: Cell<Option<u32>>,
    pub(crate) recorder: Option<Arc<Recorder>>,
}

thread_local! {
    static CURRENT: RefCell<Option<Rc<Agent>>> = const { RefCell::new(None) };
    /// Whether this thread has ever been an agent. Reading it allocates nothing; the first access to `CURRENT` does.
    static IS_KNOWN: Cell<bool> = const { Cell::new(false) };
}

/// The calling thread's agent. A thread that is ending has none: its local data is gone.
fn current() -> Option<Rc<Agent>> {
    CURRENT.try_with(|current| current.borrow().clone()).ok().flatten()
}

/// Makes the calling thread another agent, and returns its previous one. A thread that is ending gets none.
fn replace(agent: Option<Rc<Agent>>) -> Option<Rc<Agent>> {
    IS_KNOWN.set(true);
    CURRENT.try_with(|current| current.replace(agent)).ok().flatten()
}

/// Restores a thread's previous agent.
struct Restore(Option<Rc<Agent>>);

impl Drop for Restore {
    fn drop(&mut self) {
        drop(replace(self.0.take()));
    }
}

/// The right to make a call for a rank.
pub(crate) struct Alone<'a>(&'a AtomicBool);

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl Agent {
    fn new(world: Arc<World>, rank: u32) -> Rc<Self> {
        let recorder = world.trace.as_ref().map(Sink::recorder);
        Rc::new(Self { world, rank, block: Cell::new(None), recorder })
    }

    /// Makes the calling thread an agent of `rank` for the rest of its life.
    pub(crate) fn enter(world: Arc<World>, rank: u32) {
        replace(Some(Self::new(world, rank)));
    }

    /// Acts for `rank` on the calling thread, which may be any thread of the process.
    pub(crate) fn act<R>(
        world: &Arc<World>,
        rank: u32,
        body: impl FnOnce(&Agent) -> Result<R, Error>,
    ) -> Result<R, Error> {
        if world.is_a_parents() {
            return Err(Error::Forked { rank });
        }
        if let Some(agent) = current()
            && agent.rank == rank
            && Arc::ptr_eq(&agent.world, world)
        {
            return body(&agent);
        }
        let agent = Self::new(Arc::clone(world), rank);
        let _restore = Restore(replace(Some(Rc::clone(&agent))));
        let _before = world.driver.before();
        let result = world.driver.enter(rank).and_then(|()| body(&agent));
        agent.flush();
        result
    }

    /// The calling thread's agent. Without one no run can report the fault, so the process ends.
    #[inline]
    pub(crate) fn with<R>(use_it: impl FnOnce(&Agent) -> R) -> R {
        let Some(agent) = current() else {
            say("symm: compiled code called the runtime from a thread that the runtime does not know");
            std::process::abort();
        };
        use_it(&agent)
    }

    /// The calling thread's agent, if it has one that can be read now. For signal handlers: it allocates nothing.
    pub(crate) fn try_with<R>(use_it: impl FnOnce(&Agent) -> R) -> Option<R> {
        if !IS_KNOWN.get() {
            return None;
        }
        let agent = CURRENT.try_with(|current| current.try_borrow().ok()?.clone()).ok().flatten()?;
        Some(use_it(&agent))
    }

    /// Keeps other threads from making calls for this rank until the value is dropped: a rank makes one call at a time.
    pub(crate) fn alone(&self) -> Result<Alone<'_>, Error> {
        let busy = &self.world.local_rank(self.rank).busy;
        if busy.swap(true, Ordering::Acquire) {
            let rank = self.rank;
            return Err(Error::Program(format!(
                "another thread is already in a call for rank {rank}: a rank makes one call at a time"
            )));
        }
        Ok(Alone(busy))
    }

    /// Whether a waiting thread should go on: after the run has failed, what it waits for may never come. Then a rank
    /// whose host function was called waits forever, and one that has joined gets an error.
    pub(crate) fn goes_on(&self) -> Result<(), Error> {
        if self.world.failed() {
            return if self.world.joined { Err(self.world.stopped()) } else { park_for_ever() };
        }
        self.check_interrupt()
    }

    /// An error, which ends the run, if the caller of this rank no longer wants to wait.
    pub(crate) fn check_interrupt(&self) -> Result<(), Error> {
        if !self.world.joined || !interrupt::is_asked() {
            return Ok(());
        }
        let report = report(&self.world);
        self.world.fail(self.rank, Error::Interrupted { report: report.clone() });
        Err(Error::Interrupted { report })
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

    /// Ends the run with `error` and parks this thread forever: compiled code cannot unwind. In a child of the rank's
    /// process, only the child ends.
    pub(crate) fn fatal(&self, loc: Loc<'_>, error: Error) -> ! {
        if self.world.is_a_parents() {
            say(&format!("symm: {error}"));
            std::process::abort();
        }
        let error = Error::At { place: self.place(loc), source: Box::new(error) };
        self.world.fail(self.rank, error);
        park_for_ever()
    }

    /// Counts this thread as able to run, or not.
    pub(crate) fn count_runnable(&self, change: i32) {
        if self.world.is_a_parents() {
            return;
        }
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
