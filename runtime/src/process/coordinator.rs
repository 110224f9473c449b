//! Rank 0 while the ranks meet: which ranks have come, are ready or have died, and what is wrong.
//!
//! One thread listens to all of them and waits for none: an incomplete message is looked at again.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, accept_with, bind, listen, socket_with};

use super::environment::Bootstrap;
use super::message::{Inbox, send};
use super::network;
use super::peer::Peer;
use super::rendezvous::{
    FOREIGN, Link, MOST_BYTES, OCCUPIED, Offer, RETRY, STAYS_AFTER_REFUSAL, Session, TELLS_IN, address, dial, is_gone,
    own_control,
};
use super::state;
use super::terms::{Answer, Hello, Memory, Ready};
use super::timer::Timer;
use crate::error::Error;
use crate::fork::Kept;
use crate::interrupt;
use crate::memory;
use symm_abi::heap::MAX_RANKS;

/// How long rank 0 stays after a death, for the same reason: those that have come are told at once.
pub(super) const STAYS_AFTER_DEATH: Duration = Duration::from_millis(500);
/// The backlog of connections; the system has its own limit.
pub(super) const BACKLOG: i32 = 4096;
/// The most connections that have not said which rank they are: with more, the oldest is closed.
const MOST_PENDING: usize = MAX_RANKS as usize;
/// The most connections accepted between two looks at the members.
const MOST_AT_ONCE: usize = 64;

/// Rank 0, to which the other ranks connect.
#[derive(Debug)]
pub(super) struct Coordinator {
    listener: Kept,
    /// Processes of this user that have not introduced themselves.
    pending: Vec<Pending>,
    /// The ranks that have come, rank 1 first.
    members: Vec<Option<Member>>,
    /// Processes that have come and do not belong to this run.
    rejected: Vec<Member>,
    /// Whether the connections are a network's.
    is_network: bool,
    /// Why the last rank of another run was sent away.
    astray: Option<Error>,
}

/// A connection whose process has not introduced itself.
#[derive(Debug)]
struct Pending {
    stream: Kept,
    pid: i32,
    inbox: Inbox,
}

/// A process that has introduced itself to rank 0.
#[derive(Debug)]
struct Member {
    stream: Kept,
    pid: i32,
    inbox: Inbox,
    hello: Hello,
    /// Whether it has brought what it contributes.
    is_ready: bool,
    /// Its heap, if heaps are handed over.
    heap: Option<OwnedFd>,
}

impl Coordinator {
    pub(super) fn open(bootstrap: &Bootstrap) -> Result<Self, Error> {
        let listener = open(bootstrap)?;
        let members = (1..bootstrap.num_ranks).map(|_| None).collect();
        let is_network = bootstrap.network.is_some();
        Ok(Self { listener, pending: Vec::new(), members, rejected: Vec::new(), is_network, astray: None })
    }

    /// Waits until all ranks are ready, and sends each the memory of all.
    pub(super) fn gather(mut self, bootstrap: &Bootstrap, offer: Offer) -> Result<Session, Error> {
        let (hello, memory) = (Hello::new(bootstrap), Memory::of(&offer));
        let mut timer = Timer::new(bootstrap.deadline);
        while self.members.iter().flatten().filter(|member| member.is_ready).count() < self.members.len() {
            let late = timer.is_over();
            let step = if late { Err(self.late(bootstrap.deadline)) } else { self.step(&hello, &memory, &offer) };
            let step = step.and_then(|()| interrupt::check());
            if let Err(error) = step {
                self.close(bootstrap, &error);
                return Err(error);
            }
        }
        welcome(bootstrap, offer, self.members.into_iter().flatten().collect())
    }

