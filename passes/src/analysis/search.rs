//! Searches of a function along its structured control flow and its blocks, forwards or backwards: whether a way meets
//! an access before it meets what orders it.

use crate::ir::structure::{self, FUNCTIONS, repeats};
use crate::ir::{blocks, enclosing, is_kernel, name, operations};
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
    /// Other threads may come in here with what they have done, for which a fence beyond it does nothing.
    Barrier,
    /// Nothing; what its regions hold may.
    Neutral,
}

/// How a stretch of code ended the search.
#[derive(Clone, Copy)]
enum Found<'c, 'a> {
    Access(OperationRef<'c, 'a>),
    Fence,
    /// The end of the block, and whether a barrier lies on the way there.
    End(bool),
}

/// A point that was looked at, and whether a barrier lies between it and where the search began.
type Point = (usize, bool);

/// Whether only kernels call a function. They are not looked at, and may do anything before it and after it: `inline`
/// leaves calls in GPU functions as they are.
fn is_device_function<'c: 'a, 'a>(function: OperationRef<'c, 'a>) -> bool {
    let is_kernel = is_kernel(function) || name(function) == structure::LAUNCH;
    !is_kernel && enclosing(function, &[structure::GPU_MODULE]).is_some()
}

/// A search in one direction, with what it has found so far: every stretch of code is walked once or twice, for all ops
/// from which it is looked at.
pub struct Search<'c, 'a, M> {
    direction: Direction,
    /// Whether a function that only kernels call is taken to be called by one that makes accesses.
    mistrusts_callers: bool,
    /// The loop that is not left, if there is one: what lies around it is not looked at.
    within: Option<usize>,
    meaning: M,
    /// What the ops from this one on meet first, up to the end of its block.
    stretches: HashMap<Point, Found<'c, 'a>>,
    /// The access that a path which leaves this block meets before it meets a fence.
    leaving: HashMap<Point, Option<OperationRef<'c, 'a>>>,
}

