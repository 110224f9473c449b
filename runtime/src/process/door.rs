//! Rank 0 while the ranks meet: who has come, who is ready, who has died, and what is wrong.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::environment::Bootstrap;
use super::message::{receive, send};
use super::rendezvous::{GRACE, LATECOMERS, Link, MOST_BYTES, Offer, RETRY, Session, address, peer};
use super::state;
use super::terms::{Answer, Hello, Memory, Ready};
use crate::control::Control;
use crate::error::Error;
use crate::interrupt;
use crate::memory;

/// How long rank 0 stays after a death, likewise: those who have come are told at once.
pub(super) const MOURNS: Duration = Duration::from_millis(500);

/// Where the other ranks come in.
#[derive(Debug)]
pub(super) struct Door {
    listener: UnixListener,
    /// Greetings are read on a thread each: a silent connection must not hold up the others.
    arrivals: Receiver<Guest>,
    arrive: Sender<Guest>,
    /// Those who have come, rank 1 first.
    guests: Vec<Option<Guest>>,
    /// Those who have come and do not belong here.
    strangers: Vec<Guest>,
}

/// A process that has introduced itself to rank 0.
#[derive(Debug)]
struct Guest {
    stream: UnixStream,
    pid: i32,
    hello: Hello,
    /// Once it is ready.
    heap: Option<OwnedFd>,
}

impl Door {
    pub(super) fn open(bootstrap: &Bootstrap) -> Result<Self, Error> {
        let listener = listen(bootstrap)?;
        let (arrive, arrivals) = mpsc::channel();
        let guests = (1..bootstrap.num_ranks).map(|_| None).collect();
        Ok(Self { listener, arrivals, arrive, guests, strangers: Vec::new() })
    }

    /// Waits until all ranks are ready, and gives each everyone's memory.
    pub(super) fn gather(mut self, bootstrap: &Bootstrap, offer: Offer) -> Result<Session, Error> {
        let (hello, memory) = (Hello::new(bootstrap), Memory::of(&offer));
        let end = Instant::now() + bootstrap.deadline;
        while self.guests.iter().flatten().filter(|guest| guest.heap.is_some()).count() < self.guests.len() {
            let late = Instant::now() >= end;
            let step = if late { Err(self.late(bootstrap.deadline)) } else { self.step(&hello, &memory, &offer) };
            let step = step.and_then(|()| interrupt::check());
            if let Err(error) = step {
                self.close(bootstrap, &error);
                return Err(error);
            }
        }
        welcome(offer, self.guests.into_iter().flatten())
    }

