//! Ranks on several hosts that write into each other's [`Shared`] over TCP. Each has a connection to rank 0, which
//! hands on what it writes to the others. What kernels move never goes this way: it is the way of barriers of hosts, of
//! what ranks call, of faults and of reports.
//!
//! Calls never wait for the network: what a connection does not take at once, the thread that receives sends later.

use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};

use super::{Messages, Shared};
use crate::error::Error;
use crate::fork::{Kept, Origin};
use crate::futex;
use crate::lock::lock;
use crate::memory;
use crate::process;

/// Time between two looks for what is to be sent, or has arrived.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// How long the others may take to take their leave when a run has ended well: they all have come to its end.
const PARTS_IN: Duration = Duration::from_secs(5);
/// The most bytes that are read at once.
const PIECE: usize = 64 << 10;
/// What a message may be for, besides one rank.
const OTHERS: u32 = u32::MAX;
/// Where a message goes by which a rank takes its leave.
const NOWHERE: u32 = u32::MAX;
/// Bytes before those of a message.
const HEADER: usize = 12;

/// The way to the other ranks.
#[derive(Debug)]
struct Sockets {
    rank: u32,
    num_ranks: u32,
    /// Where [`Shared`] starts.
    shared: usize,
    /// On rank 0 one for each other rank, rank 1 first; on the others the one to rank 0.
    lines: Vec<Line>,
    /// Incremented when something has arrived; a futex.
    news: AtomicU32,
    /// The first rank that has ended before it took its leave.
    lost: AtomicU32,
    /// Whether this rank has taken its leave.
    parts: AtomicBool,
    /// Whether nothing is to be sent or received any more.
    over: AtomicBool,
    origin: Origin,
}

const NOBODY: u32 = u32::MAX;

/// A connection.
#[derive(Debug)]
struct Line {
    rank: u32,
    stream: Kept,
    /// What it has not taken yet.
    out: Mutex<Vec<u8>>,
    /// Whether the rank has taken its leave.
    parted: AtomicBool,
    closed: AtomicBool,
}

/// What has arrived over a connection.
#[derive(Debug, Default)]
struct Inbox {
    bytes: Vec<u8>,
    /// Bytes of the messages that are whole.
    whole: usize,
}

/// What comes before the bytes of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Header {
    /// A rank, or [`OTHERS`].
    to: u32,
    /// Bytes from the start of [`Shared`], or [`NOWHERE`].
    at: u32,
    /// How many follow.
    bytes: u32,
}

/// Starts to receive what the others send.
pub(super) fn start(
    rank: u32,
    num_ranks: u32,
    links: Vec<process::Link>,
) -> Result<(Arc<dyn Messages>, *mut Shared), Error> {
    let layout = Layout::new::<Shared>();
    // Others may write to it until the process ends, so it is never freed.
    // SAFETY: it has a size, and zeros are valid for atomics.
    let shared: *mut Shared = unsafe { alloc_zeroed(layout) }.cast();
    if shared.is_null() {
        handle_alloc_error(layout);
    }
    let line = |process::Link { rank, stream }| Line {
        rank,
        stream,
        out: Mutex::default(),
        parted: AtomicBool::new(false),
        closed: AtomicBool::new(false),
    };
    let sockets = Arc::new(Sockets {
        rank,
        num_ranks,
        shared: shared as usize,
        lines: links.into_iter().map(line).collect(),
        news: AtomicU32::new(0),
        lost: AtomicU32::new(NOBODY),
        parts: AtomicBool::new(false),
        over: AtomicBool::new(false),
        origin: Origin::here(),
    });
    let receives = Arc::clone(&sockets);
    let thread = thread::Builder::new().name("symm network".to_owned()).spawn(move || receives.receive());
    thread.map_err(Error::io("start a thread"))?;
    Ok((sockets, shared))
}

impl Messages for Sockets {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn num_ranks(&self) -> u32 {
        self.num_ranks
    }

