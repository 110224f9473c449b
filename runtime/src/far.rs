//! A run whose ranks do not share memory: how they communicate, and accesses to the heaps that only an engine reaches
//! (rules N1 to N4).
//!
//! Each rank has a [`Shared`], into which the others write: in the engine's memory on CPUs, over TCP where the ranks
//! have GPUs. The heap of a far rank has addresses here, at which nothing is mapped: they say whose heap it is and
//! where in it (N4).

mod access;
mod ranks;
mod reports;
mod sockets;
#[cfg(test)]
mod tests;

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

pub(crate) use access::{copy, update};
pub use ranks::EngineRanks;

use crate::control::{Control, EngineSlot, FAULT_COMPLETE, FaultSlot, MAIL_WORDS, Post, Text};
use crate::engine::Engine;
use crate::error::Error;
use crate::heap::HeapAddress;
use crate::memory;
use crate::process;
use symm_abi::heap::MAX_RANKS;

/// Time between two polls for what arrives. The other ranks of a host need its cores, too.
const PROGRESS_EVERY: Duration = Duration::from_micros(100);
/// Time between two looks for what arrives where that wakes nobody.
const LOOK_EVERY: Duration = Duration::from_micros(200);
/// How long others may take to learn of a fault.
const HEARS_IN: Duration = Duration::from_millis(500);
/// The largest size of a run's terms, in bytes.
const MOST_TERMS: usize = 4096;

/// How ranks write into each other's [`Shared`]. What one rank writes to another arrives in that order.
pub(crate) trait Messages: Debug + Send + Sync {
    /// This process's rank.
    fn rank(&self) -> u32;

    /// How many ranks there are.
    fn num_ranks(&self) -> u32;

    /// Copies to a rank, to the place that `at` is of this one's [`Shared`].
    ///
    /// # Safety
    /// `from` is valid for `bytes` bytes, and `at` is in what is shared, with as many.
    unsafe fn copy_to(&self, rank: u32, at: *mut u8, from: *const u8, bytes: usize);

    /// Stores an aligned value of 4 or 8 bytes there at once.
    ///
    /// # Safety
    /// `at` is in what is shared.
    unsafe fn store_to(&self, rank: u32, at: *mut u8, bytes: usize, value: u64);

    /// [`Messages::copy_to`] to all other ranks.
    ///
    /// # Safety
    /// As there.
    unsafe fn copy_to_others(&self, at: *mut u8, from: *const u8, bytes: usize) {
        for rank in others(self.rank(), self.num_ranks()) {
            // SAFETY: the caller's promise.
            unsafe { self.copy_to(rank, at, from, bytes) };
        }
    }

    /// [`Messages::store_to`] to all other ranks.
    ///
    /// # Safety
    /// As there.
    unsafe fn store_to_others(&self, at: *mut u8, bytes: usize, value: u64) {
        for rank in others(self.rank(), self.num_ranks()) {
            // SAFETY: the caller's promise.
            unsafe { self.store_to(rank, at, bytes, value) };
        }
    }

    /// A number that is another one when something has arrived, where that wakes sleepers.
    fn news(&self) -> u32 {
        0
    }

    /// Sleeps for a short time, or until there is more news than this.
    fn sleep(&self, _news: u32) {
        thread::sleep(LOOK_EVERY);
    }

    /// A rank that has ended before it took its leave, where the launcher does not end the others.
    fn lost(&self) -> Option<u32> {
        None
    }

    /// Takes leave: this rank needs nothing from the others any more.
    fn part(&self) {}
}

/// All ranks but `me`, from the next one on: not all write to the same one first.
fn others(me: u32, num_ranks: u32) -> impl Iterator<Item = u32> {
    (1..num_ranks).map(move |distance| (me + distance) % num_ranks)
}

/// What others tell this rank.
#[repr(C)]
#[derive(Debug)]
struct Shared {
    /// The last barrier that each rank has reached.
    arrived: [AtomicU64; MAX_RANKS as usize],
    /// The exit code of each rank.
    codes: [AtomicU64; MAX_RANKS as usize],
    /// What each rank has reported: several may at once.
    faults: [FaultSlot; MAX_RANKS as usize],
    engine: EngineSlot,
    /// Of this rank alone, for the others to read.
    terms: Text<MOST_TERMS>,
    /// The last two collective operations of each rank, by parity of their number.
    posts: [[Post; 2]; MAX_RANKS as usize],
    answers: reports::Answers,
    /// What one rank broadcasts to all others, a piece at a time.
    mail: [AtomicU64; MAIL_WORDS],
}

