//! Transformations within the dialect.

pub mod hoist_translation;
