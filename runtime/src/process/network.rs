//! Where ranks on several hosts meet: rank 0 listens at a TCP port of its host, and the others connect.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with, sockopt};

use super::coordinator::BACKLOG;
use super::environment::optional;
use super::message::is_unknown;
use super::timer::Timer;
use crate::error::Error;
use crate::fork::Kept;
use crate::interrupt;

/// Time between two attempts to connect.
const RETRY: Duration = Duration::from_millis(50);
/// Time between two questions for the host's addresses: it may get others until rank 0 runs there.
const ASKS_FOR_NAME_EVERY: Duration = Duration::from_secs(1);
/// How long one attempt may take.
const CONNECTS_IN: Duration = Duration::from_secs(2);
/// A connection that is silent for so long is asked whether its host still answers …
const IDLE: Duration = Duration::from_secs(10);
/// … so often …
const ASKS_EVERY: Duration = Duration::from_secs(5);
/// … and so many times; then it has ended.
const ASKS: u32 = 4;
/// How long what has been sent may stay unanswered, in milliseconds.
const ANSWERS_IN: u32 = 30_000;
/// The variable that names rank 0's host.
const HOST: &str = "MASTER_ADDR";
/// The one that names its port …
const PORT: &str = "SYMM_PORT";
/// … and the one whose value is one less, where that is not set: torchrun listens at its own.
const PORT_BEFORE: &str = "MASTER_PORT";

/// The address of rank 0.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    host: String,
    port: u16,
    /// What says the port.
    said_by: String,
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "port {} of {}", self.port, self.host)
    }
}

impl Network {
    /// What the environment says.
    pub(super) fn from_variables(get: &impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let wrong =
            |variable: &str, problem: &str| Error::Meeting(format!("environment variable {variable} {problem}"));
        let host = get(HOST).map(|host| host.trim().to_owned()).filter(|host| !host.is_empty());
        let host = host.ok_or_else(|| wrong(HOST, "is not set"))?;
        let is_set = |name| get(name).is_some_and(|value| !value.trim().is_empty());
        let (variable, more) = if is_set(PORT) { (PORT, 0) } else { (PORT_BEFORE, 1) };
        let value = optional(get, variable).map_err(|error| match error {
            Error::Environment { variable, problem } => wrong(&variable, &problem),
            error => error,
        });
        let value = value?.ok_or_else(|| wrong(PORT, "is not set, and neither is MASTER_PORT"))?;
        let port = value.checked_add(more).and_then(|port| u16::try_from(port).ok()).filter(|port| *port != 0);
        let port = port.ok_or_else(|| wrong(variable, &format!("is {value}, which leaves no port from 1 to 65535")))?;
        Ok(Self { host, port, said_by: format!("{variable} is {value}") })
    }

    /// Rank 0's socket.
    pub(super) fn listen(&self) -> Result<Kept, Error> {
        let listener = match listen_at((Ipv6Addr::UNSPECIFIED, self.port).into()) {
            // This host may have no IPv6.
            Err(errno) if errno != Errno::ADDRINUSE => listen_at((Ipv4Addr::UNSPECIFIED, self.port).into()),
            other => other,
        };
        listener.map(Kept::new).map_err(|errno| {
            let why = if errno == Errno::ADDRINUSE {
                "another process listens there, so choose another one".to_owned()
            } else {
                io::Error::from(errno).to_string()
            };
            Error::Meeting(format!("rank 0 cannot listen at port {} ({}): {why}", self.port, self.said_by))
        })
    }

    /// A connection to rank 0, which may not be there yet.
    pub(super) fn reach(&self, deadline: Duration) -> Result<Kept, Error> {
        let mut timer = Timer::new(deadline);
        let (mut addresses, mut asked) = (self.addresses()?, Instant::now());
        loop {
            let failed = match dial(&addresses) {
                Ok(stream) => return Ok(stream),
                Err(error) => error,
            };
            interrupt::check()?;
            if !timer.pause(RETRY) {
                let problem = format!("rank 0 does not listen at {self} ({}): {failed}", self.said_by);
                return Err(Error::Meeting(format!("{problem}, for {deadline:?}")));
            }
            if asked.elapsed() > ASKS_FOR_NAME_EVERY {
                (addresses, asked) = (self.addresses()?, Instant::now());
            }
        }
    }

    /// The addresses of rank 0's host, as far as they are known by now.
    fn addresses(&self) -> Result<io::Result<Vec<SocketAddr>>, Error> {
        let (sender, found) = mpsc::channel();
        let (host, port) = (self.host.clone(), self.port);
        // A name server that does not answer would make it wait for long, and Ctrl-C, too.
        let ask = move || drop(sender.send((host.as_str(), port).to_socket_addrs().map(Iterator::collect)));
        let thread = thread::Builder::new().name("symm name".to_owned()).spawn(ask);
        thread.map_err(Error::io("start a thread"))?;
        loop {
            match found.recv_timeout(RETRY) {
                Ok(addresses) => return Ok(addresses),
                Err(RecvTimeoutError::Timeout) => interrupt::check()?,
                Err(RecvTimeoutError::Disconnected) => return Ok(Err(io::ErrorKind::NotFound.into())),
            }
        }
    }

