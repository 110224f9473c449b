//! A run whose ranks are reached by an engine: how they communicate, which of them are near, and accesses to the far
//! ones (rules N1 to N4).
//!
//! Each rank has a [`Shared`] in the engine's memory, which others write to. The heap of a far rank has addresses here,
//! at which nothing is mapped: they say whose heap it is and where in it (N4).

mod access;
mod reports;

pub(crate) use access::{copy, update};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use crate::control::{Control, FAULT_COMPLETE, FaultSlot, Post, Text};
use crate::engine::{self, Engine, Native};
use crate::error::Error;
use crate::heap::{HeapAddress, HeapMap, HeapMemory, Meanwhile, heap_stride};
use crate::memory::{self, Range};
use symm_abi::heap::{MAX_RANKS, RESERVED_BYTES};

/// Bytes of symmetric memory besides the heap: what is shared, and padding to align the heap.
const MORE: u64 = 32 << 20;
/// Time between two polls for what arrives. The other ranks of a host need its cores, too.
const PROGRESS_EVERY: Duration = Duration::from_micros(100);
/// How long others may take to learn of a fault.
const HEARS_IN: Duration = Duration::from_millis(500);
/// The page size: every mapping's size is a multiple of it, on every supported machine.
const PAGE: u64 = 64 << 10;
/// The largest size of a run's terms, in bytes.
const MOST_TERMS: usize = 4096;

/// What others tell this rank. It writes only `terms` and `posts` itself.
#[repr(C)]
#[derive(Debug)]
struct Shared {
    /// The last barrier that each rank has reached.
    arrived: [AtomicU64; MAX_RANKS as usize],
    /// The exit code of each rank.
    codes: [AtomicU64; MAX_RANKS as usize],
    fault: FaultSlot,
    terms: Text<MOST_TERMS>,
    posts: [Post; 2],
    answers: reports::Answers,
}

/// Ranks that an engine reaches; this process is one of them.
#[derive(Debug, Clone)]
pub struct EngineRanks {
    /// How many consecutive ranks, from rank 0 on, count as one node: ranks of other nodes are far even if mapped. With
    /// `None`, a rank is near if the engine has mapped its memory.
    pub domain: Option<u32>,
    /// What must be the same on all ranks, such as a hash of the program.
    pub fingerprint: Vec<u8>,
    /// The same for single values, each with the name that an error gives it.
    pub options: Vec<(String, String)>,
    link: Arc<Link>,
}

/// The engine, and this rank's place in its memory.
#[derive(Debug)]
pub(crate) struct Link {
    engine: Arc<dyn Engine>,
    shared: *mut Shared,
    /// Barriers that this rank has reached.
    generation: AtomicU32,
}

// SAFETY: `shared` points to atomics that live as long as the process.
unsafe impl Send for Link {}
// SAFETY: as above.
unsafe impl Sync for Link {}

impl EngineRanks {
    /// Starts the engine called `name`. Collective.
    ///
    /// # Errors
    /// [`Error::NoEngine`], [`Error::InvalidConfig`] for what it cannot hold.
    pub fn start(name: &str, heap_size: u64) -> Result<Self, Error> {
        let engine = engine::start(name, heap_stride(heap_size).saturating_add(MORE))?;
        let too_many = engine.num_ranks() > MAX_RANKS;
        if too_many {
            let what = format!("{} ranks", engine.num_ranks());
            return Err(Error::InvalidConfig { what, mend: "a run has 1 to 128 ranks" });
        }
        let shared = engine.alloc(size_of::<Shared>() as u64).ok_or_else(|| too_large(&*engine, heap_size))?;
        // SAFETY: this rank's own memory, before others may write to it.
        unsafe { memory::clear(shared, size_of::<Shared>()) };
        engine.meet();
        #[allow(clippy::cast_ptr_alignment, reason = "the engine aligns to 2 MiB")]
        let link = Link { engine, shared: shared.cast(), generation: AtomicU32::new(0) };
        Ok(Self { domain: None, fingerprint: Vec::new(), options: Vec::new(), link: Arc::new(link) })
    }

