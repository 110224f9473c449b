//! Ranks on several nodes: an engine's launcher has started them, and the engine tells each who it is.

use super::{Program, can_run, config, execute, prepare, say};
use crate::compile::{self, Diagnostics};
use crate::options::{Driver, Options};
use std::process::ExitCode;
use std::time::Duration;
use symm_runtime::{Bootstrap, EngineOfGpus, EngineRanks, NVSHMEM, Ranks, catch_launcher, end_as_asked};

/// How long the others hold back what they say of a failure: a launcher ends all ranks when the first one ends.
const OTHERS_SPEAK_AFTER: Duration = Duration::from_secs(1);

/// How long a launcher may take to start all ranks of a host.
const ALL_START_IN: Duration = Duration::from_secs(300);

/// Runs the program on the rank that this process is.
pub fn run(options: &Options, engine: &str, program: Program) -> anyhow::Result<ExitCode> {
    refuse(options)?;
    agree(options, &program)?;
    let fingerprint = program.fingerprint().map_err(of_rank)?;
    let mut ranks = EngineRanks::start(engine, options.heap_size).map_err(|error| of_rank(error.into()))?;
    ranks.domain = options.domain;
    ranks.fingerprint = fingerprint;
    ranks.options = options.of_the_program();
    let code = run_started(options, &ranks, program).unwrap_or_else(|error| {
        say(format_args!("symm-run: rank {}: {error:#}", ranks.rank()));
        end_as_asked();
        ranks.end(1, true)
    });
    ranks.end(u8::from(code != ExitCode::SUCCESS), false)
}

/// An error of the engine before it knows its rank; the launcher says which one this process is.
fn of_rank(error: anyhow::Error) -> anyhow::Error {
    let rank =
        Bootstrap::is_launched().then(Bootstrap::from_env).and_then(Result::ok).map(|bootstrap| bootstrap.rank());
    match rank {
        Some(rank) => error.context(format!("rank {rank}")),
        None => error,
    }
}

/// Whether the ranks want the same run, where all of them are of this host: to start the engine they would wait for one
/// that does not want it. Ranks on several hosts compare this when the engine has been started.
fn agree(options: &Options, program: &Program) -> anyhow::Result<()> {
    if !Bootstrap::is_launched() {
        return Ok(());
    }
    let Ok(mut bootstrap) = Bootstrap::from_env() else { return Ok(()) };
    bootstrap.deadline = ALL_START_IN;
    program.give_terms(options, &mut bootstrap).map_err(of_rank)?;
    bootstrap.agree(options.heap_size)?;
    Ok(())
}

fn run_started(options: &Options, ranks: &EngineRanks, program: Program) -> anyhow::Result<ExitCode> {
    let (rank, num_ranks) = (ranks.rank(), ranks.num_ranks());
    if let Some(asked) = options.ranks.filter(|asked| *asked != num_ranks) {
        anyhow::bail!("--ranks {asked} but the launcher started {num_ranks}: leave --ranks out or make them equal");
    }
    let config = config(options, Ranks::Engine(ranks.clone()));
    let diagnostics = if rank == 0 { Diagnostics::Shown } else { Diagnostics::Elsewhere };
    let image = || match program {
        Program::Source(source) => compile::program(&source, options, num_ranks, diagnostics),
        Program::Compiled(image) => Ok(image),
    };
    let ready = can_run(options, &config).and_then(|()| prepare(image()?, options));
    let (prepared, _) = ready.inspect_err(|_| {
        if rank != 0 {
            std::thread::sleep(OTHERS_SPEAK_AFTER);
        }
    })?;
    // A launcher that is told to end the run gives its ranks a second to say what they wait for.
    catch_launcher()?;
    let code = execute(options, &config, prepared)?;
    end_as_asked();
    Ok(code)
}

/// Refuses options that an engine has no use for, before anything is started.
fn refuse(options: &Options) -> anyhow::Result<()> {
    anyhow::ensure!(
        options.driver == Driver::Cpu,
        "--engine openshmem reaches ranks on the driver cpu: leave --driver out"
    );
    anyhow::ensure!(
        !options.processes,
        "--engine openshmem runs ranks that a launcher has started: leave --processes out"
    );
    anyhow::ensure!(options.trace.is_none(), "--trace is not available with --engine: a timeline is of one node");
    Ok(())
}

/// The engine of GPUs, if the command line names it and there can be such a run.
pub fn of_gpus(options: &Options) -> anyhow::Result<Option<EngineOfGpus>> {
    if options.engine.as_deref() != Some(NVSHMEM) {
        return Ok(None);
    }
    anyhow::ensure!(options.driver == Driver::Cuda, "--engine nvshmem is for NVIDIA GPUs: give --driver cuda");
    anyhow::ensure!(options.trace.is_none(), "--trace is not available with --engine: a timeline is of one node");
    Ok(Some(EngineOfGpus { domain: options.domain }))
}

/// Holds back what this rank says of another one's failure.
pub fn let_others_speak() {
    std::thread::sleep(OTHERS_SPEAK_AFTER);
}
