//! Taking a mutex that a panic may have left: what is guarded here is whole at every step.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The guarded value.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
