//! Packets (rule P1): values travel in lines, each of which shows by itself that it has come.

/// Bytes of a line, and what slots are aligned to.
pub const LINE_BYTES: u64 = 16;

/// Where in a line its epochs lie, in bytes, each after as many bytes of data. A line of floats has none.
pub const EPOCHS: [i64; 2] = [4, 12];
