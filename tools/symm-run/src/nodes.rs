//! Ranks on several nodes: an engine's launcher has started them, and the engine tells each who it is.

use super::{Program, can_run, config, execute, prepare, say};
use crate::compile::{self, Diagnostics};
use crate::options::{Driver, Options};
use std::process::ExitCode;
use std::time::Duration;
use symm_runtime::{EngineRanks, Ranks};

/// How long the others hold back what they say of a failure: a launcher ends all ranks when the first one ends.
const OTHERS_SPEAK_AFTER: Duration = Duration::from_secs(1);

/// Runs the program on the rank that this process is.
pub fn run(options: &Options, engine: &str, program: Program) -> anyhow::Result<ExitCode> {
    refuse(options)?;
    let mut ranks = EngineRanks::start(engine, options.heap_size)?;
    ranks.domain = options.domain;
    ranks.fingerprint = program.fingerprint();
    ranks.options = options.of_the_program();
    let code = run_started(options, &ranks, program).unwrap_or_else(|error| {
        say(format_args!("symm-run: rank {}: {error:#}", ranks.rank()));
        ranks.end(1, true)
    });
    ranks.end(u8::from(code != ExitCode::SUCCESS), false)
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
    execute(options, &config, prepared)
}

/// Refuses options that an engine has no use for, before anything is started.
fn refuse(options: &Options) -> anyhow::Result<()> {
    anyhow::ensure!(options.driver == Driver::Cpu, "--engine reaches ranks on the driver cpu: leave --driver out");
    anyhow::ensure!(!options.processes, "--engine runs ranks that a launcher has started: leave --processes out");
    anyhow::ensure!(options.trace.is_none(), "--trace is not available with --engine: a timeline is of one node");
    Ok(())
}

/// Holds back what this rank says of another one's failure.
pub fn let_others_speak() {
    std::thread::sleep(OTHERS_SPEAK_AFTER);
}
