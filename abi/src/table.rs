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

/// The words of a table with its extensions.
#[must_use]
pub const fn words(num_ranks: u32) -> usize {
    HEADER_WORDS + num_ranks as usize + EXTENSION_WORDS
}
