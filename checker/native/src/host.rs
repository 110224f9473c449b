//! The functions that a host function calls ([`symm_abi::functions`]): memory, launches, collective calls, messages.

use crate::calls::{copy_bytes, wait};
use crate::fiber::current;
use crate::space::Place;
use crate::state::{Collective, warps};
use crate::task::{Context, Thread};
use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;
use symm_abi::check::{Order, Scope};
use symm_abi::format::render;
use symm_abi::functions::Definitions;
use symm_abi::heap::HEAP_ALIGN;
use symm_abi::kernel::{Coords, KernelFn, LAUNCH_DIMS, ThreadCoords};
use symm_checker::op::Op;
use symm_checker::run::Next;
use symm_checker::task::TaskId;

/// The functions, by name.
pub fn symbols() -> Vec<(&'static str, usize)> {
    DEFINITIONS.symbols()
}

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

/// Most threads of a block, on all GPUs.
const MOST_THREADS: i64 = 1024;
/// Most threads of a launch that are followed.
const MOST_TASKS: i64 = 1 << 15;

/// Notes a call that all ranks have to make.
fn collective(task: &Context, call: &Collective, loc: *const c_char) {
    if let Err((other, rank, site)) = task.state.collective(task.rank, call, &task.state.site(loc)) {
        task.fail(format!("this rank {call}, where rank {rank} {other} ({site})"), loc);
    }
}

unsafe extern "C" fn symm_rt_alloc(_: *const i64, bytes: u64, align: u64, loc: *const c_char) -> *mut u8 {
    let task = current();
    let align = if align == 0 { 256 } else { align };
    if !align.is_power_of_two() || align > HEAP_ALIGN {
        task.fail(format!("an alignment of {align} bytes; it has to be a power of two of at most 2 MiB"), loc);
    }
    collective(task, &Collective::Alloc(bytes, align), loc);
    let range = match task.state.alloc(task.rank, bytes, align) {
        Ok(range) => range,
        Err(left) => task.fail(format!("out of heap: {bytes} bytes, and {left} are left; give more --heap-size"), loc),
    };
    task.ask(Op::Alloc(range, true), loc);
    task.ask(task.state.meeting_of_hosts(), loc);
    task.address(range)
}

unsafe extern "C" fn symm_rt_free(_: *const i64, ptr: *mut u8, loc: *const c_char) {
    let task = current();
    let offset = match task.state.place(ptr, 0) {
        Place::Held(range) if range.heap == task.rank => range.start,
        _ => task.fault(format!("frees {}, which is not in this rank's heap", task.state.name(ptr)), loc),
    };
    collective(task, &Collective::Free(offset), loc);
    let Some(range) = task.state.free(task.rank, offset) else {
        task.fault("frees what is not allocated, or not any more".into(), loc)
    };
    task.ask(task.state.meeting_of_hosts(), loc);
    task.ask(Op::Free(range), loc);
}

unsafe extern "C" fn symm_rt_barrier_all(_: *const i64, loc: *const c_char) {
    let task = current();
    collective(task, &Collective::Barrier, loc);
    task.ask(task.state.meeting_of_hosts(), loc);
}

unsafe extern "C" fn symm_rt_copy(_: *const i64, dst: *mut u8, src: *const u8, bytes: u64, loc: *const c_char) {
    let task = current();
    copy_bytes(task, dst, src, bytes, loc);
}

unsafe extern "C" fn symm_rt_launch(
    _: *const i64,
    _name: *const c_char,
    kernel: Option<KernelFn>,
    dims: *const i64,
    args: *const *const c_void,
    _kinds: *const c_char,
    loc: *const c_char,
) {
    let task = current();
    // SAFETY: compiled code passes this many numbers.
    let [gx, gy, gz, bx, by, bz, _] = unsafe { dims.cast::<[i64; LAUNCH_DIMS]>().read() };
    let (grid, block) = ([gx, gy, gz], [bx, by, bz]);
    if grid.iter().chain(&block).any(|size| *size < 0) || block.iter().product::<i64>() > MOST_THREADS {
        task.fail(format!("launches {grid:?} blocks of {block:?} threads; a block has at most {MOST_THREADS}"), loc);
    }
    let block = at_most(block, task.state.launching.most_threads);
    let (blocks, threads) = (grid.iter().product::<i64>(), block.iter().product::<i64>());
    if blocks.saturating_mul(threads) > MOST_TASKS {
        let all = blocks.saturating_mul(threads);
        let fewer = if threads > 1 { ", or give fewer --threads" } else { "" };
        let most = format!("{all} threads, and a launch has at most {MOST_TASKS} here");
        task.give_up(&format!("{most}: launch fewer blocks{fewer}"), loc);
    }
    let Some(kernel) = kernel.filter(|_| blocks * threads > 0) else { return };
    let all = threads_of(task, kernel, args, (grid, block), loc);
    task.ask(Op::Launch(Arc::clone(&all)), loc);
    task.ask(Op::Join(all), loc);
}

/// A block of no more threads than this.
fn at_most(block: [i64; 3], most: Option<u32>) -> [i64; 3] {
    let mut left = most.map_or(MOST_THREADS, i64::from);
    block.map(|size| {
        let size = size.min(left);
        left /= size.max(1);
        size
    })
}

