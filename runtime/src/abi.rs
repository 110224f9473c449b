//! The functions that compiled programs call, declared in [`symm_abi::functions`]. `codegen/` links them by name
//! through [`symbols`].
//!
//! Compiled code cannot unwind: a fatal error ends the run and parks the calling thread forever.

// Each function's documentation states its contract. Compiled code makes the same promise to all: its pointers are
// valid.
#![allow(
    clippy::missing_safety_doc,
    clippy::must_use_candidate,
    reason = "called by compiled code, which passes valid pointers: that is the whole contract"
)]

use std::ffi::{CStr, c_char, c_void};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::Duration;

use crate::agent::Agent;
use crate::check::CheckFailure;
use crate::collective;
use crate::condition::Condition;
use crate::error::Error;
use crate::far;
use crate::launch::{self, Code, Launch};
use crate::loc::Loc;
use crate::lock::lock;
use crate::run::panic_message;
use crate::trace::{FlagAddress, What};
use crate::wait::{self, Flag, Wait};
use symm_abi::format;
use symm_abi::functions::Definitions;
use symm_abi::kernel::{KernelFn, Kinds, LAUNCH_DIMS};
use symm_abi::trace::{SignalKind, Transfer};
use symm_abi::wait::Compare;

/// [`symm_abi::functions::ALLOC`].
pub unsafe extern "C" fn symm_rt_alloc(_ctx: *const i64, bytes: u64, align: u64, loc: *const c_char) -> *mut u8 {
    // SAFETY: `loc` is a string constant of the program.
    call(unsafe { Loc::new(loc) }, |agent, loc| collective::alloc(agent, bytes, align, loc))
}

/// [`symm_abi::functions::FREE`].
pub unsafe extern "C" fn symm_rt_free(_ctx: *const i64, ptr: *mut u8, loc: *const c_char) {
    // SAFETY: `loc` is a string constant of the program.
    call(unsafe { Loc::new(loc) }, |agent, loc| collective::free(agent, ptr, loc));
}

/// [`symm_abi::functions::BARRIER_ALL`].
pub unsafe extern "C" fn symm_rt_barrier_all(_ctx: *const i64, loc: *const c_char) {
    // SAFETY: `loc` is a string constant of the program.
    call(unsafe { Loc::new(loc) }, collective::barrier_all);
}

/// [`symm_abi::functions::COPY`].
pub unsafe extern "C" fn symm_rt_copy(_ctx: *const i64, dst: *mut u8, src: *const u8, bytes: u64, loc: *const c_char) {
    // SAFETY: `loc` is a string constant of the program.
    call(unsafe { Loc::new(loc) }, |agent, loc| {
        let start = crate::clock::now();
        // SAFETY: compiled code passes valid ranges, whose size therefore fits the address space.
        unsafe { agent.world.driver.copy_now(agent, dst, src, bytes as usize)? };
        agent.record(start, loc, || What::HostCopy { bytes });
        Ok(())
    });
}

/// [`symm_abi::functions::LAUNCH`].
pub unsafe extern "C" fn symm_rt_launch(
    _ctx: *const i64,
    name: *const c_char,
    kernel: Option<KernelFn>,
    dims: *const i64,
    args: *const *const c_void,
    kinds: *const c_char,
    loc: *const c_char,
) {
    // SAFETY: `loc` is a string constant of the program.
    call(unsafe { Loc::new(loc) }, |agent, loc| {
        // SAFETY: compiled code passes this many numbers.
        let [gx, gy, gz, bx, by, bz, shared] = unsafe { dims.cast::<[i64; LAUNCH_DIMS]>().read() };
        // SAFETY: string constants of the program.
        let (name, kinds) = unsafe { (text(name), text(kinds)) };
        let name = String::from_utf8_lossy(name);
        let Kinds { barrier, waits, arguments } = Kinds::parse(kinds);
        let (grid, block) = ([gx, gy, gz], [bx, by, bz]);
        let limits = (agent.world.driver.max_blocks(), agent.world.num_ranks());
        let blocks = launch::count_blocks(&name, grid, block, barrier, limits)?;
        let waits = waits || barrier;
        let code = kernel.map_or(Code::ByName, Code::Host);
        let launch = Launch { name: &name, code, grid, block, blocks, shared, waits, args, kinds: &arguments, loc };
        let stream = agent.world.driver.own(agent.rank).stream;
        // SAFETY: the program's kernels are compiled to run once for each block, at the same time.
        unsafe { launch::launch(agent, &launch, stream, true) }
    });
}

