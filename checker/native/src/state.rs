//! What the tasks of one execution share.

use crate::Tasks;
use crate::space::{HEAP, Place, Space};
use crate::task::Thread;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::ffi::{CStr, c_char};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use symm_abi::check::BARRIERS;
use symm_abi::heap::{MAX_RANKS, RESERVED_BYTES};
use symm_checker::op::{COPIES, OWN, Op, Range, SHARED, Site};
use symm_checker::task::TaskId;

/// The numbers of the hosts' barrier, and of the one at their start; those of groups are numbers of tasks.
const HOSTS: u64 = COPIES - 1;
const START: u64 = COPIES - 2;

/// Bytes of addresses for what a rank has besides its heap, and how they are aligned at least.
const OWN_BYTES: u64 = HEAP / MAX_RANKS as u64;
pub const PAGE: u64 = 4096;

/// A call that all ranks make, with the same values.
#[derive(Clone, PartialEq, Eq)]
pub enum Collective {
    /// Bytes and alignment.
    Alloc(u64, u64),
    /// The offset in the heap.
    Free(u64),
    Barrier,
}

impl fmt::Display for Collective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alloc(bytes, align) => write!(f, "allocates {bytes} bytes, aligned to {align}"),
            Self::Free(offset) => write!(f, "frees what is {offset:#x} from the start of its heap"),
            Self::Barrier => f.write_str("is at a barrier of all ranks"),
        }
    }
}

/// What a rank has of its heap.
#[derive(Debug, Default)]
struct Heap {
    /// Where the next allocation may start.
    next: u64,
    /// Bytes that are allocated now, and how many each allocation has.
    used: u64,
    live: HashMap<u64, u64>,
    /// How many collective calls it has made.
    calls: usize,
}

/// How launches are made.
pub struct Launching {
    pub tasks: RefCell<Tasks>,
    /// The most threads of a block.
    pub most_threads: Option<u32>,
    /// The limit of the checker that one of them has come to.
    pub limit: Rc<Limit>,
}

/// A limit of the checker that ends the check, with the place that has come to it first.
#[derive(Debug, Default)]
pub struct Limit(OnceCell<String>);

impl Limit {
    /// A place of the program comes to it, for this reason.
    pub fn reach(&self, site: &Site, reason: &str) {
        self.0.get_or_init(|| format!("{site}: {reason}"));
    }

    /// Where it was reached, and why.
    pub fn reached(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }
}

/// The state of one execution.
pub struct State {
    pub space: Rc<Space>,
    pub launching: Launching,
    /// Threads that were launched and have not begun, with their ranks.
    launched: RefCell<HashMap<TaskId, (u32, Thread)>>,
    sites: Rc<RefCell<HashMap<usize, Site>>>,
    ranks: u32,
    heap_size: u64,
    heaps: RefCell<Vec<Heap>>,
    /// With the first rank that has made each.
    collectives: RefCell<Vec<(Collective, u32, Site)>>,
    /// Where a block's shared memory is: by the block's first task, and its number.
    shared: RefCell<HashMap<(TaskId, u32), Range>>,
    shared_end: RefCell<u64>,
    /// What each rank has allocated besides its heap: bytes by address, whether or not it was freed since.
    own: RefCell<Vec<BTreeMap<u64, u64>>>,
    /// What the leader of a group has found out, for the others.
    pub said: RefCell<HashMap<u64, u64>>,
}

/// Places in the source, by the address of their text.
pub type Sites = Rc<RefCell<HashMap<usize, Site>>>;

impl State {
    /// Before the first step.
    pub fn new(space: Rc<Space>, sites: Sites, launching: Launching, ranks: u32, heap_size: u64) -> Self {
        let heaps = (0..ranks).map(|_| Heap { next: RESERVED_BYTES, ..Heap::default() }).collect();
        let (launched, collectives, shared, shared_end, said) = Default::default();
        let (heaps, own) = (RefCell::new(heaps), RefCell::new(vec![BTreeMap::new(); ranks as usize]));
        Self { space, launching, launched, sites, ranks, heap_size, heaps, collectives, shared, shared_end, own, said }
    }

    /// The place that a text of the program names.
    pub fn site(&self, loc: *const c_char) -> Site {
        let mut sites = self.sites.borrow_mut();
        let text = || -> Site {
            // SAFETY: a constant of the program, which ends with a zero byte.
            unsafe { CStr::from_ptr(loc) }.to_string_lossy().into()
        };
        sites.entry(loc as usize).or_insert_with(text).clone()
    }

    /// Where this many bytes are.
    pub fn place(&self, at: *const u8, bytes: u64) -> Place {
        self.space.place(at as u64, bytes)
    }

    /// An address, as reports name it: the same in each process.
    pub fn name(&self, at: *const u8) -> String {
        match self.place(at, 0) {
            Place::Held(range) => range.to_string(),
            Place::Plain | Place::Unmapped => "memory of its own".into(),
        }
    }

    /// All hosts meet.
    pub fn meeting_of_hosts(&self) -> Op {
        self.all_hosts(HOSTS)
    }

