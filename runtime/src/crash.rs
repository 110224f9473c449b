//! Memory faults of a program: one line names the block and the rank, instead of a silent death.

use std::ffi::{c_int, c_void};
use std::fmt::{self, Write as _};
use std::sync::Once;

use crate::agent::{Agent, coordinates};
use crate::heap::HeapAddress;

/// Seconds until the handler is killed. It takes no lock and allocates nothing, but a fault in it could still hang.
const PATIENCE: u32 = 2;

/// Text that does not use the allocator, which the fault may have left locked. What does not fit is dropped.
struct Line {
    bytes: [u8; 768],
    len: usize,
}

impl Line {
    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.len) {
            *place = byte;
            self.len += 1;
        }
    }
}

impl fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().for_each(|byte| self.push(byte));
        Ok(())
    }
}

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
        libc::write(libc::STDERR_FILENO, text.bytes.as_ptr().cast(), text.len);
        libc::_exit(1);
    }
}

/// What happened and where, as one line.
fn report(signal: c_int, address: usize) -> Line {
    let mut line = Line { bytes: [0; 768], len: 0 };
    let mut far = None;
    // Writing to a `Line` does not fail.
    let _ = line.write_str("symm: ");
    let _ = Agent::try_with(|agent| {
        far = agent.far_place(address);
        agent.write_place(&mut line)
    });
    if let (libc::SIGSEGV, Some(HeapAddress { rank, offset })) = (signal, far) {
        let _ = writeln!(
            line,
            "touched heap+{offset:#x} of rank {rank}, which is far (N4): its heap is not mapped, so use symm's ops; \
             --check-bounds names the line of such an access"
        );
        return line;
    }
    let _ = match signal {
        libc::SIGFPE => line.write_str("divided by zero, or overflowed in an integer division"),
        libc::SIGILL => line.write_str("reached code marked unreachable"),
        libc::SIGBUS => write!(line, "touched memory at {address:#x} that has no backing"),
        _ => write!(
            line,
            "touched memory at {address:#x} that is not mapped, is misaligned, or lies beyond its stack: a rank or an \
             index out of range, a vector that is not aligned to its size, or a recursion without end"
        ),
    };
    let _ = line.write_str("; --check-bounds names a remote access that leaves the heap\n");
    line
}

impl Agent {
    /// The place in a far rank's heap that an address stands for, if it is such a one.
    fn far_place(&self, address: usize) -> Option<HeapAddress> {
        let heaps = &self.world.heaps;
        heaps.locate(address as *const u8).filter(|place| !heaps.is_near(place.rank))
    }

    /// Where this thread is, as [`Agent::place`] says it.
    fn write_place(&self, line: &mut Line) -> fmt::Result {
        write!(line, "the program: rank {}", self.rank)?;
        if let Some(block) = self.block.get() {
            let host = &self.area().host;
            let [x, y, z] = coordinates(block, host.grid());
            write!(line, ", block ({x},{y},{z}) of @")?;
            host.kernel.bytes().for_each(|byte| line.push(byte));
        }
        line.write_str(": ")
    }
}
