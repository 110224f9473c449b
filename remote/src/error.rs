//! Errors between a client and a worker.

use std::io;
use thiserror::Error;

/// An error of a link or a worker.
#[derive(Debug, Error)]
pub enum Error {
    /// An address that cannot be read.
    #[error("{0:?} is not an address: write unix:/path/of/socket or tcp:host:port")]
    Address(String),
    /// TCP without authentication or encryption.
    #[error("tcp needs {0}: only a unix socket goes without")]
    Unprotected(&'static str),
    /// A file with a token, a certificate or a key.
    #[error("{file}: {reason}")]
    File {
        /// The file.
        file: String,
        /// What is wrong with it, and what to do.
        reason: String,
    },
    /// The other end did not let us in, or we did not trust it.
    #[error("{0}")]
    Refused(String),
    /// The other end is gone.
    #[error("{0}")]
    Lost(String),
    /// The time was over.
    #[error("{0}")]
    Late(String),
    /// Malformed bytes.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// Something in the system.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Bytes that are no message of this version: the other end is broken, or is something else.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("not a message of symm.remote: {0}")]
pub struct Malformed(pub &'static str);

/// What an operation on the worker has raised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The name of the exception's type, such as `IndexError`.
    pub kind: String,
    /// Its text.
    pub text: String,
}

/// The kind of a failure that is the worker's own refusal.
pub const REFUSED: &str = "Refused";

impl Failure {
    /// A failure of this kind.
    pub fn new(kind: &str, text: impl Into<String>) -> Self {
        Self { kind: kind.into(), text: text.into() }
    }

    /// The worker refuses to do this.
    pub fn refused(text: impl Into<String>) -> Self {
        Self::new(REFUSED, text)
    }
}
