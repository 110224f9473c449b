//! The calls of a kernel compiled for symm-check: one for each memory access, signal, wait and barrier.
//!
//! A value is passed by its address, on the caller's stack. `order`, `scope` and `group` are the numbers of
//! [`Order`], [`Scope`] and [`Group`]; `loc` is a NUL-terminated `file:line:col`. `bytes` is the size of one value.

use crate::functions::{Function, Machine, functions};
use crate::heap::RESERVED_BYTES;
use std::ffi::c_char;

/// Bytes of addresses for each heap. Nothing is allocated at an address twice, so that what is freed is known.
pub const HEAP: u64 = 1 << 36;

/// Where the words of barriers are in each heap, which are elsewhere at its start: there, no access is right.
pub const BARRIERS: u64 = HEAP - RESERVED_BYTES;

macro_rules! codes {
    ($(#[$doc:meta])* $name:ident: $($(#[$of:meta])* $variant:ident = $code:literal,)*) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            $($(#[$of])* $variant = $code,)*
        }

        impl $name {
            /// The one with this number.
            #[must_use]
            pub fn from_code(code: u32) -> Option<Self> {
                [$(Self::$variant),*].into_iter().find(|each| *each as u32 == code)
            }
        }
    };
}

codes! {
    /// A memory order.
    Order:
    /// None.
    Relaxed = 0,
    /// Later accesses come after it.
    Acquire = 1,
    /// Earlier accesses come before it.
    Release = 2,
    /// Both.
    AcqRel = 3,
}

codes! {
    /// The scope of an order.
    Scope:
    /// The block.
    Cta = 0,
    /// The cluster.
    Cluster = 1,
    /// The rank.
    Gpu = 2,
    /// All ranks.
    Sys = 3,
}

codes! {
    /// The threads that take part in one op.
    Group:
    /// One.
    Thread = 0,
    /// A warp.
    Warp = 1,
    /// A block.
    Block = 2,
}

codes! {
    /// How an atomic changes its value.
    Update:
    /// The operand.
    Exchange = 0,
    /// The sum.
    Add = 1,
    /// The difference.
    Sub = 2,
    /// The bits of both.
    And = 3,
    /// The bits of either.
    Or = 4,
    /// The bits of one of the two.
    Xor = 5,
    /// The larger one, signed.
    Max = 6,
    /// The smaller one, signed.
    Min = 7,
    /// The larger one, unsigned.
    UMax = 8,
    /// The smaller one, unsigned.
    UMin = 9,
    /// The sum of two `f32`.
    AddF32 = 10,
    /// The sum of two `f64`.
    AddF64 = 11,
    /// The sum of two `f16`.
    AddF16 = 12,
    /// The sum of two `bf16`.
    AddBf16 = 13,
}

