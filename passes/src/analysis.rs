//! What passes ask about a program; nothing here changes it.

pub mod accesses;
pub mod acquires;
pub mod dominance;
pub mod extent;
pub mod order;
pub mod search;
pub mod uniform;

/// How many values a value is followed back through: of what is made of more nothing is known.
pub const MOST_VALUES: u32 = 64;
