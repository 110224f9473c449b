//! What passes ask about a program; nothing here changes it.

pub mod accesses;
pub mod dominance;
pub mod extent;
pub mod order;
pub mod search;
pub mod uniform;
