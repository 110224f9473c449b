//! A device's clock against the host's.
//!
//! The kernel [`symm_abi::trace::CLOCK`] answers with the device's time each time a word in
//! host memory has become one more. The answer was given between the host's question and its arrival, so the middle of
//! the shortest round is right to half of that round, and to the step of the device's clock.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::api::{Function, Start, Stream};
use super::{Local, Shared};
use crate::clock;
use crate::error::Error;
use symm_abi::trace::{CLOCK_RECORD, END, RECORD_WORDS};

/// Questions of one launch.
const ROUNDS: u64 = 16;
/// How long an answer may take, and how often to retry: a host thread may lose its core in between.
const PATIENCE: Duration = Duration::from_millis(200);
const LAUNCHES: u32 = 10;
/// The fewest answers that are accepted: a busy host gets no more, and has a larger error.
const FEWEST: usize = 4;
/// How long the host polls before it yields its core: a device answers within microseconds.
const SOON: Duration = Duration::from_micros(200);

/// Words of memory that host and device share: the question, and a record.
const WORDS: usize = CLOCK_RECORD + RECORD_WORDS;
/// The record's end.
const ANSWER: usize = CLOCK_RECORD + END;

/// One reading of both clocks, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) host: u64,
    pub(super) device: u64,
    /// How far apart the two readings may have been.
    pub(super) error: u64,
}

/// What reading both clocks needs.
#[derive(Debug)]
pub(super) struct Clock {
    function: Function,
    words: usize,
}

impl Clock {
    pub(super) fn new(shared: &Shared, function: Function) -> Result<Self, Error> {
        Ok(Self { function, words: shared.api.alloc_host(WORDS * size_of::<u64>())? as usize })
    }

    pub(super) fn memory(&self) -> *mut u8 {
        self.words as *mut u8
    }

    /// Reads both clocks. Nothing else is in the stream.
    pub(super) fn read(&self, shared: &Shared, local: &Local) -> Result<Reading, Error> {
        // SAFETY: `alloc_host` gave this many aligned words, which live as long as this; the device writes them too.
        let words = unsafe { std::slice::from_raw_parts(self.words as *const AtomicU64, WORDS) };
        let mut rounds = Vec::new();
        for _ in 0..LAUNCHES {
            words[0].store(0, Ordering::Relaxed);
            self.launch(shared, local.table, local.stream)?;
            rounds.extend((1..=ROUNDS).map_while(|round| ask(words, round)));
            shared.drain(local.stream, |_| Ok(()))?;
            if rounds.len() as u64 >= ROUNDS {
                break;
            }
        }
        if rounds.len() >= FEWEST {
            return Ok(best(&rounds));
        }
        let device = local.device;
        Err(Error::Program(format!("the clock of device {device} did not answer in time; run without a trace")))
    }

    fn launch(&self, shared: &Shared, table: u64, stream: Stream) -> Result<(), Error> {
        let (mut table, mut words, mut rounds) = (table, self.words as u64, ROUNDS);
        let start = Start { function: self.function, grid: [1; 3], block: [1; 3], shared: 0, cooperative: false };
        let mut arguments: [*mut c_void; 3] =
            [(&raw mut table).cast(), (&raw mut words).cast(), (&raw mut rounds).cast()];
        // SAFETY: the kernel takes a pointer to the context table, one to these words and a number.
        unsafe { shared.api.launch(&start, &mut arguments, stream) }
    }
}

/// The host's time before the question, the device's, and the host's after the answer.
type Round = [u64; 3];

fn ask(words: &[AtomicU64], round: u64) -> Option<Round> {
    let start = Instant::now();
    words[ANSWER].store(0, Ordering::Relaxed);
    let before = clock::now();
    words[0].store(round, Ordering::Release);
    loop {
        let answer = words[ANSWER].load(Ordering::Acquire);
        if answer != 0 {
            return Some([before, answer, clock::now()]);
        }
        let waited = start.elapsed();
        if waited > PATIENCE {
            return None;
        }
        if waited < SOON { std::hint::spin_loop() } else { std::thread::yield_now() }
    }
}

/// The shortest round.
fn best(rounds: &[Round]) -> Reading {
    let [before, device, after] = *rounds.iter().min_by_key(|[before, _, after]| after - before).expect("some rounds");
    let steps = rounds.windows(2).map(|pair| pair[1][1].abs_diff(pair[0][1]));
    let step = steps.fold(0, greatest_common_divisor);
    Reading { host: before.midpoint(after), device, error: (after - before).div_ceil(2) + step }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// The host's time when the device's clock showed `device`: on the line through two readings.
pub(super) fn to_host(device: u64, [first, last]: [Reading; 2]) -> u64 {
    let difference = |a: u64, b: u64| i128::from(a) - i128::from(b);
    let since = difference(device, first.device);
    let apart = difference(last.device, first.device);
    let passed = if apart == 0 { since } else { since * difference(last.host, first.host) / apart };
    u64::try_from(i128::from(first.host) + passed).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_round_counts_and_its_half_is_the_error() {
        let rounds = [[100, 9_000_000, 190], [200, 9_000_128, 240], [300, 9_000_224, 400]];
        assert_eq!(best(&rounds), Reading { host: 220, device: 9_000_128, error: 20 + 32 });
    }

    #[test]
    fn clocks_that_drift_are_followed() {
        let first = Reading { host: 1000, device: 500_000, error: 1 };
        let last = Reading { host: 3000, device: 504_000, error: 1 };
        assert_eq!(to_host(500_000, [first, last]), 1000);
        assert_eq!(to_host(502_000, [first, last]), 2000);
        assert_eq!(to_host(499_000, [first, last]), 500);
        assert_eq!(to_host(500_010, [first, first]), 1010, "with one reading only the distance is known");
    }
}
