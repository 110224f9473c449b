//! Leaving a run that was joined.
//!
//! All ranks leave together, so a leave waits for the others. A process may be in several runs: if another rank waited
//! for it in a second one, both would wait forever. So this leave then returns to its caller, and a thread completes it
//! when the others leave, too. It returns at once if that rank is seen to wait, and otherwise after some seconds, since
//! the runtime does not see every wait: its caller may say that there is one. The leave of a process's last run waits
//! for all leaves that are still pending.

use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::agent::Agent;
use crate::clock;
use crate::collective::{self, Leaving};
use crate::control::{HostState, RankArea};
use crate::error::Error;
use crate::fork::Origin;
use crate::futex;
use crate::interrupt;
use crate::lock::lock;
use crate::rank::{Rank, Seat};
use crate::report::in_barrier;
use crate::stuck::all_blocked;
use crate::supervisor::all_returned;
use crate::world::World;

/// The longest sleep between two checks whether all ranks have left.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long a leave waits for ranks that are not seen to wait elsewhere, if its caller is in another run.
const HOLDS_FOR: Duration = Duration::from_secs(5);

/// The runs that this process has joined.
static RUNS: Mutex<Vec<Weak<World>>> = Mutex::new(Vec::new());
/// The pending leaves, which have returned to their callers, of runs in several processes.
static UNDER_WAY: Mutex<Vec<UnderWay>> = Mutex::new(Vec::new());

thread_local! {
    /// Whether the leave of this thread is to return soon.
    static SOON: Cell<bool> = const { Cell::new(false) };
}

/// A pending leave.
struct UnderWay {
    origin: Origin,
    rank: u32,
    world: Weak<World>,
    thread: JoinHandle<Result<(), Error>>,
}

/// Remembers a run that this process has joined.
pub(crate) fn note(world: &Arc<World>) {
    let mut runs = lock(&RUNS);
    runs.retain(|run| run.strong_count() > 0);
    runs.push(Arc::downgrade(world));
}

/// For [`crate::set_interrupt`]'s question, while this thread leaves a run: another rank waits for it in a second one,
/// in a way that the runtime does not see. So [`Rank::leave`] returns before the others have come.
pub fn leave_soon() {
    SOON.set(true);
}

impl Rank {
    /// Leaves the run together with all ranks. Collective. Work in streams of the caller's own must be done.
    ///
    /// A process that is in several runs may leave them in any order: where another rank waits for it in a second run,
    /// it returns before the others have come, at the latest after five seconds. If the first leave fails after that,
    /// the leave of the process's last run, which waits for all, returns the error.
    ///
    /// A rank that is dropped without it ends the run with an error on all ranks. One that [`crate::run`] gave leaves
    /// by returning. In a process that was forked from the rank's, there is nothing to leave: it only drops the rank.
    ///
    /// # Errors
    /// [`Error::Stopped`] and those of [`crate::Stream::synchronize`].
    #[track_caller]
    pub fn leave(self) -> Result<(), Error> {
        self.try_leave().map_err(|(error, _)| error)
    }

    /// The same, but returns the rank if it is still in the run: when others called something other than leave, or
    /// another thread is in a call for this rank.
    ///
    /// # Errors
    /// Those of [`Rank::leave`].
    #[track_caller]
    pub fn try_leave(self) -> Result<(), (Error, Option<Self>)> {
        if self.session.is_none() || self.seat.world.is_a_parents() {
            return Ok(());
        }
        // No closures here: the call site would be in them.
        if let Err(error) = self.stream().synchronize() {
            return Err((error, None));
        }
        let seat = self.seat.clone();
        let begin = Instant::now();
        SOON.set(false);
        let stays = |agent: &Agent| agent.check_interrupt().map(|()| !is_wanted_elsewhere(&seat, begin));
        // One act: a rank that has arrived compares what the others called, even if one of them has reported it
        // already.
        let left = self.seat.act(|agent, loc| {
            let leaving = collective::come_to_leave(agent, loc)?;
            Ok((collective::leave(agent, leaving, || stays(agent))?, leaving))
        });
        match left {
            Err(error) => {
                // The program is wrong: the rank is in another call.
                let stays = matches!(error.cause(), Error::CollectiveMismatch { .. } | Error::Program(_));
                return Err((error, stays.then_some(self)));
            }
            Ok((true, _)) => self.go(true).map_err(|error| (error, None))?,
            Ok((false, leaving)) => self.leave_later(leaving).map_err(|error| (error, None))?,
        }
        wait_for_leaves(&seat).map_err(|error| (error, None))
    }

