//! The end of a rank whose program ends by an exception with an exit status, as `raise SystemExit(1)` does.
//!
//! Python tells the status to nobody whom it calls at its end, but the C library does.

use crate::failure::text;
use crate::rank::JoinedRank;
use pyo3::prelude::*;
use std::ffi::{c_int, c_void};
use std::io::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use symm_remote::lock::lock;
use symm_runtime::{Watch, set_call, set_call_site};

unsafe extern "C" {
    fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    fn fflush(stream: *mut c_void) -> c_int;
    fn _exit(status: c_int) -> !;
}

/// What is left of a rank after Python's end.
struct Last {
    number: u32,
    watch: Watch,
    /// None while another thread makes a call for it.
    rank: Option<symm_runtime::Rank>,
    process: u32,
}

/// Of each of them the address of a word that says to other ranks that this one leaves.
static LEAVES: Mutex<Vec<usize>> = Mutex::new(Vec::new());

#[pymethods]
impl JoinedRank {
    /// Leaves the run when Python has ended, if the process's exit status is then 0, and else ends it. `leaves` is the
    /// address of a word on the heap that becomes 1 when it leaves, or 0.
    fn leave_at_exit(&self, py: Python<'_>, leaves: usize) -> PyResult<()> {
        let (number, watch, rank) = self.take(py)?;
        let last = Box::new(Last { number, watch, rank, process: std::process::id() });
        if leaves != 0 {
            lock(&LEAVES).push(leaves);
        }
        // SAFETY: the function takes what the box has been made to, once.
        unsafe { on_exit(end, Box::into_raw(last).cast()) };
        Ok(())
    }
}

extern "C" fn end(status: c_int, last: *mut c_void) {
    // SAFETY: it comes from `leave_at_exit`, and the C library calls this once for each.
    let last = unsafe { Box::from_raw(last.cast::<Last>()) };
    if std::process::id() != last.process {
        std::mem::forget(last);
        return;
    }
    let number = last.number;
    if status != 0 {
        last.watch.end(&format!("rank {number} ended with exit status {status}; its own output says why"));
        return;
    }
    let Some(rank) = last.rank else { return };
    // It leaves all of its runs: others may wait for it in one that comes later.
    for leaves in lock(&LEAVES).drain(..) {
        // SAFETY: the caller of `leave_at_exit` names a word on a rank's heap, which that one's `watch` keeps mapped.
        unsafe { AtomicI64::from_ptr(leaves as *mut i64) }.store(1, Ordering::SeqCst);
    }
    // This thread has lost its local data, with the name of the call.
    let leaves = thread::spawn(|| {
        set_call_site(Some("the end of the program"));
        set_call("World.close");
        rank.leave()
    });
    if let Ok(Err(error)) = leaves.join() {
        // At once: messages of several ranks do not mix within a line.
        let said = format!("symm: rank {number} could not leave the run: {}\n", text(&error));
        let _ = std::io::stderr().write_all(said.as_bytes());
        // SAFETY: both may be called at any time; null stands for all streams.
        unsafe {
            fflush(std::ptr::null_mut());
            _exit(1)
        }
    }
}
