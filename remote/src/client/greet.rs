//! The first words on a connection.

use crate::address::Address;
use crate::error::{Error, Malformed};
use crate::message::{Answer, Hello, Key, Request, Welcome};
use crate::socket::Socket;
use crate::tls;
use crate::transport::{Incoming, Reading, Writing, shake_hands, split};
use crate::wire::{Encoder, MOST_BYTES, VERSION};
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// How a worker is reached.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// Where it listens.
    pub address: Address,
    /// The secret that it was started with.
    pub token: Option<String>,
    /// Its certificate (DER), for TCP.
    pub certificate: Option<Vec<u8>>,
}

/// Connects, and is let in. The socket keeps its timeouts.
pub(crate) fn greet(
    endpoint: &Endpoint,
    gives_to: Option<Key>,
    within: Duration,
) -> Result<(Arc<Socket>, Reading<Incoming>, Writing, Welcome), Error> {
    if let Address::Tcp(..) = endpoint.address {
        if endpoint.certificate.is_none() {
            return Err(Error::Unprotected("the worker's certificate"));
        }
        if endpoint.token.is_none() {
            return Err(Error::Unprotected("the worker's token"));
        }
    }
    let socket = Arc::new(Socket::connect(&endpoint.address, within)?);
    socket.set_timeouts(Some(within), Some(within))?;
    let late = |error| late(error, &endpoint.address, within);
    let tls = match &endpoint.certificate {
        Some(certificate) => {
            let mut tls = tls::connect(certificate)?;
            shake_hands(&socket, &mut tls).map_err(late)?;
            Some(tls)
        }
        None => None,
    };
    let (mut reading, mut writing) = split(socket.clone(), tls);
    let hello = Request::Hello(Hello { version: VERSION, token: endpoint.token.clone(), gives_to });
    let mut encoder = Encoder::default();
    let frame = hello.write(&mut encoder).map_err(|error| Error::Refused(error.to_string()))?;
    // A worker that refuses may do so before it has read this.
    let written = writing.frames(frame);
    let Some((kind, body)) = reading.message(MOST_BYTES).map_err(late)? else {
        written?;
        return Err(Error::Lost(format!("{} has ended the connection at once", endpoint.address)));
    };
    match Answer::read(kind, body)? {
        Answer::Welcome(welcome) => Ok((socket, reading, writing, *welcome)),
        Answer::Refused(reason) => Err(Error::Refused(reason)),
        _ => Err(Malformed("an answer before the greeting").into()),
    }
}

fn late(error: Error, address: &Address, within: Duration) -> Error {
    match error {
        Error::Io(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
            Error::Late(format!("{address} has not answered for {} s", within.as_secs_f64()))
        }
        Error::Io(error) => Error::Lost(format!("{address}: {error}")),
        error => error,
    }
}
