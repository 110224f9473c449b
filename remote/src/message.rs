//! The messages of a client and a worker.

mod answer;
mod request;
mod work;

pub use answer::{Answer, Welcome};
pub use request::{Announced, Copy, Hello, Request, kind};
pub use work::{Outputs, Verb, Work};

use crate::error::{Failure, Malformed};
use crate::wire::{Decoder, Encoder};

/// The key of a client's session: who has it may give tensors to that session.
pub type Key = [u8; 16];

/// The kind of a frame that holds a part of a tensor's bytes, in both directions.
pub const DATA: u8 = 255;

fn key(read: &mut Decoder<'_>) -> Result<Key, Malformed> {
    read.raw()?.try_into().map_err(|_| Malformed("a key of another length"))
}

fn write_failure(to: &mut Encoder, failure: &Failure) {
    to.raw(failure.kind.as_bytes());
    // A text of a megabyte helps nobody, and would not fit a message.
    let end = (0..=failure.text.len().min(1 << 16)).rev().find(|end| failure.text.is_char_boundary(*end));
    to.raw(&failure.text.as_bytes()[..end.unwrap_or_default()]);
}

fn read_failure(read: &mut Decoder<'_>) -> Result<Failure, Malformed> {
    Ok(Failure { kind: read.string()?, text: read.string()? })
}
