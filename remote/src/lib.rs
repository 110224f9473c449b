//! Tensors on another machine: the wire format, a client's link, and the part of a worker that needs no torch.
//!
//! A [`client::Client`] queues messages and never waits for an operation; a [`worker::Worker`] runs them in order on an
//! [`executor::Executor`]. Nothing on the wire is code: every message is one of [`message::Request`] or
//! [`message::Answer`], made of [`value::Value`]s.

#![deny(unsafe_code)]

pub mod address;
pub mod client;
pub mod credentials;
pub mod error;
pub mod executor;
pub mod lock;
#[expect(unsafe_code, reason = "memory that several threads share, whose validity its maker promises")]
pub mod memory;
pub mod message;
mod socket;
pub mod tls;
pub mod transport;
pub mod value;
pub mod wire;
pub mod worker;