    /// Tells all ranks why there is no run, also those that come a little later: with rank 0 gone they would wait for
    /// it until their deadline.
    pub(super) fn close(mut self, bootstrap: &Bootstrap, error: &Error) {
        let stays = match error {
            Error::RanksAbsent { .. } | Error::Silent { .. } | Error::Interrupted { .. } => Duration::ZERO,
            Error::RankDied { .. } => MOURNS,
            _ => LATECOMERS,
        };
        let end = Instant::now() + stays.min(bootstrap.deadline);
        let mut others = self.guests.len();
        let mut told = 0;
        let mut known: Vec<_> = self.guests.drain(..).flatten().chain(self.strangers.drain(..)).collect();
        loop {
            for guest in known.drain(..) {
                // One that is gone already needs no reason.
                let _ = send(&guest.stream, &Answer::Refused(error.to_string()), &[]);
                // Processes are counted, not their ranks: of two with the same number, one was meant to be another.
                told += 1;
                others = others.max(guest.hello.num_ranks.saturating_sub(1) as usize);
            }
            if told >= others || Instant::now() >= end || self.wait().is_err() {
                return;
            }
            known.extend(self.arrivals.try_iter());
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
        while let Ok(guest) = self.arrivals.try_recv() {
            if guest.hello.died {
                let rank = guest.hello.rank;
                // One that has come tells it by its connection, after what it had to say.
                if rank.checked_sub(1).and_then(|seat| self.guests.get(seat as usize)).is_some_and(Option::is_none) {
                    self.strangers.push(guest);
                    return Err(Error::RankDied { rank });
                }
                continue;
            }
            // Of two ranks 0 it says nothing more that they are of different runs.
            let belongs = if guest.hello.rank == 0 { Ok(()) } else { guest.hello.compare(hello) };
            let seat = match belongs.and_then(|()| seat(&mut self.guests, &guest)) {
                Ok(seat) => seat,
                Err(error) => {
                    self.strangers.push(guest);
                    return Err(error);
                }
            };
            *seat = Some(guest);
        }
        let spoke = self.wait()?;
        for guest in self.guests.iter_mut().flatten().zip(spoke).filter(|(_, spoke)| *spoke).map(|(guest, _)| guest) {
            guest.listen_to(memory, offer)?;
        }
        Ok(())
    }

    /// Lets in who comes within a short time; which of the guests have something to say, or are gone.
    fn wait(&mut self) -> Result<Vec<bool>, Error> {
        let present = self.guests.iter().flatten().map(|guest| PollFd::new(&guest.stream, PollFlags::IN));
        let mut ready: Vec<_> = std::iter::once(PollFd::new(&self.listener, PollFlags::IN)).chain(present).collect();
        let timeout = Timespec::try_from(RETRY).expect("a short time");
        match poll(&mut ready, Some(&timeout)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(Vec::new()),
            Ok(_) => {}
            Err(errno) => return Err(Error::system("wait for the other ranks")(errno)),
        }
        let mut happened = ready.iter().map(|fd| !fd.revents().is_empty());
        if happened.next() == Some(true) {
            let (stream, _) = self.listener.accept().map_err(Error::io("accept another rank"))?;
            let arrive = self.arrive.clone();
            let greet = move || {
                // Whoever is not one of this user's ranks is none of ours: the connection just closes.
                if let Some(guest) = greet(stream) {
                    let _ = arrive.send(guest);
                }
            };
            thread::Builder::new().spawn(greet).map_err(Error::io("start a thread that greets a rank"))?;
        }
        Ok(happened.collect())
    }
}

impl Guest {
    /// Reads what it has to say.
    fn listen_to(&mut self, memory: &Memory, offer: &Offer) -> Result<(), Error> {
        let rank = self.hello.rank;
        let refused = |reason: String| Error::Refused { rank, reason };
        if self.heap.is_some() {
            // Nothing more is to be said before the answer.
            return Err(Error::RankDied { rank });
        }
        let (ready, fds) = receive(&self.stream, MOST_BYTES).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => refused(error.to_string()),
            _ => Error::RankDied { rank },
        })?;
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
}

/// The place of a guest that belongs to this run.
fn seat<'a>(guests: &'a mut [Option<Guest>], guest: &Guest) -> Result<&'a mut Option<Guest>, Error> {
    let rank = guest.hello.rank;
    let duplicate = |first| Error::DuplicateRank { rank, first, second: guest.pid };
    match rank.checked_sub(1).and_then(|seat| guests.get_mut(seat as usize)) {
        None => Err(duplicate(std::process::id().cast_signed())),
        Some(Some(sitting)) => Err(duplicate(sitting.pid)),
        Some(seat) => Ok(seat),
    }
}

fn welcome(offer: Offer, guests: impl Iterator<Item = Guest>) -> Result<Session, Error> {
    let (mut heaps, mut links) = (vec![offer.heap], Vec::new());
    for guest in guests {
        heaps.extend(guest.heap);
        links.push(Link { rank: guest.hello.rank, stream: guest.stream });
    }
    let control = memory::create("symm-control", Control::bytes(heaps.len()))?;
    let all: Vec<_> = std::iter::once(&control).chain(&heaps).map(AsFd::as_fd).collect();
    for link in &links {
        match send(&link.stream, &Answer::Welcome, &all) {
            // It has died; the others are told as of any death in the run, which has begun.
            Err(error) if matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) => {}
            sent => sent.map_err(Error::io(format!("send rank {} everyone's memory", link.rank)))?,
        }
    }
    Ok(Session { control, heaps, links })
}

fn listen(bootstrap: &Bootstrap) -> Result<UnixListener, Error> {
    let address = address(bootstrap)?;
    UnixListener::bind_addr(&address).map_err(|source| {
        let other = UnixStream::connect_addr(&address).ok();
        match other.and_then(|other| peer(&other).map(|(_, first)| (other, first))) {
            Some((other, first)) => {
                // So that it learns of two with its number. It does not when it has met the others already.
                let _ = send(&other, &Hello::new(bootstrap), &[]);
                Error::DuplicateRank { rank: 0, first, second: std::process::id().cast_signed() }
            }
            None => Error::io("listen for the other ranks")(source),
        }
    })
}

fn greet(stream: UnixStream) -> Option<Guest> {
    let (user, pid) = peer(&stream)?;
    if user != rustix::process::geteuid().as_raw() {
        return None;
    }
    stream.set_read_timeout(Some(GRACE)).ok()?;
    let (hello, _) = receive::<Hello>(&stream, MOST_BYTES).ok()?;
    Some(Guest { stream, pid, hello, heap: None })
}