    /// This process's rank.
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.link.engine.rank()
    }

    /// How many ranks there are.
    #[must_use]
    pub fn num_ranks(&self) -> u32 {
        self.link.engine.num_ranks()
    }

    /// Ends this process with a code, and the run with it. If all ranks have come to the end of the program, the run's
    /// code is the largest of all; after a failure it ends at once.
    pub fn end(&self, code: u8, failed: bool) -> ! {
        let link = &self.link;
        if failed {
            link.engine.exit(i32::from(code.max(1)));
        }
        for rank in 0..self.num_ranks() {
            link.store(rank, &link.shared().codes[self.rank() as usize], u64::from(code));
        }
        link.engine.meet();
        let codes = link.shared().codes.iter().map(|code| code.load(Ordering::Acquire));
        link.engine.exit(codes.max().unwrap_or_default().try_into().unwrap_or(1))
    }

    /// What has to be the same on all ranks.
    fn terms(&self, heap_size: u64) -> String {
        let mut program = String::new();
        for byte in &self.fingerprint {
            write!(program, "{byte:02x}").expect("writing to a String");
        }
        let domain = self.domain.map_or_else(|| "not given".to_owned(), |ranks| ranks.to_string());
        let own = [("the heap's size", heap_size.to_string()), ("--domain", domain), ("the program", program)];
        let own = own.into_iter().map(|(name, value)| (name.to_owned(), value));
        let lines = own.chain(self.options.iter().cloned()).map(|(name, value)| format!("{name}\t{value}"));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Meets the other ranks: finds all heaps, and which ranks are near.
    pub(crate) fn map(&self, heap_size: u64) -> Result<(HeapMap, Far), Error> {
        let link = Arc::clone(&self.link);
        link.agree(&self.terms(heap_size))?;
        let (me, ranks) = (self.rank(), self.num_ranks());
        let heap = link.engine.alloc(heap_stride(heap_size)).ok_or_else(|| too_large(&*link.engine, heap_size))?;
        // SAFETY: this rank's own memory, before others may write to it.
        unsafe { memory::clear(heap, RESERVED_BYTES as usize) };
        link.engine.meet();
        let node = |rank: u32| self.domain.map_or(0, |ranks| rank / ranks.max(1));
        let stride = heap_stride(heap_size);
        let mut range = Range::reserve(u64::from(ranks) * stride)?;
        let start = range.start() as u64;
        let (mut bases, mut near) = (Vec::new(), Vec::new());
        for rank in 0..ranks {
            let mapped = if rank != me && node(rank) == node(me) { link.engine.mapped(heap, rank) } else { None };
            // Engines map memory at any page, and heaps have to be aligned (T4). One that cannot be mapped is far.
            let again = |mapped| {
                // SAFETY: the engine has mapped the whole heap, which others share.
                unsafe { range.map_again(u64::from(rank) * stride, mapped, heap_size.next_multiple_of(PAGE)) }.is_ok()
            };
            near.push(rank == me || mapped.is_some_and(again));
            bases.push(if rank == me { heap as u64 } else { start + u64::from(rank) * stride });
        }
        let memory = Heaps { _range: range, bases, near, size: heap_size };
        let far = Far { link, heap: heap as usize };
        Ok((HeapMap::new(Box::new(memory), heap_size), far))
    }
}

/// The error of a heap that the engine has no memory for.
fn too_large(engine: &dyn Engine, heap_size: u64) -> Error {
    Error::InvalidConfig {
        what: format!("a heap of {heap_size} bytes in the engine's memory"),
        mend: engine.mend_of_memory(),
    }
}

impl Link {
    fn shared(&self) -> &Shared {
        // SAFETY: allocated and cleared in `start`, never freed; atomics, valid whatever bytes they have.
        unsafe { &*self.shared }
    }

