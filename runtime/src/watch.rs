//! What other threads may do for a rank while it makes a call, and after it has left.

use crate::error::Error;
use crate::rank::{Rank, Seat};

/// A rank's run, seen from any thread. Its heaps stay mapped as long as this lives, even after the rank has left.
#[derive(Debug, Clone)]
pub struct Watch {
    seat: Seat,
}

impl Watch {
    /// Whether the run goes on, for a caller that waits by other means.
    ///
    /// # Errors
    /// [`Error::Stopped`] when it has failed.
    pub fn check(&self) -> Result<(), Error> {
        if self.seat.world.failed() { Err(self.seat.world.stopped()) } else { Ok(()) }
    }

    /// Ends the run on all ranks, unless it has ended; the others are told `reason`.
    pub fn end(&self, reason: &str) {
        self.seat.world.fail(self.seat.rank, Error::Program(reason.to_owned()));
    }
}

impl Rank {
    /// A view of this rank's run for other threads.
    #[must_use]
    pub fn watch(&self) -> Watch {
        Watch { seat: self.seat.clone() }
    }
}
