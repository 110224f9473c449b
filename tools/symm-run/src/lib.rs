//! Runs a program on N ranks: compiles it in process and calls its host function once on each rank.

// Unsafe code is allowed by name.
#![deny(unsafe_code)]

mod array;
#[expect(unsafe_code, reason = "calls of compiled code")]
pub mod call;
mod compile;
mod image;
mod nodes;
pub mod options;
mod output;

use anyhow::Context as _;
use call::Prepared;
use clap::Parser;
use compile::{Diagnostics, Program};
use image::Image;
use options::{Driver, Options};
use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use symm_codegen::Source;
use symm_runtime::trace::Trace;
use symm_runtime::{
    Bootstrap, Config, Device, EngineOfGpus, Error, HELPERS_MEND, Launcher, Ranks, Spawn, catch_interrupts, nvshmem,
    spawn_processes,
};
use symm_tool::{Call, closed::has_reader_left, on_large_stack};

/// How long the other ranks may take to end by themselves once one has failed.
const GRACE: Duration = Duration::from_secs(10);
/// How much longer than a kernel's waits the whole run may take: so that a wait that does not end is reported by the
/// kernel, which knows the flag, and not by the host, which knows only the kernel.
const REPORTS_IN: Duration = Duration::from_secs(3);
/// What a user can do whose ranks are on several hosts.
const OTHER_HOSTS: &str = "without an engine ranks reach each other through shared memory, so start all on one host, \
                           or with oshrun and `--engine openshmem` on every rank, which reaches other hosts";
/// The same for ranks on NVIDIA's GPUs.
const OTHER_HOSTS_OF_GPUS: &str = "without an engine ranks reach each other through shared memory, so start all on one \
                                   host, or reach them over NVSHMEM (--engine nvshmem)";

/// Runs the tool.
#[must_use]
pub fn main(call: &Call) -> ExitCode {
    let options = Options::parse_from(call.line());
    on_large_stack(|| match run(&options, call) {
        Ok(code) => code,
        Err(error) => {
            let error = format!("{error:#}");
            if !has_reader_left(&error) {
                say(format_args!("symm-run: {error}"));
            }
            ExitCode::FAILURE
        }
    })
}

/// Writes a message to standard error, at once: those of several ranks do not mix within a line. A failure to write is
/// ignored.
fn say(message: std::fmt::Arguments) {
    let _ = std::io::stderr().write_all(format!("{message}\n").as_bytes());
}

fn run(options: &Options, call: &Call) -> anyhow::Result<ExitCode> {
    let program = Program::new(options)?;
    let engine = nodes::of_gpus(options)?;
    if let (Some(name), None) = (&options.engine, &engine) {
        return nodes::run(options, name, program);
    }
    // It reaches processes only.
    let starts_processes = options.processes || engine.is_some();
    let launcher = launcher(options)?;
    if launcher.is_some() {
        // Already while it compiles: the others would take a rank that Ctrl-C ends there for dead.
        catch_interrupts(true)?;
    }
    let ranks = ranks(options, &program, launcher, engine.as_ref())?;
    let num_ranks = match &ranks {
        Ranks::Threads(ranks) => *ranks,
        Ranks::Process(bootstrap) => bootstrap.num_ranks(),
        Ranks::Engine(ranks) => ranks.num_ranks(),
    };
    let mut config = config(options, ranks);
    if let (Program::Source(source), true, None) = (&program, starts_processes, launcher) {
        return start_processes(options, call, source, &config, num_ranks);
    }
    if let Ranks::Process(bootstrap) = &config.ranks {
        bootstrap.announce()?;
    }
    let diagnostics = match &config.ranks {
        Ranks::Process(bootstrap) if bootstrap.rank() != 0 => Diagnostics::Elsewhere,
        _ => Diagnostics::Shown,
    };
    let image = || match program {
        Program::Source(source) => compile::program(&source, options, num_ranks, diagnostics),
        Program::Compiled(image) => Ok(image),
    };
    let ready = can_run(options, &config).and_then(|()| prepare(image()?, options));
    let (prepared, device) = ready.inspect_err(|error| {
        if let Ranks::Process(bootstrap) = &config.ranks {
            bootstrap.decline(&format!("{error:#}"));
        }
    })?;
    config.device = device;
    config.engine = engine;
    if launcher.is_none() {
        catch_interrupts(false)?;
    }
    execute(options, &config, prepared)
}

