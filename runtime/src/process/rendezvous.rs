//! How processes find each other: rank 0 listens, the others connect, and each gets the memory of all.
//!
//! A rank first announces itself, then gets ready, then joins. If it dies while it gets ready, its connection closes,
//! and the others notice.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use super::coordinator::{Coordinator, STAYS_AFTER_DEATH};
use super::environment::Bootstrap;
use super::message::{receive, send};
use super::peer::Peer;
use super::state;
use super::terms::{Answer, Hello, Memory, Ready};
use super::timer::Timer;
use crate::control::Control;
use crate::error::Error;
use crate::fork::Kept;
use crate::interrupt;
use crate::lock::lock;
use crate::memory;
use crate::standard;

/// Bytes of the largest greeting or answer.
pub(super) const MOST_BYTES: u64 = 16 << 20;
/// Time between two attempts to connect, and between two looks at the deadline.
pub(super) const RETRY: Duration = Duration::from_millis(10);
/// How many attempts to connect lie between two looks for rank 0 in another user namespace.
const LOOKS_ABOUT: u32 = 20;
/// Time after the deadline in which rank 0 can still say what is wrong.
pub(super) const GRACE: Duration = Duration::from_secs(5);
/// How long sending a final answer may take: it fits the socket's buffer.
pub(super) const TELLS_IN: Duration = Duration::from_secs(1);
/// How long rank 0 stays after a refusal, for those who have not come yet.
pub(super) const STAYS_AFTER_REFUSAL: Duration = Duration::from_secs(5);

/// What this rank contributes to the run.
#[derive(Debug)]
pub(crate) struct Offer {
    /// `None` where the ranks do not hand each other their memory.
    pub(crate) heap: Option<OwnedFd>,
    pub(crate) heap_size: u64,
    pub(crate) trace: bool,
    /// The kind of device that the ranks run on.
    pub(crate) device: &'static str,
    /// Whether heaps must be sealed memfds of that size.
    pub(crate) sealed: bool,
}

/// The memory of all ranks, and the connections that show which are alive.
#[derive(Debug)]
pub(crate) struct Session {
    /// On several hosts this process's own.
    pub(crate) control: OwnedFd,
    /// In the order of ranks; empty where none are handed over.
    pub(crate) heaps: Vec<OwnedFd>,
    pub(crate) links: Vec<Link>,
}

/// A connection: rank 0 has one to each other rank; each of those has one to rank 0.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) rank: u32,
    pub(crate) stream: Kept,
}

/// What a rank that has announced itself keeps open.
#[derive(Debug)]
pub(super) enum Presence {
    /// Rank 0.
    Coordinator(Coordinator),
    /// Another rank's connection to it.
    Member(Kept),
}

/// Meets the other ranks; returns when all have come.
pub(crate) fn join(bootstrap: &Bootstrap, offer: Offer) -> Result<Session, Error> {
    match bootstrap.present(&Hello::new(bootstrap), bootstrap.deadline)? {
        Presence::Coordinator(coordinator) => coordinator.gather(bootstrap, offer),
        Presence::Member(stream) => enter(bootstrap, &stream, &offer).map(|(control, heaps)| {
            let links = vec![Link { rank: 0, stream }];
            Session { control, heaps, links }
        }),
    }
}

impl Bootstrap {
    /// Announces this rank to the others before it gets ready to join: if it dies meanwhile, they learn of it when they
    /// join. [`crate::run`] and [`crate::join`] call this themselves. Waits for rank 0.
    ///
    /// # Errors
    /// [`Error::RanksAbsent`], [`Error::DuplicateRank`].
    pub fn announce(&self) -> Result<(), Error> {
        let presence = self.present(&Hello::new(self), self.deadline)?;
        *lock(&self.presence) = Some(presence);
        Ok(())
    }

    /// Meets the other ranks, which are all of this host, only to see that they agree on what has to be the same: for
    /// callers whose ranks then meet in another way, which would hang where one of them does not. Takes at most the
    /// deadline.
    ///
    /// # Errors
    /// [`Error::RunMismatch`], and those of [`crate::join`].
    pub fn agree(&self, heap_size: u64) -> Result<(), Error> {
        let offer = Offer { heap: None, heap_size, trace: false, device: "cpu", sealed: false };
        join(self, offer).map(drop)
    }