    unsafe fn copy_to(&self, rank: u32, at: *mut u8, from: *const u8, bytes: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.copy(rank, at, from, bytes) };
    }

    unsafe fn store_to(&self, rank: u32, at: *mut u8, bytes: usize, value: u64) {
        self.write(rank, at, &value.to_le_bytes()[..bytes]);
    }

    unsafe fn copy_to_others(&self, at: *mut u8, from: *const u8, bytes: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.copy(OTHERS, at, from, bytes) };
    }

    unsafe fn store_to_others(&self, at: *mut u8, bytes: usize, value: u64) {
        self.write(OTHERS, at, &value.to_le_bytes()[..bytes]);
    }

    fn news(&self) -> u32 {
        self.news.load(Ordering::Acquire)
    }

    fn sleep(&self, news: u32) {
        futex::sleep(&self.news, news, Some(LOOK_EVERY));
    }

    fn lost(&self) -> Option<u32> {
        Some(self.lost.load(Ordering::Acquire)).filter(|rank| *rank != NOBODY)
    }

    fn part(&self) {
        if self.origin.is_a_parent() || self.parts.swap(true, Ordering::AcqRel) {
            return;
        }
        let header = Header { to: OTHERS, at: NOWHERE, bytes: 0 };
        self.lines.iter().for_each(|line| line.send(header, &[]));
        let end = Instant::now() + PARTS_IN;
        while !self.over.load(Ordering::Acquire) && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Sockets {
    /// # Safety
    /// As [`Messages::copy_to`].
    unsafe fn copy(&self, to: u32, at: *mut u8, from: *const u8, bytes: usize) {
        let mut copied = vec![0; bytes];
        // SAFETY: the caller's promise; others may write there.
        unsafe { memory::read_shared(copied.as_mut_ptr(), from, bytes) };
        self.write(to, at, &copied);
    }

    fn write(&self, to: u32, at: *mut u8, bytes: &[u8]) {
        if self.origin.is_a_parent() {
            return;
        }
        let offset = at as usize - self.shared;
        debug_assert!(offset + bytes.len() <= size_of::<Shared>());
        let header = Header { to, at: offset as u32, bytes: bytes.len() as u32 };
        self.lines.iter().filter(|line| self.is_way(line, to)).for_each(|line| line.send(header, bytes));
    }

    /// Whether what is for `to` goes over this connection: from rank 0 over that rank's, else over the only one.
    fn is_way(&self, line: &Line, to: u32) -> bool {
        self.rank != 0 || to == OTHERS || to == line.rank
    }

    /// Receives until all have taken their leave, or are gone.
    fn receive(&self) {
        let mut inboxes: Vec<Inbox> = self.lines.iter().map(|_| Inbox::default()).collect();
        let timeout = Timespec::try_from(LOOK_EVERY).expect("a short time");
        while !self.has_ended() {
            let open: Vec<usize> = (0..self.lines.len()).filter(|index| self.lines[*index].is_open()).collect();
            let polled = |index: &usize| {
                let line = &self.lines[*index];
                let more = if lock(&line.out).is_empty() { PollFlags::empty() } else { PollFlags::OUT };
                PollFd::new(&line.stream, PollFlags::IN | more)
            };
            let mut ready: Vec<_> = open.iter().map(polled).collect();
            if poll(&mut ready, Some(&timeout)).is_err() {
                continue;
            }
            let happened = open.iter().zip(ready.iter().map(PollFd::revents));
            let speak = happened.filter(|(_, events)| !(*events - PollFlags::OUT).is_empty()).map(|(index, _)| *index);
            let speak: Vec<usize> = speak.collect();
            let ended: Vec<usize> =
                speak.iter().copied().filter(|index| !self.hear(&self.lines[*index], &mut inboxes[*index])).collect();
            // What has come from all goes to each at once, and before this rank acts upon it.
            self.lines.iter().for_each(|line| line.flush(lock(&line.out)));
            for index in speak {
                let inbox = &mut inboxes[index];
                inbox.messages().for_each(|(header, bytes)| self.take(&self.lines[index], header, bytes));
                inbox.forget();
            }
            for index in ended {
                self.close(&self.lines[index]);
            }
            self.news.fetch_add(1, Ordering::Release);
            futex::wake(&self.news);
        }
        self.over.store(true, Ordering::Release);
    }

    /// Whether nothing is to be done any more: rank 0 stays until all others have taken their leave.
    fn has_ended(&self) -> bool {
        let is_done = |line: &Line| {
            let waits = self.rank == 0 && !line.parted.load(Ordering::Acquire);
            !line.is_open() || (self.parts.load(Ordering::Acquire) && !waits && lock(&line.out).is_empty())
        };
        self.lines.iter().all(is_done)
    }

    /// Reads what has arrived, and hands it on; false when the connection has ended, or brings what no rank sends.
    fn hear(&self, line: &Line, inbox: &mut Inbox) -> bool {
        let have = inbox.bytes.len();
        inbox.bytes.resize(have + PIECE, 0);
        let got = recv(&line.stream, &mut inbox.bytes[have..], RecvFlags::DONTWAIT);
        inbox.bytes.truncate(have + got.as_ref().map_or(0, |(_, bytes)| *bytes));
        match got {
            Ok((_, 0)) => return false,
            Ok(_) => {}
            Err(errno) => return matches!(errno, Errno::AGAIN | Errno::INTR),
        }
        while let Some(header) = Header::of(&inbox.bytes[inbox.whole..]) {
            if !header.is_sound(self) {
                return false;
            }
            let (start, end) = (inbox.whole + HEADER, inbox.whole + HEADER + header.bytes as usize);
            let Some(bytes) = inbox.bytes.get(start..end) else { break };
            if self.rank == 0 && header.at != NOWHERE {
                let next = self.lines.iter().filter(|next| next.rank != line.rank && self.is_way(next, header.to));
                next.for_each(|line| line.keep(header, bytes));
            }
            inbox.whole = end;
        }
        true
    }

    /// Takes a message.
    fn take(&self, from: &Line, header: Header, bytes: &[u8]) {
        if header.at == NOWHERE {
            from.parted.store(true, Ordering::Release);
            return;
        }
        if header.to != OTHERS && header.to != self.rank {
            return;
        }
        let at = (self.shared + header.at as usize) as *mut u8;
        // SAFETY: inside of what is shared, which is atomics; a value of 4 or 8 bytes is stored at once, after what
        // came before it.
        unsafe {
            match bytes.len() {
                8 if at.addr().is_multiple_of(8) => {
                    let value = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
                    AtomicU64::from_ptr(at.cast()).store(value, Ordering::Release);
                }
                4 if at.addr().is_multiple_of(4) => {
                    let value = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
                    AtomicU32::from_ptr(at.cast()).store(value, Ordering::Release);
                }
                _ => memory::write_shared(at, bytes.as_ptr(), bytes.len()),
            }
        }
    }

    /// The other end is gone, or is no rank any more.
    fn close(&self, line: &Line) {
        line.closed.store(true, Ordering::Release);
        // It may be gone already.
        let _ = shutdown(&line.stream, Shutdown::Both);
        if !line.parted.load(Ordering::Acquire) {
            let _ = self.lost.compare_exchange(NOBODY, line.rank, Ordering::AcqRel, Ordering::Relaxed);
        }
    }
}

impl Line {
    fn is_open(&self) -> bool {
        !self.closed.load(Ordering::Acquire)
    }

    fn send(&self, header: Header, bytes: &[u8]) {
        self.keep(header, bytes);
        self.flush(lock(&self.out));
    }

    /// Adds a message to what is to be sent.
    fn keep(&self, header: Header, bytes: &[u8]) {
        if !self.is_open() {
            return;
        }
        let mut out = lock(&self.out);
        for word in [header.to, header.at, header.bytes] {
            out.extend(word.to_le_bytes());
        }
        out.extend(bytes);
    }

    /// Sends as much as the connection takes.
    fn flush(&self, mut out: MutexGuard<'_, Vec<u8>>) {
        let mut sent = 0;
        while sent < out.len() {
            match send(&self.stream, &out[sent..], SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(bytes) => sent += bytes,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                // Whoever receives learns that it has ended.
                Err(_) => sent = out.len(),
            }
        }
        out.drain(..sent);
    }
}

impl Inbox {
    /// The messages that have arrived whole, which are sound.
    fn messages(&self) -> impl Iterator<Item = (Header, &[u8])> {
        let mut rest = &self.bytes[..self.whole];
        std::iter::from_fn(move || {
            let header = Header::of(rest)?;
            let (bytes, after) = rest[HEADER..].split_at(header.bytes as usize);
            rest = after;
            Some((header, bytes))
        })
    }

    /// Forgets them.
    fn forget(&mut self) {
        self.bytes.drain(..self.whole);
        self.whole = 0;
    }
}

impl Header {
    fn of(bytes: &[u8]) -> Option<Self> {
        let mut words = bytes.get(..HEADER)?.chunks_exact(4);
        let mut word = || Some(u32::from_le_bytes(words.next()?.try_into().ok()?));
        Some(Self { to: word()?, at: word()?, bytes: word()? })
    }

    /// Whether a rank of the run sends such a message.
    fn is_sound(self, sockets: &Sockets) -> bool {
        let Self { to, at, bytes } = self;
        let whom = to == OTHERS || to < sockets.num_ranks;
        let fits = u64::from(at) + u64::from(bytes) <= size_of::<Shared>() as u64;
        whom && (fits || (at == NOWHERE && bytes == 0))
    }
}