    /// Leaves, as all others do.
    fn go(self, asks: bool) -> Result<(), Error> {
        self.retire();
        let world = &self.seat.world;
        loop {
            let events = world.control.events.0.load(Ordering::Acquire);
            // A rank that has come this far leaves, even if another fails now.
            if all_returned(world) || world.failed() {
                return world.part(asks);
            }
            futex::sleep(&world.control.events.0, events, Some(LOOK_EVERY));
            // All others are about to return as well: this ends the threads that watch the run, and harms nobody.
            if asks {
                interrupt::check()
                    .inspect_err(|_| world.fail(self.rank(), Error::Interrupted { report: String::new() }))?;
            }
        }
    }

    /// Waits for the others on a separate thread.
    fn leave_later(self, leaving: Leaving) -> Result<(), Error> {
        self.seat.world.local_rank(self.rank()).leaves.store(true, Ordering::Release);
        self.seat.show(HostState::InCollective, HostState::Leaving);
        let (rank, world) = (self.rank(), Arc::downgrade(&self.seat.world));
        let apart = self.seat.world.local().len() == 1;
        let ends = move || {
            let met = self.seat.act(|agent, _| collective::leave(agent, leaving, || Ok(true)));
            if let Err(error) = &met
                && matches!(error.cause(), Error::CollectiveMismatch { .. })
            {
                let why = format!("rank {rank} had left the run, and another rank called something else");
                self.seat.world.fail(rank, Error::Program(why));
            }
            // A rank that cannot leave is dropped.
            met.and_then(|_| self.go(false))
        };
        let thread = thread::Builder::new().name("symm leaves".to_owned()).spawn(ends);
        let thread = thread.map_err(Error::io("start a thread"))?;
        // Nothing waits for ranks that are threads of one process: the process does not end while they run.
        if apart {
            lock(&UNDER_WAY).push(UnderWay { origin: Origin::here(), rank, world, thread });
        }
        Ok(())
    }

    /// Ends what works for this rank.
    fn retire(&self) {
        let world = &self.seat.world;
        world.driver.finish(self.rank(), world.failed());
        world.control.runnable.0.fetch_sub(1, Ordering::Relaxed);
        // Acting for a rank fails if its device has failed, which has been reported.
        let _ = Agent::act(world, self.rank(), |agent| {
            agent.set_host(HostState::Returned);
            Ok(())
        });
        world.announce();
    }

    /// Ends the run with an error on all ranks, as dropping the rank does, even while another thread is in a call for
    /// it. Does nothing for a rank that has left, or that [`crate::run`] gave.
    pub fn abandon(&self) {
        if self.may_leave() {
            self.seat.world.fail(self.rank(), Error::Left(self.rank()));
        }
    }

    /// Whether it has joined, and has not left.
    fn may_leave(&self) -> bool {
        self.session.is_some() && !self.seat.world.is_a_parents() && !self.seat.has_left()
    }
}

impl Drop for Rank {
    fn drop(&mut self) {
        if self.may_leave() {
            self.abandon();
            self.retire();
        }
    }
}

impl Seat {
    fn area(&self) -> &RankArea {
        &self.world.control.areas()[self.rank as usize]
    }

    /// Whether the rank has left the run, or returned.
    pub(crate) fn has_left(&self) -> bool {
        self.area().host.state() == HostState::Returned
    }