/// Makes the threads of a launch.
fn threads_of(
    task: &Context,
    kernel: KernelFn,
    args: *const *const c_void,
    (grid, block): ([i64; 3], [i64; 3]),
    launch_loc: *const c_char,
) -> Arc<[TaskId]> {
    let small = |number: i64| u32::try_from(number).unwrap_or(0);
    let (blocks, threads) = (small(grid.iter().product()), small(block.iter().product()));
    let launch = (task.rank, blocks, threads);
    let first = task.state.launching.tasks.borrow_mut().launch(launch);
    let place = |number: u32, sizes: [i64; 3]| {
        let (number, [x, y, _]) = (i64::from(number), sizes);
        [number % x, number / x % y, number / x / y]
    };
    for b in 0..blocks {
        let start = first + (b * threads) as TaskId;
        let members: Arc<[TaskId]> = (start..start + threads as TaskId).collect();
        let warps = warps(&members);
        for t in 0..threads {
            let block_coords = Coords { block: place(b, grid), grid };
            let coords = ThreadCoords { block: block_coords, thread: place(t, block), threads: block };
            let warp = Arc::clone(&warps[t as usize / 32]);
            let thread = Thread { kernel, args, coords, block: Arc::clone(&members), warp, launch_loc };
            task.state.add_thread(start + t as TaskId, task.rank, thread);
        }
    }
    (first..first + (blocks * threads) as TaskId).collect()
}

/// The text of a message.
unsafe fn message(fmt: *const c_char, types: *const c_char, args: *const u64) -> String {
    let text = |text: *const c_char| -> &[u8] {
        // SAFETY: constants of the program, which end with a zero byte.
        if text.is_null() { b"" } else { unsafe { CStr::from_ptr(text) }.to_bytes() }
    };
    let (fmt, types) = (text(fmt), text(types));
    let count = if args.is_null() { 0 } else { types.len() };
    // SAFETY: as many values as types.
    let values: Vec<u64> = (0..count).map(|index| unsafe { args.add(index).read_unaligned() }).collect();
    render(&String::from_utf8_lossy(fmt), types, &values)
}

unsafe extern "C" fn symm_rt_check_failed(
    fmt: *const c_char,
    types: *const c_char,
    args: *const u64,
    loc: *const c_char,
) {
    let task = current();
    // SAFETY: compiled code passes texts, and values as they say.
    let message = unsafe { message(fmt, types, args) };
    task.hand_over(Next::Failed(task.state.site(loc), message));
}

unsafe extern "C" fn symm_rt_fault(fmt: *const c_char, types: *const c_char, args: *const u64, loc: *const c_char) {
    // SAFETY: as above.
    current().fail(unsafe { message(fmt, types, args) }, loc);
}

/// What a program prints is not shown: it would be so for each execution.
unsafe extern "C" fn symm_rt_print(_: *const c_char, _: *const c_char, _: *const u64, _: *const c_char) {}

/// A poll of `symm.barrier`, which acquires.
unsafe fn poll(flag: *const u8, cmp: u32, (expected, bytes): (u64, u64), timeout_ns: u64, loc: *const c_char) -> u32 {
    wait(current(), flag, (cmp, expected, bytes), timeout_ns != 0, (Order::Acquire as u32, Scope::Sys as u32), loc)
}

unsafe extern "C" fn symm_rt_wait32(
    _: *const i64,
    flag: *const u32,
    cmp: u32,
    expected: u32,
    timeout_ns: u64,
    loc: *const c_char,
) -> u32 {
    // SAFETY: the flag is looked at by the checker.
    unsafe { poll(flag.cast(), cmp, (expected.into(), 4), timeout_ns, loc) }
}

unsafe extern "C" fn symm_rt_wait64(
    _: *const i64,
    flag: *const u64,
    cmp: u32,
    expected: u64,
    timeout_ns: u64,
    loc: *const c_char,
) -> u32 {
    // SAFETY: as above.
    unsafe { poll(flag.cast(), cmp, (expected, 8), timeout_ns, loc) }
}

/// The scheduler knows what a write makes possible.
unsafe extern "C" fn symm_rt_wake(_: *const u8) {}

/// A program has no engine here: near and far mean the same.
unsafe extern "C" fn symm_rt_far_copy(_: *const i64, _: *mut u8, _: *const u8, _: u64, loc: *const c_char) {
    current().fail("a copy by an engine, which no program has here".to_owned(), loc);
}

unsafe extern "C" fn symm_rt_far_update(
    _: *const i64,
    _: *mut u8,
    _: u32,
    _: u32,
    _: u64,
    _: u64,
    loc: *const c_char,
) -> u64 {
    current().fail("an update by an engine, which no program has here".to_owned(), loc);
}

unsafe extern "C" fn symm_rt_trace_begin(_: u32, _: *const i64, _: i32, _: *const u8, _: u64, _: *const c_char) {}

unsafe extern "C" fn symm_rt_trace_end() {}

unsafe extern "C" fn symm_rt_trace_signal(_: *const i64, _: i32, _: *const u8, _: u32, _: u64, _: *const c_char) {}
