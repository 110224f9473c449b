//! The context table: `[rank, num_ranks, base of heap 0, …, base of heap n - 1]`, then the words of extensions.

/// The word that holds the rank.
pub const RANK: usize = 0;
/// The word that holds the number of ranks.
pub const NUM_RANKS: usize = 1;
/// The words before the bases.
pub const HEADER_WORDS: usize = 2;

/// The first word after the bases: the address of the rank's [fault record](crate::fault), or zero.
pub const FAULT: usize = 0;
/// The second word after the bases: the address of the rank's [trace buffer](crate::trace), or zero.
pub const TRACE: usize = 1;
/// The words after the bases. A table on the host has none.
pub const EXTENSION_WORDS: usize = 2;

/// The third word after the bases, where an engine reaches some ranks: the [`reach`] of rank 0. Then come the other
/// ranks'.
pub const REACH: usize = EXTENSION_WORDS;
/// The reach of rank 0 if its heap is mapped (rule N1). That of every such rank is negative.
pub const NEAR: i64 = i64::MIN;
/// The reach of rank 0 if only the engine's calls lead to it.
pub const FAR: i64 = 0;

/// The reach of a rank: its lower half is `pe`, the rank's number in the engine, which is its number in the World also
/// in a team's table.
#[must_use]
pub const fn reach(pe: u32, is_near: bool) -> i64 {
    (if is_near { NEAR } else { FAR }) | pe as i64
}

/// The words of a table with its extensions.
#[must_use]
pub const fn words(num_ranks: u32) -> usize {
    HEADER_WORDS + num_ranks as usize + EXTENSION_WORDS
}

/// The words of a table that also says which ranks are near.
#[must_use]
pub const fn words_with_reach(num_ranks: u32) -> usize {
    words(num_ranks) + num_ranks as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reach_says_who_is_near_and_has_the_engines_number() {
        for (pe, is_near) in [(0, true), (0, false), (127, true), (127, false)] {
            let reach = reach(pe, is_near);
            assert_eq!((reach < 0, reach & 0xffff_ffff), (is_near, i64::from(pe)));
        }
    }
}
