//! Messages between processes: a magic word, a length, JSON, and file descriptors beside them.

use std::io::{self, IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::control::MAX_RANKS;

/// What every message starts with.
const MAGIC: [u8; 8] = *b"symm-msg";
/// Bytes of a message before its JSON: the magic word and the length.
const HEADER: usize = 16;
/// Most file descriptors of a message: a heap for each rank and the control memory.
const MOST_FDS: usize = MAX_RANKS as usize + 1;

/// Sends `body` and `fds`.
pub(super) fn send(stream: &UnixStream, body: &impl Serialize, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let body = serde_json::to_vec(body)?;
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(&MAGIC);
    header[8..].copy_from_slice(&(body.len() as u64).to_le_bytes());
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FDS))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !beside.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::Error::other("more file descriptors than a message holds"));
    }
    let sent = sendmsg(stream, &[IoSlice::new(&header)], &mut beside, SendFlags::NOSIGNAL)?;
    // As `write_all`, which would end a process that is not Rust's with a signal when the other end closes.
    for mut rest in [&header[sent..], &body] {
        while !rest.is_empty() {
            match rustix::net::send(stream, rest, SendFlags::NOSIGNAL) {
                Ok(sent) => rest = &rest[sent..],
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }
    Ok(())
}

/// Receives a message of at most `most` bytes. Whatever else comes is [`io::ErrorKind::InvalidData`].
pub(super) fn receive<T: DeserializeOwned>(mut stream: &UnixStream, most: u64) -> io::Result<(T, Vec<OwnedFd>)> {
    let mut header = [0; HEADER];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FDS))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let got = recvmsg(stream, &mut [IoSliceMut::new(&mut header)], &mut beside, RecvFlags::CMSG_CLOEXEC)?;
    let mut fds = Vec::new();
    for message in beside.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            fds.extend(rights);
        }
    }
    if got.bytes == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let invalid = |what| io::Error::new(io::ErrorKind::InvalidData, what);
    if got.flags.contains(ReturnFlags::CTRUNC) {
        return Err(invalid("file descriptors were lost; raise the limit on open files"));
    }
    stream.read_exact(&mut header[got.bytes..])?;
    let (magic, length) = header.split_at(8);
    let length = u64::from_le_bytes(length.try_into().expect("eight bytes"));
    if magic != MAGIC || length > most {
        return Err(invalid("not a message of symm"));
    }
    let mut body = Vec::new();
    stream.take(length).read_to_end(&mut body)?;
    if body.len() as u64 != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok((serde_json::from_slice(&body)?, fds))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsFd;

    use super::*;
    use crate::memory;

    #[test]
    fn text_and_descriptors_arrive() {
        let (a, b) = UnixStream::pair().unwrap();
        let fds: Vec<_> = (0..MOST_FDS).map(|i| memory::create("test", 4096 * (i as u64 + 1)).unwrap()).collect();
        let borrowed: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
        send(&a, &"hello", &borrowed).unwrap();
        let (text, got): (String, _) = receive(&b, 100).unwrap();
        assert_eq!((text.as_str(), got.len()), ("hello", MOST_FDS));
        assert!(memory::is_sealed(&got[2], 4096 * 3), "in order");
    }

    #[test]
    #[allow(unsafe_code)]
    fn an_end_that_closes_is_an_error_and_no_signal() {
        let (a, b) = UnixStream::pair().unwrap();
        let close = std::thread::spawn(move || {
            // It has begun when there is something to read.
            receive::<String>(&b, 0).unwrap_err();
        });
        // SAFETY: a zeroed set is a valid one, and the calls get memory of this function.
        let pending = unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigaddset(&raw mut set, libc::SIGPIPE);
            // A blocked signal stays pending, even one that is ignored.
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
            let error = send(&a, &"x".repeat(8 << 20), &[]).unwrap_err();
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
            let error = receive::<String>(&b, 100).unwrap_err();
            assert!(matches!(error.kind(), io::ErrorKind::InvalidData), "{error}");
        }
        for bytes in [&b""[..], b"symm", b"symm-msg\x05\0\0\0\0\0\0\0\"a"] {
            let (mut a, b) = UnixStream::pair().unwrap();
            a.write_all(bytes).unwrap();
            drop(a);
            assert_eq!(receive::<String>(&b, 100).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        }
    }
}