/// Who the ranks are: threads of this process, or what has started this process says it.
fn ranks(
    options: &Options,
    program: &Program,
    launcher: Option<Launcher>,
    engine: Option<&EngineOfGpus>,
) -> anyhow::Result<Ranks> {
    let Some(launcher) = launcher else { return Ok(Ranks::Threads(options.ranks.unwrap_or(1))) };
    let otherwise = match options.driver {
        Driver::Cpu => Some(OTHER_HOSTS),
        Driver::Cuda => Some(OTHER_HOSTS_OF_GPUS),
        Driver::Hip => None,
    };
    let mut bootstrap = Bootstrap::for_engine(engine, otherwise)?;
    program.give_terms(options, &mut bootstrap)?;
    let num_ranks = bootstrap.num_ranks();
    if let Some(asked) = options.ranks.filter(|asked| *asked != num_ranks) {
        let says = launcher.says();
        anyhow::bail!(
            "--ranks {asked} but the launcher started {num_ranks} ({says}): leave --ranks out or make them equal; if \
             nothing started this process as a rank, unset those variables"
        );
    }
    Ok(Ranks::Process(bootstrap))
}

fn config(options: &Options, ranks: Ranks) -> Config {
    let mut config = Config::new(ranks);
    config.heap_size = options.heap_size;
    config.timeout = options.timeout.map(Duration::from_secs_f64);
    if options.driver != Driver::Cpu {
        config.timeout = config.timeout.map(|timeout| timeout + REPORTS_IN);
    }
    config.trace = options.trace.is_some();
    config
}

/// Starts a process for each rank, once it is seen that they can run, and gives each the compiled program.
fn start_processes(
    options: &Options,
    call: &Call,
    source: &Source,
    config: &Config,
    num_ranks: u32,
) -> anyhow::Result<ExitCode> {
    can_run(options, config)?;
    can_be_read_by_all(options)?;
    // What is wrong is wrong on every rank: once is enough.
    compile::gpus(options.driver)?;
    if options.engine.is_some() {
        nvshmem::library()?;
    }
    let image = compile::program(source, options, num_ranks, Diagnostics::Shown)?;
    let input = image.bytes()?;
    prepare(image, options)?;
    catch_interrupts(false)?;
    let arguments = std::iter::once(OsString::from("--compiled")).chain(call.arguments.iter().cloned());
    let (program, args) = call.again(arguments.collect()).context("the path of symm-run")?;
    spawn_processes(&Spawn { ranks: num_ranks, program, args, input, grace: GRACE })?;
    Ok(ExitCode::SUCCESS)
}

