//! How processes find each other: rank 0 listens, the others connect, everyone gets everyone's memory.

use std::fmt::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::{Deserialize, Serialize};

use super::environment::Bootstrap;
use super::message::{receive, send};
use crate::control::Control;
use crate::error::Error;
use crate::memory;

/// Grows whenever the messages or the control memory change.
const VERSION: u32 = 3;
/// Bytes of the largest greeting or answer.
const MOST_BYTES: u64 = 1 << 20;
/// Time between two attempts to connect, and between two looks at the deadline.
const RETRY: Duration = Duration::from_millis(10);
/// Time beyond the deadline for rank 0 to say what is wrong.
const GRACE: Duration = Duration::from_secs(5);

/// How long rank 0 stays after a refusal, for those who have not come yet.
const LATECOMERS: Duration = Duration::from_secs(5);

/// What this rank brings to the run.
#[derive(Debug)]
pub(crate) struct Offer {
    pub(crate) heap: OwnedFd,
    pub(crate) heap_size: u64,
    pub(crate) trace: bool,
    /// What the ranks run on.
    pub(crate) device: &'static str,
    /// Whether heaps are memfds of that size, sealed.
    pub(crate) sealed: bool,
}

/// Everyone's memory, and the connections that tell who is alive.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) control: OwnedFd,
    /// In the order of ranks.
    pub(crate) heaps: Vec<OwnedFd>,
    pub(crate) links: Vec<Link>,
}

/// A connection: rank 0 has one to each other rank, those have one to rank 0.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) rank: u32,
    pub(crate) stream: UnixStream,
}

/// What a rank says about itself. Fields that another version lacks are 0: the version is compared first.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Hello {
    version: u32,
    rank: u32,
    num_ranks: u32,
    heap_size: u64,
    trace: bool,
    device: String,
    fingerprint: Vec<u8>,
    /// Why this rank cannot take part, if so.
    declines: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    /// The control memory and all heaps come along.
    Welcome,
    Refused(String),
}

impl Hello {
    fn new(bootstrap: &Bootstrap, offer: &Offer) -> Self {
        Self {
            version: VERSION,
            rank: bootstrap.rank,
            num_ranks: bootstrap.num_ranks,
            heap_size: offer.heap_size,
            trace: offer.trace,
            device: offer.device.to_owned(),
            fingerprint: bootstrap.fingerprint.clone(),
            declines: None,
        }
    }

