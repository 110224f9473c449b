//! The names of all attributes `symm.…`: what a program says with them, and what passes mark. The dialect rejects any
//! other name, so that a misspelt one is not passed over.

/// The module attribute that fixes the number of ranks (`i32`).
pub const NUM_RANKS_ATTRIBUTE: &str = "symm.num_ranks";

/// The module attribute that says the heaps lie at a fixed distance from each other (`i64`, bytes; rule T5).
pub const HEAP_STRIDE_ATTRIBUTE: &str = "symm.heap_stride";

/// The module attribute (a unit) that says that each rank's context table lies in its heap, and the range of all heaps
/// at a multiple of the power of two that it fits into. With it a rank is known by the table's address (rule T5).
pub const TABLE_IN_HEAP_ATTRIBUTE: &str = "symm.table_in_heap";

/// The module attribute that names what reaches ranks whose heaps are not mapped (text; rule N1).
pub const ENGINE_ATTRIBUTE: &str = "symm.engine";

/// The module attribute that says how large each heap is (`i64`, bytes), for bounds checks.
pub const HEAP_SIZE_ATTRIBUTE: &str = "symm.heap_size";

/// The module attribute that says what number of stages a launch has asked Triton for, where it is not the default
/// (`i32`).
pub const NUM_STAGES_ATTRIBUTE: &str = "symm.num_stages";

/// The module attribute that says that waits of a Triton kernel have a deadline where they are given none (`i32`).
pub const DEFAULT_TIMEOUT_ATTRIBUTE: &str = "symm.default_timeout";

/// The module attribute that says what the tags of waits stand for (text): symm-tag-waits.
pub const WAITS_ATTRIBUTE: &str = "symm.waits";

/// The module attribute with which `python/symm/_carrier.py` marks a Triton kernel that has carriers.
pub const CARRIERS_ATTRIBUTE: &str = "symm.carriers";

/// On the function that a carrier calls: the op, its operands and its attributes (text): symm-raise-carriers.
pub const CARRIER_ATTRIBUTE: &str = "symm.carrier";

/// On a host function that is an entry of the program, while the CPU lowering runs (a unit).
pub const ENTRY_ATTRIBUTE: &str = "symm.entry";

/// On a function of a `gpu.module`, while the CPU lowering runs: its last argument points to the block's coordinates
/// (a unit).
pub const DEVICE_ATTRIBUTE: &str = "symm.device";

/// On the empty assembly that symm-keep-loops puts into loops (a unit).
pub const ROUND_ATTRIBUTE: &str = "symm.round";

/// The name of an argument or a result of a host function (text).
pub const NAME_ATTRIBUTE: &str = "symm.name";

/// What an argument of a host function is if it is not given (a number).
pub const DEFAULT_ATTRIBUTE: &str = "symm.default";

/// What an attribute may be on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A module.
    Module,
    /// Another op: passes put it there, programs do not have it.
    Op,
    /// An argument of a function.
    Argument,
    /// A result of a function.
    Result,
}

/// Every attribute, with what it may be on.
const KNOWN: [(&str, &[Place]); 15] = [
    (NUM_RANKS_ATTRIBUTE, &[Place::Module]),
    (HEAP_SIZE_ATTRIBUTE, &[Place::Module]),
    (HEAP_STRIDE_ATTRIBUTE, &[Place::Module]),
    (TABLE_IN_HEAP_ATTRIBUTE, &[Place::Module]),
    (ENGINE_ATTRIBUTE, &[Place::Module]),
    (NUM_STAGES_ATTRIBUTE, &[Place::Module]),
    (DEFAULT_TIMEOUT_ATTRIBUTE, &[Place::Module]),
    (WAITS_ATTRIBUTE, &[Place::Module]),
    (CARRIERS_ATTRIBUTE, &[Place::Module]),
    (CARRIER_ATTRIBUTE, &[Place::Op]),
    (ENTRY_ATTRIBUTE, &[Place::Op]),
    (DEVICE_ATTRIBUTE, &[Place::Op]),
    (ROUND_ATTRIBUTE, &[Place::Op]),
    (NAME_ATTRIBUTE, &[Place::Argument, Place::Result]),
    (DEFAULT_ATTRIBUTE, &[Place::Argument]),
];

/// The attributes that a place may have.
pub fn known(place: Place) -> impl Iterator<Item = &'static str> {
    KNOWN.iter().filter(move |(_, places)| places.contains(&place)).map(|(name, _)| *name)
}
