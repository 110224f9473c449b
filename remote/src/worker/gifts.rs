//! Tensors from worker to worker: one gives, the other one's session has been told to expect it.

use super::inbox::arrive;
use super::{Shared, answer, lock};
use crate::client::{Target, greet};
use crate::engine::Engine;
use crate::error::{Error, Failure, Malformed};
use crate::memory::Memory;
use crate::message::{Announced, Answer, Copy, Key, Request, Welcome};
use crate::socket::Socket;
use crate::transport::{Incoming, Reading, Writing};
use crate::value::{Meta, Value};
use crate::wire::{Encoder, MOST_BYTES};
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So many tensors may have come for one session that it has not expected yet.
const MOST_EARLY: usize = 1024;
/// The longest that connecting takes, and each wait within a transfer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often a wait looks at whether the client is still there.
const LOOK: Duration = Duration::from_millis(50);

/// Tensors that others have given to a session.
pub struct Mailbox<T> {
    come: Mutex<HashMap<u64, Result<T, Failure>>>,
    changed: Condvar,
}

impl<T> Default for Mailbox<T> {
    fn default() -> Self {
        Self { come: Mutex::default(), changed: Condvar::new() }
    }
}

impl<T> Mailbox<T> {
    fn put(&self, id: u64, gift: Result<T, Failure>) -> Result<(), Error> {
        let mut come = lock(&self.come);
        if come.len() >= MOST_EARLY {
            return Err(Error::Refused("too many tensors that nobody expects".into()));
        }
        let old = come.insert(id, gift);
        drop(come);
        drop(old);
        self.changed.notify_all();
        Ok(())
    }

    /// Waits for a tensor until then, or until it is wanted no more.
    pub fn take(&self, id: u64, until: Instant, abandoned: impl Fn() -> bool) -> Result<T, Failure> {
        let mut come = lock(&self.come);
        loop {
            if let Some(gift) = come.remove(&id) {
                return gift;
            }
            if Instant::now() >= until || abandoned() {
                return Err(Failure::new("TimeoutError", "the other worker has not sent this tensor in time"));
            }
            (come, _) = self.changed.wait_timeout(come, LOOK).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Serves another worker that gives tensors to a session.
pub fn take_gifts<E: Engine>(
    shared: &Shared<E>,
    key: &Key,
    mut reading: Reading<Incoming>,
    mut writing: Writing,
    socket: &Socket,
) -> Result<(), Error> {
    let Some(mailbox) = lock(&shared.sessions).get(key).cloned() else {
        let reason = "there is no session of this key: its client has gone";
        answer(&mut writing, &Answer::Refused(reason.into()))?;
        return Err(Error::Refused(reason.into()));
    };
    let about = shared.engine.about();
    let (device, host, torch) = (about.device, about.host, about.torch);
    let pid = std::process::id().into();
    let welcome = Welcome { session: *key, pid, device, host, torch, rank: about.rank };
    answer(&mut writing, &Answer::Welcome(Box::new(welcome)))?;
    socket.set_timeouts(None, Some(PATIENCE))?;
    while let Some((kind, body)) = reading.message(MOST_BYTES)? {
        match Request::read(kind, body)? {
            Request::Give(announced) => {
                let gift = arrive(&shared.engine, &mut reading, &announced)?;
                mailbox.put(announced.id, gift)?;
                answer(&mut writing, &Answer::Reply { request: announced.id, value: Value::None })?;
            }
            Request::NoGift { id, failure } => mailbox.put(id, Err(failure))?,
            _ => return Err(Malformed("something else than a gift").into()),
        }
    }
    Ok(())
}

type Connection = (Reading<Incoming>, Writing, Arc<Socket>);

/// A session's connections to other workers.
#[derive(Default)]
pub struct Giving {
    connections: HashMap<(Target, Key), Connection>,
}

impl Giving {
    /// Sends a tensor, or says why there is none.
    pub fn give(&mut self, copy: &Copy, gift: &Result<(Meta, Memory), Failure>) -> Result<(), Failure> {
        let within = Duration::from_millis(copy.milliseconds.max(1)).min(PATIENCE);
        let lost = |error: Error| match error {
            Error::Io(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                let waited = within.as_secs_f64();
                Failure::new("TimeoutError", format!("{} has taken no bytes for {waited} s", copy.address))
            }
            Error::Late(text) => Failure::new("TimeoutError", text),
            error => Failure::new("ConnectionError", format!("copy to {}: {error}", copy.address)),
        };
        let address = copy.address.parse().map_err(lost)?;
        let target = Target { address, token: copy.token.clone(), certificate: copy.certificate.clone() };
        let key = (target, copy.session);
        let mut connection = if let Some(connection) = self.connections.remove(&key) {
            connection
        } else {
            let (socket, reading, writing, _) = greet(&key.0, Some(copy.session), within).map_err(lost)?;
            (reading, writing, socket)
        };
        let (reading, writing, socket) = &mut connection;
        socket.set_timeouts(Some(within), Some(within)).map_err(|error| lost(error.into()))?;
        send(copy, gift, reading, writing).map_err(lost)?;
        // One that has failed is not used again.
        self.connections.insert(key, connection);
        Ok(())
    }
}

impl Drop for Giving {
    fn drop(&mut self) {
        self.connections.values().for_each(|(_, _, socket)| socket.shut());
    }
}

fn send(
    copy: &Copy,
    gift: &Result<(Meta, Memory), Failure>,
    reading: &mut Reading<Incoming>,
    writing: &mut Writing,
) -> Result<(), Error> {
    let mut encoder = Encoder::default();
    let id = copy.new_id;
    let announced = match gift {
        Ok((meta, _)) => Request::Give(Announced { id, dtype: meta.dtype, shape: meta.shape.clone() }),
        Err(failure) => Request::NoGift { id, failure: failure.clone() },
    };
    writing.frames(announced.write(&mut encoder).map_err(|error| Error::Refused(error.to_string()))?)?;
    let Ok((_, memory)) = gift else { return Ok(()) };
    writing.data(memory.bytes(), |_| ())?;
    match reading.message(MOST_BYTES)?.map(|(kind, body)| Answer::read(kind, body)).transpose()? {
        Some(Answer::Reply { .. }) => Ok(()),
        _ => Err(Error::Lost("the other worker has ended the connection".into())),
    }
}
