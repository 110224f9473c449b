//! A ring all-reduce with far more blocks than cores: does every block get its turn?

use super::program::{Argument, Memory, Program, meet};
use crate::Effort;
use crate::samples::Samples;
use crate::table::{TextTable, number};
use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::{Duration, Instant};
use symm_runtime::{Config, Ranks, run};

/// Bytes that a block reduces in each step, as the program has it.
const PIECE: u64 = 256 * 8;

/// Seconds.
#[derive(Serialize, Deserialize)]
pub struct Figures {
    pub ranks: u32,
    pub blocks: u64,
    /// The first all-reduce with allocation, check, and the start of a thread for each block.
    pub first: f64,
    /// From the first rank's launch until the last rank's end, for each repeat.
    pub whole: Samples,
    /// From a rank's launch to its end; a list of all ranks for each repeat.
    pub ranks_took: Vec<Samples>,
}

pub fn measure(effort: Effort) -> Result<Figures> {
    let (ranks, blocks, repeats) = effort.pick((64, 64, 9), (4, 8, 2));
    let mut config = Config::new(Ranks::Threads(ranks));
    let (chunks, steps) = (u64::from(ranks), 2 * (u64::from(ranks) - 1));
    // The bench's buffers and the program's own, in turns.
    config.heap_size = ((chunks + steps) * blocks * PIECE).next_multiple_of(1 << 20) + (8 << 20);
    config.timeout = Some(Duration::from_secs(600));
    let program = Arc::new(Program::compile("ring_all_reduce", ranks, config.heap_size)?);
    let (main, all_reduce) = (program.entry("main")?, program.entry("all_reduce")?);
    let keep_alive = Arc::clone(&program);
    let outcome = run(&config, move |rank| {
        let _program = &keep_alive;
        meet(rank);
        let start = Instant::now();
        main.call(rank, &[Argument::Integer(blocks), Argument::Integer(1)]);
        let first = start.elapsed().as_secs_f64();
        let data = Memory::alloc(rank, chunks * blocks * PIECE);
        let inbox = Memory::alloc(rank, steps * blocks * PIECE);
        let flags = Memory::alloc(rank, blocks * 8);
        let mut turns = Vec::new();
        for epoch in 0..repeats {
            meet(rank);
            let start = Instant::now();
            all_reduce.call(
                rank,
                &[
                    Argument::Memory(&data, &[chunks, blocks, 256]),
                    Argument::Memory(&inbox, &[steps, blocks, 256]),
                    Argument::Memory(&flags, &[blocks]),
                    Argument::Integer(blocks),
                    Argument::Integer(epoch),
                ],
            );
            turns.push((start, Instant::now()));
        }
        meet(rank);
        for memory in [flags, inbox, data] {
            memory.free(rank);
        }
        Ok((first, turns))
    })?;
    drop(program);
    ensure!(outcome.checks.count == 0, "the all-reduce is wrong: {:?}", outcome.checks.first);
    let first = outcome.values.iter().map(|(first, _)| *first).fold(0.0, f64::max);
    let (mut whole, mut ranks_took) = (Samples::default(), Vec::new());
    for turn in 0..outcome.values[0].1.len() {
        let spans = || outcome.values.iter().map(|(_, turns)| turns[turn]);
        let (start, end) = (spans().map(|span| span.0).min(), spans().map(|span| span.1).max());
        whole.0.extend(start.zip(end).map(|(start, end)| (end - start).as_secs_f64()));
        ranks_took.push(Samples(spans().map(|(start, end)| (end - start).as_secs_f64()).collect()));
    }
    Ok(Figures { ranks, blocks, first, whole, ranks_took })
}

impl Figures {
    /// What the figures say.
    pub fn table(&self) -> TextTable {
        let Self { ranks, blocks, .. } = self;
        let mut table = TextTable::new(&[&format!("{ranks} ranks × {blocks} blocks"), "ms"]);
        let mut row = |name: &str, seconds: f64| table.row([name.to_owned(), number(seconds * 1e3)]);
        row("the first, with allocation, check and the start of all threads", self.first);
        row("one all-reduce, median", self.whole.median());
        row("fastest", self.whole.quantile(0.0));
        row("slowest", self.whole.quantile(1.0));
        let of_ranks = |part| Samples(self.ranks_took.iter().map(|ranks| ranks.quantile(part)).collect()).median();
        row("the rank that is done first, median of the repeats", of_ranks(0.0));
        row("the rank in the middle", of_ranks(0.5));
        row("the rank that is done last", of_ranks(1.0));
        table
    }
}
