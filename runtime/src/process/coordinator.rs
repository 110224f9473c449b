//! Rank 0 while the ranks meet: who has come, who is ready, who has died, and what is wrong.
//!
//! One thread listens to all of them and waits for none: what is not whole yet is looked at again.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, accept_with, bind, listen, socket_with};

use super::environment::Bootstrap;
use super::message::{Inbox, send};
use super::patience::Patience;
use super::peer::Peer;
use super::rendezvous::{
    FOREIGN, LATECOMERS, Link, MOST_BYTES, OCCUPIED, Offer, RETRY, Session, TELLS_IN, address, dial, is_gone,
};
use super::state;
use super::terms::{Answer, Hello, Memory, Ready};
use crate::control::Control;
use crate::error::Error;
use crate::fork::Kept;
use crate::interrupt;
use crate::memory;
use symm_abi::heap::MAX_RANKS;

/// How long rank 0 stays after a death, likewise: those who have come are told at once.
pub(super) const MOURNS: Duration = Duration::from_millis(500);
/// Connections that may wait until they are accepted; the system has a limit of its own.
const BACKLOG: i32 = 4096;
/// Most connections that have not said who they are: with more, the oldest goes.
const MOST_CALLERS: usize = MAX_RANKS as usize;
/// Most that are accepted between two looks at those who have come.
const MOST_AT_ONCE: usize = 64;

/// Where the other ranks come in.
#[derive(Debug)]
pub(super) struct Door {
    listener: Kept,
    /// Processes of this user that have not said who they are.
    callers: Vec<Caller>,
    /// Those who have come, rank 1 first.
    guests: Vec<Option<Guest>>,
    /// Those who have come and do not belong here.
    strangers: Vec<Guest>,
}

#[derive(Debug)]
struct Caller {
    stream: Kept,
    pid: i32,
    inbox: Inbox,
}

/// A process that has introduced itself to rank 0.
#[derive(Debug)]
struct Guest {
    stream: Kept,
    pid: i32,
    inbox: Inbox,
    hello: Hello,
    /// Once it is ready.
    heap: Option<OwnedFd>,
}

impl Door {
    pub(super) fn open(bootstrap: &Bootstrap) -> Result<Self, Error> {
        let listener = open(bootstrap)?;
        let guests = (1..bootstrap.num_ranks).map(|_| None).collect();
        Ok(Self { listener, callers: Vec::new(), guests, strangers: Vec::new() })
    }

    /// Waits until all ranks are ready, and gives each everyone's memory.
    pub(super) fn gather(mut self, bootstrap: &Bootstrap, offer: Offer) -> Result<Session, Error> {
        let (hello, memory) = (Hello::new(bootstrap), Memory::of(&offer));
        let mut patience = Patience::new(bootstrap.deadline);
        while self.guests.iter().flatten().filter(|guest| guest.heap.is_some()).count() < self.guests.len() {
            let late = patience.is_over();
            let step = if late { Err(self.late(bootstrap.deadline)) } else { self.step(&hello, &memory, &offer) };
            let step = step.and_then(|()| interrupt::check());
            if let Err(error) = step {
                self.close(bootstrap, &error);
                return Err(error);
            }
        }
        welcome(offer, self.guests.into_iter().flatten().collect(), bootstrap.deadline)
    }

    /// Tells all ranks why there is no run, also those that come a little later: with rank 0 gone they would wait for
    /// it until their deadline.
    pub(super) fn close(mut self, bootstrap: &Bootstrap, error: &Error) {
        let stays = match error {
            Error::RanksAbsent { .. } | Error::Silent { .. } | Error::Interrupted { .. } => Duration::ZERO,
            Error::RankDied { .. } => MOURNS,
            _ => LATECOMERS,
        };
        let mut patience = Patience::new(stays.min(bootstrap.deadline));
        let mut others = self.guests.len();
        let mut told = Vec::new();
        let mut known: Vec<_> = self.guests.drain(..).flatten().chain(self.strangers.drain(..)).collect();
        loop {
            for guest in known.drain(..) {
                guest.refuse(error);
                // Processes are counted, not their ranks: of two with the same number, one was meant to be another. One
                // that was told and died then is told by who has started it.
                if !(guest.hello.died && told.contains(&guest.hello.rank)) {
                    told.push(guest.hello.rank);
                }
                others = others.max(guest.hello.num_ranks.saturating_sub(1) as usize);
            }
            if told.len() >= others || patience.is_over() {
                return;
            }
            let Ok((come, _)) = self.wait() else { return };
            known.extend(come);
        }
    }

    /// What is to be said when the deadline has passed.
    fn late(&self, after: Duration) -> Error {
        let absent: Vec<u32> =
            (1..).zip(&self.guests).filter(|(_, guest)| guest.is_none()).map(|(rank, _)| rank).collect();
        let silent = self.guests.iter().flatten().find(|guest| guest.heap.is_none());
        match silent {
            Some(guest) if absent.is_empty() => {
                Error::Silent { rank: guest.hello.rank, pid: guest.pid, after, state: state::of(guest.pid) }
            }
            _ => Error::RanksAbsent { ranks: absent, deadline: after },
        }
    }

