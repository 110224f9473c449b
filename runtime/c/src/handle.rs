//! Handles: numbers in place of pointers, and their values.
//!
//! None is given twice. So one that is gone, or of something else, is refused, and what a call of another thread still
//! uses stays until that has returned.

use std::any::Any;
use std::cell::UnsafeCell;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

use symm_runtime::Error;

use crate::invalid;

/// Between two handles, as between two addresses.
const STEP: usize = 16;

struct Entry {
    value: Arc<dyn Any + Send + Sync>,
    /// The process that has made it.
    process: u32,
}

struct Handles {
    last: usize,
    known: BTreeMap<usize, Entry>,
}

static HANDLES: Mutex<Handles> = Mutex::new(Handles { last: 0, known: BTreeMap::new() });

/// What a handle stands for.
pub(crate) struct Held<T>(T);

// SAFETY: nothing in a rank, or in what belongs to one, is written without a lock or an atomic operation; the runtime
// refuses a second call where the order of two would matter.
unsafe impl<T> Sync for Held<T> {}

impl<T> Deref for Held<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// The table, which no fork leaves locked in a child.
fn handles() -> MutexGuard<'static, Handles> {
    static ONCE: Once = Once::new();
    // SAFETY: the handlers lock and unlock on the thread that forks. Without memory for them, a child that is made
    // while another thread is in the table would wait for that.
    ONCE.call_once(|| unsafe {
        pthread_atfork(Some(before_fork), Some(after_fork), Some(after_fork));
    });
    HANDLES.lock().unwrap_or_else(PoisonError::into_inner)
}

unsafe extern "C" {
    fn pthread_atfork(
        before: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> i32;
}

/// The lock during a fork.
struct Forks(UnsafeCell<Option<MutexGuard<'static, Handles>>>);

// SAFETY: its user holds the lock in it.
unsafe impl Sync for Forks {}

static FORKS: Forks = Forks(UnsafeCell::new(None));

extern "C" fn before_fork() {
    let table = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: this thread holds the lock.
    unsafe { *FORKS.0.get() = Some(table) };
}

extern "C" fn after_fork() {
    // SAFETY: this thread holds the lock; in a child, it is the copy of that thread.
    let table = unsafe { (*FORKS.0.get()).take() };
    drop(table);
}

/// Gives the caller a handle.
///
/// # Safety
/// `place` is null or valid for a write.
pub(crate) unsafe fn hand_over<T: Send + 'static>(place: *mut *mut T, value: T) -> Result<(), Error> {
    if place.is_null() {
        return Err(invalid("the place for the result is null"));
    }
    let mut table = handles();
    table.last += STEP;
    let handle = table.last;
    table.insert(handle, value);
    drop(table);
    // SAFETY: the caller's promise.
    unsafe { place.write(handle as *mut T) };
    Ok(())
}

impl Handles {
    fn insert<T: Send + 'static>(&mut self, handle: usize, value: T) {
        let entry = Entry { value: Arc::new(Held(value)), process: std::process::id() };
        self.known.insert(handle, entry);
    }

    fn find<T: Send + 'static>(&self, handle: *const T) -> Option<(&Entry, Arc<Held<T>>)> {
        let entry = self.known.get(&(handle as usize))?;
        Arc::clone(&entry.value).downcast().ok().map(|value| (entry, value))
    }
}

fn refused<T>(handle: *const T, what: &str) -> Error {
    if handle.is_null() {
        return invalid(format!("{what} is null"));
    }
    invalid(format!("{what} is gone, or its handle is one of something else"))
}

/// What a handle stands for.
pub(crate) fn find<T: Send + 'static>(handle: *const T, what: &str) -> Result<Arc<Held<T>>, Error> {
    let found = handles().find(handle).map(|(_, value)| value);
    found.ok_or_else(|| refused(handle, what))
}

/// Ends a handle by what is done with its value, which may give the value back. One that another thread uses stays.
pub(crate) fn give_up<T: Send + 'static>(
    handle: *mut T,
    what: &str,
    end: impl FnOnce(T) -> Result<(), (Error, Option<T>)>,
) -> Result<(), Error> {
    let mut entries = handles();
    let (process, value) = {
        let (entry, value) = entries.find(handle).ok_or_else(|| refused(handle, what))?;
        (entry.process, value)
    };
    // One is the table's; new ones are made with the lock held only.
    if Arc::strong_count(&value) > 2 && process == std::process::id() {
        return Err(invalid(format!("{what} is in another call: wait until that has returned")));
    }
    entries.known.remove(&(handle as usize));
    drop(entries);
    // In a child of fork(), the threads that use it are not there.
    let Some(Held(value)) = Arc::into_inner(value) else { return Ok(()) };
    end(value).map_err(|(error, stays)| {
        if let Some(value) = stays {
            handles().insert(handle as usize, value);
        }
        error
    })
}

/// Ends a handle. Nothing for one that is null or gone.
pub(crate) fn destroy<T: Send + 'static>(handle: *mut T, before: impl FnOnce(&T)) {
    let mut entries = handles();
    let Some(value) = entries.find(handle).map(|(_, value)| value) else { return };
    entries.known.remove(&(handle as usize));
    drop(entries);
    // What a drop cannot do it has reported to the other ranks.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        before(&value);
        drop(value);
    }));
}
