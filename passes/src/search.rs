//! Searches of a function along its structured control flow and its blocks, forwards or backwards: whether a way meets an
//! access before it meets what orders it.

use crate::ir::{blocks, enclosing, name, operations};
use crate::registration::previous_in_block;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockLike, BlockRef, OperationRef};
use std::collections::{HashMap, HashSet};

/// Which way to look from an op.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    Before,
    After,
}

/// What one op means to a search.
pub enum Meaning {
    /// The access that must be ordered.
    Access,
    /// What orders it: the search ends on this path.
    Fence,
    /// Nothing; what its regions hold may.
    Neutral,
    /// Nothing, whatever its regions hold.
    Skipped,
}

/// How a stretch of code ended the search.
#[derive(Clone, Copy, PartialEq)]
enum Found {
    Access,
    Fence,
    End,
}

/// Ops whose body runs again and again: its other iterations lie beyond this one.
const LOOPS: &[&str] = &["scf.for", "scf.while", "affine.for", "scf.parallel", "scf.forall"];

/// Ops whose end is the end of the search.
const FUNCTIONS: &[&str] = &["func.func", "gpu.func", "llvm.func", "tt.func", "gpu.launch"];

/// Whether only kernels call a function. They are not looked at, and may do anything before it and after it: `inline`
/// leaves calls in GPU functions as they are.
fn is_device_function<'c: 'a, 'a>(function: OperationRef<'c, 'a>) -> bool {
    let is_kernel = function.has_attribute("gpu.kernel") || name(function) == "gpu.launch";
    !is_kernel && enclosing(function, &["gpu.module"]).is_some()
}

/// A search in one direction, with what it has found so far: every stretch of code is walked once, for all ops from which
/// it is looked at.
pub struct Search<M> {
    direction: Direction,
    /// Whether a function that only kernels call is taken to be called by one that makes accesses.
    mistrusts_callers: bool,
    meaning: M,
    /// What the ops from this one on meet first, up to the end of its block.
    stretches: HashMap<usize, Found>,
    /// Whether a path that leaves this block meets an access before it meets a fence.
    leaving: HashMap<usize, bool>,
}

impl<'c: 'a, 'a, M: Fn(OperationRef<'c, 'a>) -> Meaning> Search<M> {
    pub fn new(direction: Direction, mistrusts_callers: bool, meaning: M) -> Self {
        Self { direction, mistrusts_callers, meaning, stretches: HashMap::new(), leaving: HashMap::new() }
    }

    /// Whether a path from `op` meets an access before it meets a fence, up to the ends of its function.
    pub fn unordered(&mut self, op: OperationRef<'c, 'a>) -> bool {
        let Some(block) = op.block() else { return false };
        match self.stretch(self.step(op)) {
            Found::Access => true,
            Found::Fence => false,
            Found::End => self.leave(block),
        }
    }

    /// The same from the far end of a block.
    fn leave(&mut self, block: BlockRef<'c, 'a>) -> bool {
        // Blocks whose far end is reached, each with the one that it was reached from.
        let mut reached = vec![(block, 0)];
        let mut seen = HashSet::from([key(block)]);
        let mut next = 0;
        while let Some(&(block, _)) = reached.get(next) {
            let known = self.leaving.get(&key(block)).copied();
            let (is_access, ends) =
                if known.is_some() { (known == Some(true), Vec::new()) } else { self.around(block) };
            if is_access {
                // It is also what those meet from which this one was reached.
                let mut at = next;
                loop {
                    self.leaving.insert(key(reached[at].0), true);
                    if at == 0 {
                        return true;
                    }
                    at = reached[at].1;
                }
            }
            reached.extend(ends.into_iter().filter(|end| seen.insert(key(*end))).map(|end| (end, next)));
            next += 1;
        }
        // None of them has a way to an access.
        self.leaving.extend(reached.into_iter().map(|(block, _)| (key(block), false)));
        false
    }

    /// What lies right beyond the far end of a block: whether an access does, or else whose far ends are reached.
    fn around(&mut self, block: BlockRef<'c, 'a>) -> (bool, Vec<BlockRef<'c, 'a>>) {
        let mut ends = Vec::new();
        let neighbours: Vec<_> = match self.direction {
            Direction::Before => (0..block.predecessor_count()).filter_map(|i| block.predecessor(i).ok()).collect(),
            Direction::After => (0..block.successor_count()).filter_map(|i| block.successor(i).ok()).collect(),
        };
        let is_outermost = neighbours.is_empty();
        for neighbour in neighbours {
            match self.stretch(self.near_end(neighbour)) {
                Found::Access => return (true, ends),
                Found::Fence => {}
                Found::End => ends.push(neighbour),
            }
        }
        let Some(parent) = block.parent_operation() else { return (false, ends) };
        if FUNCTIONS.contains(&name(parent)) {
            return (is_outermost && self.mistrusts_callers && is_device_function(parent), ends);
        }
        if LOOPS.contains(&name(parent)) && self.nested(parent) {
            return (true, ends);
        }
        match self.stretch(self.step(parent)) {
            Found::Access => return (true, ends),
            Found::Fence => {}
            Found::End => ends.extend(parent.block()),
        }
        (false, ends)
    }

    /// The next op, in one block.
    fn step(&self, op: OperationRef<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
        match self.direction {
            Direction::Before => previous_in_block(op),
            Direction::After => op.next_in_block(),
        }
    }

    /// The first op of a block.
    fn near_end(&self, block: BlockRef<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
        match self.direction {
            Direction::Before => block.terminator().or_else(|| operations(block).pop()),
            Direction::After => block.first_operation(),
        }
    }

    /// What the ops of a block, from one on, meet first.
    fn stretch(&mut self, first: Option<OperationRef<'c, 'a>>) -> Found {
        let (mut next, mut passed) = (first, Vec::new());
        let found = loop {
            let Some(op) = next else { break Found::End };
            let at = op.to_raw().ptr as usize;
            if let Some(found) = self.stretches.get(&at) {
                break *found;
            }
            passed.push(at);
            match (self.meaning)(op) {
                Meaning::Access => break Found::Access,
                Meaning::Fence => break Found::Fence,
                Meaning::Neutral if self.nested(op) => break Found::Access,
                Meaning::Neutral | Meaning::Skipped => next = self.step(op),
            }
        };
        self.stretches.extend(passed.into_iter().map(|at| (at, found)));
        found
    }

    /// Whether an access in the regions of `op` is met: one there counts, but a fence there may not be reached.
    fn nested(&mut self, op: OperationRef<'c, 'a>) -> bool {
        blocks(op).into_iter().any(|block| self.stretch(self.near_end(block)) == Found::Access)
    }
}

fn key(block: BlockRef) -> usize {
    block.to_raw().ptr as usize
}