    /// The error when no answer of rank 0 has come.
    pub(super) fn no_answer(&self, error: &io::Error) -> Error {
        let (what, said_by) = (format!("what listens at {self}"), &self.said_by);
        Error::Meeting(if is_unknown(error) {
            format!("{what} ({said_by}) is not rank 0 of a run")
        } else {
            format!(
                "{what} ({said_by}) has ended the connection ({error}): rank 0 has died, or something else listens \
                 there, such as another run: give each its own MASTER_PORT or SYMM_PORT"
            )
        })
    }
}

/// A connection to the first address that takes one.
fn dial(addresses: &io::Result<Vec<SocketAddr>>) -> io::Result<Kept> {
    let addresses = addresses.as_ref().map_err(|error| io::Error::new(error.kind(), error.to_string()))?;
    let mut last = io::Error::new(io::ErrorKind::NotFound, "it has no address");
    for address in addresses {
        match TcpStream::connect_timeout(address, CONNECTS_IN) {
            // Where nobody listens, a connection from the same port reaches itself. It must not keep the port.
            Ok(stream) if stream.local_addr()? == stream.peer_addr()? => {
                sockopt::set_socket_linger(&stream, Some(Duration::ZERO))?;
                last = io::ErrorKind::ConnectionRefused.into();
            }
            Ok(stream) => {
                stream.set_nonblocking(true)?;
                let stream = Kept::new(OwnedFd::from(stream));
                prepare(&stream)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn listen_at(address: SocketAddr) -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let family = if address.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
    let listener = socket_with(family, SocketType::STREAM, flags, None)?;
    // A run that has just ended leaves connections behind.
    sockopt::set_socket_reuseaddr(&listener, true)?;
    if address.is_ipv6() {
        // Hosts without IPv6 reach it, too, whatever this one's settings are.
        sockopt::set_ipv6_v6only(&listener, false)?;
    }
    bind(&listener, &address)?;
    listen(&listener, BACKLOG)?;
    Ok(listener)
}

/// Has small messages sent at once, and notices when the other host is gone.
pub(super) fn prepare(stream: impl AsFd) -> io::Result<()> {
    sockopt::set_tcp_nodelay(&stream, true)?;
    sockopt::set_socket_keepalive(&stream, true)?;
    sockopt::set_tcp_keepidle(&stream, IDLE)?;
    sockopt::set_tcp_keepintvl(&stream, ASKS_EVERY)?;
    sockopt::set_tcp_keepcnt(&stream, ASKS)?;
    sockopt::set_tcp_user_timeout(&stream, ANSWERS_IN)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn from(variables: &[(&str, &str)]) -> Result<Network, Error> {
        Network::from_variables(&|name: &str| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_port_is_the_one_after_torchruns() {
        let set = [("MASTER_ADDR", "node0"), ("MASTER_PORT", "29500")];
        assert_eq!(from(&set).unwrap().to_string(), "port 29501 of node0");
        assert_eq!(from(&[set[0], set[1], ("SYMM_PORT", "7")]).unwrap().to_string(), "port 7 of node0");
    }

    #[test]
    fn what_is_missing_is_named() {
        let message = |variables: &[(&str, &str)]| from(variables).unwrap_err().to_string();
        assert!(message(&[("MASTER_PORT", "1")]).contains("MASTER_ADDR is not set"));
        assert!(message(&[("MASTER_ADDR", "a")]).contains("SYMM_PORT is not set, and neither is MASTER_PORT"));
        for (name, value) in [("SYMM_PORT", "0"), ("SYMM_PORT", "65536"), ("MASTER_PORT", "65535")] {
            let told = message(&[("MASTER_ADDR", "a"), (name, value)]);
            assert!(told.contains(&format!("{name} is {value}, which leaves no port from 1 to 65535")), "{told}");
        }
        let told = message(&[("MASTER_ADDR", "a"), ("SYMM_PORT", "x")]);
        assert!(told.contains("could not meet: environment variable SYMM_PORT is \"x\", which is no number"), "{told}");
        assert_eq!(from(&[("MASTER_ADDR", "a"), ("SYMM_PORT", ""), ("MASTER_PORT", "1")]).unwrap().port, 2);
    }

    #[test]
    fn a_port_that_is_taken_is_named() {
        let other = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = other.local_addr().unwrap().port().to_string();
        let network = from(&[("MASTER_ADDR", "localhost"), ("SYMM_PORT", &port)]).unwrap();
        let told = network.listen().unwrap_err().to_string();
        assert!(told.contains(&format!("rank 0 cannot listen at port {port} (SYMM_PORT is {port})")), "{told}");
    }

    /// A connection takes a port of its own from these, one after the other.
    #[test]
    fn a_rank_does_not_reach_itself() {
        let port = (40_000..60_000).step_by(2).find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap();
        let itself = Ok(vec![(Ipv4Addr::LOCALHOST, port).into()]);
        for _ in 0..40_000 {
            dial(&itself).unwrap_err();
        }
    }

    #[test]
    fn a_rank_0_that_does_not_come_is_said() {
        let network = from(&[("MASTER_ADDR", "127.0.0.1"), ("SYMM_PORT", "1")]).unwrap();
        let told = network.reach(Duration::from_millis(100)).unwrap_err().to_string();
        assert!(told.contains("rank 0 does not listen at port 1 of 127.0.0.1 (SYMM_PORT is 1): Connection refused"));
    }
}
