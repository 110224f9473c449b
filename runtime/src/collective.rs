//! Operations that all ranks do together: the host barrier, alloc and free.

use std::fmt;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::agent::Agent;
use crate::call_site;
use crate::clock;
use crate::control::{HostState, MAIL_WORDS, Post};
use crate::error::Error;
use crate::futex;
use crate::heap::HeapAddress;
use crate::loc::Loc;
use crate::lock::lock;
use crate::trace::What;

/// Polls of the barrier before sleeping, while there are cores to spare.
const SPINS: u32 = 2000;
/// The longest sleep between two checks whether the run has failed.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The offset of null, which is in no heap.
pub const NOTHING: u64 = u64::MAX;

/// A collective operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collective {
    /// `symm.alloc`.
    Alloc {
        /// Bytes.
        size: u64,
        /// Alignment in bytes; 0 for the default.
        align: u64,
    },
    /// `symm.free`.
    Free {
        /// Bytes from the start of the heap; [`NOTHING`] for null.
        offset: u64,
    },
    /// `symm.barrier_all`.
    BarrierAll,
    /// [`crate::Rank::leave`].
    Leave,
    /// [`crate::Rank::broadcast`].
    Broadcast {
        /// The rank that has the bytes.
        root: u32,
        /// The number of bytes.
        bytes: u64,
    },
}

impl fmt::Display for Collective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alloc { size, align: 0 } => write!(f, "alloc of {size} bytes"),
            Self::Alloc { size, align } => write!(f, "alloc of {size} bytes aligned to {align}"),
            Self::Free { offset: NOTHING } => write!(f, "free of null"),
            Self::Free { offset } => write!(f, "free of heap+{offset:#x}"),
            Self::BarrierAll => write!(f, "barrier_all"),
            Self::Leave => write!(f, "leave"),
            Self::Broadcast { root, bytes } => write!(f, "broadcast of {bytes} bytes from rank {root}"),
        }
    }
}

/// A rank's part in a collective operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    /// The rank.
    pub rank: u32,
    /// What it called.
    pub op: Collective,
    /// The caller's words for it, see [`crate::set_call`], or empty.
    pub call: String,
    /// Where: `file:line:col`, or empty.
    pub loc: String,
}

impl fmt::Display for Posted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = if self.call.is_empty() { self.op.to_string() } else { self.call.clone() };
        write!(f, "rank {}: {own}{}", self.rank, at(&self.loc))
    }
}

/// Appends a place to a phrase, if it is known.
pub(crate) fn at(loc: &str) -> String {
    if loc.is_empty() { String::new() } else { format!(" at {loc}") }
}

impl Post {
    fn set(&self, op: Collective, loc: Loc<'_>) {
        let (code, size, align) = match op {
            Collective::Alloc { size, align } => (0, size, align),
            Collective::Free { offset } => (1, offset, 0),
            Collective::BarrierAll => (2, 0, 0),
            Collective::Broadcast { root, bytes } => (3, bytes, root.into()),
            Collective::Leave => (4, 0, 0),
        };
        self.op.store(code, Ordering::Relaxed);
        self.size.store(size, Ordering::Relaxed);
        self.align.store(align, Ordering::Relaxed);
        self.call.set(call_site::call().as_bytes());
        self.loc.set(loc.bytes());
    }

    pub(crate) fn get(&self, rank: u32) -> Posted {
        let size = self.size.load(Ordering::Relaxed);
        let op = match self.op.load(Ordering::Relaxed) {
            0 => Collective::Alloc { size, align: self.align.load(Ordering::Relaxed) },
            1 => Collective::Free { offset: size },
            4 => Collective::Leave,
            3 => Collective::Broadcast { root: self.align.load(Ordering::Relaxed) as u32, bytes: size },
            _ => Collective::BarrierAll,
        };
        Posted { rank, op, call: self.call.get(), loc: self.loc.get() }
    }
}

/// All ranks meet here. Returns when each has called it, having seen what each did before.
pub(crate) fn barrier_all(agent: &Agent, loc: Loc<'_>) -> Result<(), Error> {
    traced(agent, loc, What::Barrier, || meet(agent, Collective::BarrierAll, loc))
}

/// Records an operation. One that never returns, because the run has failed, gets no end.
fn traced<R>(
    agent: &Agent,
    loc: Loc<'_>,
    what: What,
    operation: impl FnOnce() -> Result<R, Error>,
) -> Result<R, Error> {
    let _alone = agent.alone()?;
    agent.begin(loc, || what);
    let result = operation();
    if !agent.world.failed() {
        agent.end();
    }
    result
}

/// The first rendezvous of the ranks, which have nothing to compare yet.
pub(crate) fn enter(agent: &Agent) -> Result<(), Error> {
    arrive(agent, Loc::from(c"the start"))
}

/// The last rendezvous of ranks that an engine reaches: after it all have returned. Other ranks see each other return.
pub(crate) fn end(agent: &Agent) -> Result<(), Error> {
    if agent.world.far.is_none() {
        return Ok(());
    }
    meet(agent, Collective::Leave, Loc::from(c"the end"))?;
    others_return(agent);
    agent.set_host(HostState::Returned);
    Ok(())
}

