//! What is allocated: by a handler of signals nothing, by a timeline that is written not much.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::c_void;
use std::io::{self, Write};
use std::process::Command;

use common::{alloc, launch, threads};
use symm_runtime::trace::{Event, Trace, What};
use symm_runtime::{Coords, run};

/// Counts a thread's bytes, and says so when it may not allocate any more. What other threads do meanwhile, and other
/// tests' are among them, is theirs.
struct Counting;

thread_local! {
    static FORBIDDEN: Cell<bool> = const { Cell::new(false) };
    /// Below zero where a thread frees what another has allocated.
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: the system's, with counters that need no memory and no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if FORBIDDEN.get() {
            let text = b"allocated\n";
            // SAFETY: memory of this function.
            unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
        }
        LIVE.set(LIVE.get() + layout.size().cast_signed());
        MOST.set(MOST.get().max(LIVE.get()));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get() - layout.size().cast_signed());
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }
}

/// Touches memory that is not there.
unsafe extern "C" fn crash(_: *const *const c_void, _: *const Coords) {
    FORBIDDEN.set(true);
    // SAFETY: it is not, which is the point.
    unsafe { std::ptr::without_provenance_mut::<u8>(0x1234).write_volatile(1) };
}

#[test]
#[ignore = "the test below starts it in a process of its own"]
fn crashes() {
    let _ = run(&threads(1), |rank| {
        let data = alloc(rank, 8, c"p:1:1");
        launch(rank, c"kernels::crash", crash, 3, data, c"p:2:1");
        Ok(())
    });
}

#[test]
fn the_handler_of_a_crash_allocates_nothing() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.args(["--exact", "crashes", "--ignored", "--quiet"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains(" of @kernels::crash: touched memory at 0x1234 that is not mapped"), "{text}");
    assert!(text.contains("symm: the program: rank 0, block ("), "{text}");
    assert!(!text.contains("allocated"), "{text}");
}

/// Takes everything, and keeps nothing.
struct Discard(usize);

impl Write for Discard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_timeline_is_written_event_by_event() {
    let event = |index: u32| {
        let (rank, block) = (index % 4, Some(index / 4 % 16));
        let flag = Some(symm_runtime::trace::FlagAddress { rank, offset: 8 * u64::from(index % 64) });
        let what = What::Wait { flag, condition: ">= 3".into(), saw: 3, satisfied: true };
        let start = 100 * u64::from(index);
        Event { rank, block, start, end: start + 50, loc: "p.mlir:3:5".into(), what }
    };
    let trace = Trace { events: (0..100_000).map(event).collect(), ..Trace::default() };
    let before = LIVE.get();
    MOST.set(before);
    let mut to = Discard(0);
    trace.write_chrome(&mut to).unwrap();
    let more = MOST.get() - before;
    println!("{} bytes written, {more} taken", to.0);
    assert!(more < 100_000 * 60, "{more} bytes for 100000 events");
}
