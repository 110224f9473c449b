//! Messages between processes: a magic word, a length, JSON, and file descriptors beside them.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::timer::Timer;
use symm_abi::heap::MAX_RANKS;

/// What every message starts with.
const MAGIC: [u8; 8] = *b"symm-msg";
/// Bytes of a message before its JSON: the magic word and the length.
const HEADER: usize = 16;
/// Most file descriptors of a message: a heap for each rank and the control memory.
const MOST_FDS: usize = MAX_RANKS as usize + 1;
/// Most bytes that are read at once.
const PIECE: u64 = 1 << 20;
/// Time until another attempt, when the user has the most descriptors in flight that the system allows.
const AGAIN: Duration = Duration::from_millis(2);

/// Sends `body` and `fds`; the other end must take them within this time.
pub(super) fn send(stream: impl AsFd, body: &impl Serialize, fds: &[BorrowedFd<'_>], time: Duration) -> io::Result<()> {
    let mut message = [MAGIC.as_slice(), &[0; 8]].concat();
    serde_json::to_writer(&mut message, body)?;
    let length = (message.len() - HEADER) as u64;
    message[8..HEADER].copy_from_slice(&length.to_le_bytes());
    let (mut timer, mut rest, mut fds) = (Timer::new(time), message.as_slice(), fds);
    while !rest.is_empty() {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FDS))];
        let mut beside = SendAncillaryBuffer::new(&mut space);
        if !fds.is_empty() && !beside.push(SendAncillaryMessage::ScmRights(fds)) {
            return Err(io::Error::other("more file descriptors than a message holds"));
        }
        // Without it, SIGPIPE would end a process that is not Rust's when the other end closes.
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        let in_time = match sendmsg(&stream, &[IoSlice::new(rest)], &mut beside, flags) {
            Ok(sent) => {
                (rest, fds) = (&rest[sent..], &[]);
                true
            }
            Err(Errno::INTR) => true,
            Err(Errno::AGAIN) => timer.wait_for(&stream, PollFlags::OUT)?,
            // The receivers take theirs meanwhile. Root is exempt from this limit.
            Err(Errno::TOOMANYREFS) => timer.pause(AGAIN).then_some(true).ok_or(Errno::TOOMANYREFS)?,
            Err(errno) => return Err(errno.into()),
        };
        if !in_time {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
    Ok(())
}

/// Receives a message of at most `most` bytes within a time. Anything else is [`io::ErrorKind::InvalidData`].
pub(super) fn receive<T: DeserializeOwned>(
    stream: impl AsFd,
    most: u64,
    time: Duration,
) -> io::Result<(T, Vec<OwnedFd>)> {
    let (mut timer, mut inbox) = (Timer::new(time), Inbox::new(most));
    loop {
        if let Some(message) = inbox.take(&stream)? {
            return Ok(message);
        }
        if !timer.wait_for(&stream, PollFlags::IN)? {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
}

/// The part of a message that has arrived so far.
#[derive(Debug)]
pub(super) struct Inbox {
    most: u64,
    bytes: Vec<u8>,
    fds: Vec<OwnedFd>,
}

impl Inbox {
    /// For messages of at most this many bytes.
    pub(super) fn new(most: u64) -> Self {
        Self { most, bytes: Vec::new(), fds: Vec::new() }
    }

    /// Reads what has arrived, and no more than the message; `None` while it is incomplete. Never waits.
    pub(super) fn take<T: DeserializeOwned>(&mut self, stream: impl AsFd) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
        loop {
            let end = self.end()?;
            if end == Some(self.bytes.len() as u64) {
                let body = serde_json::from_slice(&std::mem::take(&mut self.bytes)[HEADER..])?;
                return Ok(Some((body, std::mem::take(&mut self.fds))));
            }
            match self.read(&stream, end.unwrap_or(HEADER as u64)) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    /// The size of the whole message, once its header has arrived.
    fn end(&self) -> io::Result<Option<u64>> {
        let known = self.bytes.len().min(MAGIC.len());
        if self.bytes[..known] != MAGIC[..known] {
            return Err(invalid("not a message of symm"));
        }
        let Some(length) = self.bytes.get(MAGIC.len()..HEADER) else { return Ok(None) };
        let length = u64::from_le_bytes(length.try_into().expect("eight bytes"));
        if length > self.most {
            return Err(invalid("not a message of symm, or one that is too long"));
        }
        Ok(Some(HEADER as u64 + length))
    }

    /// Reads up to the byte `end`; returns how many arrived.
    fn read(&mut self, stream: impl AsFd, end: u64) -> io::Result<usize> {
        let have = self.bytes.len();
        self.bytes.resize(have + (end - have as u64).min(PIECE) as usize, 0);
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FDS))];
        let mut beside = RecvAncillaryBuffer::new(&mut space);
        let into = &mut [IoSliceMut::new(&mut self.bytes[have..])];
        let got = recvmsg(stream, into, &mut beside, RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT);
        self.bytes.truncate(have + got.as_ref().map_or(0, |got| got.bytes));
        let got = got?;
        for message in beside.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                self.fds.extend(rights);
            }
        }
        if got.flags.contains(ReturnFlags::CTRUNC) || self.fds.len() > MOST_FDS {
            return Err(invalid("file descriptors were lost; raise the limit on open files"));
        }
        Ok(got.bytes)
    }
}

