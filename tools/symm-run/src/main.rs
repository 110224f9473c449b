//! Runs a program on N ranks: compiles it in process and calls its host function once on each rank.

mod array;
mod call;
mod compile;
mod options;

use anyhow::Context as _;
use call::Prepared;
use clap::Parser;
use options::{Driver, Options};
use std::fs::File;
use std::io::BufWriter;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use symm_codegen::Source;
use symm_runtime::trace::Trace;
use symm_runtime::{Bootstrap, Config, Device, Ranks, Spawn, spawn_processes};

/// How long the ranks that are left have to end by themselves once one has failed.
const GRACE: Duration = Duration::from_secs(10);
/// How much longer than a kernel's waits the whole run may take: so that a wait that does not end is reported by the
/// kernel, which knows the flag, and not by the host, which knows only the kernel.
const REPORTS_IN: Duration = Duration::from_secs(3);

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
    let launched = Bootstrap::is_launched();
    let source = Source::new(&options.file)?;
    if options.processes && !launched {
        spawn_processes(&Spawn {
            ranks: options.ranks.unwrap_or(1),
            program: std::env::current_exe().context("the path of symm-run")?,
            args: std::env::args_os().skip(1).collect(),
            input: if let Source::Input(program) = &source { program.clone() } else { Vec::new() },
            grace: GRACE,
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let ranks = if launched {
        let mut bootstrap = Bootstrap::from_env()?;
        bootstrap.fingerprint = compile::fingerprint(&source, options);
        Ranks::Process(bootstrap)
    } else {
        Ranks::Threads(options.ranks.unwrap_or(1))
    };
    let num_ranks = match &ranks {
        Ranks::Threads(ranks) => *ranks,
        Ranks::Process(bootstrap) => bootstrap.num_ranks(),
    };
    if let Some(asked) = options.ranks.filter(|asked| *asked != num_ranks) {
        anyhow::bail!("--ranks {asked} but the launcher started {num_ranks}; leave --ranks out or make them equal");
    }

    let (prepared, device) = prepare(&source, options, num_ranks).inspect_err(|error| {
        if let Ranks::Process(bootstrap) = &ranks {
            bootstrap.decline(&format!("{error:#}"));
        }
    })?;
    let prepared = Arc::new(prepared);
    let mut config = Config::new(ranks);
    config.device = device;
    config.heap_size = options.heap_size;
    config.timeout = options.timeout.map(Duration::from_secs_f64);
    if options.driver != Driver::Cpu {
        config.timeout = config.timeout.map(|timeout| timeout + REPORTS_IN);
    }
    config.trace = options.trace.is_some();
    let body = Arc::clone(&prepared);
    let ran = symm_runtime::run(&config, move |rank| Ok((rank.rank(), body.call(rank.ctx()))));
    let trace = ran.as_ref().map_or_else(|failure| failure.trace.as_deref(), |outcome| outcome.trace.as_ref());
    let traced = write_trace(options, trace);
    let outcome = match ran {
        Ok(outcome) => outcome,
        Err(failure) => {
            if let Err(error) = traced {
                eprintln!("symm-run: {error:#}");
            }
            // Its message holds its causes already.
            anyhow::bail!(failure.error.to_string());
        }
    };

    for (rank, arrays) in &outcome.values {
        for (name, path) in &options.outputs {
            if let Some(path) = output_path(path, *rank) {
                arrays[name].write(&path).with_context(|| format!("--output {name}={path}"))?;
            }
        }
    }
    traced?;
    for failure in &outcome.checks.first {
        eprintln!("{failure}");
    }
    if outcome.checks.count > 0 {
        eprintln!("symm-run: {} checks failed", outcome.checks.count);
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// The compiled program with its arguments, and what it runs on.
fn prepare(source: &Source, options: &Options, num_ranks: u32) -> anyhow::Result<(Prepared, Device)> {
    let compiled = compile::program(source, options, num_ranks)?;
    let (entry, signature) = (compiled.entry, compiled.signature);
    let prepared = Prepared::new(entry, signature, &options.inputs, &options.outputs, &options.args)?;
    Ok((prepared, compiled.device))
}

fn write_trace(options: &Options, trace: Option<&Trace>) -> anyhow::Result<()> {
    if let (Some(path), Some(trace)) = (&options.trace, trace) {
        let file = File::create(path).with_context(|| format!("--trace {}", path.display()))?;
        trace.write_chrome(BufWriter::new(file))?;
    }
    Ok(())
}

/// Every rank writes its own file where the name says `{rank}`; otherwise rank 0 writes.
fn output_path(path: &str, rank: u32) -> Option<String> {
    if path.contains("{rank}") {
        Some(path.replace("{rank}", &rank.to_string()))
    } else {
        (rank == 0).then(|| path.to_owned())
    }
}
