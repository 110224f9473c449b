//! Sockets of both families.

use crate::address::Address;
use crate::error::Error;
use rustix::net::sockopt;
use std::io::{self, IoSlice, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// When a connection without any sign of life ends.
const SILENCE: Duration = Duration::from_secs(30);

/// A connected socket.
pub enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Socket {
    /// Connects within this time.
    pub fn connect(address: &Address, within: Duration) -> Result<Self, Error> {
        let lost = |error: io::Error| Error::Lost(format!("cannot connect to {address}: {error}"));
        let socket = match address {
            Address::Unix(path) => Self::Unix(UnixStream::connect(path).map_err(lost)?),
            Address::Tcp(host, port) => {
                let mut failed = io::Error::other("the name has no address");
                let addresses = (host.as_str(), *port).to_socket_addrs().map_err(lost)?;
                let mut connected = None;
                for found in addresses {
                    match TcpStream::connect_timeout(&found, within) {
                        Ok(socket) => {
                            connected = Some(socket);
                            break;
                        }
                        Err(error) => failed = error,
                    }
                }
                Self::Tcp(connected.ok_or(failed).map_err(lost)?)
            }
        };
        socket.prepare()?;
        Ok(socket)
    }

    /// Sets what every connection needs: a cut network is noticed, and nothing waits for more.
    ///
    /// The buffers stay the kernel's: it makes those of TCP as large as they need to be, and between processes of one
    /// host larger ones do not stay in the processor's cache, and halve the speed.
    pub fn prepare(&self) -> io::Result<()> {
        if let Self::Tcp(socket) = self {
            socket.set_nodelay(true)?;
            sockopt::set_socket_keepalive(socket, true)?;
            sockopt::set_tcp_keepidle(socket, SILENCE / 3)?;
            sockopt::set_tcp_keepintvl(socket, SILENCE / 6)?;
            sockopt::set_tcp_keepcnt(socket, 4)?;
            sockopt::set_tcp_user_timeout(socket, u32::try_from(SILENCE.as_millis()).unwrap_or(u32::MAX))?;
        }
        Ok(())
    }

    /// Reads and writes fail after this time; none waits for ever.
    pub fn set_timeouts(&self, read: Option<Duration>, write: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Unix(socket) => socket.set_read_timeout(read).and_then(|()| socket.set_write_timeout(write)),
            Self::Tcp(socket) => socket.set_read_timeout(read).and_then(|()| socket.set_write_timeout(write)),
        }
    }

    /// Ends the connection: all reads and writes return.
    pub fn shut(&self) {
        // It may have ended already.
        let _ = match self {
            Self::Unix(socket) => socket.shutdown(Shutdown::Both),
            Self::Tcp(socket) => socket.shutdown(Shutdown::Both),
        };
    }

    /// The user of the process at the other end of a unix socket.
    pub fn user(&self) -> io::Result<Option<u32>> {
        match self {
            Self::Unix(socket) => Ok(Some(sockopt::socket_peercred(socket)?.uid.as_raw())),
            Self::Tcp(_) => Ok(None),
        }
    }

    /// Who is at the other end, for a log.
    pub fn peer(&self) -> String {
        match self {
            Self::Unix(socket) => match sockopt::socket_peercred(socket) {
                Ok(peer) => format!("process {} of user {}", peer.pid.as_raw_nonzero(), peer.uid.as_raw()),
                Err(_) => "a process".into(),
            },
            Self::Tcp(socket) => socket.peer_addr().map_or("a client".into(), |address| address.to_string()),
        }
    }
}

impl Read for &Socket {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Unix(socket) => (&mut &*socket).read(into),
            Socket::Tcp(socket) => (&mut &*socket).read(into),
        }
    }
}

impl Write for &Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Unix(socket) => (&mut &*socket).write(bytes),
            Socket::Tcp(socket) => (&mut &*socket).write(bytes),
        }
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Socket::Unix(socket) => (&mut &*socket).write_vectored(parts),
            Socket::Tcp(socket) => (&mut &*socket).write_vectored(parts),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
