//! Tensors from worker to worker: one sends, the other one's session has been told to expect it.

use super::inbox::arrive;
use super::{Shared, answer};
use crate::client::{Endpoint, greet};
use crate::error::{Error, Failure, Malformed};
use crate::executor::Executor;
use crate::lock::lock;
use crate::memory::Memory;
use crate::message::{Announced, Answer, Copy, Key, Request, Welcome};
use crate::socket::Socket;
use crate::transport::{Incoming, Reading, Writing};
use crate::value::{Meta, Value};
use crate::wire::{Encoder, MOST_BYTES};
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest that connecting takes, and each wait within a transfer.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// How often a wait looks at whether the client is still there.
const LOOK: Duration = Duration::from_millis(50);

/// Tensors that other workers have sent to a session. Each was asked for by its client: how many come before the
/// session expects them is how far ahead of it the client is.
pub struct Mailbox<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    come: HashMap<u64, Result<T, Failure>>,
    /// Waited for in vain: what comes late is dropped.
    given_up: HashSet<u64>,
}

impl<T> Default for Mailbox<T> {
    fn default() -> Self {
        let state = State { come: HashMap::new(), given_up: HashSet::new() };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }
}

impl<T> Mailbox<T> {
    fn put(&self, id: u64, tensor: Result<T, Failure>) {
        let mut state = lock(&self.state);
        let unwanted = if state.given_up.remove(&id) { Some(tensor) } else { state.come.insert(id, tensor) };
        drop(state);
        drop(unwanted);
        self.changed.notify_all();
    }

    /// Waits for a tensor until then, or until it is wanted no more.
    pub fn take(&self, id: u64, until: Instant, abandoned: impl Fn() -> bool) -> Result<T, Failure> {
        let mut state = lock(&self.state);
        loop {
            if let Some(tensor) = state.come.remove(&id) {
                return tensor;
            }
            if Instant::now() >= until || abandoned() {
                state.given_up.insert(id);
                return Err(Failure::new("TimeoutError", "the other worker has not sent this tensor in time"));
            }
            (state, _) = self.changed.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Serves another worker that sends tensors to a session.
pub fn receive_tensors<E: Executor>(
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
    let about = shared.executor.about();
    let (device, host, torch) = (about.device, about.host, about.torch);
    let pid = std::process::id().into();
    let welcome = Welcome { session: *key, pid, device, host, torch, rank: about.rank };
    answer(&mut writing, &Answer::Welcome(Box::new(welcome)))?;
    socket.set_timeouts(None, Some(LONGEST_WAIT))?;
    while let Some((kind, body)) = reading.message(MOST_BYTES)? {
        match Request::read(kind, body)? {
            Request::Give(announced) => {
                let tensor = arrive(&shared.executor, &mut reading, &announced)?;
                mailbox.put(announced.id, tensor);
                answer(&mut writing, &Answer::Reply { request: announced.id, value: Value::None })?;
            }
            Request::NoGift { id, failure } => mailbox.put(id, Err(failure)),
            _ => return Err(Malformed("something else than a tensor").into()),
        }
    }
    Ok(())
}

type Connection = (Reading<Incoming>, Writing, Arc<Socket>);

/// A session's connections to other workers.
#[derive(Default)]
pub struct Sending {
    connections: HashMap<(Endpoint, Key), Connection>,
}

impl Sending {
    /// Sends a tensor, or says why there is none.
    pub fn send(&mut self, copy: &Copy, tensor: &Result<(Meta, Memory), Failure>) -> Result<(), Failure> {
        let within = Duration::from_millis(copy.milliseconds.max(1)).min(LONGEST_WAIT);
        let lost = |error: Error| match error {
            Error::Io(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                let waited = within.as_secs_f64();
                Failure::new("TimeoutError", format!("{} has taken no bytes for {waited} s", copy.address))
            }
            Error::Late(text) => Failure::new("TimeoutError", text),
            error => Failure::new("ConnectionError", format!("copy to {}: {error}", copy.address)),
        };
        let address = copy.address.parse().map_err(lost)?;
        let endpoint = Endpoint { address, token: copy.token.clone(), certificate: copy.certificate.clone() };
        let key = (endpoint, copy.session);
        let mut connection = if let Some(connection) = self.connections.remove(&key) {
            connection
        } else {
            let (socket, reading, writing, _) = greet(&key.0, Some(copy.session), within).map_err(lost)?;
            (reading, writing, socket)
        };
        let (reading, writing, socket) = &mut connection;
        socket.set_timeouts(Some(within), Some(within)).map_err(|error| lost(error.into()))?;
        send(copy, tensor, reading, writing).map_err(lost)?;
        // One that has failed is not used again.
        self.connections.insert(key, connection);
        Ok(())
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.connections.values().for_each(|(_, _, socket)| socket.shut());
    }
}

fn send(
    copy: &Copy,
    tensor: &Result<(Meta, Memory), Failure>,
    reading: &mut Reading<Incoming>,
    writing: &mut Writing,
) -> Result<(), Error> {
    let mut encoder = Encoder::default();
    let id = copy.new_id;
    let announced = match tensor {
        Ok((meta, _)) => Request::Give(Announced { id, dtype: meta.dtype, shape: meta.shape.clone() }),
        Err(failure) => Request::NoGift { id, failure: failure.clone() },
    };
    writing.frames(announced.write(&mut encoder).map_err(|error| Error::Refused(error.to_string()))?)?;
    let Ok((_, memory)) = tensor else { return Ok(()) };
    writing.data(memory.bytes(), |_| ())?;
    match reading.message(MOST_BYTES)?.map(|(kind, body)| Answer::read(kind, body)).transpose()? {
        Some(Answer::Reply { .. }) => Ok(()),
        _ => Err(Error::Lost("the other worker has ended the connection".into())),
    }
}
