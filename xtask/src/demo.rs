//! `./x demo`: the heat equation on four ranks, from its program to pictures.

mod picture;
mod timeline;

use crate::{run, tools, tree};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::io::{IsTerminal, stdout};
use std::path::Path;
use std::process::Command;

#[derive(clap::Args)]
pub struct Arguments {
    /// Ranks to run on
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    ranks: u32,
    /// Time steps
    #[arg(long, default_value_t = 100)]
    steps: u32,
    /// Run each rank as a process instead of a thread
    #[arg(long)]
    processes: bool,
}

const PROGRAM: &str = "examples/heat.mlir";
const IMAGE: &str = "examples/data/heat.npy";
/// One remote store, small enough to be read lowered.
const ONE_STORE: &str = "xtask/src/demo/one_store.mlir";

pub fn run(arguments: &Arguments) -> Result<()> {
    heading("Building the tools (minutes on a fresh clone, seconds later)");
    tools::build()?;
    let folder = tree::target().join("demo");
    fs::create_dir_all(&folder)?;

    heading(&format!("The kernel of {PROGRAM} that communicates: put, signal, wait, and no address anywhere"));
    show(communicating_kernel(&tree::read(PROGRAM)?)?);

    heading("symm-opt --symm-hoist-translation: each distance is computed once, and handed over by `via`");
    let hoisted = run::output(symm_opt(PROGRAM).arg("--symm-hoist-translation"))?;
    let lines = hoisted.lines().filter(|line| line.contains("symm.heap_delta") || line.contains(" via "));
    show(&lines.map(str::trim).collect::<Vec<_>>().join("\n"));

    heading("symm-opt --symm-lower-to-cpu: one remote store becomes heap-base arithmetic");
    show(&tree::read(ONE_STORE)?);
    println!("\n// becomes\n");
    show(run::output(symm_opt(ONE_STORE).args(["--symm-lower-to-cpu", "--canonicalize", "--cse"]))?.trim_end());

    let Arguments { ranks, steps, processes } = *arguments;
    let mode = if processes { "processes" } else { "threads" };
    heading(&format!("symm-run: {steps} steps of {IMAGE} on {ranks} ranks ({mode}), then on one"));
    let (result, trace, alone) =
        (folder.join("heat.npy"), folder.join("heat-timeline.json"), folder.join("heat-1.npy"));
    let mut several = symm_run(ranks, steps, &result);
    several.args(processes.then_some("--processes"));
    show_and_run(&mut several)?;
    show_and_run(&mut symm_run(1, steps, &alone))?;
    ensure!(fs::read(&result)? == fs::read(&alone)?, "{ranks} ranks and one rank do not give the same image");
    println!("check: the image of {ranks} ranks equals that of one rank, bit for bit");

    // Few steps: a timeline that can be looked at.
    show_and_run(symm_run(ranks, 20, &folder.join("heat-traced.npy")).arg("--trace").arg(&trace))?;
    let picture = folder.join("heat.png");
    picture::write(Path::new(IMAGE), &result, &picture)?;
    let drawing = folder.join("heat-timeline.svg");
    fs::write(&drawing, timeline::draw(&tree::read(&trace)?)?)?;

    heading("Look at it");
    let at = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned()).display().to_string();
    println!("before | after      {}", at(&picture));
    println!("timeline, a piece   {}", at(&drawing));
    println!("timeline, whole     {}", at(&trace));
    println!("                    open it in https://ui.perfetto.dev (the file stays on this machine)");
    Ok(())
}

fn heading(text: &str) {
    let (bold, plain) = if stdout().is_terminal() { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    println!("\n{bold}== {text}{plain}");
}

/// Prints IR; on a terminal the lines with ops of the dialect stand out.
fn show(text: &str) {
    let (colour, plain) = if stdout().is_terminal() { ("\x1b[36m", "\x1b[0m") } else { ("", "") };
    for line in text.lines() {
        if line.contains("symm.") { println!("{colour}{line}{plain}") } else { println!("{line}") }
    }
}

fn symm_opt(file: &str) -> Command {
    let mut command = Command::new(tree::tool("symm-opt"));
    command.arg(file);
    command
}

fn symm_run(ranks: u32, steps: u32, output: &Path) -> Command {
    let mut command = Command::new(tree::tool("symm-run"));
    command.args([PROGRAM, "--driver", "cpu", "--timeout", "120", "--ranks", &ranks.to_string()]);
    command.args(["--input", &format!("image={IMAGE}"), "--arg", &format!("steps={steps}")]);
    command.arg("--output").arg(format!("result={}", output.display()));
    command
}

fn show_and_run(command: &mut Command) -> Result<()> {
    println!("$ {}", run::line(command));
    run::run(command)
}

/// The kernel `@step`, with the comment above it.
fn communicating_kernel(program: &str) -> Result<&str> {
    let found = || {
        let at = program.find("gpu.func @step")?;
        let start = program[..at].rfind("\n\n")? + 2;
        let end = start + program[start..].find("\n    }\n")? + 7;
        Some(&program[start..end])
    };
    found().with_context(|| format!("{PROGRAM} has no kernel @step"))
}
