//! A process for each rank, all on one host.

mod door;
mod environment;
mod message;
mod monitor;
mod rendezvous;
#[allow(unsafe_code)]
mod spawn;
pub(crate) mod state;
mod terms;

pub use environment::{Bootstrap, Launcher};
pub(crate) use monitor::Monitor;
pub(crate) use rendezvous::{Link, Offer, join};
pub use spawn::{Spawn, spawn_processes};
pub use state::ProcessState;