/// The way to the other ranks, and what they write here.
#[derive(Debug)]
pub(crate) struct Link {
    messages: Arc<dyn Messages>,
    shared: *mut Shared,
    /// Barriers that this rank has reached.
    generation: AtomicU32,
}

// SAFETY: `shared` points to atomics that live as long as the process.
unsafe impl Send for Link {}
// SAFETY: as above.
unsafe impl Sync for Link {}

impl Link {
    /// `shared` is zeroed, aligned as [`Shared`] and never freed.
    fn new(messages: Arc<dyn Messages>, shared: *mut Shared) -> Arc<Self> {
        Arc::new(Self { messages, shared, generation: AtomicU32::new(0) })
    }

    fn rank(&self) -> u32 {
        self.messages.rank()
    }

    fn num_ranks(&self) -> u32 {
        self.messages.num_ranks()
    }

    fn shared(&self) -> &Shared {
        // SAFETY: as `new` says; atomics, valid whatever bytes they have.
        unsafe { &*self.shared }
    }

    /// Stores to a word of a rank's [`Shared`], which is named by this rank's own.
    fn store(&self, rank: u32, word: &AtomicU64, value: u64) {
        if rank == self.rank() {
            word.store(value, Ordering::Release);
        } else {
            // SAFETY: a word of what is shared.
            unsafe { self.messages.store_to(rank, word.as_ptr().cast(), 8, value) };
        }
    }

    /// The same on all ranks, this one first.
    fn store_everywhere(&self, word: &AtomicU64, value: u64) {
        word.store(value, Ordering::Release);
        // SAFETY: as above.
        unsafe { self.messages.store_to_others(word.as_ptr().cast(), 8, value) };
    }

    /// Copies a value of this rank's [`Shared`] to all others'.
    fn show<T>(&self, value: &T) {
        let at = (&raw const *value).cast_mut().cast::<u8>();
        // SAFETY: a value of what is shared, made of atomics, which this thread alone writes meanwhile.
        unsafe { self.messages.copy_to_others(at, at, size_of::<T>()) };
    }
}

/// The ranks of a run, none of which can read this one's memory but through an engine.
#[derive(Debug, Clone)]
pub(crate) struct Far {
    link: Arc<Link>,
    /// What reaches their heaps from the CPU. GPUs reach them themselves.
    data: Option<Data>,
}

#[derive(Debug, Clone)]
struct Data {
    engine: Arc<dyn Engine>,
    /// Where this rank's heap starts.
    heap: usize,
}

impl Far {
    /// Ranks that have met over TCP: this one, and the connections to others, as [`process::join`] makes them.
    pub(crate) fn over_sockets(rank: u32, num_ranks: u32, links: Vec<process::Link>) -> Result<Self, Error> {
        let (messages, shared) = sockets::start(rank, num_ranks, links)?;
        Ok(Self { link: Link::new(messages, shared), data: None })
    }

    /// The progress thread: receives what others send, until the process ends.
    pub(crate) fn progress(&self) -> Result<(), Error> {
        let Some(Data { engine, .. }) = &self.data else { return Ok(()) };
        let engine = Arc::clone(engine);
        let look = move || {
            loop {
                engine.progress();
                thread::sleep(PROGRESS_EVERY);
            }
        };
        let thread = thread::Builder::new().name("symm engine".to_owned()).spawn(look);
        thread.map(drop).map_err(Error::io("start a thread for the engine"))
    }

    /// Arrives at the next barrier of the hosts; returns its number.
    pub(crate) fn come(&self) -> u32 {
        let link = &self.link;
        let generation = link.generation.fetch_add(1, Ordering::Relaxed) + 1;
        link.store_everywhere(&link.shared().arrived[link.rank() as usize], generation.into());
        generation
    }

    /// The ranks that have not arrived at a barrier.
    pub(crate) fn missing(&self, generation: u32) -> impl Iterator<Item = u32> {
        let arrived = self.link.shared().arrived.iter().take(self.link.num_ranks() as usize);
        let arrived = (0..).zip(arrived).filter(move |(_, seen)| seen.load(Ordering::Acquire) < generation.into());
        arrived.map(|(rank, _)| rank)
    }

    /// Sleeps until something has arrived, or for a short time, unless `is_over`.
    pub(crate) fn sleep_unless(&self, is_over: impl Fn() -> bool) {
        let news = self.link.messages.news();
        if !is_over() {
            self.link.messages.sleep(news);
        }
    }

    /// The number of the last barrier that this rank has reached.
    pub(crate) fn generation(&self) -> u32 {
        self.link.generation.load(Ordering::Relaxed)
    }