/// Shows that the other ranks have come to the end, where they are not seen to return.
fn others_return(agent: &Agent) {
    let areas = (0..).zip(agent.world.control.areas()).filter(|(rank, _)| *rank != agent.rank);
    areas.for_each(|(_, area)| area.host.state.store(HostState::Returned as u32, Ordering::Release));
}

/// A rank that has reached the last rendezvous.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Leaving {
    number: u64,
    generation: u32,
}

/// Reaches the last rendezvous of the ranks.
pub(crate) fn come_to_leave(agent: &Agent, loc: Loc<'_>) -> Result<Leaving, Error> {
    let _alone = agent.alone()?;
    let number = post(agent, Collective::Leave, loc)?;
    Ok(Leaving { number, generation: come(agent, loc) })
}

/// Waits for the others there while `stays` returns true; returns whether all have arrived.
pub(crate) fn leave(agent: &Agent, leaving: Leaving, stays: impl Fn() -> Result<bool, Error>) -> Result<bool, Error> {
    let _alone = agent.alone()?;
    let all = wait_for_all(agent, leaving.generation, stays)?;
    if all {
        compare(agent, Collective::Leave, leaving.number)?;
    }
    if all && agent.world.far.is_some() {
        others_return(agent);
    }
    Ok(all)
}

/// Takes `size` zeroed bytes at the same offset on every rank.
pub(crate) fn alloc(agent: &Agent, size: u64, align: u64, loc: Loc<'_>) -> Result<*mut u8, Error> {
    traced(agent, loc, What::Alloc { bytes: size }, || {
        meet(agent, Collective::Alloc { size, align }, loc)?;
        let local = agent.world.local_rank(agent.rank);
        let offset = lock(&local.allocator).alloc(size, align)?;
        let mut shown = false;
        let cleared = agent.world.heaps.clear(agent.rank, offset, size, &mut |long| {
            if long && !std::mem::replace(&mut shown, true) {
                agent.show_on_device(loc);
            }
            agent.goes_on()
        });
        if shown {
            agent.set_host(HostState::Running);
        }
        cleared?;
        // Nobody may write into a peer's allocation before the peer has cleared it.
        arrive(agent, loc)?;
        Ok(agent.world.heaps.pointer(HeapAddress { rank: agent.rank, offset }))
    })
}

/// Frees what [`alloc`] returned. Null frees nothing, and every rank must pass null then.
pub(crate) fn free(agent: &Agent, pointer: *const u8, loc: Loc<'_>) -> Result<(), Error> {
    let offset = match agent.world.heaps.locate(pointer) {
        _ if pointer.is_null() => NOTHING,
        Some(found) if found.rank == agent.rank => found.offset,
        Some(found) => {
            let what = format!("heap+{:#x} of rank {}, another rank's memory", found.offset, found.rank);
            return Err(Error::NotAllocated(what));
        }
        None => {
            return Err(Error::NotAllocated(format!("{pointer:p}, outside of the symmetric heap")));
        }
    };
    traced(agent, loc, What::Free, || {
        meet(agent, Collective::Free { offset }, loc)?;
        if offset == NOTHING {
            return Ok(());
        }
        let local = agent.world.local_rank(agent.rank);
        let freed = lock(&local.allocator).free(offset);
        freed.ok_or_else(|| Error::NotAllocated(format!("heap+{offset:#x}")))
    })
}

/// A barrier that also checks that all ranks called the same operation.
fn meet(agent: &Agent, op: Collective, loc: Loc<'_>) -> Result<(), Error> {
    let number = post(agent, op, loc)?;
    arrive(agent, loc)?;
    compare(agent, op, number)
}

/// Posts what this rank has called; returns the number of the call.
fn post(agent: &Agent, op: Collective, loc: Loc<'_>) -> Result<u64, Error> {
    // A rank that does not meet the others must not post: they may still compare its last call.
    if agent.world.failed() {
        return Err(agent.world.stopped());
    }
    let number = agent.world.local_rank(agent.rank).collectives.fetch_add(1, Ordering::Relaxed);
    let post = posted(agent, agent.rank, number);
    post.set(op, loc);
    if let Some(far) = &agent.world.far {
        far.publish(post, (number % 2) as usize);
    }
    agent.area().host.post.store((number % 2) as u32, Ordering::Relaxed);
    Ok(number)
}

/// Two posts per rank are enough: no rank posts again at this parity before all have met once more, and have compared
/// these.
fn posted(agent: &Agent, rank: u32, number: u64) -> &Post {
    &agent.world.control.areas()[rank as usize].posts[(number % 2) as usize]
}

