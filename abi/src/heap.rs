//! The start of every heap belongs to symm itself: the flags of the device barrier, then on GPUs the context table,
//! then the record of what kernels wait for.

use crate::{WORD_BYTES, deadline, table};

/// The alignment of every heap, and so of every distance between heaps, in bytes (rule T4).
pub const HEAP_ALIGN: u64 = 2 << 20;

/// Bytes at the start of every heap that are never allocated. They start as zeros.
pub const RESERVED_BYTES: u64 = 2 << 20;

/// Bytes at the end of what is reserved in which the rank's context table lies, where heaps are mapped on a GPU, and
/// the record of what its kernels wait for.
pub const TABLE_BYTES: u64 = 4 << 10;

/// Where the context table starts, in bytes from the start of the heap.
pub const TABLE_OFFSET: u64 = RESERVED_BYTES - TABLE_BYTES;

/// Where a rank's own record of what its kernels wait for starts ([`deadline`]), on the CPU too: after the context
/// table, or what is in its place there.
pub const DEADLINE_OFFSET: u64 = TABLE_OFFSET + 2176;

/// Where the word starts that holds the address of the trace buffer ([`crate::trace`]) of a rank's Triton kernels, or
/// zero.
pub const TRACE_OFFSET: u64 = TABLE_OFFSET + TABLE_BYTES - WORD_BYTES as u64;

/// The words at the start of each heap that belong to barriers. With n ranks, block b of a kernel owns the n + 1 words
/// from b × (n + 1) on: an epoch, then a flag for each rank. The words after the last block's belong to the barrier in
/// stream order.
pub const BARRIER_WORDS: u64 = TABLE_OFFSET / WORD_BYTES as u64;

/// The most ranks of a run.
pub const MAX_RANKS: u32 = 128;

/// The most blocks of one rank that may use the device barrier.
#[must_use]
pub const fn max_barrier_blocks(num_ranks: u32) -> u64 {
    // Widening, since `From` is not const.
    BARRIER_WORDS / (num_ranks as u64 + 1) - 1
}

/// What is added to a pointer for a rank that is out of range: no target maps an address so far away.
pub const UNMAPPED: i64 = 1 << 60;

/// The same in a Triton kernel: programs have the addresses below it, and no target maps those above. It is one of the
/// 48 bits that AMD's buffer descriptors, which Triton accesses most memory through, keep.
pub const UNMAPPED_IN_TRITON: i64 = 1 << 47;

const _: () = assert!(RESERVED_BYTES.is_multiple_of(HEAP_ALIGN), "what follows is as aligned as the heap");
const _: () = assert!(
    (table::words_with_reach(MAX_RANKS) * WORD_BYTES) as u64 <= DEADLINE_OFFSET - TABLE_OFFSET,
    "the table of every run fits, also where an engine reaches ranks"
);
const _: () = assert!(
    DEADLINE_OFFSET + (deadline::LOGGED_WORDS * WORD_BYTES) as u64 <= TRACE_OFFSET,
    "the record fits after the table, and a word after it"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_barrier_in_a_streams_order_has_words_too() {
        assert_eq!(max_barrier_blocks(1), 130_815);
        assert_eq!(max_barrier_blocks(64), 4024);
        for ranks in 1..=MAX_RANKS {
            let words = u64::from(ranks) + 1;
            assert!((max_barrier_blocks(ranks) + 1) * words <= BARRIER_WORDS, "{ranks} ranks");
        }
    }
}
