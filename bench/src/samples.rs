//! Repeated measurements of one thing.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Measurements in the order in which they were taken; in seconds where nothing else is said.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Samples(pub Vec<f64>);

impl Samples {
    /// Of an odd number of values the one in the middle, of an even number the lower one.
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The value that `part` of the values are not above.
    pub fn quantile(&self, part: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index into a short list")]
        #[allow(clippy::cast_precision_loss, reason = "there are few samples")]
        let index = ((sorted.len().saturating_sub(1)) as f64 * part) as usize;
        sorted.get(index).copied().unwrap_or(f64::NAN)
    }

    /// Half of the values lie within so much of the median, as a part of it.
    pub fn spread(&self) -> f64 {
        (self.quantile(0.75) - self.quantile(0.25)) / 2.0 / self.median()
    }
}

/// The seconds that this thread has had a core: what else runs on the machine does not count.
pub fn processor_time() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0)).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::Samples;

    #[test]
    fn the_median_does_not_heed_outliers() {
        assert!((Samples(vec![9e9, 2.0, 1.0, 3.0, 2.5]).median() - 2.5).abs() < 1e-12);
        assert!(Samples::default().median().is_nan());
    }
}
