//! Starting a process for each rank on this host.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, waitid};

use super::environment::Bootstrap;
use super::output::Outputs;
use super::state::{self, ProcessState};
use super::timer::Timer;
use crate::clock;
use crate::error::{Error, Exit, RankExit};
use crate::interrupt;
use crate::memory;

/// Time between two checks for Ctrl-C and, once a rank has failed, for stopped processes.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How long processes may take to stop.
const STOP_IN: Duration = Duration::from_secs(1);
/// How many checks in a row must find a process stopped: a signal may stop it for a moment.
const STOPPED_FOR: u32 = 4;

/// Processes to start.
#[derive(Debug, Clone)]
pub struct Spawn {
    /// The number of processes.
    pub ranks: u32,
    /// The program to run, such as `std::env::current_exe()`.
    pub program: PathBuf,
    /// Its arguments, the same for every rank.
    pub args: Vec<OsString>,
    /// The standard input of each.
    pub input: Vec<u8>,
    /// How long the others have to end by themselves once one has failed; then they are killed. Processes stopped by a
    /// signal are killed within a second. When all have ended, their children that keep an output open have as long.
    pub grace: Duration,
}

/// Starts the processes with the variables that torchrun would set, forwards their output line by line, and waits.
///
/// No process outlives the calling thread: the system kills them when it ends.
///
/// # Errors
/// [`Error::RanksFailed`] when any did not exit with code 0, in the order in which they ended;
/// [`Error::System`] when one could not be started, or when some of their output is lost.
pub fn spawn_processes(spawn: &Spawn) -> Result<(), Error> {
    let _statuses = Statuses::kept();
    let run = format!("symm-{}-{}", std::process::id(), clock::now());
    let (mut running, mut outputs) = (Vec::new(), Outputs::new()?);
    for rank in 0..spawn.ranks {
        match Process::start(spawn, rank, &run, &mut outputs) {
            Ok(process) => running.push(process),
            Err(error) => {
                stop(&running);
                running.iter_mut().for_each(Process::kill);
                return Err(error);
            }
        }
    }
    let (failed, left) = wait(running, spawn.grace)?;
    let forwarded = outputs.finish(left);
    if failed.is_empty() {
        forwarded.map_err(Error::io("write the ranks' output"))
    } else {
        Err(Error::RanksFailed(failed))
    }
}