    /// The same before the first op of any.
    pub fn meeting_at_start(&self) -> Op {
        self.all_hosts(START)
    }

    fn all_hosts(&self, key: u64) -> Op {
        Op::Barrier(key, (0..self.ranks as TaskId).collect::<Vec<_>>().into())
    }

    /// Notes a rank's next collective call; the other call, its rank and its place, where that is another one.
    pub fn collective(&self, rank: u32, call: &Collective, site: &Site) -> Result<(), (Collective, u32, Site)> {
        let nth = {
            let heap = &mut self.heaps.borrow_mut()[rank as usize];
            heap.calls += 1;
            heap.calls - 1
        };
        let mut collectives = self.collectives.borrow_mut();
        match collectives.get(nth) {
            Some((theirs, ..)) if theirs == call => Ok(()),
            Some(theirs) => Err(theirs.clone()),
            None => {
                collectives.push((call.clone(), rank, site.clone()));
                Ok(())
            }
        }
    }

    /// Takes bytes of a rank's heap; how many are left, where these are too many.
    pub fn alloc(&self, rank: u32, bytes: u64, align: u64) -> Result<Range, u64> {
        let heap = &mut self.heaps.borrow_mut()[rank as usize];
        let left = (self.heap_size - RESERVED_BYTES).saturating_sub(heap.used);
        if bytes > left {
            return Err(left);
        }
        let start = heap.next.next_multiple_of(align);
        let left = BARRIERS.saturating_sub(start);
        if bytes > left {
            return Err(left);
        }
        // A gap, so that what lies beside one allocation is no other's.
        heap.next = start + bytes + 256;
        heap.used += bytes;
        heap.live.insert(start, bytes);
        Ok(Range { heap: rank, start, bytes })
    }

    /// Whether a range ends after all that was allocated so far, so that no memory has all of its bytes.
    pub fn is_beyond(&self, range: Range) -> bool {
        let end = match range.heap {
            SHARED => *self.shared_end.borrow(),
            own if own >= OWN => self.own_end(own - OWN),
            heap => self.heaps.borrow().get(heap as usize).map_or(0, |heap| heap.next),
        };
        range.end() > end
    }

    /// Gives an allocation back; `None` if none starts there.
    pub fn free(&self, rank: u32, start: u64) -> Option<Range> {
        let heap = &mut self.heaps.borrow_mut()[rank as usize];
        let bytes = heap.live.remove(&start)?;
        heap.used -= bytes;
        Some(Range { heap: rank, start, bytes })
    }

    /// Where a rank's memory besides its heap ends so far. That of one rank begins where no other rank's is, so that a
    /// pointer that was translated to another rank is none of that rank's.
    fn own_end(&self, rank: u32) -> u64 {
        let own = self.own.borrow();
        let last = own.get(rank as usize).and_then(BTreeMap::last_key_value).map(|(start, bytes)| start + bytes);
        last.unwrap_or(RESERVED_BYTES + OWN_BYTES * u64::from(rank))
    }

    /// Takes memory besides a rank's heap; `None` if that is too much.
    pub fn alloc_own(&self, rank: u32, bytes: u64, align: u64) -> Option<Range> {
        // A gap, as in the heap.
        let start = (self.own_end(rank) + 256).next_multiple_of(align.max(PAGE));
        let is_in = start.checked_add(bytes)? <= OWN_BYTES * u64::from(rank + 1);
        is_in.then(|| self.own.borrow_mut()[rank as usize].insert(start, bytes));
        is_in.then_some(Range { heap: OWN + rank, start, bytes })
    }

    /// What was allocated at an address, be it freed or not.
    pub fn own_at(&self, at: Range) -> Option<Range> {
        let rank = at.heap.checked_sub(OWN)?;
        let bytes = *self.own.borrow().get(rank as usize)?.get(&at.start)?;
        Some(Range { bytes, ..at })
    }

    /// Notes a thread that is launched.
    pub fn add_thread(&self, task: TaskId, rank: u32, thread: Thread) {
        self.launched.borrow_mut().insert(task, (rank, thread));
    }

    /// A thread that begins, and its rank.
    pub fn take_thread(&self, task: TaskId) -> Option<(u32, Thread)> {
        self.launched.borrow_mut().remove(&task)
    }

    /// A block's shared memory: the same for all who ask.
    pub fn shared(&self, block: TaskId, number: u32, bytes: u64) -> Range {
        let mut all = self.shared.borrow_mut();
        if let Some(&range) = all.get(&(block, number)) {
            return range;
        }
        let mut end = self.shared_end.borrow_mut();
        let range = Range { heap: SHARED, start: *end, bytes };
        *end = (*end + bytes).next_multiple_of(256) + 256;
        all.insert((block, number), range);
        range
    }
}

/// Those of a block's tasks that are its warps.
pub fn warps(block: &Arc<[TaskId]>) -> Vec<Arc<[TaskId]>> {
    const WARP: usize = 32;
    block.chunks(WARP).map(Arc::from).collect()
}

/// The words of barriers in a rank's heap.
pub fn barriers(rank: u32) -> Range {
    Range { heap: rank, start: BARRIERS, bytes: HEAP - BARRIERS }
}
