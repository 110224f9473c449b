//! How a process that runs an input dies: any signal becomes one line, with the stage and the stack.

use std::collections::HashSet;
use std::ffi::{c_int, c_void};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Begins the line.
pub const CRASH: &str = "CRASH";

/// The exit status of a process that has written it.
pub const STATUS: c_int = 3;

const FRAMES: c_int = 64;
const ALTERNATIVE_STACK: usize = 1 << 20;

/// Address space of a worker: beyond it an allocation fails, which aborts.
const MEMORY: u64 = 3 << 30;

/// What one input may take: computing, and waiting for a busy machine.
const CPU_SECONDS: i64 = 6;
const WALL_SECONDS: u32 = 120;

/// Every stage there was, without blanks: a handler can't take a lock or allocate, so it reads one through a pointer.
static STAGES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
static STAGE: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
static STAGE_LENGTH: AtomicUsize = AtomicUsize::new(0);
static DYING: AtomicBool = AtomicBool::new(false);
static ANSWERS: AtomicI32 = AtomicI32::new(1);
static PANIC: Mutex<String> = Mutex::new(String::new());
static BASE: AtomicUsize = AtomicUsize::new(0);
static STACK_TOP: AtomicUsize = AtomicUsize::new(0);
static STACK_SIZE: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" {
    // glibc's: fills in return addresses, innermost first.
    fn backtrace(buffer: *mut *mut c_void, size: c_int) -> c_int;
}

/// Notes the stage for a crash report.
pub fn enter(stage: &str) {
    let stage = stage.replace(' ', "_");
    let mut stages = STAGES.lock().unwrap_or_else(PoisonError::into_inner);
    let stages = stages.get_or_insert_default();
    let stage = stages.get(stage.as_str()).copied().unwrap_or_else(|| stage.leak());
    stages.insert(stage);
    STAGE_LENGTH.store(0, Ordering::Relaxed);
    STAGE.store(stage.as_ptr().cast_mut(), Ordering::Relaxed);
    STAGE_LENGTH.store(stage.len(), Ordering::Relaxed);
}

/// Where a crash is reported.
pub fn report_to(file: c_int) {
    ANSWERS.store(file, Ordering::Relaxed);
}

/// Where the last panic was, and its message.
pub fn last_panic() -> String {
    PANIC.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Sets limits on memory, handlers of every deadly signal, and a hook for panics.
pub fn install() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(String::new, ToString::to_string);
        let payload = info.payload();
        let message = payload.downcast_ref::<String>().map(String::as_str);
        let message = message.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or_default();
        let text = format!("{place}: {}", message.lines().next().unwrap_or_default());
        // Where in our code: a panic may be in what the standard library does for it.
        let stack = std::backtrace::Backtrace::force_capture().to_string();
        let ours =
            |line: &&str| ["symm_dialect::", "symm_passes::", "symm_codegen::"].iter().any(|name| line.contains(name));
        let ours: Vec<&str> = stack.lines().filter(ours).map(str::trim).collect();
        eprintln!("panic at {text}\n{}", ours.join("\n"));
        let within = ours.first().and_then(|line| line.split_once(": ")).map_or("", |(_, name)| name);
        let text = format!("{within} ({text})");
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }));
    let here = 0_u8;
    STACK_TOP.store((&raw const here) as usize, Ordering::Relaxed);
    // SAFETY: plain system calls on memory that lives as long as the process. `backtrace` is called once outside of
    // a handler because its first call loads a library.
    unsafe {
        let mut stack = std::mem::zeroed::<libc::rlimit>();
        libc::getrlimit(libc::RLIMIT_STACK, &raw mut stack);
        STACK_SIZE.store(usize::try_from(stack.rlim_cur).unwrap_or(0), Ordering::Relaxed);
        libc::setrlimit(libc::RLIMIT_AS, &libc::rlimit { rlim_cur: MEMORY, rlim_max: MEMORY });
        libc::setrlimit(libc::RLIMIT_CORE, &libc::rlimit { rlim_cur: 0, rlim_max: 0 });
        libc::dl_iterate_phdr(Some(first_base), std::ptr::null_mut());
        let mut frames = [std::ptr::null_mut(); 4];
        backtrace(frames.as_mut_ptr(), 4);

        let memory = Vec::leak(vec![0_u8; ALTERNATIVE_STACK]);
        let alternative = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: memory.len() };
        libc::sigaltstack(&raw const alternative, std::ptr::null_mut());
        let mut action = std::mem::zeroed::<libc::sigaction>();
        action.sa_sigaction = handle as *const () as usize;
        action.sa_flags = libc::SA_ONSTACK | libc::SA_SIGINFO | libc::SA_RESETHAND;
        for signal in [
            libc::SIGSEGV,
            libc::SIGBUS,
            libc::SIGILL,
            libc::SIGFPE,
            libc::SIGABRT,
            libc::SIGTRAP,
            libc::SIGPROF,
            libc::SIGALRM,
        ] {
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

/// Starts the clocks of one input.
pub fn time() {
    let timer = libc::itimerval {
        it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 },
        it_value: libc::timeval { tv_sec: CPU_SECONDS, tv_usec: 0 },
    };
    // SAFETY: plain system calls.
    unsafe {
        libc::setitimer(libc::ITIMER_PROF, &raw const timer, std::ptr::null_mut());
        libc::alarm(WALL_SECONDS);
    }
}

