//! The GPU's engine for tensors (TMA), whose accesses are in no order with those of threads by themselves.
//!
//! Triton waits until the source of its stores may be overwritten, in some versions not until they are done. A thread
//! waits for what it has started itself; so what follows in program order waits for all of it, and partitions of
//! specialised warps complete their stores where they themselves wait for them, and where they end.

use super::Lowering;
use crate::analysis::order::{is_bulk_load, is_bulk_store};
use crate::analysis::search::{Direction, Meaning, Search};
use crate::ir::{Builder, blocks, enclosing, name, select};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::{BlockLike, OperationRef, RegionLike, operation::OperationLike};
use std::collections::HashSet;
use symm_dialect::diagnostic::{Reported, error};
use symm_dialect::ops::SymmOp;

/// What runs some of a kernel's warps on code of their own: its first region is the default partition, and the regions
/// of what its second one holds are the others.
const SPECIALIZE: &str = "ttg.warp_specialize";
const PARTITIONS: &str = "ttg.warp_specialize.partitions";

/// Where partitions end.
const ENDS: [&str; 2] = ["ttg.warp_return", "ttg.warp_yield"];

/// Where a partition waits for its stores.
const STORE_WAIT: &str = "ttng.async_tma_store_wait";

/// What a kernel has the engine do.
pub struct TensorEngine {
    stores: bool,
    loads: bool,
    /// The accesses before which stores of the engine may still be under way.
    late: HashSet<usize>,
    /// The copies to this rank after which the engine may load.
    fetched: HashSet<usize>,
}

impl TensorEngine {
    /// What the kernels below `root`, with these ops, have it do.
    pub fn of<'c: 'a, 'a>(root: OperationRef<'c, 'a>, ops: &[SymmOp<'c, 'a>]) -> Self {
        let names: Vec<&str> = select(root, |op| Some(name(op)));
        let stores = names.iter().any(|name| is_bulk_store(name));
        let loads = names.iter().any(|name| is_bulk_load(name));
        let (mut late, mut fetched) = (HashSet::new(), HashSet::new());
        if loads {
            // After an acquire, or another copy, comes a fence of its own.
            let mut search = Search::new(Direction::After, false, |op| match SymmOp::cast(op) {
                Some(op) if is_fetch(op) || op.acquires() => Meaning::Fence,
                None if is_bulk_load(name(op)) => Meaning::Access,
                _ => Meaning::Neutral,
            });
            let copies = ops.iter().filter(|op| is_fetch(**op)).map(|op| op.operation());
            fetched.extend(copies.filter(|op| search.unordered(*op).is_some()).map(address));
        }
        if stores {
            let mut search = Search::new(Direction::Before, false, |op| match SymmOp::cast(op) {
                Some(op) if op.accesses_data() || op.releases() => Meaning::Fence,
                None if is_bulk_store(name(op)) => Meaning::Access,
                _ => Meaning::Neutral,
            });
            let met = ops.iter().map(|op| op.operation()).filter(|op| search.unordered(*op).is_some());
            late.extend(met.map(address));
        }
        Self { stores, loads, late, fetched }
    }

    /// Whether it reads memory.
    pub fn loads(&self) -> bool {
        self.loads
    }
}