    /// What two ranks of one run have to agree on, by name.
    fn terms(&self) -> [(&'static str, String); 6] {
        let mut program = String::new();
        for byte in &self.fingerprint {
            write!(program, "{byte:02x}").expect("writing to a String");
        }
        [
            ("the version of symm's bootstrap", self.version.to_string()),
            ("the number of ranks", self.num_ranks.to_string()),
            ("the heap's size", self.heap_size.to_string()),
            ("whether to trace", self.trace.to_string()),
            ("the driver", self.device.clone()),
            ("the program", program),
        ]
    }

    fn compare(&self, ours: &Self) -> Result<(), Error> {
        for ((what, theirs), (_, mine)) in self.terms().into_iter().zip(ours.terms()) {
            if theirs != mine {
                return Err(Error::RunMismatch { rank: self.rank, other: ours.rank, what, theirs, ours: mine });
            }
        }
        Ok(())
    }
}

/// Meets the other ranks and returns when all have come.
pub(crate) fn join(bootstrap: &Bootstrap, offer: Offer) -> Result<Session, Error> {
    if bootstrap.rank == 0 { host(bootstrap, offer) } else { connect(bootstrap, &offer) }
}

impl Bootstrap {
    /// Tells the other ranks why this one cannot take part, so that they do not wait for it: for whoever finds that out
    /// before it joins. [`crate::run`] does so by itself. Takes at most 5 seconds.
    pub fn decline(&self, reason: &str) {
        // Nothing is lost when that fails: this rank reports its error, and the others their deadline.
        let _ = try_to_decline(self, reason);
    }
}

fn try_to_decline(bootstrap: &Bootstrap, reason: &str) -> Result<(), Error> {
    // The reason of another rank's refusal says so already.
    let known = format!("rank {} could not join the run: ", bootstrap.rank);
    let reason = reason.strip_prefix(&known).unwrap_or(reason).to_owned();
    if bootstrap.rank == 0 {
        let error = Error::Refused { rank: 0, reason };
        Door::open(bootstrap)?.refuse_all(std::iter::empty(), bootstrap.num_ranks as usize - 1, &error);
        return Ok(());
    }
    let stream = reach(bootstrap, Instant::now() + bootstrap.deadline.min(LATECOMERS))?;
    let (version, rank, num_ranks) = (VERSION, bootstrap.rank, bootstrap.num_ranks);
    let hello = Hello { version, rank, num_ranks, declines: Some(reason), ..Hello::default() };
    // A greeting has a heap beside it.
    let heap = memory::create("symm-heap", 1)?;
    send(&stream, &hello, &[heap.as_fd()]).map_err(Error::io("decline"))
}

/// A process that has introduced itself to rank 0.
struct Guest {
    stream: UnixStream,
    pid: i32,
    hello: Hello,
    heap: OwnedFd,
}

fn host(bootstrap: &Bootstrap, offer: Offer) -> Result<Session, Error> {
    let mut door = Door::open(bootstrap)?;
    let ours = Hello::new(bootstrap, &offer);
    let mut guests: Vec<Option<Guest>> = (1..bootstrap.num_ranks).map(|_| None).collect();
    while guests.iter().any(Option::is_none) {
        let (error, refused) = if Instant::now() >= door.end {
            let absent = |guest: &Option<Guest>| guest.is_none();
            let ranks = (1..).zip(&guests).filter(|(_, guest)| absent(guest)).map(|(rank, _)| rank).collect();
            (Error::RanksAbsent { ranks, deadline: bootstrap.deadline }, None)
        } else {
            match door.next() {
                Ok(None) => continue,
                Ok(Some(guest)) => match seat(&mut guests, &guest, &ours, offer.sealed) {
                    Ok(seat) => {
                        *seat = Some(guest);
                        continue;
                    }
                    Err(error) => (error, Some(guest)),
                },
                Err(error) => (error, None),
            }
        };
        door.refuse_all(guests.iter().flatten().chain(&refused), guests.len(), &error);
        return Err(error);
    }
    drop(door);
    welcome(offer, guests.into_iter().flatten().collect())
}

/// Where the other ranks come in.
struct Door {
    listener: UnixListener,
    end: Instant,
    /// Greetings are read on a thread each: a silent connection must not hold up the others.
    arrivals: Receiver<Guest>,
    arrive: Sender<Guest>,
}

impl Door {
    fn open(bootstrap: &Bootstrap) -> Result<Self, Error> {
        let listener = listen(bootstrap)?;
        let (arrive, arrivals) = mpsc::channel();
        Ok(Self { listener, end: Instant::now() + bootstrap.deadline, arrivals, arrive })
    }

    /// Whoever has introduced itself, if anyone has within a short time.
    fn next(&mut self) -> Result<Option<Guest>, Error> {
        if let Ok(guest) = self.arrivals.try_recv() {
            return Ok(Some(guest));
        }
        let mut ready = [PollFd::new(&self.listener, PollFlags::IN)];
        let timeout = Timespec::try_from(RETRY).expect("a short time");
        match poll(&mut ready, Some(&timeout)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(None),
            Ok(_) => {}
            Err(errno) => return Err(Error::system("wait for the other ranks")(errno)),
        }
        let (stream, _) = self.listener.accept().map_err(Error::io("accept another rank"))?;
        let arrive = self.arrive.clone();
        thread::spawn(move || {
            // Whoever is not one of this user's ranks is none of ours: the connection just closes.
            if let Some(guest) = greet(stream) {
                let _ = arrive.send(guest);
            }
        });
        Ok(None)
    }

    /// Tells all ranks why there is no run, also those that come a little later: with rank 0 gone they would wait for
    /// it until their deadline.
    fn refuse_all<'a>(&mut self, guests: impl Iterator<Item = &'a Guest>, others: usize, error: &Error) {
        let mut told = guests.map(|guest| refuse(guest, error)).count();
        let end = self.end.min(Instant::now() + LATECOMERS);
        // Processes are counted, not their ranks: of two with the same number, one was meant to be another.
        while told < others && Instant::now() < end {
            match self.next() {
                Ok(Some(guest)) => {
                    refuse(&guest, error);
                    told += 1;
                }
                Ok(None) => {}
                Err(_) => return,
            }
        }
    }
}

fn refuse(guest: &Guest, error: &Error) {
    // One that is gone already needs no reason.
    let _ = send(&guest.stream, &Answer::Refused(error.to_string()), &[]);
}