/// Waits for a child to end.
pub fn wait(child: libc::pid_t) -> std::io::Result<std::process::ExitStatus> {
    let mut status = 0;
    loop {
        // SAFETY: the child is this process's, and nothing else waits for it.
        if unsafe { libc::waitpid(child, &raw mut status, 0) } == child {
            return Ok(std::os::unix::process::ExitStatusExt::from_raw(status));
        }
        let error = std::io::Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Empties standard error, which is a file of this process alone.
pub fn forget_errors() {
    // SAFETY: plain system calls.
    unsafe {
        libc::ftruncate(2, 0);
        libc::lseek(2, 0, libc::SEEK_SET);
    }
}

/// The end of what has been written to standard error since it was emptied.
pub fn errors() -> String {
    let mut bytes = vec![0_u8; 1 << 16];
    // SAFETY: the buffer is as large as it says.
    let count = unsafe { libc::pread(2, bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    bytes.truncate(usize::try_from(count).unwrap_or(0));
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}

/// Where the executable is loaded: symbols are looked up relative to it.
unsafe extern "C" fn first_base(info: *mut libc::dl_phdr_info, _: usize, _: *mut c_void) -> c_int {
    // SAFETY: the loader passes a record that lives during the call.
    BASE.store(usize::try_from(unsafe { (*info).dlpi_addr }).unwrap_or(0), Ordering::Relaxed);
    1
}

extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    // A handler that hangs, say because the heap is broken, dies by the default action of SIGALRM.
    // SAFETY: the process ends here, whatever state it is in; the record lives during the call.
    unsafe {
        libc::signal(libc::SIGALRM, libc::SIG_DFL);
        libc::alarm(10);
        // Looking at a broken stack may fault again.
        if DYING.swap(true, Ordering::Relaxed) {
            libc::_exit(STATUS);
        }
        let below = STACK_TOP.load(Ordering::Relaxed).wrapping_sub((*info).si_addr() as usize);
        let limit = STACK_SIZE.load(Ordering::Relaxed);
        let overflow = signal == libc::SIGSEGV && below.abs_diff(limit) < 1 << 20;
        let stage = std::slice::from_raw_parts(
            STAGE.load(Ordering::Relaxed).cast_const().max(std::ptr::dangling()),
            STAGE_LENGTH.load(Ordering::Relaxed),
        );
        let stage = std::str::from_utf8_unchecked(stage);
        let mut line = Line { bytes: [0; 4096], length: 0 };
        let _ = write!(line, "{CRASH} {signal} {overflow} {stage}");
        line.send();
        // Where the stack is broken, it ends here.
        let mut frames = [std::ptr::null_mut(); FRAMES as usize];
        let count = backtrace(frames.as_mut_ptr(), FRAMES);
        for frame in frames.iter().take(usize::try_from(count).unwrap_or(0)) {
            let _ = write!(line, " {:x}", (*frame as usize).wrapping_sub(BASE.load(Ordering::Relaxed)));
        }
        line.send();
        libc::_exit(STATUS);
    }
}

/// Text without an allocation; what is too long is cut.
struct Line {
    bytes: [u8; 4096],
    length: usize,
}

impl Line {
    fn send(&mut self) {
        // SAFETY: the bytes are there.
        unsafe { libc::write(ANSWERS.load(Ordering::Relaxed), self.bytes.as_ptr().cast(), self.length) };
        self.length = 0;
    }
}

impl std::fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for byte in text.bytes().take(self.bytes.len() - self.length) {
            self.bytes[self.length] = byte;
            self.length += 1;
        }
        Ok(())
    }
}

/// Every C++ exception: MLIR is built without, so that one of the standard library (no memory, no such length) ends
/// the process. Here it does so where it is thrown, not where it leaves C++.
#[unsafe(no_mangle)]
extern "C" fn __cxa_throw(_: *mut c_void, _: *mut c_void, _: *mut c_void) -> ! {
    std::process::abort()
}