    /// Posts what this rank calls. The others have it when they see it arrive at the barrier that follows.
    pub(crate) fn publish(&self, post: &Post, parity: usize) {
        let own = &self.link.shared().posts[self.link.rank() as usize][parity];
        // SAFETY: both are posts, made of atomics, and only this thread writes either.
        unsafe { memory::copy((&raw const *own).cast_mut().cast(), (&raw const *post).cast(), size_of::<Post>()) };
        self.link.show(own);
    }

    /// Takes what the others have posted, to compare it.
    pub(crate) fn take_posts(&self, control: &Control, parity: usize) {
        let me = self.link.rank();
        for (rank, area) in (0..).zip(control.areas()).filter(|(rank, _)| *rank != me) {
            let from = (&raw const self.link.shared().posts[rank as usize][parity]).cast();
            let to = (&raw const area.posts[parity]).cast_mut().cast();
            // SAFETY: both are posts; the latter is this thread's own.
            unsafe { memory::read_shared(to, from, size_of::<Post>()) };
        }
    }

    /// Where a piece of a broadcast is, before [`Far::send_mail`] on the rank that has it, and after the barrier that
    /// follows on the others.
    pub(crate) fn mail(&self) -> &[AtomicU64; MAIL_WORDS] {
        &self.link.shared().mail
    }

    /// Sends the first words of a piece to all others.
    pub(crate) fn send_mail(&self, words: usize) {
        let at = self.mail().as_ptr().cast_mut().cast::<u8>();
        // SAFETY: words of what is shared, which this thread alone writes meanwhile.
        unsafe { self.link.messages.copy_to_others(at, at, 8 * words.min(MAIL_WORDS)) };
    }

    /// What rank 0 says of the engine.
    pub(crate) fn engine_slot(&self) -> &EngineSlot {
        &self.link.shared().engine
    }

    /// Tells the others what this rank, 0, says of the engine.
    pub(crate) fn show_engine(&self) {
        let slot = self.engine_slot();
        self.link.show(&slot.id);
        let state = &slot.state;
        // SAFETY: a value of what is shared.
        unsafe { self.link.messages.store_to_others(state.as_ptr().cast(), 4, state.load(Ordering::Acquire).into()) };
    }

    /// Tells the others of a fault. Those that can't be reached learn of it from the launcher.
    pub(crate) fn tell(&self, fault: u32, summary: &str) {
        let (link, (sender, told)) = (Arc::clone(&self.link), mpsc::channel());
        let text = Text::<1024>::new();
        text.set(summary.as_bytes());
        let tell = move || {
            let slot = &link.shared().faults[link.rank() as usize];
            for rank in others(link.rank(), link.num_ranks()) {
                // SAFETY: the fields of what is shared that they are.
                unsafe {
                    let summary = (&raw const slot.summary).cast_mut().cast();
                    link.messages.copy_to(rank, summary, (&raw const text).cast(), size_of_val(&text));
                    link.messages.store_to(rank, slot.rank.as_ptr().cast(), 4, fault.into());
                    link.messages.store_to(rank, slot.state.as_ptr().cast(), 4, FAULT_COMPLETE.into());
                }
            }
            // Nobody may wait for it any more.
            let _ = sender.send(());
        };
        if thread::Builder::new().name("symm tells".to_owned()).spawn(tell).is_ok() {
            let _ = told.recv_timeout(HEARS_IN);
        }
    }

    /// The fault that another rank has reported.
    pub(crate) fn heard(&self) -> Option<(u32, String)> {
        let is_complete = |slot: &&FaultSlot| slot.state.load(Ordering::Acquire) == FAULT_COMPLETE;
        let slot = self.link.shared().faults.iter().take(self.link.num_ranks() as usize).find(is_complete)?;
        Some((slot.rank.load(Ordering::Relaxed), slot.summary.get()))
    }

    /// A rank that has ended without a word.
    pub(crate) fn lost(&self) -> Option<u32> {
        self.link.messages.lost()
    }

    /// Whether the others are still there, before the run has begun.
    pub(crate) fn goes_on(&self) -> Result<(), Error> {
        // In this order: what a rank says comes before its end.
        let lost = self.lost();
        if let Some((rank, summary)) = self.heard() {
            return Err(Error::Stopped { rank, summary });
        }
        lost.map_or(Ok(()), |rank| Err(Error::RankDied { rank }))
    }

    /// Takes leave of the others, all of which have come to the end.
    pub(crate) fn part(&self) {
        self.link.messages.part();
    }
}

impl Data {
    /// The address here that stands for one in a rank's heap.
    fn at(&self, address: HeapAddress) -> *mut u8 {
        (self.heap as u64 + address.offset) as *mut u8
    }
}
