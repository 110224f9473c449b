//! Analyses and checks: they report, and repair at most an attribute.

pub mod host_access;
pub mod memory_order;
pub mod polls;
pub mod ranks;
pub mod reach;
pub mod sync;
