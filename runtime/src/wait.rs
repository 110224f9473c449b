//! Waiting for a flag in a symmetric heap, and waking who waits (rules O4 to O6).
//!
//! A wait spins while there are cores to spare, yields once, and then parks on a futex keyed on the flag. A
//! signal wakes parked waiters only where it sees one counted; without a fence between its store and that look a
//! wake may be lost. So every sleep is bounded: the wake is a hint, the bound is the guarantee.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::time::Duration;

use crate::agent::{Agent, park_for_ever};
use crate::clock;
use crate::condition::Condition;
use crate::control::{BLOCK_RUNNING, BLOCK_WAITING, BlockSlot, NO_RANK};
use crate::futex;
use crate::heap::HeapAddress;
use crate::loc::Loc;
use crate::trace::{FlagAddress, What};

/// Polls before anything else is looked at.
const FIRST_POLLS: u32 = 64;
/// Polls while there are cores to spare: some hundred microseconds.
const SPINS: u32 = 10_000;
/// The first sleep of a parked waiter when there are about as many threads as cores.
const FIRST_SLEEP: Duration = Duration::from_millis(1);
/// The longest sleep, and so the longest delay that a lost wake can cause.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

/// The same for flags that an engine sets.
const FIRST_FAR_SLEEP: Duration = Duration::from_micros(100);
const LONGEST_FAR_SLEEP: Duration = Duration::from_millis(2);

/// A flag of 32 or 64 bits.
pub(crate) trait Flag {
    const BITS: u32;
    fn read(&self) -> u64;
    fn address(&self) -> *const u8 {
        std::ptr::from_ref(self).cast()
    }
}

impl Flag for AtomicU32 {
    const BITS: u32 = 32;
    #[inline]
    fn read(&self) -> u64 {
        u64::from(self.load(Ordering::Relaxed))
    }
}

impl Flag for AtomicU64 {
    const BITS: u32 = 64;
    #[inline]
    fn read(&self) -> u64 {
        self.load(Ordering::Relaxed)
    }
}

/// One call of `symm.wait`.
#[derive(Debug)]
pub(crate) struct Wait<'a, F> {
    pub(crate) flag: &'a F,
    /// The 32 bits of the flag to sleep on.
    pub(crate) word: &'a AtomicU32,
    pub(crate) condition: Condition,
    /// The timeout; `None` waits forever.
    pub(crate) limit: Option<Duration>,
    pub(crate) loc: Loc<'a>,
}