    /// Stores to a word of a rank's [`Shared`], which is named by this rank's own.
    fn store(&self, rank: u32, word: &AtomicU64, value: u64) {
        if rank == self.engine.rank() {
            word.store(value, Ordering::Release);
        } else {
            // SAFETY: a word of symmetric memory.
            unsafe { self.engine.update(rank, word.as_ptr().cast(), 8, Native::Set(value)) };
        }
    }

    /// Whether all ranks have the same terms.
    fn agree(&self, terms: &str) -> Result<(), Error> {
        let (me, shared) = (self.engine.rank(), self.shared());
        shared.terms.set(terms.as_bytes());
        self.engine.meet();
        // Compares with rank 0's, so that each difference is reported once.
        let theirs = Text::<MOST_TERMS>::new();
        // SAFETY: both are that large, and the former is this function's own.
        unsafe {
            let at = (&raw const shared.terms).cast();
            self.engine.get(0, (&raw const theirs).cast_mut().cast(), at, size_of_val(&theirs));
        }
        self.engine.meet();
        let (ours, theirs) = (shared.terms.get(), theirs.get());
        if ours == theirs {
            return Ok(());
        }
        let values = |text: &str| -> Vec<(String, String)> {
            let lines = text.lines().filter_map(|line| line.split_once('\t'));
            lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
        };
        let (ours, theirs) = (values(&ours), values(&theirs));
        let find = |values: &[(String, String)], what: &str| {
            let found = values.iter().find(|(name, _)| name == what);
            found.map_or_else(|| "not given".to_owned(), |(_, value)| value.clone())
        };
        let names = ours.iter().chain(&theirs).map(|(name, _)| name);
        let what = names.into_iter().find(|what| find(&ours, what) != find(&theirs, what));
        let what = what.map_or("the order of options", String::as_str);
        let (theirs, ours) = (find(&ours, what), find(&theirs, what));
        Err(Error::RunMismatch { rank: me, other: 0, what: what.to_owned(), theirs, ours })
    }
}

/// A run's engine.
#[derive(Debug)]
pub(crate) struct Far {
    link: Arc<Link>,
    /// Where this rank's heap starts.
    heap: usize,
}

impl Far {
    /// The progress thread: receives what others send, until the process ends.
    pub(crate) fn progress(&self) -> Result<(), Error> {
        let link = Arc::clone(&self.link);
        let look = move || {
            loop {
                link.engine.progress();
                std::thread::sleep(PROGRESS_EVERY);
            }
        };
        let thread = std::thread::Builder::new().name("symm engine".to_owned()).spawn(look);
        thread.map(drop).map_err(Error::io("start a thread for the engine"))
    }

    /// Arrives at the next barrier of the hosts; returns its number.
    pub(crate) fn come(&self) -> u32 {
        let link = &self.link;
        let generation = link.generation.fetch_add(1, Ordering::Relaxed) + 1;
        let (me, ranks) = (link.engine.rank(), link.engine.num_ranks());
        for rank in (1..=ranks).map(|distance| (me + distance) % ranks) {
            link.store(rank, &link.shared().arrived[me as usize], generation.into());
        }
        generation
    }

    /// The ranks that have not arrived at a barrier.
    pub(crate) fn missing(&self, generation: u32) -> impl Iterator<Item = u32> {
        let arrived = self.link.shared().arrived.iter().take(self.link.engine.num_ranks() as usize);
        let arrived = (0..).zip(arrived).filter(move |(_, seen)| seen.load(Ordering::Acquire) < generation.into());
        arrived.map(|(rank, _)| rank)
    }

    /// The number of the last barrier that this rank has reached.
    pub(crate) fn generation(&self) -> u32 {
        self.link.generation.load(Ordering::Relaxed)
    }

    /// Posts what this rank calls.
    pub(crate) fn publish(&self, post: &Post, parity: usize) {
        let shared = &self.link.shared().posts[parity];
        // SAFETY: both are posts, made of atomics; others read this one after the barrier that follows.
        unsafe { memory::copy((&raw const *shared).cast_mut().cast(), (&raw const *post).cast(), size_of::<Post>()) };
    }