    /// Tells the other ranks why this one cannot take part, so that they do not wait for it. It is for callers that
    /// find this out before they join; [`crate::run`] calls it itself. Takes at most 5 seconds.
    pub fn decline(&self, reason: &str) {
        // The reason of another rank's refusal already begins like this.
        let known = format!("rank {} could not join the run: ", self.rank);
        let reason = reason.strip_prefix(&known).unwrap_or(reason).to_owned();
        match self.present(&Hello::of_declining(self), self.deadline.min(STAYS_AFTER_REFUSAL)) {
            Ok(Presence::Coordinator(coordinator)) => coordinator.close(self, &Error::Refused { rank: 0, reason }),
            // If this fails nothing is lost: this rank reports its error, and the others their deadline.
            Ok(Presence::Member(stream)) => drop(send(&stream, &Ready::Declines(reason), &[], TELLS_IN)),
            Err(_) => {}
        }
    }

    /// Tells the other ranks that this one has died, if they have not met yet. It is for the launcher.
    pub(super) fn report_death(&self) {
        if self.rank == 0 {
            // If the run has begun, the name is taken, or nobody comes.
            let _ = Coordinator::open(self).map(|coordinator| coordinator.close(self, &Error::RankDied { rank: 0 }));
        } else {
            let _ = reach(self, STAYS_AFTER_DEATH).map(|stream| send(&stream, &Hello::of_dead(self), &[], TELLS_IN));
        }
    }

    /// What the announcement made, or a new one, with this greeting.
    fn present(&self, hello: &Hello, deadline: Duration) -> Result<Presence, Error> {
        if let Some(presence) = lock(&self.presence).take() {
            return Ok(presence);
        }
        standard::keep_apart()?;
        if self.rank == 0 {
            return Coordinator::open(self).map(Presence::Coordinator);
        }
        let stream = match &self.network {
            Some(network) => network.reach(deadline)?,
            None => reach(self, deadline)?,
        };
        let sent = send(&stream, hello, &[], deadline.saturating_add(GRACE));
        match sent.map_err(|error| error.kind()) {
            Err(io::ErrorKind::TimedOut) => Err(silent(&stream, deadline.saturating_add(GRACE))),
            // Reading shows whether an answer says why, or rank 0 has died.
            _ => Ok(Presence::Member(stream)),
        }
    }
}

/// Rank 0 has not answered.
fn silent(stream: &Kept, after: Duration) -> Error {
    // A socket of a network knows nothing of its peer's process.
    let peer = Peer::of(stream).filter(|peer| peer.is_ours()).unwrap_or_else(Peer::of_network);
    let pid = peer.pid;
    Error::Silent { rank: 0, pid, after, state: state::of(pid) }
}

/// Joins as a rank other than 0; returns the control memory and the heaps.
fn enter(bootstrap: &Bootstrap, stream: &Kept, offer: &Offer) -> Result<(OwnedFd, Vec<OwnedFd>), Error> {
    let refused = |reason: String| Error::Refused { rank: bootstrap.rank, reason };
    let after = bootstrap.deadline.saturating_add(GRACE);
    let heap: Vec<_> = offer.heap.iter().map(AsFd::as_fd).collect();
    match send(stream, &Ready::Brings(Memory::of(offer)), &heap, after) {
        Err(error) if !is_gone(&error) => return Err(Error::io("send this rank's memory to rank 0")(error)),
        // As above.
        _ => {}
    }
    let left = await_answer(stream, after)?;
    let answer = receive(stream, MOST_BYTES, left).map_err(|error| match (error.kind(), &bootstrap.network) {
        (io::ErrorKind::TimedOut, _) => silent(stream, after),
        (_, Some(network)) => network.no_answer(&error),
        _ if is_gone(&error) => Error::RankDied { rank: 0 },
        _ => Error::io("read rank 0's answer")(error),
    });
    match answer? {
        (Answer::Refused(reason), _) => Err(refused(reason)),
        (Answer::Welcome, _) if bootstrap.network.is_some() => Ok((own_control(bootstrap.num_ranks)?, Vec::new())),
        (Answer::Welcome, fds) => {
            let mut fds = fds.into_iter();
            let control = fds.next().ok_or_else(|| refused("rank 0 sent no memory".to_owned()))?;
            let heaps: Vec<OwnedFd> = fds.collect();
            let ranks = bootstrap.num_ranks as usize;
            let whole = |heap| !offer.sealed || memory::is_sealed(heap, offer.heap_size);
            let expected = if offer.heap.is_some() { ranks } else { 0 };
            let sound = heaps.len() == expected && heaps.iter().all(whole);
            if !sound || !memory::is_sealed(&control, Control::bytes(ranks)) {
                return Err(refused("rank 0 sent different memory than it promised".to_owned()));
            }
            Ok((control, heaps))
        }
    }
}