/// [`symm_abi::functions::CHECK_FAILED`].
pub unsafe extern "C" fn symm_rt_check_failed(
    fmt: *const c_char,
    types: *const c_char,
    args: *const u64,
    loc: *const c_char,
) {
    // SAFETY: `loc` is a string constant of the program.
    call(unsafe { Loc::new(loc) }, |agent, loc| {
        agent.world.checks.add(|| CheckFailure {
            place: agent.place(loc),
            // SAFETY: string constants of the program, and as many values as types.
            message: unsafe { message(fmt, types, args) },
        });
        Ok(())
    });
}

/// [`symm_abi::functions::FAULT`].
pub unsafe extern "C" fn symm_rt_fault(fmt: *const c_char, types: *const c_char, args: *const u64, loc: *const c_char) {
    // SAFETY: `loc` is a string constant of the program.
    call::<()>(unsafe { Loc::new(loc) }, |_, _| {
        // SAFETY: string constants of the program, and as many values as types.
        let message = unsafe { message(fmt, types, args) };
        Err(Error::Fault { message })
    });
}

/// [`symm_abi::functions::PRINT`].
pub unsafe extern "C" fn symm_rt_print(fmt: *const c_char, types: *const c_char, args: *const u64, loc: *const c_char) {
    // SAFETY: `loc` is a string constant of the program.
    call(unsafe { Loc::new(loc) }, |agent, _| {
        // SAFETY: string constants of the program, and as many values as types.
        let lines = format::lines_of_rank(agent.rank, &unsafe { message(fmt, types, args) });
        // One write, so that lines of several processes do not mix. A closed output is not the program's fault.
        let mut out = std::io::stdout().lock();
        let written = out.write_all(lines.as_bytes()).and_then(|()| out.flush());
        let mut printed = lock(&agent.world.printed);
        if printed.is_ok() {
            *printed = written;
        }
        Ok(())
    });
}

/// [`symm_abi::functions::WAIT32`].
pub unsafe extern "C" fn symm_rt_wait32(
    _ctx: *const i64,
    flag: *const u32,
    cmp: u32,
    expected: u32,
    timeout_ns: u64,
    loc: *const c_char,
) -> u32 {
    // SAFETY: as for `wait_for`, and an aligned u32 is its own low word.
    unsafe { wait_for::<AtomicU32>(flag.cast(), cmp, expected.into(), timeout_ns, Loc::new(loc)) }
}

/// [`symm_abi::functions::WAIT64`].
pub unsafe extern "C" fn symm_rt_wait64(
    _ctx: *const i64,
    flag: *const u64,
    cmp: u32,
    expected: u64,
    timeout_ns: u64,
    loc: *const c_char,
) -> u32 {
    // SAFETY: as for `wait_for`.
    unsafe { wait_for::<AtomicU64>(flag.cast(), cmp, expected, timeout_ns, Loc::new(loc)) }
}

/// [`symm_abi::functions::WAKE`].
pub unsafe extern "C" fn symm_rt_wake(flag: *const u8) {
    Agent::with(|agent| {
        wait::wake(agent, flag, || {
            // SAFETY: `wake` reads only flags in a mapped heap, which outlives the use, and the alignment is checked.
            low_word(flag).is_aligned().then(|| unsafe { &*low_word(flag) })
        });
    });
}

/// [`symm_abi::functions::FAR_COPY`].
pub unsafe extern "C" fn symm_rt_far_copy(
    _ctx: *const i64,
    dst: *mut u8,
    src: *const u8,
    bytes: u64,
    loc: *const c_char,
) {
    // SAFETY: `loc` is a string constant of the program; compiled code passes valid ranges.
    call(unsafe { Loc::new(loc) }, |agent, _| unsafe { far::copy(agent, dst, src, bytes) });
}

/// [`symm_abi::functions::FAR_UPDATE`].
pub unsafe extern "C" fn symm_rt_far_update(
    _ctx: *const i64,
    ptr: *mut u8,
    kind: u32,
    bytes: u32,
    value: u64,
    expected: u64,
    loc: *const c_char,
) -> u64 {
    // SAFETY: `loc` is a string constant of the program.
    call(unsafe { Loc::new(loc) }, |agent, _| far::update(agent, ptr, (kind, bytes), (value, expected)))
}

/// [`symm_abi::functions::TRACE_BEGIN`].
pub unsafe extern "C" fn symm_rt_trace_begin(
    kind: u32,
    _ctx: *const i64,
    peer: i32,
    remote: *const u8,
    bytes: u64,
    loc: *const c_char,
) {
    // SAFETY: `loc` is a string constant of the program.
    call(unsafe { Loc::new(loc) }, |agent, loc| {
        let unknown = || Error::Program(format!("trace of an unknown kind of transfer: {kind}"));
        agent.begin_transfer(Transfer::from_code(kind).ok_or_else(unknown)?.into(), peer, remote, bytes, loc);
        Ok(())
    });
}

