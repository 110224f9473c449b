//! Dominance between values, as far as the passes need it (MLIR's C API does not offer its own).

use crate::ir::{definition, owner};
use melior::ir::block::BlockArgument;
use melior::ir::{BlockLike, BlockRef, RegionLike, Value, operation::OperationLike};
use std::collections::HashSet;

/// Of two values that both dominate one place, the one that is defined later.
pub fn later<'c: 'a, 'a>(one: Value<'c, 'a>, other: Value<'c, 'a>) -> Value<'c, 'a> {
    if is_after(one, other) { one } else { other }
}

/// Whether `one` is defined after `other`, of two values that dominate one place.
fn is_after<'c: 'a, 'a>(one: Value<'c, 'a>, other: Value<'c, 'a>) -> bool {
    let (Some(mine), Some(theirs)) = (block_of(one), block_of(other)) else { return false };
    if mine == theirs {
        return match (definition(one), definition(other)) {
            (Some(mine), Some(theirs)) => theirs.is_before_in_block(mine),
            (mine, _) => mine.is_some(),
        };
    }
    // The outermost blocks that differ, in one region: deeper nesting means later.
    let (mine_above, theirs_above) = (ancestors(mine), ancestors(theirs));
    if mine_above.contains(&theirs) {
        return true;
    }
    if theirs_above.contains(&mine) {
        return false;
    }
    // Two blocks of one region, or blocks nested in such: the one that can't be avoided on the way to the other is
    // first.
    for above in &mine_above {
        if let Some(sibling) = theirs_above.iter().find(|block| block.parent_region() == above.parent_region()) {
            return dominates(*sibling, *above);
        }
    }
    false
}

/// The block that defines a value.
pub fn block_of<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<BlockRef<'c, 'a>> {
    match definition(value) {
        Some(op) => op.block(),
        None => BlockArgument::try_from(value).ok().map(owner),
    }
}

/// A block and the blocks it is nested in, innermost first.
fn ancestors<'c: 'a, 'a>(block: BlockRef<'c, 'a>) -> Vec<BlockRef<'c, 'a>> {
    std::iter::successors(Some(block), |block| block.parent_operation().and_then(|op| op.block())).collect()
}

/// Whether every way from the entry of their region to `to` goes through `from`.
fn dominates<'c: 'a, 'a>(from: BlockRef<'c, 'a>, to: BlockRef<'c, 'a>) -> bool {
    from.parent_region().and_then(|region| region.first_block()) == Some(from)
        || !is_reached(to, |_, _, next| next != from)
}

/// Whether every way from the entry of its region to `to` takes the branch at the end of `from` to this one of its
/// successors.
pub fn is_behind_branch<'c: 'a, 'a>(to: BlockRef<'c, 'a>, from: BlockRef<'c, 'a>, successor: usize) -> bool {
    !is_reached(to, |block, index, _| block != from || index != successor)
}

/// Whether a way leads from the entry of its region to `to` over branches that `is_open` says yes to: of a block, the
/// number of its successor, and that.
fn is_reached<'c: 'a, 'a>(
    to: BlockRef<'c, 'a>,
    is_open: impl Fn(BlockRef<'c, 'a>, usize, BlockRef<'c, 'a>) -> bool,
) -> bool {
    let Some(entry) = to.parent_region().and_then(|region| region.first_block()) else { return true };
    let mut seen = HashSet::from([entry.to_raw().ptr as usize]);
    let mut open = vec![entry];
    while let Some(block) = open.pop() {
        if block == to {
            return true;
        }
        for index in 0..block.successor_count() {
            let Ok(next) = block.successor(index) else { continue };
            if is_open(block, index, next) && seen.insert(next.to_raw().ptr as usize) {
                open.push(next);
            }
        }
    }
    false
}