functions! {
    /// A weak read.
    READ = symm_chk_read(into: *mut u8, from: *const u8, bytes: u64, loc: *const c_char);

    /// A weak write.
    WRITE = symm_chk_write(to: *mut u8, from: *const u8, bytes: u64, loc: *const c_char);

    /// A weak read and then a weak write of one place, with nothing between them that is reported. The value that is
    /// read is where the result points to, and the one to write goes there. If that is `slot`, only the read is done,
    /// and [`WRITE`] has to follow.
    CHANGE = symm_chk_change(
        slot: *mut u8, at: *mut u8, bytes: u64, read_loc: *const c_char, write_loc: *const c_char
    ) -> *mut u8;

    /// A weak read and a weak write of as many bytes.
    COPY = symm_chk_copy(to: *mut u8, from: *const u8, bytes: u64, loc: *const c_char);

    /// A weak write that repeats one byte.
    FILL = symm_chk_fill(to: *mut u8, byte: u32, bytes: u64, loc: *const c_char);

    /// Weak reads of those of `lanes` values whose byte in `mask` is not zero; the others stay as they are.
    READ_LANES = symm_chk_read_lanes(
        into: *mut u8, from: *const *const u8, bytes: u64, lanes: u64, mask: *const u8, loc: *const c_char
    );

    /// The same for weak writes.
    WRITE_LANES = symm_chk_write_lanes(
        to: *const *const u8, from: *const u8, bytes: u64, lanes: u64, mask: *const u8, loc: *const c_char
    );

    /// An atomic or volatile read.
    LOAD = symm_chk_load(into: *mut u8, from: *const u8, bytes: u64, order: u32, scope: u32, loc: *const c_char);

    /// An atomic or volatile read of a loop that does nothing else and keeps nothing of its rounds. `again` is 0 in the
    /// first one, and 1 from then on.
    LOOK = symm_chk_look(
        into: *mut u8, from: *const u8, bytes: u64, order: u32, scope: u32, again: *mut u8, loc: *const c_char
    );

    /// An atomic or volatile write.
    STORE = symm_chk_store(to: *mut u8, value: *const u8, bytes: u64, order: u32, scope: u32, loc: *const c_char);

    /// An atomic update; `kind` is an [`Update`]'s number, and `old` gets what was there.
    UPDATE = symm_chk_update(
        old: *mut u8, at: *mut u8, kind: u32, value: *const u8, bytes: u64, order: u32, scope: u32, loc: *const c_char
    );

    /// An atomic comparison and exchange; `old` gets what was there.
    COMPARE = symm_chk_compare(
        old: *mut u8, at: *mut u8, expected: *const u8, desired: *const u8, bytes: u64, order: u32, scope: u32,
        loc: *const c_char
    );

    /// A fence of a group.
    FENCE = symm_chk_fence(order: u32, scope: u32, group: u32, loc: *const c_char);

    /// One more round of a loop, or a call of a function.
    TURN = symm_chk_turn(loc: *const c_char);

    /// Takes this many elements of `bytes` bytes from the stack; their number again, for the `llvm.alloca` that does
    /// it.
    STACK = symm_chk_stack(elements: u64, bytes: u64, loc: *const c_char) -> u64;

    /// Memory of the rank's own, which is in no heap.
    ALLOCATE = symm_chk_allocate(bytes: u64, align: u64, loc: *const c_char) -> *mut u8;

    /// Frees it; null is left alone.
    RELEASE = symm_chk_release(memory: *mut u8, loc: *const c_char);

    /// A weak access that is made for memory aligned to this many bytes, before it is done.
    ALIGN = symm_chk_align(at: *const u8, align: u64, loc: *const c_char);

    /// An integer division of values of this many bits, before it is done.
    DIVIDE = symm_chk_divide(left: u64, right: u64, bits: u32, signed: u32, loc: *const c_char);

    /// A signal of a group; `kind` is a [`SignalKind`](crate::trace::SignalKind)'s number.
    SIGNAL = symm_chk_signal(
        flag: *mut u8, kind: u32, value: *const u8, bytes: u64, order: u32, scope: u32, group: u32, loc: *const c_char
    );

    /// A wait of a group; `compare` is a [`Compare`](crate::wait::Compare)'s number. 0 if it may give up and does so.
    WAIT = symm_chk_wait(
        flag: *const u8, compare: u32, expected: *const u8, bytes: u64, may_give_up: u32, order: u32, scope: u32,
        group: u32, loc: *const c_char
    ) -> u32;

    /// A barrier of a group.
    BARRIER = symm_chk_barrier(group: u32, loc: *const c_char);

    /// A barrier of a group. It returns 1 to one thread, which then acts for the group.
    ENTER = symm_chk_enter(group: u32, loc: *const c_char) -> u32;

    /// A barrier of a group, whose threads share a `put`: the copies that each of them calls for from here to
    /// `symm_chk_end_put` are the whole group's.
    BEGIN_PUT = symm_chk_begin_put(group: u32, loc: *const c_char);

    /// Makes this thread's part of the copies, of elements of this many bytes. Then the group meets.
    END_PUT = symm_chk_end_put(group: u32, element: u64, loc: *const c_char);

    /// A block's shared memory with this number. All threads of the block call it, and go on together.
    SHARED = symm_chk_shared(number: u32, bytes: u64, loc: *const c_char) -> *mut u8;

    /// Writes a packet into a line.
    PUT_PACKET = symm_chk_put_packet(line: *mut u8, data: u64, epoch: u32, loc: *const c_char);

    /// Waits for a packet, and returns its data.
    WAIT_PACKET = symm_chk_wait_packet(line: *const u8, epoch: u32, loc: *const c_char) -> u64;

    /// Polls once for a packet: 1 if it has arrived, and `data` gets its 8 bytes, else 0.
    TRY_PACKET = symm_chk_try_packet(data: *mut u8, line: *const u8, epoch: u32, loc: *const c_char) -> u32;

    /// Writes floats into a line, or clears it: all bits are set then.
    PUT_FLOATS = symm_chk_put_floats(line: *mut u8, first: u64, second: u64, loc: *const c_char);

    /// Waits until no word of a line of floats of `bits` bits is as it was cleared; `data` gets its 16 bytes.
    WAIT_FLOATS = symm_chk_wait_floats(data: *mut u8, line: *const u8, bits: u32, loc: *const c_char);

    /// Looks once: 1 if none is, and `data` gets them, else 0.
    TRY_FLOATS = symm_chk_try_floats(data: *mut u8, line: *const u8, bits: u32, loc: *const c_char) -> u32;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::Type;

    #[test]
    fn numbers_stand_for_one_thing() {
        assert_eq!(Order::from_code(3), Some(Order::AcqRel));
        assert_eq!((Scope::from_code(4), Group::from_code(3), Update::from_code(14)), (None, None, None));
        assert_eq!((READ.name, READ.parameters.len(), WAIT.results), ("symm_chk_read", 4, [Type::I32]));
    }
}
