//! NVSHMEM's device functions: which of them an op calls for a far peer (rules N1 to N4), for the GPU targets and for
//! Triton kernels alike.
//!
//! A far end of a copy is named by a rank and by the address of the same place in this rank's heap. No call but those
//! that return a value says when what it wrote has arrived: [`QUIET`] waits for that (N3).

use symm_dialect::ops::{Group, SignalKind};

/// The type of a parameter or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// A pointer, which is generic.
    Pointer,
    /// An integer of this many bits.
    Int(u32),
}

/// A function of the device library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its symbol.
    pub name: &'static str,
    /// What it takes.
    pub parameters: &'static [Word],
    /// What it returns.
    pub result: Option<Word>,
}

use Word::{Int, Pointer};

const RANK: Word = Int(32);

/// `(to, from, bytes, rank)`: one end is at the rank.
const COPY: &[Word] = &[Pointer, Pointer, Int(64), RANK];
/// `(to, from, bytes, flag, value, operation, rank)`.
const COPY_SIGNAL: &[Word] = &[Pointer, Pointer, Int(64), Pointer, Int(64), Int(32), RANK];

const fn action(name: &'static str, parameters: &'static [Word]) -> Function {
    Function { name, parameters, result: None }
}

const fn value(name: &'static str, parameters: &'static [Word], result: Word) -> Function {
    Function { name, parameters, result: Some(result) }
}

/// Waits until what this thread has written has arrived.
pub const QUIET: Function = action("nvshmem_quiet", &[]);

/// `(flag, value, operation, rank)`: sets or adds to a flag of 8 bytes.
pub const SIGNAL: Function = action("nvshmemx_signal_op", &[Pointer, Int(64), Int(32), RANK]);

/// What [`SIGNAL`] and [`put_signal`] are to do with the flag.
#[must_use]
pub fn signal_operation(kind: SignalKind) -> i64 {
    match kind {
        SignalKind::Set => 9,
        SignalKind::Add => 10,
    }
}

const PUTS: [Function; 3] =
    [action("nvshmem_putmem", COPY), action("nvshmemx_putmem_warp", COPY), action("nvshmemx_putmem_block", COPY)];
const GETS: [Function; 3] =
    [action("nvshmem_getmem", COPY), action("nvshmemx_getmem_warp", COPY), action("nvshmemx_getmem_block", COPY)];
const PUT_SIGNALS: [Function; 3] = [
    action("nvshmem_putmem_signal", COPY_SIGNAL),
    action("nvshmemx_putmem_signal_warp", COPY_SIGNAL),
    action("nvshmemx_putmem_signal_block", COPY_SIGNAL),
];

const fn of_group(functions: [Function; 3], group: Group) -> Function {
    match group {
        Group::Thread => functions[0],
        Group::Warp => functions[1],
        Group::Block => functions[2],
    }
}

/// A copy to a rank by all threads of a group, which come together before and after it.
#[must_use]
pub fn put(group: Group) -> Function {
    of_group(PUTS, group)
}

/// A copy from a rank, likewise; what it fetched is there when it returns.
#[must_use]
pub fn get(group: Group) -> Function {
    of_group(GETS, group)
}

/// A copy to a rank, likewise, and a signal of 8 bytes after it, which releases what the group wrote before.
#[must_use]
pub fn put_signal(group: Group) -> Function {
    of_group(PUT_SIGNALS, group)
}

/// `(at, value, rank)`: stores a value of 1, 2, 4 or 8 bytes.
const STORES: [Function; 4] = [
    action("nvshmem_uint8_p", &[Pointer, Int(8), RANK]),
    action("nvshmem_uint16_p", &[Pointer, Int(16), RANK]),
    action("nvshmem_uint32_p", &[Pointer, Int(32), RANK]),
    action("nvshmem_uint64_p", &[Pointer, Int(64), RANK]),
];
/// `(at, rank)`: loads a value of 1, 2, 4 or 8 bytes.
const LOADS: [Function; 4] = [
    value("nvshmem_uint8_g", &[Pointer, RANK], Int(8)),
    value("nvshmem_uint16_g", &[Pointer, RANK], Int(16)),
    value("nvshmem_uint32_g", &[Pointer, RANK], Int(32)),
    value("nvshmem_uint64_g", &[Pointer, RANK], Int(64)),
];

/// The store of a value of this many bytes: 1, 2, 4 or 8.
#[must_use]
pub fn store(bytes: u64) -> Function {
    STORES[bytes.trailing_zeros() as usize]
}

/// The load of a value of this many bytes: 1, 2, 4 or 8.
#[must_use]
pub fn load(bytes: u64) -> Function {
    LOADS[bytes.trailing_zeros() as usize]
}

/// What the engine does at once to a value of 4 or 8 bytes; the old value. All else is made of [`Atomic::Swap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomic {
    /// `(at, rank)`.
    Fetch,
    /// `(at, value, rank)`, as the following.
    Add,
    /// Bitwise.
    And,
    /// Bitwise.
    Or,
    /// Bitwise.
    Xor,
    /// Replaces.
    Exchange,
    /// `(at, expected, value, rank)`.
    Swap,
}

const FETCH: [&[Word]; 2] = [&[Pointer, RANK], &[Pointer, RANK]];
const UPDATE: [&[Word]; 2] = [&[Pointer, Int(32), RANK], &[Pointer, Int(64), RANK]];
const SWAP: [&[Word]; 2] = [&[Pointer, Int(32), Int(32), RANK], &[Pointer, Int(64), Int(64), RANK]];

const fn both(names: [&'static str; 2], parameters: [&'static [Word]; 2]) -> [Function; 2] {
    [value(names[0], parameters[0], Int(32)), value(names[1], parameters[1], Int(64))]
}

const ATOMICS: [[Function; 2]; 7] = [
    both(["nvshmem_uint32_atomic_fetch", "nvshmem_uint64_atomic_fetch"], FETCH),
    both(["nvshmem_uint32_atomic_fetch_add", "nvshmem_uint64_atomic_fetch_add"], UPDATE),
    both(["nvshmem_uint32_atomic_fetch_and", "nvshmem_uint64_atomic_fetch_and"], UPDATE),
    both(["nvshmem_uint32_atomic_fetch_or", "nvshmem_uint64_atomic_fetch_or"], UPDATE),
    both(["nvshmem_uint32_atomic_fetch_xor", "nvshmem_uint64_atomic_fetch_xor"], UPDATE),
    both(["nvshmem_uint32_atomic_swap", "nvshmem_uint64_atomic_swap"], UPDATE),
    both(["nvshmem_uint32_atomic_compare_swap", "nvshmem_uint64_atomic_compare_swap"], SWAP),
];

/// The function of an atomic on a value of 4 or 8 bytes.
#[must_use]
pub fn atomic(atomic: Atomic, bytes: u64) -> Function {
    ATOMICS[atomic as usize][usize::from(bytes == 8)]
}

/// The symbols of all of them: what a device library is trimmed to.
#[must_use]
pub fn symbols() -> Vec<&'static str> {
    let groups = [PUTS, GETS, PUT_SIGNALS].into_iter().flatten();
    let words = [STORES, LOADS].into_iter().flatten();
    let all = [QUIET, SIGNAL].into_iter().chain(groups).chain(words).chain(ATOMICS.into_iter().flatten());
    all.map(|function| function.name).collect()
}
