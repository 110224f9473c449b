//! Transformations within the dialect.

pub mod coalesce_signals;
pub mod guard_accesses;
pub mod hoist_translation;
pub mod infer_order;
pub mod insert_bounds_checks;
pub mod insert_trace;
pub mod insert_watchdog;
pub mod instrument_accesses;
pub mod keep_loops;
pub mod limit_polls;
pub mod pipeline_remote;
pub mod raise_carriers;
pub mod tag_waits;
pub mod trace_programs;
