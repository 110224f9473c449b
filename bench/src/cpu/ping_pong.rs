//! A signal there and back, many times: `symm.signal` and `symm.wait` against Rust's atomics, on the same two threads.

use super::program::{Argument, Program, pin};
use crate::Effort;
use crate::samples::Samples;
use crate::table::{TextTable, number, ratio};
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::time::Instant;
use symm_runtime::{Config, Ranks, run};

/// Seconds for one message.
#[derive(Serialize, Deserialize)]
pub struct Figures {
    pub rounds: u64,
    pub by_hand: Samples,
    pub symm: Samples,
    /// Seconds for a launch without any round, which has been taken off.
    pub empty: Samples,
}

/// A flag with cache lines of its own.
#[repr(align(256))]
#[derive(Default)]
struct Flag(AtomicU64);

impl Flag {
    fn signal(&self, value: u64) {
        self.0.store(value, Ordering::Release);
    }

    fn wait(&self, value: u64) {
        while self.0.load(Ordering::Relaxed) < value {
            std::hint::spin_loop();
        }
        fence(Ordering::Acquire);
    }
}

/// What both players see: a flag each, and how many have come.
#[derive(Default)]
struct Court {
    flags: [Flag; 2],
    players: Flag,
}

impl Court {
    /// Plays as rank `me`; seconds from when both are there.
    fn play(&self, me: usize, rounds: u64) -> f64 {
        self.players.0.fetch_add(1, Ordering::AcqRel);
        self.players.wait(2);
        let start = Instant::now();
        let (mine, theirs) = (&self.flags[me], &self.flags[1 - me]);
        for round in 1..=rounds {
            if me == 0 {
                theirs.signal(round);
                mine.wait(round);
            } else {
                mine.wait(round);
                theirs.signal(round);
            }
        }
        start.elapsed().as_secs_f64()
    }
}

pub fn measure(effort: Effort) -> Result<Figures> {
    let (rounds, repeats) = effort.pick((100_000, 81), (1_000, 2));
    let config = Config::new(Ranks::Threads(2));
    let program = Arc::new(Program::compile("ping_pong", 2, config.heap_size)?);
    let entry = program.entry("main")?;
    let courts: Arc<Vec<Court>> = Arc::new((0..=repeats).map(|_| Court::default()).collect());
    let keep_alive = Arc::clone(&program);
    let outcome = run(&config, move |rank| {
        let _program = &keep_alive;
        pin(rank.rank());
        let mut figures =
            Figures { rounds, by_hand: Samples::default(), symm: Samples::default(), empty: Samples::default() };
        #[allow(clippy::cast_precision_loss, reason = "few enough for a float")]
        let messages = (2 * rounds) as f64;
        for (turn, court) in courts.iter().enumerate() {
            let by_hand = court.play(rank.rank() as usize, rounds);
            let timed = |rounds| {
                let start = Instant::now();
                entry.call(rank, &[Argument::Integer(rounds)]);
                start.elapsed().as_secs_f64()
            };
            let empty = timed(0);
            let symm = timed(rounds) - empty;
            // The first turn warms up.
            if turn > 0 {
                figures.by_hand.0.push(by_hand / messages);
                figures.symm.0.push(symm / messages);
                figures.empty.0.push(empty);
            }
        }
        Ok(figures)
    })?;
    drop(program);
    Ok(outcome.values.into_iter().next().expect("there is a rank 0"))
}

impl Figures {
    /// Median of the ratios of neighbouring turns.
    pub fn ratio(&self) -> f64 {
        Samples(self.symm.0.iter().zip(&self.by_hand.0).map(|(symm, by_hand)| symm / by_hand).collect()).median()
    }

    /// What the figures say.
    pub fn table(&self) -> TextTable {
        let mut table = TextTable::new(&["one message", "median ns", "fastest", "half lie within ±"]);
        for (name, samples) in [("Rust atomics, by hand", &self.by_hand), ("symm.signal, symm.wait", &self.symm)] {
            let within = format!("{:.0} %", samples.spread() * 100.0);
            table.row([name.to_owned(), number(samples.median() * 1e9), number(samples.quantile(0.0) * 1e9), within]);
        }
        let fastest = self.symm.quantile(0.0) / self.by_hand.quantile(0.0);
        table.row([
            "**ratio**".into(),
            ratio(self.symm.median() / self.by_hand.median()),
            ratio(fastest),
            String::new(),
        ]);
        table.row(["median of the ratios of neighbours".into(), ratio(self.ratio()), String::new(), String::new()]);
        table
    }
}
