//! Parts of errors in words.

use std::fmt;

use crate::check::CheckFailure;
use crate::collective::Posted;
use crate::error::RankExit;

/// What [`Error::Deadlock`](super::Error::Deadlock) tells callers that may have threads of their own; a caller without
/// any leaves it out.
pub const HELPERS_MEND: &str = "; if another thread of the program sets a flag, say so (Config::helpers_signal, \
                                helpers_signal of symm_options)";

pub(super) struct Ranks<'a>(pub(super) &'a [u32]);

impl fmt::Display for Ranks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.len() == 1 { "rank " } else { "ranks " })?;
        for (i, rank) in self.0.iter().enumerate() {
            write!(f, "{}{rank}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

pub(super) struct WaitsIn<'a>(pub(super) &'a [u32]);

impl fmt::Display for WaitsIn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", Ranks(self.0), if self.0.len() == 1 { "waits" } else { "wait" })
    }
}

pub(super) struct Posts<'a>(pub(super) &'a [Posted]);

impl fmt::Display for Posts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|post| write!(f, "\n  {post}"))
    }
}

pub(super) struct Checks<'a>(pub(super) &'a [CheckFailure]);

impl fmt::Display for Checks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|check| write!(f, "\n  {check}"))
    }
}

pub(super) struct Lines<'a>(pub(super) &'a [RankExit]);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(i, exit)| write!(f, "{}{exit}", if i == 0 { "" } else { "\n" }))
    }
}
