//! Where in the program something happened.

use super::Error;
use std::fmt;

/// Where in the program something happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The rank.
    pub rank: u32,
    /// Block coordinates and kernel name; `None` on the host thread.
    pub block: Option<([i64; 3], String)>,
    /// `file:line:col`, or empty.
    pub loc: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.loc.is_empty() {
            write!(f, "{}: ", self.loc)?;
        }
        write!(f, "rank {}", self.rank)?;
        match &self.block {
            Some(([x, y, z], kernel)) => write!(f, ", block ({x},{y},{z}) of @{kernel}"),
            None => Ok(()),
        }
    }
}

impl Error {
    /// The innermost error, without the places around it.
    #[must_use]
    pub fn cause(&self) -> &Self {
        match self {
            Self::At { source, .. } | Self::AfterChecks { source, .. } => source.cause(),
            other => other,
        }
    }
}