impl<'c: 'a, 'a, M: Fn(OperationRef<'c, 'a>) -> Meaning> Search<'c, 'a, M> {
    pub fn new(direction: Direction, mistrusts_callers: bool, meaning: M) -> Self {
        Self { direction, mistrusts_callers, within: None, meaning, stretches: HashMap::new(), leaving: HashMap::new() }
    }

    /// Looks at one loop only, from one time around it to the next.
    pub fn within(self, around: OperationRef<'c, 'a>) -> Self {
        Self { within: Some(around.to_raw().ptr as usize), ..self }
    }

    /// An access that a path from `op` meets before it meets a fence, up to the ends of its function; the function
    /// itself for what its callers may do.
    pub fn unordered(&mut self, op: OperationRef<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
        let block = op.block()?;
        match self.stretch(self.step(op), false) {
            Found::Access(access) => Some(access),
            Found::Fence => None,
            Found::End(apart) => self.leave(block, apart),
        }
    }

    /// The same from the far end of a block.
    fn leave(&mut self, block: BlockRef<'c, 'a>, apart: bool) -> Option<OperationRef<'c, 'a>> {
        // Blocks whose far end is reached, each with the one that it was reached from.
        let mut reached = vec![(block, apart, 0)];
        let mut seen = HashSet::from([(key(block), apart)]);
        let mut next = 0;
        while let Some(&(block, apart, _)) = reached.get(next) {
            let (access, ends) = match self.leaving.get(&(key(block), apart)) {
                Some(known) => (*known, Vec::new()),
                None => self.around(block, apart),
            };
            if access.is_some() {
                // It is also what those meet from which this one was reached.
                let mut at = next;
                loop {
                    let (block, apart, from) = reached[at];
                    self.leaving.insert((key(block), apart), access);
                    if at == 0 {
                        return access;
                    }
                    at = from;
                }
            }
            let new = ends.into_iter().filter(|(end, apart)| seen.insert((key(*end), *apart)));
            reached.extend(new.map(|(end, apart)| (end, apart, next)));
            next += 1;
        }
        // None of them has a way to an access.
        self.leaving.extend(reached.into_iter().map(|(block, apart, _)| ((key(block), apart), None)));
        None
    }

    /// What lies right beyond the far end of a block: an access, or else the blocks whose far ends are reached.
    fn around(&mut self, block: BlockRef<'c, 'a>, mut apart: bool) -> (Option<OperationRef<'c, 'a>>, Ends<'c, 'a>) {
        let mut ends = Vec::new();
        let neighbours: Vec<_> = match self.direction {
            Direction::Before => (0..block.predecessor_count()).filter_map(|i| block.predecessor(i).ok()).collect(),
            Direction::After => (0..block.successor_count()).filter_map(|i| block.successor(i).ok()).collect(),
        };
        let is_outermost = neighbours.is_empty();
        for neighbour in neighbours {
            match self.stretch(self.near_end(neighbour), apart) {
                Found::Access(access) => return (Some(access), ends),
                Found::Fence => {}
                Found::End(apart) => ends.push((neighbour, apart)),
            }
        }
        let Some(parent) = block.parent_operation() else { return (None, ends) };
        if FUNCTIONS.contains(&name(parent)) {
            let is_access = is_outermost && self.mistrusts_callers && is_device_function(parent);
            return (is_access.then_some(parent), ends);
        }
        // Its other iterations lie beyond this one.
        if repeats(parent) {
            match self.nested(parent, apart) {
                (Some(access), _) => return (Some(access), ends),
                (None, past_barrier) => apart = past_barrier,
            }
        }
        if self.within == Some(parent.to_raw().ptr as usize) {
            return (None, ends);
        }
        match self.stretch(self.step(parent), apart) {
            Found::Access(access) => return (Some(access), ends),
            Found::Fence => {}
            Found::End(apart) => ends.extend(parent.block().map(|block| (block, apart))),
        }
        (None, ends)
    }

    /// The next op, in one block. The module is in none.
    fn step(&self, op: OperationRef<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
        op.block()?;
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
    fn stretch(&mut self, first: Option<OperationRef<'c, 'a>>, mut apart: bool) -> Found<'c, 'a> {
        let (mut next, mut passed) = (first, Vec::new());
        let found = loop {
            let Some(op) = next else { break Found::End(apart) };
            let at = (op.to_raw().ptr as usize, apart);
            if let Some(found) = self.stretches.get(&at) {
                break *found;
            }
            passed.push(at);
            match (self.meaning)(op) {
                Meaning::Access => break Found::Access(op),
                Meaning::Fence if !apart => break Found::Fence,
                Meaning::Fence => {}
                Meaning::Barrier => apart = true,
                Meaning::Neutral => match self.nested(op, apart) {
                    (Some(access), _) => break Found::Access(access),
                    (None, past_barrier) => apart = past_barrier,
                },
            }
            next = self.step(op);
        };
        self.stretches.extend(passed.into_iter().map(|at| (at, found)));
        found
    }

    /// The access in the regions of `op` that is met, and whether a barrier lies on the way to what is beyond `op`: an
    /// access or a barrier there counts, but a fence there may not be reached.
    fn nested(&mut self, op: OperationRef<'c, 'a>, apart: bool) -> (Option<OperationRef<'c, 'a>>, bool) {
        let mut past_barrier = apart;
        for block in blocks(op) {
            match self.stretch(self.near_end(block), apart) {
                Found::Access(access) => return (Some(access), past_barrier),
                Found::Fence => {}
                Found::End(apart) => past_barrier |= apart,
            }
        }
        (None, past_barrier)
    }
}

/// Blocks whose far ends are reached, and whether a barrier lies on the way.
type Ends<'c, 'a> = Vec<(BlockRef<'c, 'a>, bool)>;

fn key(block: BlockRef) -> usize {
    block.to_raw().ptr as usize
}