/// Stops processes before they are killed, so that none sees another end and reports a death. One of a process's
/// threads takes the signal, and the others run on until it has.
fn stop(running: &[Process]) {
    running.iter().for_each(Process::stop);
    let asked = Instant::now();
    while asked.elapsed() < STOP_IN && running.iter().any(Process::runs) {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Makes the system keep the exit statuses of children, which it does not while SIGCHLD is ignored. Ignoring it is
/// inherited.
struct Statuses(Option<libc::sigaction>);

impl Statuses {
    fn kept() -> Self {
        // SAFETY: zeroed ones are valid, and the default action; the calls get memory of this function.
        unsafe {
            let (mut before, default): (libc::sigaction, libc::sigaction) = (std::mem::zeroed(), std::mem::zeroed());
            let known = libc::sigaction(libc::SIGCHLD, std::ptr::null(), &raw mut before) == 0;
            let ignores = before.sa_sigaction == libc::SIG_IGN || before.sa_flags & libc::SA_NOCLDWAIT != 0;
            let changed = known && ignores && libc::sigaction(libc::SIGCHLD, &raw const default, &raw mut before) == 0;
            Self(changed.then_some(before))
        }
    }
}

impl Drop for Statuses {
    fn drop(&mut self) {
        if let Some(before) = self.0 {
            // SAFETY: what was set before.
            unsafe { libc::sigaction(libc::SIGCHLD, &raw const before, std::ptr::null_mut()) };
        }
    }
}

/// The variables that torchrun would set.
fn variables(rank: u32, ranks: u32, run: &str) -> [(&'static str, String); 8] {
    [
        ("RANK", rank.to_string()),
        ("LOCAL_RANK", rank.to_string()),
        ("WORLD_SIZE", ranks.to_string()),
        ("LOCAL_WORLD_SIZE", ranks.to_string()),
        ("GROUP_WORLD_SIZE", "1".to_owned()),
        ("MASTER_ADDR", "127.0.0.1".to_owned()),
        ("MASTER_PORT", "29500".to_owned()),
        ("TORCHELASTIC_RUN_ID", run.to_owned()),
    ]
}

/// A started rank.
struct Process {
    rank: u32,
    /// Where the ranks meet.
    bootstrap: Bootstrap,
    child: Child,
    ended: OwnedFd,
    /// Looks in a row that have found it stopped.
    stopped: u32,
}

impl Process {
    fn start(spawn: &Spawn, rank: u32, run: &str, outputs: &mut Outputs) -> Result<Self, Error> {
        let failed = || format!("start rank {rank} as {}", spawn.program.display());
        let mut command = Command::new(&spawn.program);
        command.args(&spawn.args).stdin(input(&spawn.input)?).stdout(Stdio::piped()).stderr(Stdio::piped());
        let variables = variables(rank, spawn.ranks, run);
        let get = |name: &str| variables.iter().find(|(set, _)| *set == name).map(|(_, value)| value.clone());
        let bootstrap = Bootstrap::from_variables(get)?;
        command.envs(variables.iter().map(|(name, value)| (name, value)));
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
        let watched = Self::watch(&mut child, outputs, failed);
        if watched.is_err() {
            // It fails only for a process that has ended.
            let _ = child.kill().and_then(|()| child.wait());
        }
        watched.map(|ended| Self { rank, bootstrap, child, ended, stopped: 0 })
    }

    /// A descriptor that is readable once the child has ended, and the thread that copies its output.
    fn watch(child: &mut Child, outputs: &mut Outputs, failed: impl Fn() -> String) -> Result<OwnedFd, Error> {
        let ended = pidfd_open(Pid::from_child(child), PidfdFlags::empty()).map_err(Error::system(failed()))?;
        let (out, err) = (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
        outputs.forward(out, io::stdout())?;
        outputs.forward(err, io::stderr())?;
        Ok(ended)
    }

    /// Whether it has been stopped for a while; called repeatedly.
    fn stays_stopped(&mut self) -> bool {
        let is_stopped = state::of(self.child.id().cast_signed()) == ProcessState::Stopped;
        self.stopped = if is_stopped { self.stopped + 1 } else { 0 };
        self.stopped >= STOPPED_FOR
    }

    /// Whether it has neither ended nor stopped. Its status is still to be waited for.
    fn runs(&self) -> bool {
        let looks = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(Pid::from_child(&self.child)), looks).is_ok_and(|status| status.is_none())
    }

    fn stop(&self) {
        // The same.
        let _ = rustix::process::kill_process(Pid::from_child(&self.child), Signal::STOP);
    }

    fn kill(&mut self) {
        // It fails only for a process that has ended.
        let _ = self.child.kill().and_then(|()| self.child.wait());
    }

    /// How it failed, if it did. `killed` says why we killed it, if we did.
    fn reap(mut self, killed: Option<Exit>) -> Result<Option<RankExit>, Error> {
        let status = self.child.wait().map_err(Error::io(format!("wait for rank {}", self.rank)))?;
        let exit = exit(status, killed);
        if exit.is_some() && killed.is_none() {
            // Without the thread the others learn of it later.
            let _ = thread::Builder::new().spawn(move || self.bootstrap.report_death());
        }
        Ok(exit.map(|how| RankExit { rank: self.rank, how }))
    }
}

/// Its own open file for each process: a shared one would share the read position.
fn input(bytes: &[u8]) -> Result<Stdio, Error> {
    if bytes.is_empty() {
        return Ok(Stdio::null());
    }
    let failed = || Error::io("hand standard input to the ranks");
    let file = memory::may_write(bytes.len() as u64).and_then(|()| memfd_create("symm-input", MemfdFlags::CLOEXEC));
    let file = file.map_err(|errno| failed()(errno.into()))?;
    let mut file = File::from(file);
    file.write_all(bytes).and_then(|()| file.rewind()).map_err(failed())?;
    Ok(file.into())
}

fn exit(status: ExitStatus, killed: Option<Exit>) -> Option<Exit> {
    match (status.code(), status.signal()) {
        (Some(0), _) => None,
        (_, Some(signal)) if killed.is_some() && signal == Signal::KILL.as_raw() => killed,
        (_, Some(signal)) => Some(Exit::Signal(signal)),
        (code, None) => Some(Exit::Code(code.unwrap_or(1))),
    }
}

/// Waits for all to end; returns the failures, and the rest of the grace time.
fn wait(running: Vec<Process>, grace: Duration) -> Result<(Vec<RankExit>, Duration), Error> {
    let mut running: Vec<(Process, Option<Exit>)> = running.into_iter().map(|process| (process, None)).collect();
    let mut failed = Vec::new();
    let (mut timer, mut looked): (Option<Timer>, Option<Instant>) = (None, None);
    while !running.is_empty() {
        if timer.is_none() && interrupt::is_asked() {
            // The ranks then report what they wait for, and write their timeline. On a terminal they have received the
            // signal already.
            for (process, _) in &running {
                let _ = rustix::process::kill_process(Pid::from_child(&process.child), Signal::INT);
            }
            timer = Some(Timer::new(grace));
        }
        let left = timer.as_mut().map(Timer::left);
        let looks = left.is_some() && looked.is_none_or(|looked| looked.elapsed() >= LOOK_EVERY);
        if looks {
            looked = Some(Instant::now());
        }
        for (process, killed) in running.iter_mut().filter(|(_, killed)| left.is_some() && killed.is_none()) {
            *killed = if looks && process.stays_stopped() {
                Some(Exit::Stopped)
            } else {
                (left == Some(Duration::ZERO)).then_some(Exit::Straggler)
            };
            if killed.is_some() {
                // It fails only for a process that has ended.
                let _ = process.child.kill();
            }
        }
        let mut ready: Vec<_> = running.iter().map(|(process, _)| PollFd::new(&process.ended, PollFlags::IN)).collect();
        let timeout = left.map_or(LOOK_EVERY, |left| left.clamp(Duration::from_millis(1), LOOK_EVERY));
        let timeout = Timespec::try_from(timeout).expect("a short time");
        match poll(&mut ready, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(Error::system("wait for the ranks")(errno)),
        }
        let ended: Vec<bool> = ready.iter().map(|fd| !fd.revents().is_empty()).collect();
        for index in (0..running.len()).rev().filter(|&index| ended[index]) {
            let (process, killed) = running.swap_remove(index);
            failed.extend(process.reap(killed)?);
        }
        if !failed.is_empty() {
            timer.get_or_insert_with(|| Timer::new(grace));
        }
    }
    Ok((failed, timer.map_or(grace, |mut timer| timer.left())))
}