/// Control memory that this process shares with nobody.
pub(super) fn own_control(num_ranks: u32) -> Result<OwnedFd, Error> {
    memory::create("symm-control", Control::bytes(num_ranks as usize))
}

/// Waits until there is an answer to read, or the time is over; returns the time left. Unlike reading, this can be
/// interrupted.
fn await_answer(stream: &Kept, after: Duration) -> Result<Duration, Error> {
    let (mut timer, step) = (Timer::new(after), Timespec::try_from(RETRY).expect("a short time"));
    // Reading reports any other event of the connection.
    let silent = || matches!(poll(&mut [PollFd::new(stream, PollFlags::IN)], Some(&step)), Ok(0) | Err(Errno::INTR));
    while silent() && !timer.is_over() {
        interrupt::check()?;
    }
    Ok(timer.left())
}

/// A connection to rank 0, which may not be there yet.
fn reach(bootstrap: &Bootstrap, deadline: Duration) -> Result<Kept, Error> {
    let mut timer = Timer::new(deadline);
    for attempt in 1_u32.. {
        if attempt.is_multiple_of(LOOKS_ABOUT) {
            not_apart(bootstrap)?;
        }
        let failed = match dial(bootstrap) {
            Ok((_, peer)) if !peer.is_ours() => {
                return Err(Error::Refused { rank: bootstrap.rank, reason: FOREIGN.to_owned() });
            }
            Ok((stream, _)) => return Ok(stream),
            Err(errno @ (Errno::MFILE | Errno::NFILE)) => return Err(Error::system("connect to rank 0")(errno)),
            Err(errno) => errno,
        };
        interrupt::check()?;
        if !timer.pause(RETRY) {
            return Err(match failed {
                Errno::AGAIN => Error::Refused { rank: bootstrap.rank, reason: OCCUPIED.to_owned() },
                Errno::CONNREFUSED | Errno::INTR => Error::RanksAbsent { ranks: vec![0], deadline },
                errno => Error::system("connect to rank 0")(errno),
            });
        }
    }
    Err(Error::RanksAbsent { ranks: vec![0], deadline })
}

/// An error, which rank 0 is told, if rank 0 runs as this user in another user namespace: there the user has another
/// number, so the socket has another name.
fn not_apart(bootstrap: &Bootstrap) -> Result<(), Error> {
    let run = |name: &str| {
        let (user, run) = name.strip_prefix("symm-")?.split_once('-')?;
        Some((user.to_owned(), run.to_owned()))
    };
    let (Some((mine, ours)), Ok(sockets)) = (run(&bootstrap.socket), fs::read_to_string("/proc/net/unix")) else {
        return Ok(());
    };
    for name in sockets.lines().filter_map(|line| Some(line.rsplit_once(" @")?.1)) {
        let Some((theirs, _)) = run(name).filter(|(user, run)| *run == ours && *user != mine) else { continue };
        let found = dial_name(name).ok().filter(|(_, peer)| peer.is_ours());
        let Some((stream, _)) = found else { continue };
        let reason = format!(
            "it is in another user namespace than rank 0 (user {theirs} there is user {mine} here): start all ranks in \
             the same one"
        );
        // If this fails nothing is lost.
        let _ = send(&stream, &Hello::new(bootstrap), &[], TELLS_IN)
            .and_then(|()| send(&stream, &Ready::Declines(reason.clone()), &[], TELLS_IN));
        return Err(Error::Refused { rank: bootstrap.rank, reason });
    }
    Ok(())
}

/// One attempt to connect, which does not wait; returns the process that listens.
pub(super) fn dial(bootstrap: &Bootstrap) -> Result<(Kept, Peer), Errno> {
    dial_name(&bootstrap.socket)
}

fn dial_name(name: &str) -> Result<(Kept, Peer), Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let stream = Kept::new(socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?);
    connect(&stream, &SocketAddrUnix::new_abstract_name(name.as_bytes())?)?;
    let peer = Peer::of(&stream).ok_or(Errno::CONNREFUSED)?;
    Ok((stream, peer))
}

/// Whether a connection has failed because the process at the other end has ended.
pub(super) fn is_gone(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionReset | UnexpectedEof)
}

/// The errors when another process has the run's socket.
pub(super) const FOREIGN: &str = "another user listens on this run's socket; choose another MASTER_PORT";
pub(super) const OCCUPIED: &str = "a process listens on this run's socket and does not answer: rank 0 if it is \
                                   stopped, or another user's; choose another MASTER_PORT";

pub(super) fn address(bootstrap: &Bootstrap) -> Result<SocketAddrUnix, Errno> {
    SocketAddrUnix::new_abstract_name(bootstrap.socket.as_bytes())
}
