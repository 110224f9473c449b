//! What a client has sent and the session has not done yet.

use crate::error::{Error, Failure};
use crate::executor::Executor;
use crate::lock::lock;
use crate::message::{Announced, Request};
use crate::transport::{Incoming, Reading};
use crate::wire::MOST_BYTES;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};

/// The most bytes of messages that may wait; tensors come one at a time.
const MOST: usize = 8 << 20;
/// The overhead of a message, in bytes.
const OVERHEAD: usize = 64;

/// A message, or a tensor that has come.
pub enum Item<T> {
    Request(Request),
    Arrived(u64, Result<T, Failure>),
}

pub struct Inbox<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    items: VecDeque<(usize, Item<T>)>,
    bytes: usize,
    ended: bool,
    closed: bool,
}

impl<T> Default for Inbox<T> {
    fn default() -> Self {
        let state = State { items: VecDeque::new(), bytes: 0, ended: false, closed: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }
}

impl<T: Send + 'static> Inbox<T> {
    /// Takes up to this many items, and waits for the first; empty when no more will come.
    pub fn take(&self, most: usize) -> Option<Vec<Item<T>>> {
        let empty = |state: &mut State<T>| state.items.is_empty() && !state.ended;
        let mut state = self.changed.wait_while(lock(&self.state), empty).unwrap_or_else(PoisonError::into_inner);
        if state.items.is_empty() {
            return None;
        }
        let count = most.min(state.items.len());
        let taken: Vec<_> = state.items.drain(..count).collect();
        state.bytes -= taken.iter().map(|(bytes, _)| bytes).sum::<usize>();
        drop(state);
        self.changed.notify_all();
        Some(taken.into_iter().map(|(_, item)| item).collect())
    }

    /// The client is gone: its work is dropped.
    pub fn is_abandoned(&self) -> bool {
        lock(&self.state).ended
    }

    /// The session has ended, and takes no more.
    pub fn close(&self) {
        lock(&self.state).closed = true;
        self.changed.notify_all();
    }

    /// Reads all that comes, until the client says goodbye or the connection ends. Gives back what it had no time for.
    pub fn fill<E: Executor<Tensor = T>>(&self, executor: &E, reading: &mut Reading<Incoming>) -> Result<(), Error> {
        let read = self.read(executor, reading);
        let mut state = lock(&self.state);
        state.ended = true;
        let left = match &read {
            Ok(true) => VecDeque::new(),
            // The work of a dead client is dropped.
            _ => std::mem::take(&mut state.items),
        };
        drop(state);
        self.changed.notify_all();
        drop(left);
        read.map(|_| ())
    }

    fn read<E: Executor<Tensor = T>>(&self, executor: &E, reading: &mut Reading<Incoming>) -> Result<bool, Error> {
        while let Some((kind, body)) = reading.message(MOST_BYTES)? {
            let bytes = body.len() + OVERHEAD;
            match Request::read(kind, body)? {
                Request::Bye => return Ok(true),
                Request::Upload(announced) => {
                    let arrived = arrive(executor, reading, &announced)?;
                    self.put(bytes, Item::Arrived(announced.id, arrived));
                }
                request => self.put(bytes, Item::Request(request)),
            }
        }
        Ok(false)
    }

    fn put(&self, bytes: usize, item: Item<T>) {
        let full = |state: &mut State<T>| state.bytes > MOST && !state.closed;
        let mut state = self.changed.wait_while(lock(&self.state), full).unwrap_or_else(PoisonError::into_inner);
        if state.closed {
            return;
        }
        state.bytes += bytes;
        let first = state.items.is_empty();
        state.items.push_back((bytes, item));
        drop(state);
        if first {
            self.changed.notify_all();
        }
    }
}

/// Takes the bytes of a tensor; without memory for it, they are discarded.
pub fn arrive<E: Executor>(
    executor: &E,
    reading: &mut Reading<Incoming>,
    announced: &Announced,
) -> Result<Result<E::Tensor, Failure>, Error> {
    let Some(bytes) = announced.dtype.bytes(&announced.shape) else {
        return Err(crate::error::Malformed("a tensor of no size").into());
    };
    match executor.receive(announced.dtype, &announced.shape) {
        Ok((tensor, mut memory)) => {
            memory.fill(|bytes, tell| reading.data(bytes, tell))?;
            Ok(Ok(tensor))
        }
        Err(failure) => {
            reading.skip(bytes)?;
            Ok(Err(failure))
        }
    }
}