/// Whether all ranks, which have met, called the same operation.
fn compare(agent: &Agent, op: Collective, number: u64) -> Result<(), Error> {
    if let Some(far) = &agent.world.far {
        far.take_posts(&agent.world.control, (number % 2) as usize);
    }
    let posts: Vec<Posted> = (0..agent.world.num_ranks()).map(|rank| posted(agent, rank, number).get(rank)).collect();
    let own = &posts[agent.rank as usize].call;
    if posts.iter().all(|posted| posted.op == op && posted.call == *own) {
        Ok(())
    } else {
        Err(Error::CollectiveMismatch { posts })
    }
}

/// Copies the bytes of `root` to every rank.
pub(crate) fn broadcast(agent: &Agent, root: u32, bytes: &mut [u8], loc: Loc<'_>) -> Result<(), Error> {
    let size = bytes.len() as u64;
    traced(agent, loc, What::Broadcast { bytes: size }, || send_to_all(agent, root, bytes, loc))
}

fn send_to_all(agent: &Agent, root: u32, bytes: &mut [u8], loc: Loc<'_>) -> Result<(), Error> {
    meet(agent, Collective::Broadcast { root, bytes: bytes.len() as u64 }, loc)?;
    for piece in bytes.chunks_mut(8 * MAIL_WORDS) {
        let far = agent.world.far.as_ref();
        let mail = || far.map_or(&agent.world.control.mail, |far| far.mail()).iter();
        if agent.rank == root {
            for (to, from) in mail().zip(piece.chunks(8)) {
                let mut word = [0; 8];
                word[..from.len()].copy_from_slice(from);
                to.store(u64::from_ne_bytes(word), Ordering::Relaxed);
            }
            if let Some(far) = far {
                far.send_mail(piece.len().div_ceil(8));
            }
        }
        arrive(agent, loc)?;
        if agent.rank != root {
            for (from, to) in mail().zip(piece.chunks_mut(8)) {
                to.copy_from_slice(&from.load(Ordering::Relaxed).to_ne_bytes()[..to.len()]);
            }
        }
        // `root` may not write the next piece before all have read this one.
        arrive(agent, loc)?;
    }
    Ok(())
}

/// The barrier itself.
fn arrive(agent: &Agent, loc: Loc<'_>) -> Result<(), Error> {
    if agent.world.failed() {
        return Err(agent.world.stopped());
    }
    let generation = come(agent, loc);
    wait_for_all(agent, generation, || agent.check_interrupt().map(|()| true)).map(drop)
}

/// Arrives at the barrier; returns its number.
fn come(agent: &Agent, loc: Loc<'_>) -> u32 {
    let control = &agent.world.control;
    let host = &agent.area().host;
    let far = agent.world.far.as_ref();
    let generation = far.map_or_else(|| control.generation.0.load(Ordering::Acquire), |far| far.generation() + 1);
    host.generation.store(generation, Ordering::Relaxed);
    host.since.store(clock::now(), Ordering::Relaxed);
    host.loc.set(loc.bytes());
    agent.set_host(HostState::InCollective);
    if let Some(far) = far {
        return far.come();
    }
    if control.arrived.0.fetch_add(1, Ordering::AcqRel) + 1 == agent.world.num_ranks() {
        control.arrived.0.store(0, Ordering::Relaxed);
        control.generation.0.store(generation.wrapping_add(1), Ordering::Release);
        futex::wake(&control.generation.0);
    }
    generation
}

/// Waits until all have arrived at the barrier, while `stays` returns true; returns whether they have.
fn wait_for_all(agent: &Agent, generation: u32, stays: impl Fn() -> Result<bool, Error>) -> Result<bool, Error> {
    let control = &agent.world.control;
    let far = agent.world.far.as_ref();
    let passed = || match far {
        Some(far) => far.missing(generation).next().is_none(),
        None => control.generation.0.load(Ordering::Acquire) != generation,
    };
    let mut spins = 0;
    while !passed() && spins < SPINS && agent.world.cores_suffice() {
        std::hint::spin_loop();
        spins += 1;
    }
    if !passed() {
        agent.count_runnable(-1);
        let mut goes_on = Ok(true);
        while !passed() && !agent.world.failed() && matches!(goes_on, Ok(true)) {
            match far {
                Some(far) => far.sleep_unless(passed),
                None => futex::sleep(&control.generation.0, generation, Some(LOOK_EVERY)),
            }
            goes_on = if passed() { Ok(true) } else { stays() };
        }
        agent.count_runnable(1);
        if !passed() {
            return if goes_on? { Err(agent.world.stopped()) } else { Ok(false) };
        }
    }
    agent.area().host.since.store(clock::now(), Ordering::Relaxed);
    agent.set_host(HostState::Running);
    Ok(true)
}

impl Agent {
    /// Shows that this host thread waits for its device, and since when.
    pub(crate) fn show_on_device(&self, loc: Loc<'_>) {
        let host = &self.area().host;
        host.loc.set(loc.bytes());
        host.since.store(clock::now(), Ordering::Relaxed);
        self.set_host(HostState::OnDevice);
    }

    /// Shows what this host thread does.
    pub(crate) fn set_host(&self, state: HostState) {
        if self.world.is_a_parents() {
            return;
        }
        self.area().host.state.store(state as u32, Ordering::Release);
        self.transition();
    }
}
