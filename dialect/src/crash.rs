//! One diagnostic where MLIR or LLVM would crash.
//!
//! MLIR 22 does not check everything it reads: there are malformed programs, above all as bytecode, on which its
//! reader or one of its passes runs into a null pointer or out of stack. A tool that holds a [`Guard`] then ends
//! with one line on standard error and status 1. The same holds where it asks for more memory than the machine has,
//! which would otherwise end this process, or another one, without a word. With `SYMM_BACKTRACE=1` in the environment
//! it crashes as it would without, with LLVM's stack dump.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::borrow::Cow;
use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The line that such an end writes, behind the name of the tool.
pub const MESSAGE: &str = "error: MLIR crashed on this input, or did not come to an end: it is malformed in a way that \
                           is not checked, or has met a bug; SYMM_BACKTRACE=1 in the environment shows where";

/// The smallest stack, in bytes, of which a tool says nothing where it crashes. No program here needs a quarter of it.
const USUAL_STACK: u64 = 1 << 20;

/// How long a tool may compute on bytecode, in seconds: for any file, and for each byte. Real programs take a
/// thousandth of that; there are malformed ones that MLIR's reader does not come to the end of.
const BYTECODE_SECONDS: u64 = 30;
const BYTES_PER_SECOND: u64 = 10_000;

/// What bytecode begins with.
const MAGIC: &[u8] = b"ML\xefR";

unsafe extern "C" {
    // llvm::sys::AddSignalHandler(void (*)(void *), void *), of which LLVM has no C form. Handlers run in the order
    // in which they were added, on a stack of their own, and the first is before the one that dumps the stack.
    #[link_name = "_ZN4llvm3sys16AddSignalHandlerEPFvPvES1_"]
    fn llvm_add_signal_handler(handler: extern "C" fn(*mut c_void), cookie: *mut c_void);
    fn write(file: c_int, bytes: *const u8, count: usize) -> isize;
    fn _exit(code: c_int) -> !;
}

static TEXT: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
static LENGTH: AtomicUsize = AtomicUsize::new(0);

/// While it lives, a crash of this process ends with one diagnostic.
#[must_use]
pub struct Guard {
    memory: Rlimit,
    time: Rlimit,
}

/// Guards `tool` from here on. Call it before anything else of LLVM, one guard at a time.
pub fn guard(tool: &str) -> Guard {
    static ONCE: std::sync::Once = std::sync::Once::new();
    if std::env::var_os("SYMM_BACKTRACE").is_none() {
        let text = format!("{tool}: {}\n", message(getrlimit(Resource::Stack).current)).leak();
        LENGTH.store(text.len(), Ordering::Relaxed);
        TEXT.store(text.as_mut_ptr(), Ordering::Release);
        // SAFETY: the handler is a static function.
        ONCE.call_once(|| unsafe { llvm_add_signal_handler(end, std::ptr::null_mut()) });
    }
    let guard = Guard { memory: getrlimit(Resource::Data), time: getrlimit(Resource::Cpu) };
    let information = rustix::system::sysinfo();
    lower(Resource::Data, &guard.memory, information.totalram.saturating_mul(information.mem_unit.into()));
    guard
}

/// What is said with a limit of so many bytes on the stack.
fn message(stack: Option<u64>) -> Cow<'static, str> {
    match stack.filter(|stack| *stack < USUAL_STACK) {
        None => MESSAGE.into(),
        Some(stack) => {
            let kib = stack >> 10;
            format!("error: MLIR crashed, most likely out of its stack of {kib} KiB: raise the limit (ulimit -s 8192)")
                .into()
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
        TEXT.store(std::ptr::null_mut(), Ordering::Release);
        let _ = setrlimit(Resource::Data, self.memory);
        let _ = setrlimit(Resource::Cpu, self.time);
    }
}

/// Lowers a limit that was `old`; where that is refused, there is none, as without a guard.
fn lower(resource: Resource, old: &Rlimit, new: u64) {
    let least = [old.current, old.maximum, Some(new)].into_iter().flatten().min();
    let _ = setrlimit(resource, Rlimit { current: least, maximum: old.maximum });
}

/// Runs in a signal handler: it may do nothing but system calls.
extern "C" fn end(_: *mut c_void) {
    let text = TEXT.load(Ordering::Acquire);
    if !text.is_null() {
        // SAFETY: the text was leaked and is as long as was noted before.
        unsafe {
            write(2, text, LENGTH.load(Ordering::Relaxed));
            _exit(1);
        }
    }
}
