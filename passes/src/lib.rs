//! The passes of the symm dialect: one pass, one file, one flag, one lit test.
//!
//! A pass is a row of [`PASSES`]; a named pipeline is a row of [`PIPELINES`]. [`register`] makes them known to
//! MLIR, after which `symm-opt --help` lists them and any pipeline text can name them.

// Unsafe code is where it is allowed by name: at the border to C++, and where melior's own handles fall short.
#![deny(unsafe_code)]

mod analysis;
mod check;
mod contract;
mod ir;
mod lower;
mod pass;
pub mod pipelines;
#[expect(unsafe_code, reason = "functions of MLIR's C API that register passes")]
mod registration;
mod target;
mod transform;

pub use ir::structure::GPU_MODULE;
pub use lower::nvshmem;
pub use lower::nvvm::CHIPS as NVIDIA_CHIPS;
pub use lower::rocdl::CHIPS as AMD_CHIPS;
pub use pass::{Ir, OptionKind, Pass, PassOption, Pipeline, Values};
pub use pipelines::PIPELINES;
pub use registration::{register, register_upstream};

/// Every pass, in the order of the generated page. Pipelines have an order of their own.
pub const PASSES: &[Pass] = &[
    transform::raise_carriers::PASS,
    check::ranks::PASS,
    check::reach::PASS,
    check::host_access::PASS,
    check::memory_order::PASS,
    check::polls::PASS,
    check::sync::PASS,
    transform::insert_bounds_checks::PASS,
    transform::guard_accesses::PASS,
    transform::insert_watchdog::PASS,
    transform::hoist_translation::PASS,
    transform::coalesce_signals::PASS,
    transform::infer_order::PASS,
    transform::pipeline_remote::PASS,
    transform::tag_waits::PASS,
    transform::limit_polls::PASS,
    transform::trace_programs::PASS,
    transform::insert_trace::PASS,
    lower::cpu::PASS,
    lower::nvvm::PASS,
    lower::rocdl::PASS,
    lower::triton::PASS,
    transform::keep_loops::PASS,
    transform::instrument_accesses::PASS,
    lower::bits::PASS,
    lower::convergent::PASS,
];
