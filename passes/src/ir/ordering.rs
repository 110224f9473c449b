//! The numbers that LLVM's dialect has for memory orders.

use melior::ir::OperationRef;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::OperationLike;
use symm_dialect::ops::Order;

/// An access that is not atomic.
pub const NOT_ATOMIC: i64 = 0;
/// Weaker than relaxed: no access that a language makes for threads.
pub const UNORDERED: i64 = 1;
pub const RELAXED: i64 = 2;
pub const ACQUIRE: i64 = 4;
pub const RELEASE: i64 = 5;
pub const ACQ_REL: i64 = 6;
pub const SEQ_CST: i64 = 7;

/// The number of a memory order.
pub fn number(order: Order) -> i64 {
    match order {
        Order::Relaxed => RELAXED,
        Order::Acquire => ACQUIRE,
        Order::Release => RELEASE,
        Order::AcqRel => ACQ_REL,
    }
}

/// The number that an op has under an attribute's name; that of a plain access, if it has none.
pub fn of(op: OperationRef, attribute: &str) -> i64 {
    op.attribute(attribute).and_then(IntegerAttribute::try_from).map_or(NOT_ATOMIC, |number| number.value())
}