    /// Fetches what the others call, to compare it.
    pub(crate) fn fetch_posts(&self, control: &Control, parity: usize) {
        let me = self.link.engine.rank();
        for (rank, area) in (0..).zip(control.areas()).filter(|(rank, _)| *rank != me) {
            let at = (&raw const self.link.shared().posts[parity]).cast();
            let to = (&raw const area.posts[parity]).cast_mut().cast();
            // SAFETY: both are posts, and this thread alone fetches them.
            unsafe { self.link.engine.get(rank, to, at, size_of::<Post>()) };
        }
    }

    /// Tells the others of a fault. Those that can't be reached learn of it from the launcher.
    pub(crate) fn tell(&self, fault: u32, summary: &str) {
        let (link, (sender, told)) = (Arc::clone(&self.link), mpsc::channel());
        let text = Text::<1024>::new();
        text.set(summary.as_bytes());
        let tell = move || {
            let slot = &link.shared().fault;
            let me = link.engine.rank();
            for rank in (0..link.engine.num_ranks()).filter(|rank| *rank != me) {
                // SAFETY: the fields of symmetric memory that they are.
                unsafe {
                    let summary = (&raw const slot.summary).cast_mut().cast();
                    link.engine.put(rank, summary, (&raw const text).cast(), size_of_val(&text));
                    link.engine.update(rank, slot.rank.as_ptr().cast(), 4, Native::Set(fault.into()));
                    link.engine.update(rank, slot.state.as_ptr().cast(), 4, Native::Set(FAULT_COMPLETE.into()));
                }
            }
            // Nobody may wait for it any more.
            let _ = sender.send(());
        };
        if std::thread::Builder::new().name("symm tells".to_owned()).spawn(tell).is_ok() {
            let _ = told.recv_timeout(HEARS_IN);
        }
    }

    /// The fault that another rank has reported.
    pub(crate) fn heard(&self) -> Option<(u32, String)> {
        let slot = &self.link.shared().fault;
        let complete = slot.state.load(Ordering::Acquire) == FAULT_COMPLETE;
        complete.then(|| (slot.rank.load(Ordering::Relaxed), slot.summary.get()))
    }

    /// The address here that stands for one in a rank's heap.
    fn at(&self, address: HeapAddress) -> *mut u8 {
        (self.heap as u64 + address.offset) as *mut u8
    }
}

/// Heaps in an engine's memory.
#[derive(Debug)]
struct Heaps {
    /// The addresses of the other ranks' heaps; nothing is mapped at those of far ranks.
    _range: Range,
    bases: Vec<u64>,
    near: Vec<bool>,
    size: u64,
}

impl HeapMemory for Heaps {
    fn bases(&self) -> &[u64] {
        &self.bases
    }

    fn strided(&self) -> bool {
        false
    }

    fn near(&self) -> Option<&[bool]> {
        Some(&self.near)
    }

    fn clear(&self, rank: u32, offset: u64, bytes: u64, _: Meanwhile<'_>) -> Result<(), Error> {
        // SAFETY: inside of this rank's heap, says the caller; no rank knows the address yet.
        unsafe { memory::clear((self.bases[rank as usize] + offset) as *mut u8, bytes as usize) };
        Ok(())
    }

    fn read(&self, address: u64, bytes: usize) -> Option<u64> {
        let owner = self.bases.iter().position(|base| address.wrapping_sub(*base) < self.size)?;
        // SAFETY: inside of a mapped heap and aligned, says the caller; flags are accessed as atomics everywhere.
        self.near[owner].then(|| unsafe {
            match bytes {
                4 => u64::from((*(address as *const AtomicU32)).load(Ordering::Relaxed)),
                _ => (*(address as *const AtomicU64)).load(Ordering::Relaxed),
            }
        })
    }
}
