//! Locking a mutex that a panic may have poisoned: the values guarded here are consistent at every step.
//!
//! The runtime has the same function. The two crates have no crate in common, and one is more than these lines are
//! worth: `symm-abi` has what compiled code and the runtime agree on.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The guarded value.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
