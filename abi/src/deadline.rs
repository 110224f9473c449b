//! The record of a deadline: what waits in a kernel ask when they have waited long, and what the first one that gives up
//! writes. It is words of 64 bits, in memory of the device.

/// After how many nanoseconds a wait gives up; without end where it is 2^63 - 1.
pub const LIMIT_WORD: usize = 0;

/// [`GOOD`], [`BROKEN`], or another number, which somebody else has written here for waits to give up.
pub const STATE_WORD: usize = 1;

/// The `tag` of the op that gave up.
pub const TAG_WORD: usize = 2;

/// The address of the flag, or of the line of a packet.
pub const ADDRESS_WORD: usize = 3;

/// What was waited for: the value, or the packet's epoch.
pub const EXPECTED_WORD: usize = 4;

/// What was there.
pub const SEEN_WORD: usize = 5;

/// The address of a word that gets the state when a wait gives up: of the host's memory, for it to look at.
pub const HOST_WORD: usize = 6;

/// For who has made the record: what addresses in it are counted from. No wait looks at it.
pub const BASE_WORD: usize = 7;

/// How many words a record has.
pub const WORDS: usize = 8;

/// No wait has given up.
pub const GOOD: i64 = 0;

/// A wait has given up, and written the record.
pub const BROKEN: i64 = 1;

/// After how many polls that pause a wait on a GPU looks at the clock and the state again. A power of two.
pub const POLLS_OF_A_LOOK: i64 = 64;
