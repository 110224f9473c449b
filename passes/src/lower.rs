//! Lowerings to the targets, and what they share.

mod access;
pub mod address;
mod bulk;
pub mod cpu;
mod gpu;
pub mod nvvm;
pub mod rocdl;
mod translation;
pub mod triton;
mod types;

use symm_dialect::ops::{Order, RmwKind};

/// The number LLVM's dialect gives a memory order.
pub fn llvm_ordering(order: Order) -> i64 {
    match order {
        Order::Relaxed => 2,
        Order::Acquire => 4,
        Order::Release => 5,
        Order::AcqRel => 6,
    }
}

/// The number LLVM's dialect gives an atomic operation on a type.
pub fn llvm_bin_op(kind: RmwKind) -> i64 {
    match kind {
        RmwKind::Xchg => 0,
        RmwKind::Add => 1,
        RmwKind::Sub => 2,
        RmwKind::And => 3,
        RmwKind::Or => 5,
        RmwKind::Xor => 6,
        RmwKind::Max => 7,
        RmwKind::Min => 8,
        RmwKind::UMax => 9,
        RmwKind::UMin => 10,
        RmwKind::FAdd => 11,
    }
}
