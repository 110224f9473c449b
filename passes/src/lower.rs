//! Lowerings to the targets, and what they share.

mod address;
mod bulk;
pub mod cpu;
mod translation;
