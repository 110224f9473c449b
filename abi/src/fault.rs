//! What a kernel on a GPU leaves in host memory when a safety check fails: one record of words, then a trap.
//!
//! The first thread to turn the state from [`EMPTY`] to [`TAKEN`] writes the record and sets it to [`WHOLE`]; the
//! others wait for that, so that no trap comes before the record is whole.

/// The word of the state.
pub const STATE: usize = 0;
/// The word of the source location: an index into the [sites](crate::site).
pub const SITE: usize = 1;
/// The word of the rank.
pub const RANK: usize = 2;
/// The word of the block, counted x first.
pub const BLOCK: usize = 3;
/// The word of the thread in its block, counted x first.
pub const THREAD: usize = 4;
/// The word with the number of values that follow.
pub const COUNT: usize = 5;
/// The first value.
pub const VALUES: usize = 6;
/// The most values of a record.
pub const MOST_VALUES: usize = 6;
/// The words of a record.
pub const WORDS: usize = 16;

const _: () = assert!(VALUES + MOST_VALUES <= WORDS);

/// The state of an unused record.
pub const EMPTY: i64 = 0;
/// The state of a record that a thread is writing.
pub const TAKEN: i64 = 1;
/// The state of a complete record.
pub const WHOLE: i64 = 2;
