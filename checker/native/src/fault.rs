//! Faults of compiled code: what would end the process ends the task's execution, and is reported.
//!
//! The handler of the signal has the task's coroutine return, with the fault as its last word. What is on its stack
//! owns nothing (see [`crate::calls`]). A fault anywhere else is left to the handler that was there before.

use crate::fiber::{last, running};
use crate::task::Context;
use corosensei::trap::TrapHandlerRegs;
use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;
use symm_checker::op::Site;
use symm_checker::run::Next;

/// The signals of faults.
const SIGNALS: [c_int; 6] = [libc::SIGFPE, libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGTRAP, libc::SIGABRT];
/// Addresses below this one are those of an element of a null pointer's array.
const SMALL: usize = 1 << 16;
/// Bytes beyond the end of a stack that a function's first access may hit.
const BEYOND: usize = 1 << 16;

/// The handlers that were there before.
static BEFORE: OnceLock<Vec<(c_int, libc::sigaction)>> = OnceLock::new();

/// From here on, a fault of a task is what the task does next.
pub fn install() {
    BEFORE.get_or_init(|| SIGNALS.map(|signal| (signal, replace(signal))).to_vec());
}

/// Takes a signal; the handler that it had.
fn replace(signal: c_int) -> libc::sigaction {
    // SAFETY: a zeroed sigaction is a valid one; the handler is a static function of the type that SA_SIGINFO asks for,
    // and runs on the alternate stack that Rust gives every thread.
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handle as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(signal, &raw const action, &raw mut before);
        before
    }
}

extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes a valid siginfo and context. The task is there while it runs, and its stack pointer is
    // looked at before its stack is used.
    unsafe {
        let machine = &mut *context.cast::<libc::ucontext_t>();
        let task = running().as_ref();
        let trap = task.and_then(|task| task.trap.take());
        if let (Some(task), Some(trap)) = (task, trap)
            && trap.stack_ptr_in_bounds(stack_pointer(machine))
        {
            let address = (signal == libc::SIGSEGV || signal == libc::SIGBUS).then(|| (*info).si_addr() as usize);
            let task = std::ptr::from_ref(task);
            go_on(machine, trap.setup_trap_handler(move || crash(&*task, signal, address)));
            return;
        }
    }
    restore(signal);
}

/// Gives a signal back: the instruction that has raised it raises it again.
fn restore(signal: c_int) {
    let before = BEFORE.get().and_then(|all| all.iter().find(|(known, _)| *known == signal));
    if let Some((_, action)) = before {
        // SAFETY: the action that the system has given.
        unsafe { libc::sigaction(signal, action, std::ptr::null_mut()) };
    } else {
        // SAFETY: the default handler.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

#[cfg(target_arch = "x86_64")]
fn stack_pointer(machine: &libc::ucontext_t) -> usize {
    usize::try_from(machine.uc_mcontext.gregs[libc::REG_RSP as usize]).unwrap_or(0)
}

/// Has the interrupted code go on with these registers.
#[cfg(target_arch = "x86_64")]
fn go_on(machine: &mut libc::ucontext_t, registers: TrapHandlerRegs) {
    let TrapHandlerRegs { rip, rsp, rbp, rdi, rsi } = registers;
    let all = [
        (libc::REG_RIP as usize, rip),
        (libc::REG_RSP as usize, rsp),
        (libc::REG_RBP as usize, rbp),
        (libc::REG_RDI as usize, rdi),
        (libc::REG_RSI as usize, rsi),
    ];
    for (register, value) in all {
        machine.uc_mcontext.gregs[register] = value.cast_signed();
    }
}

/// What a task says that has crashed, on its own stack, which is empty again.
fn crash(task: &Context, signal: c_int, address: Option<usize>) -> Next {
    let loc = last();
    let site: Site = if loc.is_null() {
        "start".into()
    } else {
        // SAFETY: a constant of the program, which ends with a zero byte.
        unsafe { CStr::from_ptr(loc) }.to_string_lossy().into()
    };
    Next::Crash(site, format!("{}, here or before its next access", reason(task, signal, address)))
}

fn reason(task: &Context, signal: c_int, address: Option<usize>) -> String {
    match (signal, address) {
        (_, Some(address)) if task.stack_ends_about(address, BEYOND) => "its stack is full".into(),
        // An address that no memory can have is not told.
        (_, Some(address)) if 0 < address && address < SMALL => {
            format!("accesses address {address:#x}, where there is no memory")
        }
        (_, Some(_)) => "accesses memory that is not there, or not aligned as it has to be".into(),
        (libc::SIGFPE, _) => "divides by zero, or overflows in an integer division".into(),
        (libc::SIGABRT, _) => "aborts".into(),
        _ => "reaches a trap, or code marked unreachable".into(),
    }
}
