//! A process for each rank, all on one host.

mod environment;
mod message;
mod monitor;
mod rendezvous;
#[allow(unsafe_code)]
mod spawn;

pub use environment::Bootstrap;
pub(crate) use monitor::Monitor;
pub(crate) use rendezvous::{Link, Offer, join};
pub use spawn::{Spawn, spawn_processes};
