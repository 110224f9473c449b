//! Frames over a socket, with or without TLS: one end to read, one to write, each for a thread of its own.

use crate::error::{Error, Malformed};
use crate::message::DATA;
use crate::socket::Socket;
use crate::tls;
use crate::wire::{CHUNK, HEAD, MOST_BYTES};
use std::io::{self, IoSlice, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Encrypted bytes that are read or written at once.
const RECORDS: usize = 1 << 17;

type Tls = Arc<Mutex<rustls::Connection>>;

/// Both ends of a connection.
pub(crate) fn split(socket: Arc<Socket>, tls: Option<rustls::Connection>) -> (Reading<Incoming>, Writing) {
    let tls = tls.map(|connection| Arc::new(Mutex::new(connection)));
    let incoming = Incoming { socket: socket.clone(), tls: tls.clone(), records: Vec::new(), plain: Vec::new(), at: 0 };
    (Reading::new(incoming), Writing { socket, tls, records: Vec::new() })
}

/// Finishes a handshake of TLS; the socket has a timeout.
pub(crate) fn shake_hands(socket: &Socket, connection: &mut rustls::Connection) -> Result<(), Error> {
    while connection.is_handshaking() {
        let done = connection.complete_io(&mut &*socket);
        done.map_err(|error| match error.downcast::<rustls::Error>() {
            Ok(error) => tls::refused(error),
            Err(error) => Error::Lost(format!("TLS: {error}")),
        })?;
    }
    Ok(())
}

/// The bytes that come, decrypted.
pub struct Incoming {
    socket: Arc<Socket>,
    tls: Option<Tls>,
    records: Vec<u8>,
    plain: Vec<u8>,
    at: usize,
}

impl Incoming {
    fn decrypt(&mut self, tls: &Tls) -> io::Result<bool> {
        let mut records = std::mem::take(&mut self.records);
        records.resize(RECORDS, 0);
        let count = (&mut &*self.socket).read(&mut records)?;
        self.plain.clear();
        self.at = 0;
        let mut tls = tls.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rest = &records[..count];
        while !rest.is_empty() {
            tls.read_tls(&mut rest)?;
            let state = tls.process_new_packets().map_err(io::Error::other)?;
            let start = self.plain.len();
            self.plain.resize(start + state.plaintext_bytes_to_read(), 0);
            tls.reader().read_exact(&mut self.plain[start..])?;
        }
        self.records = records;
        Ok(count > 0)
    }
}

impl Read for Incoming {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = self.tls.clone() else { return (&mut &*self.socket).read(into) };
        while self.at == self.plain.len() {
            // What came with the handshake is there already.
            let early = {
                let mut tls = tls.lock().unwrap_or_else(PoisonError::into_inner);
                let waiting = tls.process_new_packets().map_err(io::Error::other)?.plaintext_bytes_to_read();
                let take = waiting.min(into.len());
                tls.reader().read_exact(&mut into[..take])?;
                take
            };
            if early > 0 {
                return Ok(early);
            }
            if !self.decrypt(&tls)? {
                return Ok(0);
            }
        }
        let count = into.len().min(self.plain.len() - self.at);
        into[..count].copy_from_slice(&self.plain[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// Frames from bytes that come.
pub struct Reading<R> {
    from: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    body: Vec<u8>,
}

impl<R: Read> Reading<R> {
    /// Reads frames from here.
    pub fn new(from: R) -> Self {
        Self { from, buffer: vec![0; 1 << 16], start: 0, end: 0, body: Vec::new() }
    }

    /// The next message: its kind and its body; nothing where the connection has ended between messages.
    ///
    /// # Errors
    /// The connection has ended within one, or it is longer than this many bytes.
    pub fn message(&mut self, most: usize) -> Result<Option<(u8, &[u8])>, Error> {
        if self.start == self.end && self.fill()? == 0 {
            return Ok(None);
        }
        let (kind, length) = self.head()?;
        if kind == DATA {
            return Err(Malformed("data that nobody asked for").into());
        }
        if length > most.min(MOST_BYTES) {
            return Err(Malformed("a message that is too long").into());
        }
        let mut body = std::mem::take(&mut self.body);
        body.resize(length, 0);
        let read = self.exactly(&mut body);
        self.body = body;
        read?;
        Ok(Some((kind, &self.body)))
    }

    /// Whether more can be had without waiting.
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.start < self.end
    }

    /// The bytes of a tensor, to their place; `progress` hears how many have come.
    ///
    /// # Errors
    /// The connection has ended, or something else came.
    pub fn data(&mut self, into: &mut [u8], mut progress: impl FnMut(usize)) -> Result<(), Error> {
        let mut done = 0;
        while done < into.len() {
            let (kind, length) = self.head()?;
            if kind != DATA || length == 0 || length > CHUNK.min(into.len() - done) {
                return Err(Malformed("something else than the rest of a tensor").into());
            }
            self.exactly(&mut into[done..done + length])?;
            done += length;
            progress(done);
        }
        Ok(())
    }

    /// As [`Reading::data`], but nobody wants them.
    ///
    /// # Errors
    /// As there.
    pub fn skip(&mut self, bytes: usize) -> Result<(), Error> {
        let mut scratch = vec![0; bytes.min(CHUNK)];
        let mut left = bytes;
        while left > 0 {
            let (kind, length) = self.head()?;
            if kind != DATA || length == 0 || length > CHUNK.min(left) {
                return Err(Malformed("something else than the rest of a tensor").into());
            }
            self.exactly(&mut scratch[..length])?;
            left -= length;
        }
        Ok(())
    }

    fn head(&mut self) -> Result<(u8, usize), Error> {
        let mut head = [0; HEAD];
        self.exactly(&mut head)?;
        let [a, b, c, d, kind] = head;
        Ok((kind, u32::from_le_bytes([a, b, c, d]) as usize))
    }

    fn fill(&mut self) -> io::Result<usize> {
        (self.start, self.end) = (0, 0);
        self.end = retry(|| self.from.read(&mut self.buffer))?;
        Ok(self.end)
    }

    fn exactly(&mut self, into: &mut [u8]) -> io::Result<()> {
        let mut done = 0;
        while done < into.len() {
            if self.start < self.end {
                let count = (into.len() - done).min(self.end - self.start);
                into[done..done + count].copy_from_slice(&self.buffer[self.start..self.start + count]);
                self.start += count;
                done += count;
                continue;
            }
            let rest = &mut into[done..];
            let count = if rest.len() < self.buffer.len() {
                if self.fill()? == 0 { 0 } else { continue }
            } else {
                retry(|| self.from.read(rest))?
            };
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            done += count;
        }
        Ok(())
    }
}

fn retry(mut transfer: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match transfer() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// The bytes that go, encrypted.
pub struct Writing {
    socket: Arc<Socket>,
    tls: Option<Tls>,
    records: Vec<u8>,
}

impl Writing {
    /// Sends whole frames.
    ///
    /// # Errors
    /// The connection has ended.
    pub fn frames(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(tls) = &self.tls else { return (&mut &*self.socket).write_all(bytes) };
        for part in bytes.chunks(RECORDS) {
            let mut tls = tls.lock().unwrap_or_else(PoisonError::into_inner);
            self.records.clear();
            tls.writer().write_all(part)?;
            while tls.wants_write() {
                tls.write_tls(&mut self.records)?;
            }
            drop(tls);
            (&mut &*self.socket).write_all(&self.records)?;
        }
        Ok(())
    }

    /// Sends the bytes of a tensor; `progress` hears how many have gone.
    ///
    /// # Errors
    /// The connection has ended.
    pub fn data(&mut self, bytes: &[u8], mut progress: impl FnMut(usize)) -> io::Result<()> {
        let mut done = 0;
        for chunk in bytes.chunks(CHUNK) {
            let [a, b, c, d] = u32::try_from(chunk.len()).unwrap_or_default().to_le_bytes();
            self.both(&[a, b, c, d, DATA], chunk)?;
            done += chunk.len();
            progress(done);
        }
        Ok(())
    }

    /// Sends two parts, together where that can be.
    fn both(&mut self, head: &[u8], body: &[u8]) -> io::Result<()> {
        if self.tls.is_some() {
            self.frames(head)?;
            return self.frames(body);
        }
        let mut socket = &*self.socket;
        let written = retry(|| socket.write_vectored(&[IoSlice::new(head), IoSlice::new(body)]))?;
        if written < head.len() {
            socket.write_all(&head[written..])?;
        }
        socket.write_all(&body[written.saturating_sub(head.len())..])
    }

    /// Ends the connection: all reads and writes return.
    pub fn shut(&self) {
        self.socket.shut();
    }
}
