//! One diagnostic where MLIR or LLVM would crash.
//!
//! MLIR 22 does not check everything it reads: there are malformed programs, above all as bytecode, on which its
//! reader or one of its passes runs into a null pointer or out of stack. A tool that holds a [`Guard`] then ends
//! with one line on standard error and status 1, and with another line where it is out of its stack. The same holds
//! where it asks for more memory than the machine has, which would otherwise end this process, or another one, without
//! a word. With `SYMM_BACKTRACE=1` in the environment it crashes as it would without, with LLVM's stack dump.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use symm_dialect::bytecode::MAGIC;

/// The line that such an end writes, after the name of the tool.
pub const MESSAGE: &str = "error: MLIR crashed on this input, or did not come to an end: it is malformed in a way that \
                           is not checked, or has met a bug; SYMM_BACKTRACE=1 in the environment shows where";

/// The message if the stack of [`note_stack`] was too small.
const DEEP: &str = "error: the program is nested too deeply, or has too long a chain of operations: MLIR ran out of \
                    its stack of 64 MiB";

/// How far from the end of its stack a thread may fault that has run over it, in bytes: frames before and beyond it.
const NEAR: (usize, usize) = (256 << 10, 1 << 20);

/// How long a tool may compute on bytecode, in seconds: for any file, and for each byte. Real programs take a
/// thousandth of that; there are malformed ones that MLIR's reader does not come to the end of.
const BYTECODE_SECONDS: u64 = 30;
const BYTES_PER_SECOND: u64 = 10_000;

unsafe extern "C" {
    // llvm::sys::AddSignalHandler(void (*)(void *), void *), of which LLVM has no C form. Handlers run in the order
    // in which they were added, on a stack of their own, and the first is before the one that dumps the stack.
    #[link_name = "_ZN4llvm3sys16AddSignalHandlerEPFvPvES1_"]
    fn llvm_add_signal_handler(handler: extern "C" fn(*mut c_void), cookie: *mut c_void);
    // llvm::sys::PrintStackTraceOnErrorSignal(llvm::StringRef, bool), likewise.
    #[link_name = "_ZN4llvm3sys28PrintStackTraceOnErrorSignalENS_9StringRefEb"]
    fn llvm_dump_stack_on_signal(program: *const u8, length: usize, no_symbols: bool);
}

/// A line to write in a signal handler.
struct Text {
    start: AtomicPtr<u8>,
    bytes: AtomicUsize,
}

static CRASHED: Text = Text::new();
static OUT_OF_STACK: Text = Text::new();
/// Where the stack that MLIR runs on ends, about; 0 where that is not known.
static STACK_END: AtomicUsize = AtomicUsize::new(0);

/// While it lives, a crash of this process ends with one diagnostic.
#[must_use]
pub struct Guard {
    memory: Rlimit,
    time: Rlimit,
}

/// Guards `tool` from here on. Call it before anything else of LLVM, one guard at a time.
pub fn guard(tool: &str) -> Guard {
    static ONCE: std::sync::Once = std::sync::Once::new();
    if std::env::var_os("SYMM_BACKTRACE").is_some() {
        // SAFETY: an empty name; LLVM finds the program by itself.
        ONCE.call_once(|| unsafe { llvm_dump_stack_on_signal(std::ptr::dangling(), 0, false) });
    } else {
        CRASHED.set(format!("{tool}: {MESSAGE}\n"));
        OUT_OF_STACK.set(format!("{tool}: {DEEP}\n"));
        // SAFETY: the handlers are static functions.
        ONCE.call_once(|| unsafe {
            llvm_add_signal_handler(end, std::ptr::null_mut());
            take_signals();
        });
    }
    let guard = Guard { memory: getrlimit(Resource::Data), time: getrlimit(Resource::Cpu) };
    let information = rustix::system::sysinfo();
    lower(Resource::Data, &guard.memory, information.totalram.saturating_mul(information.mem_unit.into()));
    guard
}

/// Notes that this thread has a stack of this many bytes, at the start of its work.
pub(crate) fn note_stack(bytes: usize) {
    let here = 0_u8;
    STACK_END.store((&raw const here as usize).saturating_sub(bytes), Ordering::Relaxed);
}

/// Takes the signals that LLVM's handlers say too little about: they do not know where a memory fault was.
///
/// # Safety
/// LLVM's handlers are there, and with them a stack for them.
unsafe fn take_signals() {
    for signal in [libc::SIGSEGV, libc::SIGBUS] {
        // SAFETY: a zeroed sigaction is a valid one; the handler is a static function of the type that SA_SIGINFO asks
        // for, and runs on the alternate stack that Rust gives every thread.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = fault as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
    // Writing past a file size limit is then an error, not the end of the process.
    // SAFETY: it ignores a signal.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

impl Text {
    const fn new() -> Self {
        Self { start: AtomicPtr::new(std::ptr::null_mut()), bytes: AtomicUsize::new(0) }
    }

    fn set(&self, text: String) {
        let text = text.leak();
        self.bytes.store(text.len(), Ordering::Relaxed);
        self.start.store(text.as_mut_ptr(), Ordering::Release);
    }

    /// Writes the text, if there is one, and ends the process. It makes nothing but system calls.
    fn end(&self) {
        let start = self.start.load(Ordering::Acquire);
        if !start.is_null() {
            // SAFETY: the text was leaked and is as long as was noted before.
            unsafe {
                libc::write(libc::STDERR_FILENO, start.cast(), self.bytes.load(Ordering::Relaxed));
                libc::_exit(1);
            }
        }
    }
}

impl Guard {
    /// Limits the time for a file that holds bytecode.
    pub fn reads(&self, path: &Path) {
        let mut start = [0; MAGIC.len()];
        let Ok(mut file) = File::open(path) else { return };
        if file.read_exact(&mut start).is_ok() {
            self.limit(&start, file.metadata().map_or(0, |metadata| metadata.len()));
        }
    }

    /// Likewise for a program that is in memory.
    pub fn reads_bytes(&self, program: &[u8]) {
        self.limit(program, program.len() as u64);
    }

    fn limit(&self, start: &[u8], bytes: u64) {
        if start.starts_with(MAGIC) {
            // What has been used is little yet: the limit is on all of the process's time.
            lower(Resource::Cpu, &self.time, BYTECODE_SECONDS + bytes / BYTES_PER_SECOND);
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        for text in [&CRASHED, &OUT_OF_STACK] {
            text.start.store(std::ptr::null_mut(), Ordering::Release);
        }
        let _ = setrlimit(Resource::Data, self.memory);
        let _ = setrlimit(Resource::Cpu, self.time);
    }
}

/// Lowers a limit that was `old`; where that is refused, there is no limit, as without a guard.
fn lower(resource: Resource, old: &Rlimit, new: u64) {
    let least = [old.current, old.maximum, Some(new)].into_iter().flatten().min();
    let _ = setrlimit(resource, Rlimit { current: least, maximum: old.maximum });
}

/// LLVM's handler of signals calls this.
extern "C" fn end(_: *mut c_void) {
    CRASHED.end();
}

/// The system's handler of memory faults.
extern "C" fn fault(signal: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: the system passes a valid siginfo.
    let address = unsafe { (*info).si_addr() } as usize;
    let end = STACK_END.load(Ordering::Relaxed);
    if (end.saturating_sub(NEAR.1)..end.saturating_add(NEAR.0)).contains(&address) {
        OUT_OF_STACK.end();
    }
    CRASHED.end();
    // The guard is gone: behave as if there had been none.
    // SAFETY: the default handler takes the signal when the faulting instruction runs again.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}
