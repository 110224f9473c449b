//! Answers, and who waits for them.

use crate::error::{Error, Failure, Malformed};
use crate::lock::lock;
use crate::memory::Memory;
use crate::message::Answer;
use crate::transport::Reading;
use crate::value::{Dtype, Value};
use crate::wire::MOST_BYTES;
use std::collections::HashMap;
use std::io::Read;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The most failures that are kept until they are fetched.
const MOST_FAILURES: usize = 1024;

/// How a request has ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// With this value.
    Value(Value),
    /// The tensor's bytes are in their place.
    Received(Dtype, Vec<i64>),
    /// The tensor is another one than expected.
    Mismatch(Dtype, Vec<i64>),
    /// With an exception.
    Error(Failure),
    /// It reads the result of this message, which failed.
    Poisoned(u64),
    /// The worker is lost.
    Lost(String),
}

#[derive(Default)]
pub struct Answers {
    state: Mutex<State>,
    changed: Condvar,
    acknowledged: AtomicU64,
    failing: AtomicBool,
    is_lost: AtomicBool,
}

#[derive(Default)]
struct State {
    requests: u64,
    waiting: HashMap<u64, Waiting>,
    failures: Vec<(u64, Failure)>,
    lost: Option<String>,
}

#[derive(Default)]
struct Waiting {
    memory: Option<Memory>,
    received: Arc<AtomicUsize>,
    outcome: Option<Outcome>,
    forgotten: bool,
}

impl Answers {
    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    pub fn expect(&self, memory: Option<Memory>) -> u64 {
        let mut state = self.lock();
        state.requests += 1;
        let request = state.requests;
        state.waiting.insert(request, Waiting { memory, ..Waiting::default() });
        request
    }

    pub fn wait(&self, request: u64, until: Instant) -> Option<Outcome> {
        let time = until.saturating_duration_since(Instant::now());
        let open = |state: &mut State| {
            state.lost.is_none() && state.waiting.get(&request).is_some_and(|waiting| waiting.outcome.is_none())
        };
        let (mut state, _) =
            self.changed.wait_timeout_while(self.lock(), time, open).unwrap_or_else(PoisonError::into_inner);
        let lost = state.lost.clone();
        let waiting = state.waiting.get_mut(&request)?;
        let outcome = waiting.outcome.take().or(lost.map(Outcome::Lost))?;
        let done = state.waiting.remove(&request);
        drop(state);
        drop(done);
        Some(outcome)
    }

    pub fn received(&self, request: u64) -> usize {
        self.lock().waiting.get(&request).map_or(0, |waiting| waiting.received.load(Ordering::Acquire))
    }

    pub fn forget(&self, request: u64) {
        let mut state = self.lock();
        let Some(waiting) = state.waiting.get_mut(&request) else { return };
        waiting.forgotten = true;
        let done = if waiting.outcome.is_some() { state.waiting.remove(&request) } else { None };
        drop(state);
        drop(done);
    }

    pub fn acknowledged(&self) -> u64 {
        self.acknowledged.load(Ordering::Acquire)
    }

    pub fn has_failures(&self) -> bool {
        self.failing.load(Ordering::Acquire)
    }

    pub fn failures(&self) -> Vec<(u64, Failure)> {
        let mut state = self.lock();
        self.failing.store(false, Ordering::Release);
        std::mem::take(&mut state.failures)
    }

    pub fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Acquire)
    }

    pub fn lost(&self) -> Option<String> {
        self.lock().lost.clone()
    }

    /// The first reason counts.
    pub fn lose(&self, reason: &str) {
        self.lock().lost.get_or_insert_with(|| reason.into());
        self.is_lost.store(true, Ordering::Release);
        self.changed.notify_all();
    }

    /// Takes answers until the connection ends.
    pub fn take_all(&self, reading: &mut Reading<impl Read>) -> Result<(), Error> {
        while let Some((kind, body)) = reading.message(MOST_BYTES)? {
            match Answer::read(kind, body)? {
                Answer::Ack(message) => self.acknowledged.store(message, Ordering::Release),
                Answer::Failed { message, failure } => self.fail(message, failure),
                Answer::Reply { request, value } => self.finish(request, Outcome::Value(value))?,
                Answer::Error { request, failure } => self.finish(request, Outcome::Error(failure))?,
                Answer::Poisoned { request, message } => self.finish(request, Outcome::Poisoned(message))?,
                Answer::Tensor { request, dtype, shape } => self.tensor(reading, request, dtype, shape)?,
                Answer::Welcome(_) | Answer::Refused(_) => return Err(Malformed("a second greeting").into()),
            }
        }
        Ok(())
    }

    fn fail(&self, message: u64, failure: Failure) {
        let mut state = self.lock();
        if state.failures.len() < MOST_FAILURES {
            state.failures.push((message, failure));
        }
        self.failing.store(true, Ordering::Release);
    }

    fn finish(&self, request: u64, outcome: Outcome) -> Result<(), Malformed> {
        let mut state = self.lock();
        let waiting = state.waiting.get_mut(&request).ok_or(Malformed("an answer to no question"))?;
        let done = if waiting.forgotten {
            state.waiting.remove(&request)
        } else {
            waiting.outcome = Some(outcome);
            None
        };
        drop(state);
        drop(done);
        self.changed.notify_all();
        Ok(())
    }

    fn tensor(
        &self,
        reading: &mut Reading<impl Read>,
        request: u64,
        dtype: Dtype,
        shape: Vec<i64>,
    ) -> Result<(), Error> {
        let bytes = dtype.bytes(&shape).ok_or(Malformed("a tensor of no size"))?;
        let (mut memory, received) = {
            let mut state = self.lock();
            let waiting = state.waiting.get_mut(&request).ok_or(Malformed("an answer to no question"))?;
            (waiting.memory.take(), waiting.received.clone())
        };
        let outcome = if let Some(memory) = memory.as_mut().filter(|memory| memory.bytes().len() == bytes) {
            memory.fill(|bytes, tell| {
                reading.data(bytes, |done| {
                    tell(done);
                    received.store(done, Ordering::Release);
                })
            })?;
            Outcome::Received(dtype, shape)
        } else {
            reading.skip(bytes)?;
            Outcome::Mismatch(dtype, shape)
        };
        drop(memory);
        Ok(self.finish(request, outcome)?)
    }
}