fn listen(bootstrap: &Bootstrap) -> Result<UnixListener, Error> {
    let address = address(bootstrap)?;
    UnixListener::bind_addr(&address).map_err(|source| {
        let other = UnixStream::connect_addr(&address).ok().and_then(|stream| peer(&stream));
        match other {
            Some((_, first)) => Error::DuplicateRank { rank: 0, first, second: std::process::id().cast_signed() },
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
    let (hello, fds) = receive::<Hello>(&stream, MOST_BYTES).ok()?;
    let heap = fds.into_iter().next()?;
    Some(Guest { stream, pid, hello, heap })
}

/// User and process at the other end.
fn peer(stream: &UnixStream) -> Option<(u32, i32)> {
    let peer = rustix::net::sockopt::socket_peercred(stream).ok()?;
    Some((peer.uid.as_raw(), peer.pid.as_raw_nonzero().get()))
}

/// The place of a guest that belongs to this run.
fn seat<'a>(
    guests: &'a mut [Option<Guest>],
    guest: &Guest,
    ours: &Hello,
    sealed: bool,
) -> Result<&'a mut Option<Guest>, Error> {
    let rank = guest.hello.rank;
    if let Some(reason) = &guest.hello.declines {
        return Err(Error::Refused { rank, reason: reason.clone() });
    }
    guest.hello.compare(ours)?;
    let seat = rank.checked_sub(1).and_then(|seat| guests.get_mut(seat as usize));
    let duplicate = |first| Error::DuplicateRank { rank, first, second: guest.pid };
    match seat {
        None => Err(duplicate(std::process::id().cast_signed())),
        Some(Some(sitting)) => Err(duplicate(sitting.pid)),
        Some(_) if sealed && !memory::is_sealed(&guest.heap, ours.heap_size) => {
            Err(Error::Refused { rank, reason: "its heap is not what it says".to_owned() })
        }
        Some(seat) => Ok(seat),
    }
}

fn welcome(offer: Offer, guests: Vec<Guest>) -> Result<Session, Error> {
    let control = memory::create("symm-control", Control::bytes(guests.len() + 1))?;
    let (mut heaps, mut links) = (vec![offer.heap], Vec::new());
    for (rank, guest) in (1..).zip(guests) {
        heaps.push(guest.heap);
        links.push(Link { rank, stream: guest.stream });
    }
    let all: Vec<_> = std::iter::once(&control).chain(&heaps).map(AsFd::as_fd).collect();
    for link in &links {
        send(&link.stream, &Answer::Welcome, &all).map_err(|_| Error::RankDied { rank: link.rank })?;
    }
    Ok(Session { control, heaps, links })
}

fn connect(bootstrap: &Bootstrap, offer: &Offer) -> Result<Session, Error> {
    let refused = |reason: String| Error::Refused { rank: bootstrap.rank, reason };
    let end = Instant::now() + bootstrap.deadline;
    let stream = reach(bootstrap, end)?;
    let host = peer(&stream).map(|(user, _)| user);
    if host != Some(rustix::process::geteuid().as_raw()) {
        return Err(refused("another user listens on this run's socket; choose another MASTER_PORT".to_owned()));
    }
    let left = end.saturating_duration_since(Instant::now()) + GRACE;
    let lost = |_| refused("rank 0 died or closed the connection; its own output says why".to_owned());
    stream.set_read_timeout(Some(left)).map_err(Error::io("set a deadline"))?;
    send(&stream, &Hello::new(bootstrap, offer), &[offer.heap.as_fd()]).map_err(lost)?;
    match receive(&stream, MOST_BYTES).map_err(lost)? {
        (Answer::Refused(reason), _) => Err(refused(reason)),
        (Answer::Welcome, fds) => {
            let mut fds = fds.into_iter();
            let control = fds.next().ok_or_else(|| refused("rank 0 sent no memory".to_owned()))?;
            let heaps: Vec<OwnedFd> = fds.collect();
            let ranks = bootstrap.num_ranks as usize;
            let whole = |heap| !offer.sealed || memory::is_sealed(heap, offer.heap_size);
            let sound = heaps.len() == ranks && heaps.iter().all(whole);
            if !sound || !memory::is_sealed(&control, Control::bytes(ranks)) {
                return Err(refused("rank 0 sent other memory than promised".to_owned()));
            }
            Ok(Session { control, heaps, links: vec![Link { rank: 0, stream }] })
        }
    }
}

/// A connection to rank 0, which may not be there yet.
fn reach(bootstrap: &Bootstrap, end: Instant) -> Result<UnixStream, Error> {
    let address = address(bootstrap)?;
    loop {
        match UnixStream::connect_addr(&address) {
            Ok(stream) => return Ok(stream),
            Err(_) if Instant::now() < end => thread::sleep(RETRY),
            Err(_) => return Err(Error::RanksAbsent { ranks: vec![0], deadline: bootstrap.deadline }),
        }
    }
}

fn address(bootstrap: &Bootstrap) -> Result<SocketAddr, Error> {
    SocketAddr::from_abstract_name(&bootstrap.socket).map_err(Error::io("name the socket of this run"))
}
