//! A program of `bench/programs`, compiled into this process, and the memory that it works on. All of this crate's
//! `unsafe` is here.

use crate::root;
use anyhow::{Context as _, Result};
use std::ffi::c_void;
use symm_abi::kernel::{EntryFn, entry};
use symm_codegen::{Frontend, Jit, Level, translate};
use symm_dialect::{HeapLayout, set_heap_layout};
use symm_runtime::abi::{symm_rt_alloc, symm_rt_barrier_all, symm_rt_free};
use symm_runtime::{Rank, heap_stride};

/// A compiled program.
pub struct Program {
    jit: Jit,
}

// SAFETY: the code is compiled in `entry`, before ranks run it, and never changes; the engine is only dropped later.
unsafe impl Send for Program {}
// SAFETY: as above.
unsafe impl Sync for Program {}

impl Program {
    /// Compiles `bench/programs/<name>.mlir` as symm-run does.
    pub fn compile(name: &str, ranks: u32, heap_size: u64) -> Result<Self> {
        let frontend = Frontend::new();
        let mut module = frontend.parse(&root()?.join(format!("bench/programs/{name}.mlir")))?;
        let layout = HeapLayout { num_ranks: ranks, heap_size, heap_stride: Some(heap_stride(heap_size)) };
        set_heap_layout(&mut module, layout);
        frontend.run_pipeline(&mut module, "symm-cpu")?;
        let llvm = translate(&module)?;
        llvm.optimize(Level::O2)?;
        Ok(Self { jit: Jit::new(&llvm, Level::O2, &symm_runtime::symbols())? })
    }

    /// The entry of a host function.
    pub fn entry(&self, function: &str) -> Result<Entry> {
        let address = self.jit.address(&entry(function)).with_context(|| format!("the host function {function}"))?;
        // SAFETY: the lowering makes entries with exactly this signature.
        Ok(Entry { code: unsafe { std::mem::transmute::<usize, EntryFn>(address) } })
    }
}

/// A host function of a program that is kept alive.
#[derive(Clone, Copy)]
pub struct Entry {
    code: EntryFn,
}

impl Entry {
    /// Calls the function on the calling rank. The arguments are those of the program's file.
    pub fn call(self, rank: &Rank, arguments: &[Argument]) {
        let mut slots = vec![vec![rank.ctx() as u64]];
        slots.extend(arguments.iter().map(Argument::words));
        let pointers: Vec<*mut c_void> = slots.iter_mut().map(|slot| slot.as_mut_ptr().cast()).collect();
        // SAFETY: one pointer for each argument, to as many words as its type has in memory.
        unsafe { (self.code)(pointers.as_ptr()) }
    }
}

/// An argument of a host function.
pub enum Argument<'a> {
    Integer(u64),
    /// A row-major memref.
    Memory(&'a Memory, &'a [u64]),
}

impl Argument<'_> {
    fn words(&self) -> Vec<u64> {
        match self {
            Self::Integer(value) => vec![*value],
            Self::Memory(memory, shape) => {
                let start = memory.start as u64;
                let mut strides = vec![1; shape.len()];
                for dimension in (1..shape.len()).rev() {
                    strides[dimension - 1] = strides[dimension] * shape[dimension];
                }
                [&[start, start, 0], *shape, strides.as_slice()].concat()
            }
        }
    }
}

/// Zeroed bytes of the symmetric heap.
pub struct Memory {
    start: *mut u8,
    bytes: u64,
}

const HERE: &std::ffi::CStr = c"bench";

impl Memory {
    /// Takes memory on every rank. Collective.
    pub fn alloc(rank: &Rank, bytes: u64) -> Self {
        // SAFETY: on the rank's host thread, with a string that lives.
        Self { start: unsafe { symm_rt_alloc(rank.ctx(), bytes, 0, HERE.as_ptr()) }, bytes }
    }

    /// Gives the memory back. Collective.
    pub fn free(self, rank: &Rank) {
        // SAFETY: on the rank's host thread; `alloc` returned the pointer, and this is its only use as an owner.
        unsafe { symm_rt_free(rank.ctx(), self.start, HERE.as_ptr()) }
    }

    /// Copies the first `bytes` bytes to `target`, as it lies in the heap of rank `to`: `memcpy`.
    pub fn copy_to(&self, target: &Self, rank: &Rank, to: u32, bytes: u64) {
        assert!(bytes <= self.bytes && bytes <= target.bytes);
        // SAFETY: the table holds rank, number of ranks and each rank's base, and `to` is a rank; the two ranges are
        // different allocations of at least `bytes` bytes.
        unsafe {
            let table = rank.ctx();
            let delta = *table.add(2 + to as usize) - *table.add(2 + rank.rank() as usize);
            let target = target.start.offset(isize::try_from(delta).expect("heaps are in one address space"));
            std::ptr::copy_nonoverlapping(self.start, target, usize::try_from(bytes).expect("it fits the heap"));
        }
    }
}

/// Waits for all ranks.
pub fn meet(rank: &Rank) {
    // SAFETY: on the rank's host thread, with a string that lives.
    unsafe { symm_rt_barrier_all(rank.ctx(), HERE.as_ptr()) }
}

/// Keeps the calling thread on one core, if there are enough.
pub fn pin(core: u32) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut set = rustix::thread::CpuSet::new();
    set.set(core as usize % cores);
    // Where it is not allowed both competitors run as they are.
    let _ = rustix::thread::sched_setaffinity(None, &set);
}
