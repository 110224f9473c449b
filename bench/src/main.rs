//! `./x bench`: measures, prints tables, leaves the raw figures in `target/bench`, and publishes them in `docs`.
//!
//! A benchmark is a file beside this one and a row of [`BENCHMARKS`]. Competitors take turns in one run, and what
//! counts is the ratio of their medians: machines differ, and are never quiet.

// Unsafe code is where it is allowed by name.
#![deny(unsafe_code)]

mod check;
mod comm;
mod compile;
mod compile_gpu;
mod cpu;
mod device;
mod machine;
mod memory;
mod pipeline;
mod plot;
mod publish;
mod samples;
mod table;
mod triton;

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Measure symm, and publish what was measured.
///
/// Raw figures go to target/bench/NAME.json of the repository that this is run in. `publish` copies them to
/// docs/benchmarks, draws the pictures there from them and writes the tables of docs/benchmarks.md.
#[derive(Parser)]
#[command(bin_name = "./x bench")]
struct Arguments {
    /// `compile`, `cpu`, `check`, `compile-gpu`, `device`, `triton` or `comm` (need GPUs), or `publish`; compile and
    /// cpu without a name. `./x bench remote` is bench/remote.py
    name: Option<String>,
    /// Small sizes and few repeats: that everything runs, not how fast
    #[arg(long)]
    quick: bool,
    /// Publish figures of another machine than those that they replace
    #[arg(long)]
    force: bool,
    /// Run this command and print the peak of its memory: for the bench itself
    #[arg(last = true, hide = true)]
    command: Vec<OsString>,
}

/// How much to measure.
#[derive(Clone, Copy)]
struct Effort {
    quick: bool,
}

impl Effort {
    /// `full`, or `quick` under `--quick`.
    fn pick<T>(self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }
}

type Benchmark = (&'static str, fn(Effort) -> Result<()>);

const BENCHMARKS: &[Benchmark] = &[
    ("compile", compile::run),
    ("cpu", cpu::run),
    ("check", check::run),
    ("compile-gpu", compile_gpu::run),
    ("device", device::run),
    ("comm", comm::run),
    ("triton", triton::run),
];

/// What is measured where no name is given.
const WITHOUT_A_NAME: [&str; 2] = ["compile", "cpu"];

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("symm-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    if let [program, rest @ ..] = arguments.command.as_slice() {
        return memory::print_peak(program, rest);
    }
    if arguments.name.as_deref() == Some("publish") {
        return publish::run(arguments.force);
    }
    let named = |name: &str| arguments.name.as_deref().map_or(WITHOUT_A_NAME.contains(&name), |wanted| wanted == name);
    let chosen: Vec<_> = BENCHMARKS.iter().filter(|(name, _)| named(name)).collect();
    let all: Vec<_> = BENCHMARKS.iter().map(|(name, _)| *name).collect();
    ensure!(!chosen.is_empty(), "there is {} and publish, and no other benchmark", all.join(", "));
    for (_, benchmark) in chosen {
        benchmark(Effort { quick: arguments.quick })?;
    }
    Ok(())
}

/// Raw figures and where they were measured.
#[derive(Serialize, Deserialize)]
struct Raw<T, M = machine::Machine> {
    machine: M,
    quick: bool,
    figures: T,
}

/// The root of the repository around the current folder: not of where this was built, which may be another one.
fn root() -> Result<PathBuf> {
    let here = std::env::current_dir().context("the current folder")?;
    let root = here.ancestors().find(|folder| folder.join("bench/programs/device.mlir").exists());
    root.map(Path::to_owned).with_context(|| format!("{} is not in symm's repository: run it there", here.display()))
}

/// Where figures and generated modules go.
fn target() -> Result<PathBuf> {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| anyhow::Ok(root()?.join("target")), |set| Ok(set.into()));
    let target = target.map(|target: PathBuf| target.join("bench"))?;
    fs::create_dir_all(&target).with_context(|| format!("cannot make {}", target.display()))?;
    Ok(target)
}

/// Keeps the figures of benchmark `name`.
fn keep<T: Serialize>(name: &str, effort: Effort, machine: machine::Machine, figures: T) -> Result<()> {
    let path = target()?.join(format!("{name}.json"));
    let raw = Raw { machine, quick: effort.quick, figures };
    fs::write(&path, serde_json::to_string_pretty(&raw)?)
        .with_context(|| format!("cannot write {}", path.display()))?;
    println!("raw figures: target/bench/{name}.json\n");
    Ok(())
}

/// The figures of benchmark `name`, if it has been run.
fn kept<T, M>(name: &str) -> Result<Option<Raw<T, M>>>
where
    T: for<'de> Deserialize<'de>,
    M: for<'de> Deserialize<'de>,
{
    let path = target()?.join(format!("{name}.json"));
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let raw =
        serde_json::from_str(&text).with_context(|| format!("{}: run `./x bench {name}` again", path.display()))?;
    Ok(Some(raw))
}