    /// Waits a short time for something to happen, and sees to it.
    fn step(&mut self, hello: &Hello, memory: &Memory, offer: &Offer) -> Result<(), Error> {
        let (come, spoke) = self.wait()?;
        // Whoever has come is told what is wrong, so all of them are looked at first.
        let mut wrong = None;
        for (guest, _) in self.guests.iter_mut().flatten().zip(spoke).filter(|(_, spoke)| *spoke) {
            wrong = wrong.or(guest.listen_to(memory, offer).err());
        }
        for guest in come {
            match self.admit(&guest, hello) {
                Ok(Some(seat)) => self.guests[seat] = Some(guest),
                Ok(None) => {}
                Err(error) => {
                    self.strangers.push(guest);
                    wrong.get_or_insert(error);
                }
            }
        }
        wrong.map_or(Ok(()), Err)
    }

    /// The place of a guest that belongs to this run; none if it only brings news that are known.
    fn admit(&self, guest: &Guest, hello: &Hello) -> Result<Option<usize>, Error> {
        let rank = guest.hello.rank;
        let seat = rank.checked_sub(1).map(|seat| seat as usize);
        let sitting = seat.and_then(|seat| self.guests.get(seat));
        if guest.hello.died {
            // One that has come tells it by its connection, after what it had to say.
            return if sitting.is_some_and(Option::is_none) { Err(Error::RankDied { rank }) } else { Ok(None) };
        }
        // Of two ranks 0 it says nothing more that they are of different runs.
        if rank != 0 {
            guest.hello.compare(hello)?;
        }
        let duplicate = |first| Error::DuplicateRank { rank, first, second: guest.pid };
        match sitting {
            None => Err(duplicate(std::process::id().cast_signed())),
            Some(Some(sitting)) => Err(duplicate(sitting.pid)),
            Some(None) => Ok(seat),
        }
    }

    /// Lets in who comes within a short time; who has said who it is, and which of the guests have something to say
    /// or are gone.
    fn wait(&mut self) -> Result<(Vec<Guest>, Vec<bool>), Error> {
        let callers = self.callers.iter().map(|caller| &caller.stream);
        let present = self.guests.iter().flatten().map(|guest| &guest.stream);
        let all = std::iter::once(&self.listener).chain(callers).chain(present);
        let mut ready: Vec<_> = all.map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
        let timeout = Timespec::try_from(RETRY).expect("a short time");
        match poll(&mut ready, Some(&timeout)) {
            Ok(0) | Err(Errno::INTR) => return Ok((Vec::new(), Vec::new())),
            Ok(_) => {}
            Err(errno) => return Err(Error::system("wait for the other ranks")(errno)),
        }
        let happened: Vec<bool> = ready.iter().map(|fd| !fd.revents().is_empty()).collect();
        let (callers, guests) = happened[1..].split_at(self.callers.len());
        let mut come = Vec::new();
        let waiting = std::mem::take(&mut self.callers).into_iter().zip(callers);
        for (caller, spoke) in waiting {
            if *spoke { caller.listen_to(&mut self.callers, &mut come) } else { self.callers.push(caller) }
        }
        let guests = guests.to_vec();
        if happened[0]
            && let Err(error) = self.accept(&mut come)
        {
            self.strangers.extend(come);
            return Err(error);
        }
        Ok((come, guests))
    }

    fn accept(&mut self, come: &mut Vec<Guest>) -> Result<(), Error> {
        for _ in 0..MOST_AT_ONCE {
            let stream = match accept_with(&self.listener, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
                Ok(stream) => Kept::new(stream),
                Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => break,
                Err(errno) => return Err(Error::system("accept another rank")(errno)),
            };
            // Only this user's ranks are ours: any other connection just closes.
            let Some(peer) = Peer::of(&stream).filter(|peer| peer.is_ours()) else { continue };
            if self.callers.len() == MOST_CALLERS {
                self.callers.remove(0);
            }
            let caller = Caller { stream, pid: peer.pid, inbox: Inbox::new(MOST_BYTES) };
            caller.listen_to(&mut self.callers, come);
        }
        Ok(())
    }
}

impl Caller {
    /// Hears who it is. It stays among the callers while it has not said it all, and goes if it says something else.
    fn listen_to(mut self, callers: &mut Vec<Self>, come: &mut Vec<Guest>) {
        match self.inbox.take(&self.stream) {
            Ok(Some((hello, _))) => {
                let Self { stream, pid, inbox } = self;
                come.push(Guest { stream, pid, inbox, hello, heap: None });
            }
            Ok(None) => callers.push(self),
            Err(_) => {}
        }
    }
}

