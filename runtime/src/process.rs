//! A process for each rank: all on one host, where they hand each other their memory, or on several, with connections.

mod coordinator;
mod environment;
#[cfg(test)]
mod fuzz;
mod message;
mod monitor;
mod network;
mod output;
#[expect(unsafe_code, reason = "a descriptor of a process by its number")]
mod peer;
mod rendezvous;
#[expect(unsafe_code, reason = "what a child does between fork and exec")]
mod spawn;
pub(crate) mod state;
mod terms;
mod timer;

pub use environment::{Bootstrap, Launcher};
pub(crate) use monitor::Monitor;
pub(crate) use peer::Process;
pub(crate) use rendezvous::{Link, Offer, join};
pub use spawn::{Spawn, spawn_processes};
pub use state::ProcessState;
