//! A session's tensors.

use crate::error::Failure;
use std::collections::HashMap;

/// What an id stands for.
pub enum Slot<T> {
    /// A tensor.
    Tensor(T),
    /// What this message should have made.
    Poisoned(u64),
}

/// The tensors of one session, by id.
pub struct Tensors<T> {
    session: u64,
    slots: HashMap<u64, Slot<T>>,
}

impl<T> Tensors<T> {
    /// No tensors yet, for the session of this number.
    #[must_use]
    pub fn new(session: u64) -> Self {
        Self { session, slots: HashMap::new() }
    }

    /// The session's number.
    #[must_use]
    pub fn session(&self) -> u64 {
        self.session
    }

    /// The tensor of this id.
    ///
    /// # Errors
    /// There is none.
    pub fn tensor(&self, id: u64) -> Result<&T, Failure> {
        match self.slots.get(&id) {
            Some(Slot::Tensor(tensor)) => Ok(tensor),
            Some(Slot::Poisoned(_)) => Err(Failure::new("RuntimeError", "an earlier operation has failed")),
            None => Err(Failure::new("RuntimeError", format!("the worker has no tensor {id}"))),
        }
    }

    /// The message that failed to make this one.
    #[must_use]
    pub fn poison(&self, id: u64) -> Option<u64> {
        match self.slots.get(&id) {
            Some(Slot::Poisoned(message)) => Some(*message),
            _ => None,
        }
    }

    pub(super) fn put(&mut self, id: u64, slot: Slot<T>) {
        self.slots.insert(id, slot);
    }

    pub(super) fn remove(&mut self, id: u64) {
        self.slots.remove(&id);
    }

    pub(super) fn clear(&mut self) {
        self.slots.clear();
    }
}
