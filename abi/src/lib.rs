//! The contract between compiled code and the runtime: the layout of memory, the functions that are called, and the
//! syntax of what is passed as text.
//!
//! The passes, the runtime, the tools and the Python package take it from here, so that the two sides of a call or a
//! record cannot differ. It has no dependencies. A word is 64 bits.

#![forbid(unsafe_code)]

pub mod check;
pub mod deadline;
pub mod far;
pub mod fault;
pub mod format;
pub mod functions;
pub mod heap;
pub mod kernel;
pub mod packet;
pub mod site;
pub mod table;
pub mod trace;
pub mod wait;

/// Bytes of a word.
pub const WORD_BYTES: usize = 8;
