//! Running other programs.

use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::{Command, Stdio};

/// The cargo that runs this.
pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// One of the workspace's own programs, built. It is not named by its package: cargo would build all that it is made of
/// once more, with the features that this package alone asks for.
pub fn program(name: &str, arguments: &[String]) -> Command {
    let mut command = cargo();
    command.args(["run", "--quiet", "--release", "--bin", name, "--"]).args(arguments);
    command
}

/// Runs a command to its end; an error if it fails.
pub fn run(command: &mut Command) -> Result<()> {
    let line = line(command);
    let status = command.status().with_context(|| format!("cannot run {line}"))?;
    ensure!(status.success(), "{status}: {line}");
    Ok(())
}

/// What a command prints on its standard output; an error if it fails.
pub fn output(command: &mut Command) -> Result<String> {
    let line = line(command);
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot run {line}"))?;
    ensure!(output.status.success(), "{}: {line}", output.status);
    String::from_utf8(output.stdout).with_context(|| format!("not UTF-8 from {line}"))
}

/// A command as typed in the root of the tree.
pub fn line(command: &Command) -> String {
    let program = Path::new(command.get_program());
    // Cargo is known by its full path only, which nobody types.
    let program = if program.is_absolute() { program.file_name() } else { None }.unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
