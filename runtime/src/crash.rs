//! Memory faults of a program: one line that says which block of which rank it was, instead of silence.

use std::ffi::{c_int, c_void};
use std::fmt::Write as _;
use std::sync::Once;

use crate::agent::Agent;
use crate::loc::Loc;

/// Seconds that the handler has, should the fault have left something locked that it needs.
const PATIENCE: u32 = 2;

/// From here on, a fault in compiled code ends the process with a report and status 1.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL] {
            // SAFETY: a zeroed sigaction is a valid one; the handler is a static function of the type that
            // SA_SIGINFO asks for, and runs on the alternate stack that Rust gives every thread.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = end as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigaction(signal, &raw const action, std::ptr::null_mut());
            }
        }
    });
}

extern "C" fn end(signal: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: the system passes a valid siginfo; the other calls take numbers and memory of this function.
    unsafe {
        libc::alarm(PATIENCE);
        let address = (*info).si_addr() as usize;
        let text = report(signal, address);
        libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len());
        libc::_exit(1);
    }
}

/// What happened and where, as one line.
fn report(signal: c_int, address: usize) -> String {
    let mut text = String::from("symm: ");
    if let Some(place) = Agent::current_place() {
        let _ = write!(text, "{place}: ");
    }
    let what = match signal {
        libc::SIGFPE => "divided by zero, or an integer division overflowed".to_owned(),
        libc::SIGILL => "ran into code that can't be reached".to_owned(),
        libc::SIGBUS => format!("touched memory at {address:#x} that has no backing"),
        _ => format!(
            "touched memory at {address:#x} that is not mapped, is misaligned, or lies beyond its stack: a rank or an \
             index out of range, a vector that is not aligned to its size, or a recursion without end"
        ),
    };
    let _ = writeln!(text, "{what}; --check-bounds names a remote access that leaves the heap");
    text
}

impl Agent {
    /// Where the calling thread is, if it runs compiled code.
    fn current_place() -> Option<String> {
        Self::try_with(|agent| agent.place(Loc::from(c"the program")).to_string())
    }
}
