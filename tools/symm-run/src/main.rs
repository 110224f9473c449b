//! Runs a program on N ranks: compiles it in process and calls its host function once on each rank.

mod array;
mod call;
mod options;

use anyhow::Context as _;
use call::{Entry, Prepared};
use clap::Parser;
use options::{Driver, Options};
use std::fs::File;
use std::io::BufWriter;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use symm_codegen::{Frontend, Jit, Level, Signature, translate};
use symm_dialect::{World, set_world};
use symm_runtime::{Bootstrap, Config, Ranks, Spawn, heap_stride, spawn_processes};

/// How long the ranks that are left have to end by themselves once one has failed.
const GRACE: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let options = Options::parse();
    match run(&options) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("symm-run: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let Driver::Cpu = options.driver;
    let launched = Bootstrap::is_launched();
    if options.processes && !launched {
        spawn_processes(&Spawn {
            ranks: options.ranks.unwrap_or(1),
            program: std::env::current_exe().context("the path of symm-run")?,
            args: std::env::args_os().skip(1).collect(),
            grace: GRACE,
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let ranks =
        if launched { Ranks::Process(Bootstrap::from_env()?) } else { Ranks::Threads(options.ranks.unwrap_or(1)) };
    let num_ranks = match &ranks {
        Ranks::Threads(ranks) => *ranks,
        Ranks::Process(bootstrap) => bootstrap.num_ranks(),
    };
    if let Some(asked) = options.ranks.filter(|asked| *asked != num_ranks) {
        anyhow::bail!("--ranks {asked} but the launcher started {num_ranks}; leave --ranks out or make them equal");
    }

    let (entry, signature) = compile(options, num_ranks)?;
    let prepared = Arc::new(Prepared::new(entry, signature, &options.inputs, &options.outputs, &options.args)?);
    let mut config = Config::new(ranks);
    config.heap_size = options.heap_size;
    config.timeout = options.timeout.map(Duration::from_secs_f64);
    config.trace = options.trace.is_some();
    let body = Arc::clone(&prepared);
    let outcome = symm_runtime::run(&config, move |rank| Ok((rank.rank(), body.call(rank.ctx()))))
        // Its message holds its causes already.
        .map_err(|error| anyhow::Error::msg(error.to_string()))?;

    for (rank, arrays) in &outcome.values {
        for (name, path) in &options.outputs {
            if let Some(path) = output_path(path, *rank) {
                arrays[name].write(&path).with_context(|| format!("--output {name}={path}"))?;
            }
        }
    }
    if let (Some(path), Some(trace)) = (&options.trace, &outcome.trace) {
        let file = File::create(path).with_context(|| format!("--trace {}", path.display()))?;
        trace.write_chrome(BufWriter::new(file))?;
    }
    for failure in &outcome.checks.first {
        eprintln!("{failure}");
    }
    if outcome.checks.count > 0 {
        eprintln!("symm-run: {} checks failed", outcome.checks.count);
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// Every rank writes its own file where the name says `{rank}`; otherwise rank 0 writes.
fn output_path(path: &str, rank: u32) -> Option<String> {
    if path.contains("{rank}") {
        Some(path.replace("{rank}", &rank.to_string()))
    } else {
        (rank == 0).then(|| path.to_owned())
    }
}

fn compile(options: &Options, num_ranks: u32) -> anyhow::Result<(Entry, Signature)> {
    // A program that crashes later is to be seen as such.
    let guard = symm_dialect::crash::guard("symm-run");
    guard.reads(&options.file);
    let frontend = Frontend::new();
    let mut module = frontend.parse(&options.file)?;
    let signature = Signature::of(&module, &options.entry)?;
    let (heap_size, heap_stride) = (options.heap_size, heap_stride(options.heap_size));
    set_world(&mut module, World { num_ranks, heap_size, heap_stride });
    let pipeline = format!(
        "symm-cpu{{strict={} trace={} bounds-checks={}}}",
        options.strict,
        options.trace.is_some(),
        options.check_bounds
    );
    frontend.run_pipeline(&mut module, &pipeline)?;
    let llvm = translate(&module)?;
    llvm.optimize(Level::O2)?;
    let jit = Jit::new(llvm, Level::O2, symm_runtime::symbols())?;
    Ok((Entry::new(jit, &options.entry)?, signature))
}
