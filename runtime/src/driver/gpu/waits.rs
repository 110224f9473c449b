//! Calls of an engine, which wait for all ranks: a rank that has died or failed never comes.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Once;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::heap::GoesOn;

/// How often a thread is looked at that may never end.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How long others may take to say why a call has failed.
const HEARS_IN: Duration = Duration::from_millis(500);

/// Looks for an error for some time.
fn look_for(time: Duration, goes_on: GoesOn<'_>) -> Result<(), Error> {
    let end = Instant::now() + time;
    while Instant::now() < end {
        goes_on()?;
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

unsafe extern "C" {
    /// As glibc has it: what is to be called with the process's status when it ends, the last one first.
    fn on_exit(call: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

/// Has this process end without the destructors of libraries: a thread of it is in one of them for good.
fn end_without_destructors() {
    extern "C" fn end(status: c_int, _: *mut c_void) {
        // SAFETY: all streams of C are written out, and nothing of this process runs any more.
        unsafe {
            libc::fflush(ptr::null_mut());
            libc::_exit(status);
        }
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // If it can't be registered, the destructors run.
        // SAFETY: the function is there until the process ends.
        let _ = unsafe { on_exit(end, ptr::null_mut()) };
    });
}

/// Calls what may wait forever for others; it is left alone when `goes_on` has an error.
pub(super) fn on_a_thread<R: Send + 'static>(
    goes_on: GoesOn<'_>,
    call: impl FnOnce() -> Result<R, Error> + Send + 'static,
) -> Result<R, Error> {
    let (sender, ended) = mpsc::channel();
    // Nobody may wait for it any more.
    let call = move || drop(sender.send(call()));
    let thread = std::thread::Builder::new().name("symm engine".to_owned()).spawn(call);
    thread.map_err(Error::io("start a thread for the engine"))?;
    loop {
        match ended.recv_timeout(LOOK_EVERY) {
            // It may have failed because another rank has died.
            Ok(Err(error)) => return look_for(HEARS_IN, goes_on).and(Err(error)),
            Ok(Ok(result)) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => goes_on().inspect_err(|_| end_without_destructors())?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::Program("a call of the engine has panicked".to_owned()));
            }
        }
    }
}
