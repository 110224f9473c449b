//! The record of a deadline: long waits in a kernel read it, and the first wait that gives up fills it. It consists of
//! 64-bit words in device memory.

use crate::heap::MAX_RANKS;

/// After how many nanoseconds a wait gives up, unless it has its own limit; [`FOR_EVER`] means never.
pub const LIMIT_WORD: usize = 0;

/// [`GOOD`], [`BROKEN`], or from [`TOLD`] on a number that is written here from outside to make waits give up.
pub const STATE_WORD: usize = 1;

/// The `tag` of the op that gave up.
pub const TAG_WORD: usize = 2;

/// The address of the flag, or of the line of a packet. A loop that polls by an atomic writes the address on this
/// rank's heap, with the rank of the place, plus one, above: see [`RANK_SHIFT`]. [`NOWHERE`] if it polls no place.
pub const ADDRESS_WORD: usize = 3;

/// The expected value, or the packet's epoch.
pub const EXPECTED_WORD: usize = 4;

/// The value seen.
pub const SEEN_WORD: usize = 5;

/// The address of a word of host memory that gets the state when a wait gives up, for the host to poll.
pub const HOST_WORD: usize = 6;

/// For the record's owner: the base of the addresses in it. No wait reads it.
pub const BASE_WORD: usize = 7;

/// How many words a record has.
pub const WORDS: usize = 8;

/// The next word of a rank's own record, which begins with the words above: the program that gave up; see
/// [`PROGRAM_SHIFTS`].
pub const PROGRAM_WORD: usize = WORDS;

/// And the address of the list of its tensors, 0 where there is none: how many stretches of its memory, then the first
/// address of each and that after it. The first one is the heap without what is symm's own; the others lie in it. A
/// kernel that looks whether it stays in its tensors finds them there. An access that does not writes the record as
/// waits do, with its lowest address outside; [`EXPECTED_WORD`] and [`SEEN_WORD`] are the ends of the tensor's memory.
pub const TENSORS_WORD: usize = WORDS + 1;

/// The first word of its log: what programs were waiting for when a wait had given up. A program has the entry of the
/// sum of its numbers, modulo [`LOG_ENTRIES`]; a second program finds it taken.
pub const LOG_WORD: usize = WORDS + 2;

/// How many entries the log has. A power of two.
pub const LOG_ENTRIES: usize = 32;

/// The words of an entry: not 0 if it is taken; then tag, address, expected, seen and program.
pub const ENTRY_WORDS: usize = 6;

/// How many words a rank's own record has with its log.
pub const LOGGED_WORDS: usize = LOG_WORD + LOG_ENTRIES * ENTRY_WORDS;

/// Where the numbers of a program along y and z are in its word; the one along x has the bits below.
pub const PROGRAM_SHIFTS: [u32; 2] = [32, 48];

/// Where the rank of a place, plus one, is above its address.
pub const RANK_SHIFT: u32 = 56;

const _: () = assert!(MAX_RANKS < 0xff, "a rank plus one has 8 bits");

/// No wait has given up.
pub const GOOD: i64 = 0;

/// A wait has given up, and written the record.
pub const BROKEN: i64 = 1;

/// From this number on the state names a rank, whose number is less by this: a wait there has given up.
pub const TOLD: i64 = 2;

/// A limit that is longer than any run.
pub const FOR_EVER: i64 = i64::MAX;

/// No address: of several places, a mask leaves out all. The largest as an unsigned number, so that it is the least of
/// some addresses only where there is no other.
pub const NOWHERE: i64 = -1;

/// After how many pausing polls a wait on a GPU reads the clock and the state again. A power of two.
pub const POLLS_OF_A_LOOK: i64 = 64;