impl<'c: 'a, 'a> Lowering<'c, 'a> {
    /// Waits for the engine's stores: to a release they are of the thread that has started them.
    pub fn complete_stores(&self, b: &Builder<'c>) {
        if self.engine.stores {
            self.target.complete_stores(b, 0);
        }
    }

    /// What comes before an access to memory that the engine may still be writing: it waits, and all threads for it.
    pub fn before_access(&self, b: &Builder<'c>, op: SymmOp<'c, 'a>) {
        if op.accesses_data() && self.target.has_engine() && self.engine.late.contains(&address(op.operation())) {
            self.target.complete_stores(b, 0);
            self.words.barrier(b);
        }
    }

    /// What comes after a copy to this rank: each thread orders what it has stored before loads of the engine, which
    /// another thread starts after the next barrier.
    pub fn after_copy(&self, b: &Builder<'c>, op: SymmOp<'c, 'a>) {
        if self.engine.fetched.contains(&address(op.operation())) {
            self.target.order_loads(b);
        }
    }

    /// Has partitions of specialised warps complete their stores where they wait for them, and where they end: a symm
    /// op of other warps can't.
    pub fn complete_waits(&self, root: OperationRef<'c, 'a>, ops: &[SymmOp<'c, 'a>]) -> Result<(), Reported> {
        let ops: Vec<_> = ops.iter().filter(|op| op.accesses_data() || op.releases()).collect();
        if !self.engine.stores || !self.target.has_engine() || ops.is_empty() {
            return Ok(());
        }
        let stores = select(root, |op| is_bulk_store(name(op)).then_some(op));
        let mut outcome = Ok(());
        for &store in &stores {
            let Some(partition) = partition(store) else { continue };
            let others =
                ops.iter().filter(|op| self::partition(op.operation()).is_some_and(|other| other != partition));
            if let Some(op) = others.clone().find(|op| op.releases() && is_told(root, self::partition(op.operation())))
                && !is_waited_for(store)
            {
                let complaint = "S1: releases what this partition of the warps did, while another one stores through \
                                 tensor descriptors and does not wait for it: wait there with tma.store_wait before \
                                 it is told to this partition, or signal there";
                outcome = Err(error(op.operation(), complaint));
            }
        }
        outcome?;
        for wait in select(root, |op| (name(op) == STORE_WAIT && partition(op).is_some()).then_some(op)) {
            let next = wait.next_in_block().expect("a partition has an end");
            let pending = wait.attribute("pendings").ok().and_then(|number| IntegerAttribute::try_from(number).ok());
            let b = Builder::before(next);
            self.target.complete_stores(&b, pending.map_or(0, |number| number.value()));
            self.words.barrier(&b);
        }
        let storing: HashSet<_> = stores.into_iter().filter_map(partition).collect();
        for end in select(root, |op| ENDS.contains(&name(op)).then_some(op)) {
            if partition(end).is_some_and(|partition| storing.contains(&partition)) {
                self.target.complete_stores(&Builder::before(end), 0);
            }
        }
        Ok(())
    }
}

/// Whether an op copies to this rank, or may do so: a `get` or a `copy`.
fn is_fetch(op: SymmOp) -> bool {
    op.ends().is_some_and(|(src, _)| src.way.is_some())
}

/// The partition of specialised warps that runs an operation, by its first block; `None` for what all warps run.
fn partition<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Option<usize> {
    let mut inner = op;
    loop {
        let around = enclosing(inner, &[SPECIALIZE, PARTITIONS])?;
        let mut region = inner;
        while region.parent_operation() != Some(around) {
            region = region.parent_operation()?;
        }
        let first = region.block()?.parent_region()?.first_block()?;
        if name(around) == PARTITIONS || blocks(around).first() == Some(&first) {
            return Some(first.to_raw().ptr as usize);
        }
        inner = around;
    }
}

/// Whether other partitions may tell this one what they have done: it waits for a barrier in shared memory, or one that
/// does so passes it on through memory by Triton's own ops.
fn is_told<'c: 'a, 'a>(root: OperationRef<'c, 'a>, told: Option<usize>) -> bool {
    let holders = |names: &[&str]| -> HashSet<_> {
        select(root, |op| names.contains(&name(op)).then(|| partition(op))).into_iter().collect()
    };
    let hearing = holders(&["ttng.wait_barrier", "tt.call", "tt.elementwise_inline_asm"]);
    let passing = holders(&["tt.store", "tt.atomic_rmw", "tt.atomic_cas", "tt.call", "tt.elementwise_inline_asm"]);
    hearing.contains(&told) || hearing.intersection(&passing).next().is_some()
}

/// Whether a store's partition waits for it before it tells anybody.
fn is_waited_for<'c: 'a, 'a>(store: OperationRef<'c, 'a>) -> bool {
    let mut search = Search::new(Direction::After, false, |op| match name(op) {
        STORE_WAIT => Meaning::Fence,
        "ttng.arrive_barrier" | "ttng.async_copy_mbarrier_arrive" => Meaning::Access,
        _ => Meaning::Neutral,
    });
    search.unordered(store).is_none()
}

fn address(op: OperationRef) -> usize {
    op.to_raw().ptr as usize
}