/// Whether something else than a message of a rank was received.
pub(super) fn is_unknown(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidData
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::memory;

    /// Long enough for a busy machine.
    const SOON: Duration = Duration::from_secs(20);

    fn heard(stream: &UnixStream) -> io::Result<(String, Vec<OwnedFd>)> {
        receive(stream, 100, SOON)
    }

    #[test]
    fn text_and_descriptors_arrive() {
        let (a, b) = UnixStream::pair().unwrap();
        let fds: Vec<_> = (0..MOST_FDS).map(|i| memory::create("test", 4096 * (i as u64 + 1)).unwrap()).collect();
        let borrowed: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
        send(&a, &"hello", &borrowed, SOON).unwrap();
        let (text, got) = heard(&b).unwrap();
        assert_eq!((text.as_str(), got.len()), ("hello", MOST_FDS));
        assert!(memory::is_sealed(&got[2], 4096 * 3), "in order");
    }

    #[test]
    #[expect(unsafe_code, reason = "it closes one end of a connection under the other")]
    fn an_end_that_closes_is_an_error_and_no_signal() {
        let (a, b) = UnixStream::pair().unwrap();
        let close = std::thread::spawn(move || {
            // It has begun when there is something to read.
            receive::<String>(&b, 0, SOON).unwrap_err();
        });
        // SAFETY: a zeroed set is a valid one, and the calls get memory of this function.
        let pending = unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigaddset(&raw mut set, libc::SIGPIPE);
            // A blocked signal stays pending, even one that is ignored.
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
            let error = send(&a, &"x".repeat(8 << 20), &[], SOON).unwrap_err();
            assert!(matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset), "{error}");
            libc::sigpending(&raw mut set);
            libc::sigismember(&raw const set, libc::SIGPIPE)
        };
        assert_eq!(pending, 0);
        close.join().unwrap();
    }

    #[test]
    fn anything_else_is_an_error() {
        for bytes in [
            &b"GET / HTTP/1.1\r\n\r\n"[..],
            b"symm-msg\xff\xff\xff\xff\xff\xff\xff\xff",
            b"symm-msg\x05\0\0\0\0\0\0\0{{{{{",
        ] {
            let (mut a, b) = UnixStream::pair().unwrap();
            a.write_all(bytes).unwrap();
            let error = heard(&b).unwrap_err();
            assert!(matches!(error.kind(), io::ErrorKind::InvalidData), "{error}");
        }
        for bytes in [&b""[..], b"symm", b"symm-msg\x05\0\0\0\0\0\0\0\"a"] {
            let (mut a, b) = UnixStream::pair().unwrap();
            a.write_all(bytes).unwrap();
            drop(a);
            assert_eq!(heard(&b).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        }
    }

    #[test]
    fn a_message_may_come_a_byte_at_a_time_and_no_later_one_is_touched() {
        let ((mut a, b), (mut c, d)) = (UnixStream::pair().unwrap(), UnixStream::pair().unwrap());
        send(&a, &"one", &[d.as_fd()], SOON).unwrap();
        send(&a, &"two", &[], SOON).unwrap();
        let mut inbox = Inbox::new(100);
        let (text, fds) = inbox.take::<String>(&b).unwrap().unwrap();
        assert_eq!((text.as_str(), fds.len()), ("one", 1));
        assert_eq!(inbox.take::<String>(&b).unwrap().unwrap().0, "two");
        for byte in b"symm-msg\x03\0\0\0\0\0\0\0\"x\"" {
            assert!(inbox.take::<String>(&b).unwrap().is_none());
            a.write_all(&[*byte]).unwrap();
        }
        assert_eq!(inbox.take::<String>(&b).unwrap().unwrap().0, "x");
        c.write_all(b"x").unwrap();
    }

    #[test]
    fn who_takes_too_long_is_not_waited_for() {
        let (a, b) = UnixStream::pair().unwrap();
        let late = Duration::from_millis(30);
        assert_eq!(receive::<String>(&b, 100, late).unwrap_err().kind(), io::ErrorKind::TimedOut);
        let error = send(&a, &"x".repeat(8 << 20), &[], late).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
