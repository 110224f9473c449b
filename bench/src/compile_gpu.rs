//! How long the whole way to PTX takes for a kernel of 100 symm ops, against the same kernel with direct pointers.
//!
//! Both are parsed, lowered, translated, optimised and emitted in this process, taking turns. The kernel with direct
//! pointers has an argument for each peer's data and goes through the same pipeline without any pass of ours. `reduce`
//! is 25 grid-stride loops that load from three peers, add up and store to the fourth; `accesses` are
//! 50 loads and 50 stores on four peers in one block, with nothing else to compile; `protocol` is 40 of each with 10
//! signals and 10 waits, for which the other kernel writes LLVM's atomics. What is taken is the processor time of the
//! thread, which does it all: others may use the machine meanwhile. The sources and the PTX stay in
//! `target/bench/compile-gpu`.
//!
//! *Written out* is what the passes of ours make of the kernel with symm ops, as text: whoever translates addresses by
//! hand has this to compile. Its PTX is that of the kernel with symm ops, so that what it takes is LLVM's and MLIR's.

mod kernels;

use crate::pipeline::{self, until_lowered, without_symm};
use crate::{Effort, target};
use anyhow::Result;
use kernels::{Mix, with_pointers, with_symm};
use std::path::{Path, PathBuf};
use std::time::Duration;
use symm_codegen::{Frontend, Gpu, Level, assembly, translate_device};

/// Rounds that fill caches and are not counted.
const FIRST_ROUNDS: usize = 3;
const CHIP: &str = "sm_90";
/// What takes turns: the first is ours.
const COMPETITORS: [&str; 3] = ["symm", "direct pointers", "written out"];

const MIXES: &[Mix] = &[
    Mix { name: "reduce", loops: 25, accesses: 0, signals: 0 },
    Mix { name: "accesses", loops: 0, accesses: 100, signals: 0 },
    Mix { name: "protocol", loops: 0, accesses: 80, signals: 20 },
];

/// What is known of the heaps when kernels are compiled: nothing, or what symm-run knows where heaps can be mapped.
const HEAPS: &[(&str, &str)] = &[
    ("table", ""),
    ("strided", "symm.num_ranks = 8 : i32, symm.heap_stride = 4294967296 : i64, symm.table_in_heap, "),
];

/// The processor time of this thread so far.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// The stages of one compilation, in seconds: parse, lower, translate and optimise, emit.
fn compile(frontend: &Frontend, source: &Path, pipeline: &str) -> Result<([f64; 4], String)> {
    let gpu = Gpu::new(CHIP)?;
    let mut last = processor_time();
    let mut lap = || {
        let now = processor_time();
        let taken = now.saturating_sub(last);
        last = now;
        taken.as_secs_f64()
    };
    let mut module = frontend.parse(source)?;
    let parse = lap();
    frontend.run_pipeline(&mut module, pipeline)?;
    let lower = lap();
    let llvm = translate_device(&module, &gpu, Level::O2, None)?;
    let optimise = lap();
    let ptx = assembly(&llvm, &gpu, Level::O2)?;
    let emit = lap();
    Ok(([parse, lower, optimise, emit], ptx))
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Measures, and prints a table.
pub fn run(effort: Effort) -> Result<()> {
    let frontend = Frontend::new();
    let folder = target()?.join("compile-gpu");
    std::fs::create_dir_all(&folder)?;
    let symm_pipeline = pipeline::nvvm();
    let pipelines = [symm_pipeline.clone(), without_symm(&symm_pipeline), without_symm(&symm_pipeline)];
    println!(
        "| kernel | | parse | lower | optimise | emit | all, ms | instructions |\n\
         |---|---|---:|---:|---:|---:|---:|---:|"
    );
    for (mix, (heaps, attributes)) in MIXES.iter().flat_map(|mix| HEAPS.iter().map(move |heaps| (mix, heaps))) {
        let name = format!("{}, {heaps}", mix.name);
        let files =
            COMPETITORS.map(|what| folder.join(format!("{}-{heaps}-{}.mlir", mix.name, what.replace(' ', "-"))));
        std::fs::write(&files[0], with_symm(*mix, attributes))?;
        std::fs::write(&files[1], with_pointers(*mix))?;
        let mut lowered = frontend.parse(&files[0])?;
        frontend.run_pipeline(&mut lowered, &until_lowered(&symm_pipeline))?;
        std::fs::write(&files[2], lowered.as_operation().to_string())?;
        let samples = measure(&frontend, &files, &pipelines, effort.pick(60, 1))?;
        print_rows(&name, &samples, &files.map(|file| instructions(&file.with_extension("ptx"))));
    }
    Ok(())
}

/// The stages' times of each round, for every competitor.
fn measure(
    frontend: &Frontend,
    files: &[PathBuf],
    pipelines: &[String; COMPETITORS.len()],
    rounds: usize,
) -> Result<[Vec<[f64; 4]>; COMPETITORS.len()]> {
    let mut samples = [const { Vec::new() }; COMPETITORS.len()];
    for round in 0..rounds + FIRST_ROUNDS {
        for (index, pipeline) in pipelines.iter().enumerate() {
            let (times, ptx) = compile(frontend, &files[index], pipeline)?;
            if round >= FIRST_ROUNDS {
                samples[index].push(times);
            } else {
                std::fs::write(files[index].with_extension("ptx"), ptx)?;
            }
        }
    }
    Ok(samples)
}

/// How many instructions of PTX a kernel has.
fn instructions(ptx: &Path) -> usize {
    let text = std::fs::read_to_string(ptx).unwrap_or_default();
    let is_instruction = |line: &&str| {
        let line = line.trim();
        line.ends_with(';') && !line.starts_with(['.', '/', ')']) && line != ";"
    };
    text.lines().filter(is_instruction).count()
}

fn print_rows(name: &str, samples: &[Vec<[f64; 4]>], instructions: &[usize; COMPETITORS.len()]) {
    let total = |index: usize| median(samples[index].iter().map(|times| times.iter().sum()));
    for (index, what) in COMPETITORS.into_iter().enumerate() {
        print!("| {name} | {what} ");
        for stage in 0..4 {
            print!("| {:.2} ", 1e3 * median(samples[index].iter().map(|times| times[stage])));
        }
        println!("| {:.2} | {} |", 1e3 * total(index), instructions[index]);
    }
    println!("| {name} | to direct pointers | | | | | {:.3} | |", total(0) / total(1));
    println!("| {name} | to written out | | | | | {:.3} | |", total(0) / total(2));
}