impl Guest {
    /// Hears what it has to say.
    fn listen_to(&mut self, memory: &Memory, offer: &Offer) -> Result<(), Error> {
        let rank = self.hello.rank;
        let refused = |reason: String| Error::Refused { rank, reason };
        let failed = |error| if is_gone(&error) { Error::RankDied { rank } } else { refused(error.to_string()) };
        let said = self.inbox.take(&self.stream).map_err(failed)?;
        let Some((ready, fds)) = said else { return Ok(()) };
        if self.heap.is_some() {
            return Err(refused("it spoke when it was to wait for an answer".to_owned()));
        }
        match ready {
            Ready::Declines(reason) => Err(refused(reason)),
            Ready::Brings(theirs) => {
                theirs.compare(rank, memory)?;
                let heap = fds.into_iter().next();
                let sound = heap.filter(|heap| !offer.sealed || memory::is_sealed(heap, offer.heap_size));
                self.heap = Some(sound.ok_or_else(|| refused("its heap is not what it says".to_owned()))?);
                Ok(())
            }
        }
    }

    fn refuse(&self, error: &Error) {
        // One that is gone already needs no reason.
        let _ = send(&self.stream, &Answer::Refused(error.to_string()), &[], TELLS_IN);
    }
}

fn welcome(offer: Offer, mut guests: Vec<Guest>, deadline: Duration) -> Result<Session, Error> {
    let mut heaps = vec![offer.heap];
    heaps.extend(guests.iter_mut().filter_map(|guest| guest.heap.take()));
    let control = memory::create("symm-control", Control::bytes(heaps.len()))?;
    let all: Vec<_> = std::iter::once(&control).chain(&heaps).map(AsFd::as_fd).collect();
    for (index, guest) in guests.iter().enumerate() {
        match send(&guest.stream, &Answer::Welcome, &all, deadline) {
            // It has died; the others are told as of any death in the run, which has begun.
            Err(error) if is_gone(&error) => {}
            Err(error) => {
                let error = Error::io(format!("send rank {} everyone's memory", guest.hello.rank))(error);
                guests[index..].iter().for_each(|guest| guest.refuse(&error));
                return Err(error);
            }
            Ok(()) => {}
        }
    }
    let links = guests.into_iter().map(|guest| Link { rank: guest.hello.rank, stream: guest.stream }).collect();
    Ok(Session { control, heaps, links })
}

fn open(bootstrap: &Bootstrap) -> Result<Kept, Error> {
    let failed = || Error::system("listen for the other ranks");
    let address = address(bootstrap).map_err(failed())?;
    let mut patience = Patience::new(TELLS_IN);
    loop {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let listener = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).map_err(failed())?;
        match bind(&listener, &address).and_then(|()| listen(&listener, BACKLOG)) {
            Ok(()) => return Ok(Kept::new(listener)),
            Err(Errno::ADDRINUSE) => {}
            Err(errno) => return Err(failed()(errno)),
        }
        match dial(bootstrap) {
            // It has ended just now, or does not listen yet.
            Err(Errno::CONNREFUSED) if patience.pause(RETRY) => {}
            Err(Errno::CONNREFUSED) => return Err(failed()(Errno::ADDRINUSE)),
            other => return Err(taken(bootstrap, other)),
        }
    }
}

/// Who has this run's socket already.
fn taken(bootstrap: &Bootstrap, other: Result<(Kept, Peer), Errno>) -> Error {
    let refused = |reason: &str| Error::Refused { rank: 0, reason: reason.to_owned() };
    match other {
        Ok((_, peer)) if !peer.is_ours() => refused(FOREIGN),
        Ok((other, peer)) => {
            // So that it learns of two with its number. It does not when it has met the others already.
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

    /// A place in a run of three ranks that nobody else knows.
    fn place(rank: u32) -> Bootstrap {
        let get = |name: &str| match name {
            "RANK" => Some(rank.to_string()),
            "WORLD_SIZE" => Some("3".to_owned()),
            "TORCHELASTIC_RUN_ID" => Some(format!("door-{}", std::process::id())),
            _ => None,
        };
        Bootstrap::from_variables(get).unwrap()
    }

    #[test]
    fn who_comes_while_another_declines_is_told() {
        let offer = Offer {
            heap: memory::create("door", 4 << 20).unwrap(),
            heap_size: 4 << 20,
            trace: false,
            device: "cpu",
            sealed: true,
        };
        let mut door = Door::open(&place(0)).unwrap();
        let come = |rank| {
            let (stream, _) = dial(&place(rank)).unwrap();
            send(&stream, &Hello::new(&place(rank)), &[], TELLS_IN).unwrap();
            stream
        };
        let (hello, memory) = (Hello::new(&place(0)), Memory::of(&offer));
        let first = come(1);
        while door.guests[0].is_none() {
            door.step(&hello, &memory, &offer).unwrap();
        }
        send(&first, &Ready::Declines("no".to_owned()), &[], TELLS_IN).unwrap();
        let second = come(2);
        let error = door.step(&hello, &memory, &offer).unwrap_err();
        door.close(&place(0), &error);
        for guest in [first, second] {
            let (answer, _) = receive::<Answer>(&guest, MOST_BYTES, TELLS_IN).expect("an answer");
            assert!(matches!(answer, Answer::Refused(reason) if reason == "rank 1 could not join the run: no"));
        }
    }
}
