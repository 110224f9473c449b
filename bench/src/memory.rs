//! The peak of a process's memory and its processor time, as the kernel tells when the process has ended.
//!
//! A process inherits the peak of the one that starts it. So the bench, which holds large modules, does not start what
//! it measures: it starts itself anew, and that process starts it.

use anyhow::{Context as _, Result, ensure};
use std::ffi::{OsStr, OsString};
use std::process::{Command, Stdio};
use wait4::Wait4;

/// A command to give to [`usage`], whose standard output is lost.
pub fn command(program: &OsStr) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--").arg(program);
    Ok(command)
}

/// What a process has taken.
pub struct Usage {
    /// Of memory, in bytes.
    pub peak: u64,
    /// Of processor time, in seconds.
    pub seconds: f64,
    /// Its standard error.
    pub complaints: String,
}

/// Runs what [`command`] has made.
pub fn usage(mut command: Command) -> Result<Usage> {
    let output = command.stdin(Stdio::null()).output()?;
    let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "{complaints}");
    let said = String::from_utf8_lossy(&output.stdout);
    let (peak, seconds) = said.trim().split_once(' ').context("the peak and the time are two numbers")?;
    Ok(Usage { peak: peak.parse()?, seconds: seconds.parse()?, complaints })
}

/// Runs a program and prints its peak in bytes, and its processor time in seconds.
pub fn print_peak(program: &OsStr, arguments: &[OsString]) -> Result<()> {
    let mut child = Command::new(program).args(arguments).stdout(Stdio::null()).spawn()?;
    let done = child.wait4()?;
    ensure!(done.status.success(), "{}: {}", program.display(), done.status);
    let time = done.rusage.utime + done.rusage.stime;
    println!("{} {}", done.rusage.maxrss, time.as_secs_f64());
    Ok(())
}