/// [`symm_abi::functions::TRACE_END`].
pub unsafe extern "C" fn symm_rt_trace_end() {
    call(Loc::from(c"<unknown>"), |agent, _| {
        agent.end();
        Ok(())
    });
}

/// [`symm_abi::functions::TRACE_SIGNAL`].
pub unsafe extern "C" fn symm_rt_trace_signal(
    _ctx: *const i64,
    peer: i32,
    flag: *const u8,
    op: u32,
    value: u64,
    loc: *const c_char,
) {
    // SAFETY: `loc` is a string constant of the program.
    call(unsafe { Loc::new(loc) }, |agent, loc| {
        let unknown = || Error::Program(format!("trace of an unknown kind of signal: {op}"));
        let op = SignalKind::from_code(op).ok_or_else(unknown)?.into();
        let flag = FlagAddress::of(agent.world.heaps.locate(flag));
        agent.record_signal(loc, || What::Signal { flag, peer, op, value: Some(value) });
        Ok(())
    });
}

/// This runtime.
const DEFINITIONS: Definitions = Definitions {
    symm_rt_alloc,
    symm_rt_free,
    symm_rt_barrier_all,
    symm_rt_copy,
    symm_rt_launch,
    symm_rt_check_failed,
    symm_rt_fault,
    symm_rt_print,
    symm_rt_wait32,
    symm_rt_wait64,
    symm_rt_wake,
    symm_rt_far_copy,
    symm_rt_far_update,
    symm_rt_trace_begin,
    symm_rt_trace_end,
    symm_rt_trace_signal,
};

/// Name and address of every function that compiled code may call.
#[must_use]
pub fn symbols() -> Vec<(&'static str, usize)> {
    DEFINITIONS.symbols()
}

/// Runs one call of compiled code; its errors and panics are fatal.
fn call<'a, T>(loc: Loc<'a>, body: impl FnOnce(&Agent, Loc<'a>) -> Result<T, Error>) -> T {
    Agent::with(|agent| {
        if agent.world.is_a_parents() {
            agent.fatal(loc, Error::Forked { rank: agent.rank });
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| body(agent, loc)))
            .unwrap_or_else(|panic| Err(Error::Panic(panic_message(&*panic))));
        match outcome {
            Ok(value) => value,
            Err(error) => agent.fatal(loc, error),
        }
    })
}

/// # Safety
/// `flag` is valid for reads during the call.
#[inline]
unsafe fn wait_for<F: Flag>(flag: *const F, cmp: u32, expected: u64, timeout_ns: u64, loc: Loc<'_>) -> u32 {
    call(loc, |agent, loc| {
        if !flag.is_aligned() {
            let wrong = format!("wait for a flag of {} bits at {flag:p}, which is not aligned to its size", F::BITS);
            return Err(Error::Program(wrong));
        }
        let unknown = || Error::Program(format!("wait with an unknown comparison: {cmp}"));
        let compare = Compare::from_code(cmp).ok_or_else(unknown)?;
        let limit = (timeout_ns != 0).then(|| Duration::from_nanos(timeout_ns));
        let condition = Condition { compare, bits: F::BITS, expected };
        // SAFETY: valid by the caller's promise, aligned by the check above; all access to flags is atomic.
        let (flag, word) = unsafe { (&*flag, &*low_word(flag.cast())) };
        Ok(Wait { flag, word, condition, limit, loc }.run(agent).into())
    })
}

/// The 32 bits of a flag that change with every signal, on a machine that stores the low bytes first.
fn low_word(flag: *const u8) -> *const AtomicU32 {
    const { assert!(cfg!(target_endian = "little")) };
    #[allow(clippy::cast_ptr_alignment, reason = "callers check it")]
    flag.cast()
}

/// # Safety
/// `text` is null or a NUL-terminated string that outlives the use.
unsafe fn text<'a>(text: *const c_char) -> &'a [u8] {
    if text.is_null() {
        b""
    } else {
        // SAFETY: the caller's promise.
        unsafe { CStr::from_ptr(text) }.to_bytes()
    }
}

/// # Safety
/// `fmt` and `types` as in [`text`]; `args` holds a value for each type.
unsafe fn message(fmt: *const c_char, types: *const c_char, args: *const u64) -> String {
    // SAFETY: the caller's promise.
    let (fmt, types) = unsafe { (text(fmt), text(types)) };
    let count = if args.is_null() { 0 } else { types.len() };
    // SAFETY: the caller's promise; a null pointer has no values.
    let values: Vec<u64> = (0..count).map(|i| unsafe { args.add(i).read_unaligned() }).collect();
    format::render(&String::from_utf8_lossy(fmt), types, &values)
}
