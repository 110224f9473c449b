//! `symm.put` of whole buffers to another rank, against `memcpy` of the same bytes on the same thread.

use super::program::{Argument, Memory, Program, meet, pin};
use crate::Effort;
use crate::samples::{Samples, processor_time};
use crate::table::{TextTable, number, ratio};
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use std::sync::Arc;
use symm_runtime::{Config, Ranks, run};

/// Bytes per second, for transfers of one size.
#[derive(Default, Serialize, Deserialize)]
pub struct Size {
    pub bytes: u64,
    pub put: Samples,
    /// From and to the same buffers, which lie in the two heaps.
    pub memcpy: Samples,
    /// From and to this process's own memory.
    pub memcpy_private: Samples,
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

pub fn measure(effort: Effort) -> Result<Vec<Size>> {
    let sizes: Vec<u64> = effort.pick((0..=10).map(|power| (64 * KIB) << power).collect(), vec![64 * KIB, MIB]);
    let (repeats, volume) = effort.pick((25, 256 * MIB), (2, MIB));
    let largest = *sizes.last().expect("there are sizes");
    let mut config = Config::new(Ranks::Threads(2));
    config.heap_size = 2 * largest + 4 * MIB;
    let program = Arc::new(Program::compile("put", 2, config.heap_size)?);
    let entry = program.entry("main")?;
    let keep_alive = Arc::clone(&program);
    let outcome = run(&config, move |rank| {
        let _program = &keep_alive;
        pin(rank.rank());
        let (src, dst) = (Memory::alloc(rank, largest), Memory::alloc(rank, largest));
        let mut figures = Vec::new();
        if rank.rank() == 0 {
            #[allow(clippy::cast_possible_truncation, reason = "checked when it was allocated")]
            let (private_src, mut private_dst) = (vec![1_u8; largest as usize], vec![2_u8; largest as usize]);
            for &bytes in &sizes {
                let mut size = Size { bytes, ..Size::default() };
                let times = (volume / bytes).max(1);
                let shape = [bytes];
                let memory = |memory| Argument::Memory(memory, &shape);
                let put = || entry.call(rank, &[memory(&src), memory(&dst), Argument::Integer(times)]);
                let memcpy = || (0..times).for_each(|_| src.copy_to(&dst, rank, 1, black_box(bytes)));
                let rate = |transfer: &mut dyn FnMut()| {
                    let start = processor_time();
                    transfer();
                    #[allow(clippy::cast_precision_loss, reason = "few enough for a float")]
                    let moved = (bytes * times) as f64;
                    moved / (processor_time() - start)
                };
                // In turns, each first as often as the other: who comes second finds the buffers in the caches.
                for turn in 0..2 * repeats {
                    let first = rate(&mut || if turn % 2 == 0 { put() } else { memcpy() });
                    let second = rate(&mut || if turn % 2 == 0 { memcpy() } else { put() });
                    let (put, memcpy) = if turn % 2 == 0 { (first, second) } else { (second, first) };
                    // The first two turns warm up.
                    if turn > 1 {
                        size.put.0.push(put);
                        size.memcpy.0.push(memcpy);
                    }
                }
                #[allow(clippy::cast_possible_truncation, reason = "checked when it was allocated")]
                let length = bytes as usize;
                for _ in 0..repeats {
                    let mut copy =
                        || private_dst[..black_box(length)].copy_from_slice(&private_src[..black_box(length)]);
                    size.memcpy_private.0.push(rate(&mut || (0..times).for_each(|_| copy())));
                }
                black_box(&private_dst);
                figures.push(size);
            }
        }
        meet(rank);
        dst.free(rank);
        src.free(rank);
        Ok(figures)
    })?;
    drop(program);
    Ok(outcome.values.into_iter().next().expect("there is a rank 0"))
}

/// What the figures say.
pub fn table(sizes: &[Size]) -> TextTable {
    let mut table = TextTable::new(&[
        "size",
        "put GB/s",
        "memcpy, same buffers",
        "memcpy, private",
        "**put / memcpy**",
        "put / private",
    ]);
    for size in sizes {
        let rates = [&size.put, &size.memcpy, &size.memcpy_private].map(Samples::median);
        let [put, memcpy, private] = rates;
        let mut cells = vec![bytes(size.bytes)];
        cells.extend(rates.map(|rate| number(rate / 1e9)));
        cells.extend([ratio(put / memcpy), ratio(put / private)]);
        table.row(cells);
    }
    table
}

/// A size in its unit.
pub fn bytes(bytes: u64) -> String {
    if bytes < MIB { format!("{} KiB", bytes / KIB) } else { format!("{} MiB", bytes / MIB) }
}
