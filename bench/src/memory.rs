//! The peak of a process's memory, as the kernel tells when the process has ended.
//!
//! A process inherits the peak of the one that starts it. So the bench, which holds large modules, does not start what
//! it measures: it starts itself anew, and that process starts it.

use anyhow::{Context as _, Result, ensure};
use std::ffi::{OsStr, OsString};
use std::process::{Command, Stdio};
use wait4::Wait4;

/// A command to give to [`peak`], whose standard output is lost.
pub fn command(program: &OsStr) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--").arg(program);
    Ok(command)
}

/// Runs what [`command`] has made: its peak in bytes, and its standard error.
pub fn peak(mut command: Command) -> Result<(u64, String)> {
    let output = command.stdin(Stdio::null()).output()?;
    let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "{complaints}");
    let peak = String::from_utf8_lossy(&output.stdout).trim().parse().context("the peak is a number")?;
    Ok((peak, complaints))
}

/// Runs a program and prints its peak in bytes.
pub fn print_peak(program: &OsStr, arguments: &[OsString]) -> Result<()> {
    let mut child = Command::new(program).args(arguments).stdout(Stdio::null()).spawn()?;
    let done = child.wait4()?;
    ensure!(done.status.success(), "{}: {}", program.display(), done.status);
    println!("{}", done.rusage.maxrss);
    Ok(())
}
