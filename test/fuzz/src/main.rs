//! Mutates the corpus of tests through the parser, the passes and the pipelines: see README.md.

// Unsafe code is where it is allowed by name.
#![deny(unsafe_code)]

mod binary;
mod checks;
mod corpus;
mod divergent;
mod findings;
mod known;
#[expect(unsafe_code, reason = "functions of MLIR that melior lacks")]
mod mlir;
mod pools;
mod random;
#[expect(unsafe_code, reason = "handlers of signals")]
mod signals;
mod supervisor;
mod symbols;
mod text;
mod tokens;
mod tools;
mod words;
#[expect(unsafe_code, reason = "processes that are forked")]
mod worker;

use anyhow::{Context as _, Result};
use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Mutates the corpus of tests through the parser, the passes and the pipelines.
#[derive(Parser)]
struct Options {
    /// Fixes every input, together with the corpus
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of inputs
    #[arg(long, default_value_t = 5000)]
    inputs: u64,
    /// The number of the first input
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS")]
    time: Option<u64>,
    /// Inputs that run at once
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Number of command lines of symm-opt
    #[arg(long, default_value_t = 100)]
    command_lines: u64,
    /// Number of programs whose threads diverge around group ops
    #[arg(long, default_value_t = 12)]
    divergent: u64,
    /// Run this file instead
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// Run as a worker: for the fuzzer itself
    #[arg(long, hide = true)]
    worker: bool,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let outcome = if options.worker { worker::serve().map(|()| true) } else { run(&options) };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("symm-fuzz: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether nothing was found.
fn run(options: &Options) -> Result<bool> {
    let root = std::path::absolute(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../.."))?.canonicalize()?;
    let executable = std::env::current_exe()?;
    let release = executable.parent().context("the executable lies in a folder")?;
    let folder = release.parent().context("target")?.join("fuzz");
    if let Some(path) = &options.replay {
        let (report, finding) = supervisor::replay(path, &folder)?;
        for (stage, through) in &report.stages {
            println!("{} {stage}", if *through { "through" } else { "refused" });
        }
        let Some(finding) = finding else { return Ok(true) };
        println!("{}", finding.details);
        return Ok(known::position(&finding).is_some());
    }
    let start = Instant::now();
    let mut tally = supervisor::run(&supervisor::Plan {
        root: root.clone(),
        folder: folder.clone(),
        seed: options.seed,
        first: options.first,
        inputs: options.inputs,
        time: options.time.map(Duration::from_secs),
        jobs: options.jobs,
    })?;
    let lines = tools::run(release, &folder, options.seed, options.command_lines, &mut tally.findings)?;
    let parted = divergent::run(&root, release, &folder, options.seed, options.divergent, &mut tally.findings)?;
    println!("{}", tally.table());
    print!("{}", tally.findings.table());
    println!(
        "{} inputs, {lines} command lines and {parted} divergent programs in {:.0} s: {} findings",
        tally.inputs,
        start.elapsed().as_secs_f64(),
        tally.findings.len()
    );
    Ok(tally.findings.len() == 0)
}
