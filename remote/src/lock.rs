//! Locking a mutex that a panic may have poisoned: the values guarded here are consistent at every step.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The guarded value.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
