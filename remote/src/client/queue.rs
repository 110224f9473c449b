//! What is to be sent.

use crate::lock::lock;
use crate::memory::Memory;
use std::collections::VecDeque;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// From this many bytes on, the sender does not wait for more.
const ENOUGH: usize = 1 << 15;
/// How long the sender waits for more.
const GATHER: Duration = Duration::from_micros(200);
/// The most bytes that may be queued.
const MOST: usize = 8 << 20;

/// Messages, or a tensor.
pub enum Part {
    Frames(Vec<u8>),
    Upload(Memory, Arc<Sent>),
}

/// How much of an upload has been sent.
pub struct Sent {
    pub bytes: AtomicUsize,
    pub total: usize,
}

#[derive(Default)]
pub struct Queue {
    waiting: Mutex<Waiting>,
    more: Condvar,
    less: Condvar,
}

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent of one another")]
struct Waiting {
    parts: VecDeque<Part>,
    bytes: usize,
    messages: u64,
    hurry: bool,
    asleep: bool,
    closed: bool,
    ended: bool,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        lock(&self.waiting)
    }

    /// Adds this many messages of this many bytes; returns the number of messages so far.
    pub fn push(&self, write: impl FnOnce(&mut Vec<u8>), messages: u64, bytes: usize) -> u64 {
        let mut waiting = self.lock();
        if !matches!(waiting.parts.back(), Some(Part::Frames(_))) {
            waiting.parts.push_back(Part::Frames(Vec::with_capacity(ENOUGH)));
        }
        if let Some(Part::Frames(frames)) = waiting.parts.back_mut() {
            write(frames);
        }
        let before = waiting.bytes;
        waiting.bytes += bytes;
        waiting.messages += messages;
        let wake = waiting.asleep || (before < ENOUGH && waiting.bytes >= ENOUGH);
        waiting.asleep = false;
        let place = waiting.messages;
        drop(waiting);
        if wake {
            self.more.notify_one();
        }
        place
    }

    pub fn push_part(&self, part: Part) {
        let mut waiting = self.lock();
        waiting.parts.push_back(part);
        waiting.hurry = true;
        drop(waiting);
        self.more.notify_one();
    }

    pub fn hurry(&self) {
        let mut waiting = self.lock();
        if !waiting.parts.is_empty() {
            waiting.hurry = true;
            drop(waiting);
            self.more.notify_one();
        }
    }

    pub fn has_room(&self) -> bool {
        let waiting = self.lock();
        waiting.bytes < MOST || waiting.closed
    }

    pub fn await_room(&self, until: Instant) {
        let time = until.saturating_duration_since(Instant::now());
        let full = |waiting: &mut Waiting| waiting.bytes >= MOST && !waiting.closed;
        drop(self.less.wait_timeout_while(self.lock(), time, full));
    }

    /// Notifies waiters that a part has been sent and freed.
    pub fn part_done(&self) {
        // Under the lock, so that no waiter checks before and sleeps after.
        drop(self.lock());
        self.less.notify_all();
    }

    pub fn await_part(&self, until: Instant, done: impl Fn() -> bool) {
        let time = until.saturating_duration_since(Instant::now());
        let open = |waiting: &mut Waiting| !done() && !waiting.ended;
        drop(self.less.wait_timeout_while(self.lock(), time, open));
    }

    /// What is to be sent next; nothing when the queue is closed and empty.
    pub fn take(&self) -> Option<VecDeque<Part>> {
        let mut waiting = self.lock();
        while waiting.parts.is_empty() {
            if waiting.closed {
                return None;
            }
            waiting.asleep = true;
            waiting = self.more.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        let few = |waiting: &mut Waiting| !waiting.hurry && !waiting.closed && waiting.bytes < ENOUGH;
        (waiting, _) = self.more.wait_timeout_while(waiting, GATHER, few).unwrap_or_else(PoisonError::into_inner);
        waiting.hurry = false;
        waiting.asleep = false;
        waiting.bytes = 0;
        self.less.notify_all();
        Some(std::mem::take(&mut waiting.parts))
    }

    /// Nothing more will be added.
    pub fn close(&self) {
        self.lock().closed = true;
        self.more.notify_one();
        self.less.notify_all();
    }

    /// The sender has finished.
    pub fn ended(&self) {
        let mut waiting = self.lock();
        waiting.ended = true;
        // Unsent data holds memory of its owner.
        let left = std::mem::take(&mut waiting.parts);
        drop(waiting);
        drop(left);
        self.less.notify_all();
    }

    pub fn await_end(&self, until: Instant) {
        let time = until.saturating_duration_since(Instant::now());
        drop(self.less.wait_timeout_while(self.lock(), time, |waiting| !waiting.ended));
    }
}