/// Runs the program on the ranks of this process, and writes what it has made.
fn execute(options: &Options, config: &Config, prepared: Prepared) -> anyhow::Result<ExitCode> {
    let prepared = Arc::new(prepared);
    let body = Arc::clone(&prepared);
    let ran = symm_runtime::run(config, move |rank| Ok((rank.rank(), body.call(rank.ctx()))));
    let trace = ran.as_ref().map_or_else(|failure| failure.trace.as_deref(), |outcome| outcome.trace.as_ref());
    let traced = write_trace(options, trace);
    let outcome = match ran {
        Ok(outcome) => outcome,
        Err(failure) => {
            if let Err(error) = traced {
                say(format_args!("symm-run: {error:#}"));
            }
            if matches!(config.ranks, Ranks::Engine(_)) && matches!(failure.error, Error::Stopped { .. }) {
                nodes::let_others_speak();
            }
            // Its message holds its causes already. A program has no threads but its ranks'.
            anyhow::bail!(failure.error.to_string().replace(HELPERS_MEND, ""));
        }
    };
    for (rank, arrays) in &outcome.values {
        for (name, path) in &options.outputs {
            if let Some(path) = output::output_path(path, *rank) {
                arrays[name].write(&path).with_context(|| format!("--output {name}={}", path.display()))?;
            }
        }
    }
    traced?;
    outcome.printed?;
    for failure in &outcome.checks.first {
        say(format_args!("{failure}"));
    }
    if outcome.checks.count > 0 {
        let checks = if outcome.checks.count == 1 { "check" } else { "checks" };
        say(format_args!("symm-run: {} {checks} failed", outcome.checks.count));
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// The compiled program, loaded, with its arguments, and what it runs on.
fn prepare(image: Image, options: &Options) -> anyhow::Result<(Prepared, Device)> {
    let compiled = image.load(options.driver)?;
    let (entry, signature) = (compiled.entry, compiled.signature);
    let limit = options.timeout.map(Duration::from_secs_f64);
    let prepared = Prepared::new(entry, signature, &options.host.inputs, &options.outputs, &options.host.args, limit)?;
    Ok((prepared, compiled.device))
}

/// What has started this process as a rank.
fn launcher(options: &Options) -> anyhow::Result<Option<Launcher>> {
    let launcher = Bootstrap::launcher();
    if launcher != Some(Launcher::Slurm) || !options.processes || options.ranks.is_none() {
        return Ok(launcher);
    }
    // A shell that srun has opened has the variables of its first task, and so has what is started there.
    let says = Launcher::Slurm.says();
    let is_first = Bootstrap::from_env().is_ok_and(|bootstrap| bootstrap.rank() == 0);
    anyhow::ensure!(is_first, "--processes in a process that srun has started ({says}): leave it and --ranks out");
    say(format_args!(
        "symm-run: --processes starts the ranks itself, although Slurm's variables say that srun has ({says})"
    ));
    Ok(None)
}

/// Sees that there can be such a run, and that what it makes can be written: afterwards it would be lost.
fn can_run(options: &Options, config: &Config) -> anyhow::Result<()> {
    config.check()?;
    let (mine, ranks) = match &config.ranks {
        Ranks::Threads(ranks) => (0..*ranks, *ranks),
        Ranks::Process(bootstrap) => (bootstrap.rank()..bootstrap.rank() + 1, bootstrap.num_ranks()),
        Ranks::Engine(ranks) => (ranks.rank()..ranks.rank() + 1, ranks.num_ranks()),
    };
    let inputs = options.host.inputs.iter().map(|(name, path)| (format!("--input {name}"), Path::new(path)));
    let read: Vec<_> = inputs.chain([("the program".to_owned(), options.file.as_path())]).collect();
    output::apart(&options.outputs, options.trace.as_deref(), &read, ranks)?;
    if let Some(path) = options.trace.as_ref().filter(|_| mine.contains(&0)) {
        output::can_write(path).with_context(|| format!("--trace {}", path.display()))?;
    }
    mine.into_iter().try_for_each(|rank| output::can_write_all(&options.outputs, rank))
}

/// Sees that each of the processes that this one starts can read the arrays.
fn can_be_read_by_all(options: &Options) -> anyhow::Result<()> {
    for (name, path) in &options.host.inputs {
        let path = Path::new(path);
        let own = ["/dev/stdin", "/dev/fd", "/proc/self"].iter().any(|own| path.starts_with(own));
        // What is wrong with a file that cannot be looked at is said where it is read.
        let regular = std::fs::metadata(path).map_or(true, |found| found.is_file());
        let shown = path.display();
        anyhow::ensure!(
            regular && !own,
            "--input {name}={shown}: with --processes each rank reads it, and this can be read once: give a file"
        );
    }
    Ok(())
}

fn write_trace(options: &Options, trace: Option<&Trace>) -> anyhow::Result<()> {
    if let (Some(path), Some(trace)) = (&options.trace, trace) {
        output::write(path, |file| Ok(trace.write_chrome(file)?))
            .with_context(|| format!("--trace {}", path.display()))?;
        if trace.dropped > 0 {
            let (kept, dropped) = (trace.events.len(), trace.dropped);
            say(format_args!("symm-run: the timeline has the first {kept} events; {dropped} more did not fit"));
        }
    }
    Ok(())
}