    /// Changes the state, if it is the first one, to the second.
    fn show(&self, from: HostState, to: HostState) {
        let area = self.area();
        let host = &area.host;
        if host.state() == from {
            host.since.store(clock::now(), Ordering::Relaxed);
            let _ = host.state.compare_exchange(from as u32, to as u32, Ordering::AcqRel, Ordering::Relaxed);
            area.transitions.0.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// The rank that this one's caller has in another run, unless it has left that.
    fn elsewhere(&self, run: &Weak<World>) -> Option<Self> {
        let world = run.upgrade().filter(|world| !Arc::ptr_eq(world, &self.world) && !world.failed())?;
        let local = world.local();
        // With several, the same thread is assumed to have the same number.
        let rank = local.iter().find(|local| local.rank == self.rank).filter(|_| local.len() > 1);
        let rank = rank.or_else(|| local.first().filter(|_| local.len() == 1))?.rank;
        let seat = Self { world, rank };
        let leaves = seat.has_left() || seat.world.local_rank(rank).leaves.load(Ordering::Acquire);
        (!leaves && !seat.world.is_a_parents()).then_some(seat)
    }

    fn all_elsewhere(&self) -> Vec<Self> {
        lock(&RUNS).iter().filter_map(|run| self.elsewhere(run)).collect()
    }

    /// Whether another rank waits for this one.
    fn is_awaited(&self) -> bool {
        let (control, own) = (&self.world.control, self.area());
        let current = control.generation.0.load(Ordering::Acquire);
        let waits = |area: &RankArea| match area.host.state() {
            HostState::InCollective => in_barrier(area, current),
            HostState::InLaunch => all_blocked(&self.world, area),
            _ => false,
        };
        !waits(own) && control.areas().iter().any(|area| !std::ptr::eq(area, own) && waits(area))
    }
}

/// Whether somebody waits for the caller of a rank in another run, or may do so.
fn is_wanted_elsewhere(seat: &Seat, begin: Instant) -> bool {
    let elsewhere = seat.all_elsewhere();
    let late = SOON.get() || begin.elapsed() >= HOLDS_FOR;
    elsewhere.iter().any(Seat::is_awaited) || (!elsewhere.is_empty() && late)
}

/// Waits for the pending leaves, unless the caller of a rank that has left is in another run.
fn wait_for_leaves(seat: &Seat) -> Result<(), Error> {
    let mut told = Ok(());
    while seat.all_elsewhere().is_empty() {
        let (ended, rest) = leaves_under_way();
        for leave in ended {
            let end = leave.join().unwrap_or_else(|_| Err(Error::Program("a leave panicked".to_owned())));
            told = told.and(end);
        }
        if rest.is_empty() {
            break;
        }
        let seats = || rest.iter().filter_map(|(rank, run)| Some(Seat { world: run.upgrade()?, rank: *rank }));
        seats().for_each(|seat| seat.show(HostState::Leaving, HostState::InCollective));
        thread::sleep(LOOK_EVERY);
        interrupt::check().inspect_err(|_| {
            seats().for_each(|seat| seat.world.fail(seat.rank, Error::Interrupted { report: String::new() }));
        })?;
    }
    told
}

/// The threads of leaves that have ended, and the ranks and runs of the others.
type Leaves = (Vec<JoinHandle<Result<(), Error>>>, Vec<(u32, Weak<World>)>);

fn leaves_under_way() -> Leaves {
    let mut all = lock(&UNDER_WAY);
    // The parent's leaves are not threads of this process.
    let own = |leave: &UnderWay| !leave.origin.is_a_parent();
    let ended =
        all.extract_if(.., |leave| own(leave) && leave.thread.is_finished()).map(|leave| leave.thread).collect();
    (ended, all.iter().filter(|leave| own(leave)).map(|leave| (leave.rank, leave.world.clone())).collect())
}
