//! A launch of a kernel that does nothing, on one rank.

use super::program::{Argument, Program};
use crate::Effort;
use crate::samples::Samples;
use crate::table::{TextTable, number};
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Instant;
use symm_runtime::{Config, Ranks, run};

/// Seconds for a launch of so many blocks.
#[derive(Serialize, Deserialize)]
pub struct Launch {
    pub blocks: u64,
    pub time: Samples,
}

pub fn measure(effort: Effort) -> Result<Vec<Launch>> {
    let (times, repeats) = effort.pick((10_000, 9), (10, 2));
    let config = Config::new(Ranks::Threads(1));
    let program = Arc::new(Program::compile("launch", 1, config.heap_size)?);
    let entry = program.entry("main")?;
    let keep_alive = Arc::clone(&program);
    let outcome = run(&config, move |rank| {
        let _program = &keep_alive;
        let launch = |blocks| {
            let start = Instant::now();
            entry.call(rank, &[Argument::Integer(blocks), Argument::Integer(times)]);
            #[allow(clippy::cast_precision_loss, reason = "few enough for a float")]
            let launches = times as f64;
            start.elapsed().as_secs_f64() / launches
        };
        let of = |blocks| {
            // The threads of the blocks are made by the first one.
            launch(blocks);
            Launch { blocks, time: Samples((0..repeats).map(|_| launch(blocks)).collect()) }
        };
        Ok([1, 2, 4, 16, 64].map(of).into())
    })?;
    drop(program);
    Ok(outcome.values.into_iter().next().expect("there is a rank 0"))
}

/// What the figures say.
pub fn table(launches: &[Launch]) -> TextTable {
    let mut table = TextTable::new(&["blocks", "median µs", "fastest"]);
    for Launch { blocks, time } in launches {
        table.row([blocks.to_string(), number(time.median() * 1e6), number(time.quantile(0.0) * 1e6)]);
    }
    table
}