impl<F: Flag> Wait<'_, F> {
    /// Waits; false after its timeout.
    #[inline]
    pub(crate) fn run(&self, agent: &Agent) -> bool {
        let start = if agent.recorder.is_some() || self.limit.is_some() { clock::now() } else { 0 };
        let satisfied = self.spin(FIRST_POLLS).or_else(|| self.wait_longer(agent, start));
        if satisfied.is_some() {
            fence(Ordering::Acquire);
        }
        agent.record(start, self.loc, || {
            self.event(agent, satisfied.unwrap_or_else(|| self.flag.read()), satisfied.is_some())
        });
        satisfied.is_some()
    }

    fn event(&self, agent: &Agent, saw: u64, satisfied: bool) -> What {
        What::Wait {
            flag: FlagAddress::of(agent.world.heaps.locate(self.flag.address())),
            condition: format!("{} {}", self.condition.compare, self.condition.show(self.condition.expected)),
            saw,
            satisfied,
        }
    }

    /// Polls up to `polls` times; returns the value that satisfied the condition.
    #[inline]
    fn spin(&self, polls: u32) -> Option<u64> {
        for _ in 0..polls {
            if let Some(saw) = self.poll() {
                return Some(saw);
            }
            std::hint::spin_loop();
        }
        None
    }

    #[inline]
    fn poll(&self) -> Option<u64> {
        let saw = self.flag.read();
        self.condition.holds(saw).then_some(saw)
    }

    #[cold]
    fn wait_longer(&self, agent: &Agent, start: u64) -> Option<u64> {
        let mut spent = FIRST_POLLS;
        while spent < SPINS && agent.world.cores_suffice() {
            if let Some(saw) = self.spin(FIRST_POLLS) {
                return Some(saw);
            }
            spent += FIRST_POLLS;
            if self.limit.is_some_and(|limit| clock::since(start) >= limit) {
                return None;
            }
        }
        std::thread::yield_now();
        if let Some(saw) = self.poll() {
            return Some(saw);
        }
        let owner = agent.world.heaps.locate(self.flag.address());
        self.enter(agent, owner);
        // If the run fails before the wait is over, this is what is known of it.
        agent.begin_at(start, self.loc, || self.event(agent, self.flag.read(), false));
        let satisfied = self.park(agent, owner, start);
        agent.forget();
        leave(agent);
        satisfied
    }

    fn park(&self, agent: &Agent, owner: Option<HeapAddress>, start: u64) -> Option<u64> {
        let parked = owner.map(|found| &agent.world.control.areas()[found.rank as usize].parked.0);
        if let Some(parked) = parked {
            parked.fetch_add(1, Ordering::SeqCst);
        }
        // An engine does not wake sleepers.
        let longest = if agent.world.far.is_some() { LONGEST_FAR_SLEEP } else { LONGEST_SLEEP };
        let mut sleep = if agent.world.far.is_some() { FIRST_FAR_SLEEP } else { first_sleep(agent) };
        let satisfied = loop {
            let saw = self.flag.read();
            if self.condition.holds(saw) {
                break Some(saw);
            }
            if agent.world.failed() {
                park_for_ever();
            }
            let left = self.limit.map(|limit| limit.saturating_sub(clock::since(start)));
            if left.is_some_and(|left| left.is_zero()) {
                break None;
            }
            agent.still_sees(saw);
            futex::sleep(self.word, saw as u32, Some(left.map_or(sleep, |left| left.min(sleep))));
            sleep = (sleep * 2).min(longest);
        };
        if let Some(parked) = parked {
            parked.fetch_sub(1, Ordering::Relaxed);
        }
        satisfied
    }

    /// Shows the wait to supervisors.
    fn enter(&self, agent: &Agent, owner: Option<HeapAddress>) {
        if let Some(slot) = agent.slot() {
            slot.condition.store(self.condition.encode(), Ordering::Relaxed);
            slot.expected.store(self.condition.expected, Ordering::Relaxed);
            slot.flag_rank.store(owner.map_or(NO_RANK, |found| found.rank), Ordering::Relaxed);
            slot.flag_offset.store(owner.map_or(self.flag.address() as u64, |found| found.offset), Ordering::Relaxed);
            slot.gives_up.store(u32::from(self.limit.is_some()), Ordering::Relaxed);
            slot.loc.set(self.loc.bytes());
            set_state(slot, BLOCK_WAITING);
            agent.transition();
        }
        agent.count_runnable(-1);
    }
}

/// Undoes [`Wait::enter`].
fn leave(agent: &Agent) {
    agent.count_runnable(1);
    if let Some(slot) = agent.slot() {
        agent.transition();
        // A thread that sees what this block does next also sees the transition.
        fence(Ordering::SeqCst);
        set_state(slot, BLOCK_RUNNING);
    }
}

fn set_state(slot: &BlockSlot, state: u32) {
    slot.since.store(clock::now(), Ordering::Relaxed);
    slot.state.store(state, Ordering::Release);
}

/// Many sleepers with short sleeps would keep the cores busy with timers: the more threads, the longer the first sleep.
fn first_sleep(agent: &Agent) -> Duration {
    let blocks: u32 = agent.world.control.areas().iter().map(|area| area.live.0.load(Ordering::Relaxed)).sum();
    let per_core = blocks / agent.world.cores.cast_unsigned().max(1) / 16;
    (FIRST_SLEEP * per_core.max(1)).min(LONGEST_SLEEP)
}

/// Wakes the threads parked on `flag`, after its value has changed.
#[inline]
pub(crate) fn wake(agent: &Agent, flag: *const u8, word: impl FnOnce() -> Option<&'static AtomicU32>) {
    let Some(found) = agent.world.heaps.locate(flag) else {
        return;
    };
    if agent.world.control.areas()[found.rank as usize].parked.0.load(Ordering::Relaxed) != 0
        && let Some(word) = word()
    {
        futex::wake(word);
    }
}
