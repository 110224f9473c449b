//! Work that is recorded once and executed many times.

use super::{Alone, Seat};
use crate::driver::gpu::api;

/// What a stream recorded between [`super::Stream::begin_capture`] and [`super::Stream::end_capture`].
///
/// Kernels in it that wait must count: a wait for a value that the last replay left would pass at once. symm's barriers
/// count epochs.
#[derive(Debug)]
pub struct Graph {
    seat: Seat,
    pub(super) raw: api::Graph,
    /// A rank makes one call at a time.
    alone: Alone,
}

impl Graph {
    pub(super) fn new(seat: &Seat, raw: api::Graph) -> Self {
        Self { seat: seat.clone(), raw, alone: Alone::default() }
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // If this fails, the device has failed, which has been reported.
        let _ = self.seat.end(|api| api.destroy_graph(self.raw));
    }
}
