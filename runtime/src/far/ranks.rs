//! Ranks that an engine of CPUs reaches: they share its memory.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::{Data, Far, Link, MOST_TERMS, Messages, Shared};
use crate::control::Text;
use crate::engine::{self, Engine};
use crate::error::Error;
use crate::heap::{HeapMap, HeapMemory, Meanwhile, heap_stride};
use crate::memory::{self, Range};
use symm_abi::heap::{MAX_RANKS, RESERVED_BYTES};

/// Bytes of symmetric memory besides the heap: what is shared, and padding to align the heap.
const MORE: u64 = 32 << 20;
/// The page size: every mapping's size is a multiple of it, on every supported machine.
const PAGE: u64 = 64 << 10;

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
    engine: Arc<dyn Engine>,
}

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
        let link = Link::new(Arc::clone(&engine) as Arc<dyn Messages>, shared.cast());
        Ok(Self { domain: None, fingerprint: Vec::new(), options: Vec::new(), link, engine })
    }

    /// This process's rank.
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.engine.rank()
    }

    /// How many ranks there are.
    #[must_use]
    pub fn num_ranks(&self) -> u32 {
        self.engine.num_ranks()
    }

    /// Ends this process with a code, and the run with it. If all ranks have come to the end of the program, the run's
    /// code is the largest of all; after a failure it ends at once.
    pub fn end(&self, code: u8, failed: bool) -> ! {
        let (link, engine) = (&self.link, &self.engine);
        if failed {
            engine.exit(i32::from(code.max(1)));
        }
        link.store_everywhere(&link.shared().codes[self.rank() as usize], u64::from(code));
        engine.meet();
        let codes = link.shared().codes.iter().map(|code| code.load(Ordering::Acquire));
        engine.exit(codes.max().unwrap_or_default().try_into().unwrap_or(1))
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
        let engine = &self.engine;
        self.agree(&self.terms(heap_size))?;
        let (me, ranks) = (self.rank(), self.num_ranks());
        let heap = engine.alloc(heap_stride(heap_size)).ok_or_else(|| too_large(&**engine, heap_size))?;
        // SAFETY: this rank's own memory, before others may write to it.
        unsafe { memory::clear(heap, RESERVED_BYTES as usize) };
        engine.meet();
        let node = |rank: u32| self.domain.map_or(0, |ranks| rank / ranks.max(1));
        let stride = heap_stride(heap_size);
        let mut range = Range::reserve(u64::from(ranks) * stride)?;
        let start = range.start() as u64;
        let (mut bases, mut near) = (Vec::new(), Vec::new());
        for rank in 0..ranks {
            let mapped = if rank != me && node(rank) == node(me) { engine.mapped(heap, rank) } else { None };
            // Engines map memory at any page, and heaps have to be aligned (T4). One that cannot be mapped is far.
            let again = |mapped| {
                // SAFETY: the engine has mapped the whole heap, which others share.
                unsafe { range.map_again(u64::from(rank) * stride, mapped, heap_size.next_multiple_of(PAGE)) }.is_ok()
            };
            near.push(rank == me || mapped.is_some_and(again));
            bases.push(if rank == me { heap as u64 } else { start + u64::from(rank) * stride });
        }
        let memory = Heaps { _range: range, bases, near, size: heap_size };
        let data = Data { engine: Arc::clone(engine), heap: heap as usize };
        let far = Far { link: Arc::clone(&self.link), data: Some(data) };
        Ok((HeapMap::new(Box::new(memory), heap_size), far))
    }

    /// Whether all ranks have the same terms.
    fn agree(&self, terms: &str) -> Result<(), Error> {
        let (me, shared) = (self.rank(), self.link.shared());
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

/// The error of a heap that the engine has no memory for.
fn too_large(engine: &dyn Engine, heap_size: u64) -> Error {
    Error::InvalidConfig {
        what: format!("a heap of {heap_size} bytes in the engine's memory"),
        mend: engine.mend_of_memory(),
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