    /// Tells all ranks why there is no run, including those that come a little later: without rank 0 they would wait
    /// until their deadline.
    pub(super) fn close(mut self, bootstrap: &Bootstrap, error: &Error) {
        let stays = match error {
            Error::RanksAbsent { .. } | Error::Silent { .. } | Error::Interrupted { .. } => Duration::ZERO,
            Error::RankDied { .. } => STAYS_AFTER_DEATH,
            _ => STAYS_AFTER_REFUSAL,
        };
        let mut timer = Timer::new(stays.min(bootstrap.deadline));
        let mut others = self.members.len();
        let mut told = Vec::new();
        let mut known: Vec<_> = self.members.drain(..).flatten().chain(self.rejected.drain(..)).collect();
        loop {
            for member in known.drain(..) {
                member.refuse(error);
                // Counts processes, not ranks: of two with the same number, one was meant to be another rank. One that
                // died after it was told is reported by its launcher.
                if !(member.hello.died && told.contains(&member.hello.rank)) {
                    told.push(member.hello.rank);
                }
                others = others.max(member.hello.num_ranks.saturating_sub(1) as usize);
            }
            if told.len() >= others || timer.is_over() {
                return;
            }
            let Ok((come, _)) = self.wait() else { return };
            known.extend(come);
        }
    }

    /// The error when the deadline has passed.
    fn late(&mut self, after: Duration) -> Error {
        let absent: Vec<u32> =
            (1..).zip(&self.members).filter(|(_, member)| member.is_none()).map(|(rank, _)| rank).collect();
        let silent = self.members.iter().flatten().find(|member| !member.is_ready);
        match silent {
            Some(member) if absent.is_empty() => {
                Error::Silent { rank: member.hello.rank, pid: member.pid, after, state: state::of(member.pid) }
            }
            // It may have been meant for this run.
            _ => self.astray.take().unwrap_or(Error::RanksAbsent { ranks: absent, deadline: after }),
        }
    }

    /// Waits a short time for events, and handles them.
    fn step(&mut self, hello: &Hello, memory: &Memory, offer: &Offer) -> Result<(), Error> {
        let (come, spoke) = self.wait()?;
        // Every process that has come is told what is wrong, so all are looked at first.
        let mut wrong = None;
        for (member, _) in self.members.iter_mut().flatten().zip(spoke).filter(|(_, spoke)| *spoke) {
            wrong = wrong.or(member.listen_to(memory, offer).err());
        }
        for member in come {
            // Ranks of any run reach the port of a network, and do not end this run.
            if self.is_network
                && let Err(error) = member.hello.compare_runs(hello)
            {
                member.refuse(&error);
                self.astray = Some(error);
                continue;
            }
            match self.admit(&member, hello) {
                Ok(Some(index)) => self.members[index] = Some(member),
                Ok(None) => {}
                Err(error) => {
                    self.rejected.push(member);
                    wrong.get_or_insert(error);
                }
            }
        }
        wrong.map_or(Ok(()), Err)
    }

    /// The index of a member that belongs to this run; `None` if it only brings known news.
    fn admit(&self, member: &Member, hello: &Hello) -> Result<Option<usize>, Error> {
        let rank = member.hello.rank;
        let index = rank.checked_sub(1).map(|index| index as usize);
        let there = index.and_then(|index| self.members.get(index));
        if member.hello.died {
            // A member that has come tells its death by its connection, after its messages.
            return if there.is_some_and(Option::is_none) { Err(Error::RankDied { rank }) } else { Ok(None) };
        }
        // For two ranks 0, a difference between their runs is no further help.
        if rank != 0 {
            member.hello.compare(hello)?;
        }
        let duplicate = |first| Error::DuplicateRank { rank, first, second: member.pid };
        match there {
            None => Err(duplicate(std::process::id().cast_signed())),
            Some(Some(there)) => Err(duplicate(there.pid)),
            Some(None) => Ok(index),
        }
    }

