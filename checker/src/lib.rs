//! The memory model of symm as code (docs/memory-model.md), and the search for what goes wrong in it: races, missing or
//! too narrow releases and acquires, slots used again without a credit, deadlocks.
//!
//! A [`run::Program`] gives its tasks' [`op::Op`]s, one after the other; [`check::check`] executes it in many
//! [`check::Schedules`], and says in a [`check::Report`] what it has found and which schedule shows it again. The
//! [`machine::Machine`] is the model: vector clocks, the last accesses of each byte, the values that each flag has had.
//!
//! What is found is wrong in a real execution of the model. What is not found is not there in the executions that were
//! tried: in all of them where the report says so. Limits:
//!
//! - A read takes no value that is written after it, except a load that a program itself makes late ([`op::Op::Late`]).
//! - A weak access reads and writes the newest value; where it could do otherwise it races, which is reported.
//! - A read takes one of the newest 64 values of a flag ([`history::KEPT`]). A search for all executions that comes to
//!   a read that could take an older one says so, and is not exhausted ([`check::Report::has_forgotten`]).
//! - A loop that has read the same 10,000 times, while its task does nothing else, is taken for one that ends only when
//!   what it reads changes ([`run::Limits::polls`]).
//! - An atomic update that changes nothing is a load, as it may be on AMD GPUs.
//! - Collective calls of the host that differ between ranks are not in it.
//!
//! There is no MLIR in this crate, and no clock: the same program and seed give the same report, byte for byte.

#![forbid(unsafe_code)]

pub mod ahead;
pub mod allow;
pub mod check;
pub mod clock;
mod deadlock;
mod diagnose;
mod explore;
mod filter;
pub mod finding;
pub mod history;
pub mod lines;
pub mod machine;
pub mod memory;
mod missed;
pub mod op;
mod pages;
mod parked;
pub mod picture;
mod polls;
mod reduce;
pub mod report;
pub mod run;
pub mod schedule;
pub mod shadow;
pub mod task;
mod trace;
mod would;
