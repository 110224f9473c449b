//! Threads for blocks, of which there may be thousands. A thread of the standard library has a second stack for signal
//! handlers, which has its own mapping and guard: four mappings in all, and a process may have 65 530. Here that stack
//! is a part of the first, and a thread has two mappings.

use std::ffi::c_void;
use std::io;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// Mappings of a thread: its stack, and the guard below.
pub(super) const MAPPINGS: u64 = 2;
/// Bytes of the stack for signal handlers: enough to report a fault, with the registers of any processor.
const HANDLER_STACK: usize = 32 << 10;

/// A thread that has been started.
#[derive(Debug)]
pub(super) struct Thread(libc::pthread_t);

/// What a thread does.
type Body = Box<dyn FnOnce() + Send>;

impl Thread {
    /// Starts a thread with this many bytes of stack.
    pub(super) fn start(name: &str, stack: usize, body: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let name: Box<str> = name.into();
        let named: Body = Box::new(move || {
            call_it(&name);
            body();
        });
        let argument = Box::into_raw(Box::new(named));
        let (mut attributes, mut id) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: the attributes are made before they are used and ended after; the thread takes the box.
        let status = unsafe {
            libc::pthread_attr_init(attributes.as_mut_ptr());
            libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), stack + HANDLER_STACK);
            let status = libc::pthread_create(id.as_mut_ptr(), attributes.as_ptr(), run, argument.cast());
            libc::pthread_attr_destroy(attributes.as_mut_ptr());
            status
        };
        if status != 0 {
            // SAFETY: no thread has taken it.
            drop(unsafe { Box::from_raw(argument) });
            return Err(io::Error::from_raw_os_error(status));
        }
        // SAFETY: stored by the call, which succeeded.
        Ok(Self(unsafe { id.assume_init() }))
    }

    /// Waits for its end.
    pub(super) fn join(self) {
        // SAFETY: it was started, and is joined or detached once.
        unsafe { libc::pthread_join(self.0, ptr::null_mut()) };
    }

    /// Detaches it.
    pub(super) fn detach(self) {
        // SAFETY: as above.
        unsafe { libc::pthread_detach(self.0) };
    }
}

/// Gives the calling thread a name that debuggers show: its first 15 bytes.
fn call_it(name: &str) {
    let mut text = [0_u8; 16];
    for (to, from) in text[..15].iter_mut().zip(name.bytes()) {
        *to = from;
    }
    // SAFETY: a string of at most 16 bytes with its end.
    unsafe { libc::prctl(libc::PR_SET_NAME, text.as_ptr()) };
}

extern "C" fn run(argument: *mut c_void) -> *mut c_void {
    // Above everything else on the thread's stack.
    #[allow(clippy::large_stack_arrays, reason = "the stack has been made larger by as much")]
    let mut handlers = [MaybeUninit::<u8>::uninit(); HANDLER_STACK];
    let stack = libc::stack_t { ss_sp: handlers.as_mut_ptr().cast(), ss_flags: 0, ss_size: HANDLER_STACK };
    let none = libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
    // SAFETY: the array lives until it is not the stack for handlers any more; the box was made by `start` for this
    // thread. The panic hook has printed its message.
    unsafe {
        libc::sigaltstack(&raw const stack, ptr::null_mut());
        let body = Box::from_raw(argument.cast::<Body>());
        let _ = catch_unwind(AssertUnwindSafe(body));
        libc::sigaltstack(&raw const none, ptr::null_mut());
    }
    ptr::null_mut()
}