    /// Accepts connections for a short time. Returns those that have introduced themselves, and the members that have
    /// sent something or are gone.
    fn wait(&mut self) -> Result<(Vec<Member>, Vec<bool>), Error> {
        let pending = self.pending.iter().map(|connection| &connection.stream);
        let present = self.members.iter().flatten().map(|member| &member.stream);
        let all = std::iter::once(&self.listener).chain(pending).chain(present);
        let mut ready: Vec<_> = all.map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
        let timeout = Timespec::try_from(RETRY).expect("a short time");
        match poll(&mut ready, Some(&timeout)) {
            Ok(0) | Err(Errno::INTR) => return Ok((Vec::new(), Vec::new())),
            Ok(_) => {}
            Err(errno) => return Err(Error::system("wait for the other ranks")(errno)),
        }
        let happened: Vec<bool> = ready.iter().map(|fd| !fd.revents().is_empty()).collect();
        let (pending, members) = happened[1..].split_at(self.pending.len());
        let mut come = Vec::new();
        let waiting = std::mem::take(&mut self.pending).into_iter().zip(pending);
        for (connection, spoke) in waiting {
            if *spoke { connection.listen_to(&mut self.pending, &mut come) } else { self.pending.push(connection) }
        }
        let members = members.to_vec();
        if happened[0]
            && let Err(error) = self.accept(&mut come)
        {
            self.rejected.extend(come);
            return Err(error);
        }
        Ok((come, members))
    }

    fn accept(&mut self, come: &mut Vec<Member>) -> Result<(), Error> {
        for _ in 0..MOST_AT_ONCE {
            let stream = match accept_with(&self.listener, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
                Ok(stream) => Kept::new(stream),
                Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => break,
                Err(errno) => return Err(Error::system("accept another rank")(errno)),
            };
            // Only processes of this user are our ranks: any other connection is closed. A network does not tell.
            let peer = if self.is_network {
                network::prepare(&stream).ok().map(|()| Peer::of_network())
            } else {
                Peer::of(&stream).filter(|peer| peer.is_ours())
            };
            let Some(peer) = peer else { continue };
            if self.pending.len() == MOST_PENDING {
                self.pending.remove(0);
            }
            let connection = Pending { stream, pid: peer.pid, inbox: Inbox::new(MOST_BYTES) };
            connection.listen_to(&mut self.pending, come);
        }
        Ok(())
    }
}

impl Pending {
    /// Reads its introduction. It stays pending while that is incomplete, and is closed if it sends anything else.
    fn listen_to(mut self, pending: &mut Vec<Self>, come: &mut Vec<Member>) {
        match self.inbox.take(&self.stream) {
            Ok(Some((hello, _))) => {
                let Self { stream, pid, inbox } = self;
                come.push(Member { stream, pid, inbox, hello, is_ready: false, heap: None });
            }
            Ok(None) => pending.push(self),
            Err(_) => {}
        }
    }
}

impl Member {
    /// Reads its message.
    fn listen_to(&mut self, memory: &Memory, offer: &Offer) -> Result<(), Error> {
        let rank = self.hello.rank;
        let refused = |reason: String| Error::Refused { rank, reason };
        let failed = |error| if is_gone(&error) { Error::RankDied { rank } } else { refused(error.to_string()) };
        let said = self.inbox.take(&self.stream).map_err(failed)?;
        let Some((ready, fds)) = said else { return Ok(()) };
        if self.is_ready {
            return Err(refused("it sent something when it should have waited for an answer".to_owned()));
        }
        match ready {
            Ready::Declines(reason) => Err(refused(reason)),
            Ready::Brings(theirs) => {
                theirs.compare(rank, memory)?;
                if offer.heap.is_some() {
                    let heap = fds.into_iter().next();
                    let sound = heap.filter(|heap| !offer.sealed || memory::is_sealed(heap, offer.heap_size));
                    self.heap = Some(sound.ok_or_else(|| refused("its heap is not what it announced".to_owned()))?);
                }
                self.is_ready = true;
                Ok(())
            }
        }
    }

    fn refuse(&self, error: &Error) {
        // A process that is already gone needs no reason.
        let _ = send(&self.stream, &Answer::Refused(error.to_string()), &[], TELLS_IN);
    }
}

fn welcome(bootstrap: &Bootstrap, offer: Offer, mut members: Vec<Member>) -> Result<Session, Error> {
    let mut heaps: Vec<_> = offer.heap.into_iter().collect();
    heaps.extend(members.iter_mut().filter_map(|member| member.heap.take()));
    let control = own_control(bootstrap.num_ranks)?;
    let is_shared = bootstrap.network.is_none();
    let all: Vec<_> = std::iter::once(&control).filter(|_| is_shared).chain(&heaps).map(AsFd::as_fd).collect();
    for (index, member) in members.iter().enumerate() {
        match send(&member.stream, &Answer::Welcome, &all, bootstrap.deadline) {
            // It has died; the run has begun, so the others learn of it as of any death.
            Err(error) if is_gone(&error) => {}
            Err(error) => {
                let error = Error::io(format!("send rank {} everyone's memory", member.hello.rank))(error);
                members[index..].iter().for_each(|member| member.refuse(&error));
                return Err(error);
            }
            Ok(()) => {}
        }
    }
    let links = members.into_iter().map(|member| Link { rank: member.hello.rank, stream: member.stream }).collect();
    Ok(Session { control, heaps, links })
}

