//! Transformations within the dialect.

pub mod hoist_translation;
pub mod insert_bounds_checks;
pub mod insert_watchdog;
