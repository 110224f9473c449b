//! Ctrl-C, and other reasons for a caller to stop waiting.

use std::cell::Cell;
use std::ffi::c_int;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

use crate::clock;
use crate::error::Error;

/// The signals by which launchers end a rank, some time before they kill it.
const ENDING: [c_int; 2] = [libc::SIGINT, libc::SIGTERM];

/// Nanoseconds between two questions of one thread.
const ASK_EVERY: u64 = 50_000_000;

/// Nanoseconds in which further signals count as the same Ctrl-C: `timeout`, for one, signals both the process and its
/// group.
const ONE_PRESS: u64 = 300_000_000;

type Question = fn() -> bool;

static QUESTION: RwLock<Option<Question>> = RwLock::new(None);
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// The signal that came, or 0.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
/// When the first one came, in the clock's nanoseconds, or 0.
static FIRST: AtomicU64 = AtomicU64::new(0);
static STAYS: AtomicBool = AtomicBool::new(false);

thread_local! {
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

/// Sets a question that waiting calls ask now and then, on the waiting thread, at most 20 times a second: whether to
/// stop. The first answer `true` ends the run with [`Error::Interrupted`]. A rank cannot take back that it has come to
/// a barrier,
/// so the run cannot go on without it. It is for languages whose signal handlers do not run during a call.
///
/// In [`crate::run`] the calling thread asks, at least ten times a second.
pub fn set_interrupt(question: fn() -> bool) {
    // Nothing panics while it is held.
    if let Ok(mut slot) = QUESTION.write() {
        *slot = Some(question);
    }
}

/// From here on, SIGINT (Ctrl-C) interrupts runs as [`set_interrupt`] does, instead of ending the process. A second one
/// ends it, unless `stays`: for a process that others end.
///
/// # Errors
/// [`Error::System`].
pub fn catch_interrupts(stays: bool) -> Result<(), Error> {
    STAYS.store(stays, Ordering::Relaxed);
    catch(&[libc::SIGINT])
}

/// The same for a rank that a launcher ends by SIGINT or SIGTERM, until [`end_as_asked`].
///
/// # Errors
/// [`Error::System`].
pub fn catch_launcher() -> Result<(), Error> {
    catch(&ENDING)
}

/// From here on, what [`catch_launcher`] has caught ends the process again; at once if it has come, so that the
/// launcher sees what has ended it.
pub fn end_as_asked() {
    // SAFETY: signals get their default action.
    ENDING.iter().for_each(|signal| unsafe {
        libc::signal(*signal, libc::SIG_DFL);
    });
    let came = SIGNAL.load(Ordering::Relaxed);
    if came != 0 {
        // SAFETY: as above.
        unsafe { libc::raise(came) };
    }
}

fn catch(signals: &[c_int]) -> Result<(), Error> {
    set_interrupt(|| INTERRUPTED.load(Ordering::Relaxed));
    for signal in signals {
        // SAFETY: a zeroed sigaction is a valid one; the handler is a static function that does what a handler may.
        let status = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = note as *const () as usize;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(*signal, &raw const action, std::ptr::null_mut())
        };
        if status != 0 {
            return Err(Error::io("catch a signal")(std::io::Error::last_os_error()));
        }
    }
    Ok(())
}

extern "C" fn note(signal: c_int) {
    INTERRUPTED.store(true, Ordering::Relaxed);
    SIGNAL.store(signal, Ordering::Relaxed);
    let now = clock::now();
    let first = FIRST.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed).unwrap_or_else(|first| first);
    if first != 0 && now - first > ONE_PRESS && !STAYS.load(Ordering::Relaxed) {
        // SAFETY: both functions are among those that a handler may call.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }
}

/// Whether this thread should stop waiting. Without a question it costs a load.
pub(crate) fn is_asked() -> bool {
    let Some(question) = QUESTION.read().ok().and_then(|slot| *slot) else { return false };
    let now = clock::now();
    if now.saturating_sub(ASKED.get()) < ASK_EVERY {
        return false;
    }
    ASKED.set(now);
    question()
}

/// An error if this thread should stop waiting, for waits before there is a run to end.
pub(crate) fn check() -> Result<(), Error> {
    if is_asked() { Err(Error::Interrupted { report: String::new() }) } else { Ok(()) }
}
