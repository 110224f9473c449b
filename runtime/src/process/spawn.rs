//! Starting a process for each rank on this host.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};

use crate::clock;
use crate::error::{Error, Exit, RankExit};

/// Processes to start.
#[derive(Debug, Clone)]
pub struct Spawn {
    /// How many.
    pub ranks: u32,
    /// What to run, such as `std::env::current_exe()`.
    pub program: PathBuf,
    /// Its arguments, the same for every rank.
    pub args: Vec<OsString>,
    /// What each of them reads from its standard input.
    pub input: Vec<u8>,
    /// How long the others have to end by themselves once one has failed; then they are killed.
    pub grace: Duration,
}

/// Starts the processes with the variables that torchrun would set, forwards their output line by line, and waits.
///
/// No process outlives the calling thread: the system kills them when it ends.
///
/// # Errors
/// [`Error::RanksFailed`] when any did not exit with code 0, in the order in which they ended;
/// [`Error::System`] when one could not be started.
pub fn spawn_processes(spawn: &Spawn) -> Result<(), Error> {
    let run = format!("symm-{}-{}", std::process::id(), clock::now());
    let mut running = Vec::new();
    for rank in 0..spawn.ranks {
        match Process::start(spawn, rank, &run) {
            Ok(process) => running.push(process),
            Err(error) => {
                running.iter_mut().for_each(Process::kill);
                return Err(error);
            }
        }
    }
    let failed = wait(running, spawn.grace)?;
    if failed.is_empty() { Ok(()) } else { Err(Error::RanksFailed(failed)) }
}

/// A started rank.
struct Process {
    rank: u32,
    child: Child,
    ended: OwnedFd,
    output: [JoinHandle<()>; 2],
}

impl Process {
    fn start(spawn: &Spawn, rank: u32, run: &str) -> Result<Self, Error> {
        let failed = || format!("start rank {rank} as {}", spawn.program.display());
        let mut command = Command::new(&spawn.program);
        command.args(&spawn.args).stdin(input(&spawn.input)?).stdout(Stdio::piped()).stderr(Stdio::piped());
        let ranks = spawn.ranks.to_string();
        for (name, value) in [
            ("RANK", rank.to_string().as_str()),
            ("LOCAL_RANK", &rank.to_string()),
            ("WORLD_SIZE", &ranks),
            ("LOCAL_WORLD_SIZE", &ranks),
            ("GROUP_WORLD_SIZE", "1"),
            ("MASTER_ADDR", "127.0.0.1"),
            ("MASTER_PORT", "29500"),
            ("TORCHELASTIC_RUN_ID", run),
        ] {
            command.env(name, value);
        }
        let parent = rustix::process::getpid();
        // SAFETY: between fork and exec it makes two system calls and allocates nothing.
        unsafe {
            command.pre_exec(move || {
                rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
                let orphaned = rustix::process::getppid() != Some(parent);
                if orphaned { Err(rustix::io::Errno::SRCH.into()) } else { Ok(()) }
            });
        }
        let mut child = command.spawn().map_err(Error::io(failed()))?;
        let output = [
            forward(child.stdout.take().expect("piped"), std::io::stdout()),
            forward(child.stderr.take().expect("piped"), std::io::stderr()),
        ];
        let pid = Pid::from_child(&child);
        let ended = pidfd_open(pid, PidfdFlags::empty()).map_err(Error::system(failed()))?;
        Ok(Self { rank, child, ended, output })
    }

    fn kill(&mut self) {
        // It fails only for a process that has ended.
        let _ = self.child.kill().and_then(|()| self.child.wait());
    }

    /// How it ended; its output has been forwarded.
    fn reap(mut self, killed: bool) -> Result<Option<RankExit>, Error> {
        let status = self.child.wait().map_err(Error::io(format!("wait for rank {}", self.rank)))?;
        for thread in self.output {
            let _ = thread.join();
        }
        Ok(exit(status, killed).map(|how| RankExit { rank: self.rank, how }))
    }
}

/// A file of its own for each process: those who share one also share the place up to which it has been read.
fn input(bytes: &[u8]) -> Result<Stdio, Error> {
    if bytes.is_empty() {
        return Ok(Stdio::null());
    }
    let failed = || Error::io("hand standard input to the ranks");
    let file = memfd_create("symm-input", MemfdFlags::CLOEXEC).map_err(|errno| failed()(errno.into()))?;
    let mut file = File::from(file);
    file.write_all(bytes).and_then(|()| file.rewind()).map_err(failed())?;
    Ok(file.into())
}

fn exit(status: ExitStatus, killed: bool) -> Option<Exit> {
    match (status.code(), status.signal()) {
        (Some(0), _) => None,
        (_, Some(signal)) if killed && signal == Signal::KILL.as_raw() => Some(Exit::Straggler),
        (_, Some(signal)) => Some(Exit::Signal(signal)),
        (code, None) => Some(Exit::Code(code.unwrap_or(1))),
    }
}

fn wait(mut running: Vec<Process>, grace: Duration) -> Result<Vec<RankExit>, Error> {
    let mut failed = Vec::new();
    let mut kill_at: Option<Instant> = None;
    let mut killed = false;
    while !running.is_empty() {
        let mut ready: Vec<_> = running.iter().map(|process| PollFd::new(&process.ended, PollFlags::IN)).collect();
        let left = kill_at.filter(|_| !killed).map(|at| at.saturating_duration_since(Instant::now()));
        let left = left.map(|left| Timespec::try_from(left).expect("a grace of less than an age"));
        let polled = poll(&mut ready, left.as_ref());
        let ended: Vec<bool> = ready.iter().map(|fd| !fd.revents().is_empty()).collect();
        match polled {
            Ok(0) => {
                for process in &mut running {
                    // It fails only for a process that has ended.
                    let _ = process.child.kill();
                }
                killed = true;
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(Error::system("wait for the ranks")(errno)),
        }
        for index in (0..running.len()).rev().filter(|&index| ended[index]) {
            failed.extend(running.swap_remove(index).reap(killed)?);
        }
        if !failed.is_empty() {
            kill_at.get_or_insert_with(|| Instant::now() + grace);
        }
    }
    Ok(failed)
}

/// Copies whole lines, so that those of several ranks do not mix.
fn forward(from: impl Read + Send + 'static, mut to: impl Write + Send + 'static) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        while matches!(from.read_until(b'\n', &mut line), Ok(1..)) {
            // A closed output of ours is no reason to stop the ranks.
            let _ = to.write_all(&line).and_then(|()| to.flush());
            line.clear();
        }
    })
}