fn open(bootstrap: &Bootstrap) -> Result<Kept, Error> {
    if let Some(network) = &bootstrap.network {
        return network.listen();
    }
    let failed = || Error::system("listen for the other ranks");
    let address = address(bootstrap).map_err(failed())?;
    let mut timer = Timer::new(TELLS_IN);
    loop {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let listener = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).map_err(failed())?;
        match bind(&listener, &address).and_then(|()| listen(&listener, BACKLOG)) {
            Ok(()) => return Ok(Kept::new(listener)),
            Err(Errno::ADDRINUSE) => {}
            Err(errno) => return Err(failed()(errno)),
        }
        match dial(bootstrap) {
            // It has just ended, or does not listen yet.
            Err(Errno::CONNREFUSED) if timer.pause(RETRY) => {}
            Err(Errno::CONNREFUSED) => return Err(failed()(Errno::ADDRINUSE)),
            other => return Err(taken(bootstrap, other)),
        }
    }
}

/// The process that has already taken this run's socket.
fn taken(bootstrap: &Bootstrap, other: Result<(Kept, Peer), Errno>) -> Error {
    let refused = |reason: &str| Error::Refused { rank: 0, reason: reason.to_owned() };
    match other {
        Ok((_, peer)) if !peer.is_ours() => refused(FOREIGN),
        Ok((other, peer)) => {
            // So that it learns of the duplicate. It does not if it has already met the others.
            let _ = send(&other, &Hello::new(bootstrap), &[], TELLS_IN);
            Error::DuplicateRank { rank: 0, first: peer.pid, second: std::process::id().cast_signed() }
        }
        Err(Errno::AGAIN) => refused(OCCUPIED),
        Err(errno) => Error::system("listen for the other ranks")(errno),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::message::receive;

    /// The bootstrap of a rank in a run of three ranks that nobody else knows.
    fn bootstrap(rank: u32) -> Bootstrap {
        let get = |name: &str| match name {
            "RANK" => Some(rank.to_string()),
            "WORLD_SIZE" => Some("3".to_owned()),
            "TORCHELASTIC_RUN_ID" => Some(format!("coordinator-{}", std::process::id())),
            _ => None,
        };
        Bootstrap::from_variables(get).unwrap()
    }

    #[test]
    fn who_comes_while_another_declines_is_told() {
        let offer = Offer {
            heap: Some(memory::create("coordinator", 4 << 20).unwrap()),
            heap_size: 4 << 20,
            trace: false,
            device: "cpu",
            sealed: true,
        };
        let mut coordinator = Coordinator::open(&bootstrap(0)).unwrap();
        let come = |rank| {
            let (stream, _) = dial(&bootstrap(rank)).unwrap();
            send(&stream, &Hello::new(&bootstrap(rank)), &[], TELLS_IN).unwrap();
            stream
        };
        let (hello, memory) = (Hello::new(&bootstrap(0)), Memory::of(&offer));
        let first = come(1);
        while coordinator.members[0].is_none() {
            coordinator.step(&hello, &memory, &offer).unwrap();
        }
        send(&first, &Ready::Declines("no".to_owned()), &[], TELLS_IN).unwrap();
        let second = come(2);
        let error = coordinator.step(&hello, &memory, &offer).unwrap_err();
        coordinator.close(&bootstrap(0), &error);
        for member in [first, second] {
            let (answer, _) = receive::<Answer>(&member, MOST_BYTES, TELLS_IN).expect("an answer");
            assert!(matches!(answer, Answer::Refused(reason) if reason == "rank 1 could not join the run: no"));
        }
    }
}
