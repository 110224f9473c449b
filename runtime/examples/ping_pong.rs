//! What waits, signals and launches cost: `cargo run --release -p symm-runtime --example ping_pong`.
//!
//! The ping-pong goes between two ranks through the runtime, and between two threads through hand-written atomics,
//! in turns, so that both see the same machine.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::time::Instant;

use symm_runtime::abi::{symm_rt_alloc, symm_rt_launch, symm_rt_wait64, symm_rt_wake};
use symm_runtime::{Config, Coords, Failure, KernelFn, Rank, Ranks, run};

const ROUNDS: u64 = 200_000;
const REPEATS: usize = 9;
const LAUNCHES: u32 = 10_000;

fn main() -> Result<(), Failure> {
    let (mut by_hand, mut by_runtime) = (Vec::new(), Vec::new());
    for _ in 0..REPEATS {
        by_hand.push(hand_written());
        by_runtime.push(through_runtime()?);
    }
    let (by_hand, by_runtime) = (median(by_hand), median(by_runtime));
    println!("ping-pong, one way, median of {REPEATS} runs of {ROUNDS} rounds:");
    println!("  hand-written atomics  {by_hand:7.1} ns");
    println!("  symm signal and wait  {by_runtime:7.1} ns   ratio {:.3}", by_runtime / by_hand);
    for blocks in [1, 2, 4, 16, 64] {
        println!("launch of {blocks:2} blocks: {:7.2} us", launches(blocks)?);
    }
    Ok(())
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Nanoseconds for one of the `2 * ROUNDS` messages since `start`.
#[allow(clippy::cast_precision_loss, reason = "a benchmark's numbers are small")]
fn one_way(start: Instant) -> f64 {
    start.elapsed().as_nanos() as f64 / (2 * ROUNDS) as f64
}

/// A flag with cache lines of its own.
#[repr(align(256))]
#[derive(Default)]
struct Flag(AtomicU64);

impl Flag {
    fn wait(&self, value: u64) {
        while self.0.load(Ordering::Relaxed) < value {
            std::hint::spin_loop();
        }
        fence(Ordering::Acquire);
    }
}

fn hand_written() -> f64 {
    let flags = Arc::new([Flag::default(), Flag::default(), Flag::default()]);
    let player = |me: usize| {
        let flags = Arc::clone(&flags);
        move || {
            flags[2].0.fetch_add(1, Ordering::AcqRel);
            flags[2].wait(2);
            let start = Instant::now();
            for round in 1..=ROUNDS {
                if me == 0 {
                    flags[1].0.store(round, Ordering::Release);
                }
                flags[me].wait(round);
                if me == 1 {
                    flags[0].0.store(round, Ordering::Release);
                }
            }
            one_way(start)
        }
    };
    let other = std::thread::spawn(player(1));
    let time = player(0)();
    other.join().expect("it does not panic");
    time
}

fn through_runtime() -> Result<f64, Failure> {
    let outcome = run(&Config::new(Ranks::Threads(2)), |rank| {
        launch(rank, ping_pong, 1, alloc(rank, 512));
        let start = Instant::now();
        launch(rank, ping_pong, 1, alloc(rank, 512));
        Ok(one_way(start))
    })?;
    Ok(outcome.values[0])
}

/// Microseconds for a launch of `blocks` empty blocks.
fn launches(blocks: i64) -> Result<f64, Failure> {
    let outcome = run(&Config::new(Ranks::Threads(1)), move |rank| {
        launch(rank, empty, blocks, std::ptr::null_mut());
        let start = Instant::now();
        for _ in 0..LAUNCHES {
            launch(rank, empty, blocks, std::ptr::null_mut());
        }
        Ok(start.elapsed().as_secs_f64() * 1e6 / f64::from(LAUNCHES))
    })?;
    Ok(outcome.values[0])
}

fn alloc(rank: &Rank, bytes: u64) -> *mut u8 {
    // SAFETY: on the rank's host thread, with a string that lives.
    unsafe { symm_rt_alloc(rank.ctx(), bytes, 0, c"ping_pong.rs:1:1".as_ptr()) }
}

fn launch(rank: &Rank, kernel: KernelFn, blocks: i64, data: *mut u8) {
    let (ctx, dims) = (rank.ctx(), [blocks, 1, 1, 1, 1, 1, 0]);
    let args: [*const c_void; 2] = [(&raw const ctx).cast(), (&raw const data).cast()];
    let (name, kinds, loc) = (c"kernel".as_ptr(), c"cv".as_ptr(), c"ping_pong.rs:2:1".as_ptr());
    // SAFETY: both kernels take these two arguments, or none.
    unsafe { symm_rt_launch(ctx, name, Some(kernel), dims.as_ptr(), args.as_ptr(), kinds, loc) }
}

unsafe extern "C" fn empty(_args: *const *const c_void, _coords: *const Coords) {}

unsafe extern "C" fn ping_pong(args: *const *const c_void, _coords: *const Coords) {
    // SAFETY: the two arguments of `launch`; a table starts with the rank, and both bases follow.
    let (ctx, mine, me, bases) = unsafe {
        let (ctx, mine): (*const i64, *mut u8) = (*(*args).cast(), *(*args.add(1)).cast());
        (ctx, mine, *ctx, [*ctx.add(2), *ctx.add(3)])
    };
    let delta = bases[usize::from(me == 0)] - bases[usize::from(me != 0)];
    let peers: *const AtomicU64 = (mine as i64 + delta) as *const AtomicU64;
    let signal = |value| {
        // SAFETY: an aligned flag in the peer's heap.
        unsafe {
            (*peers).store(value, Ordering::Release);
            symm_rt_wake(peers.cast());
        }
    };
    for round in 1..=ROUNDS {
        if me == 0 {
            signal(round);
        }
        // SAFETY: an aligned flag in this rank's heap; 5 is ge.
        unsafe { symm_rt_wait64(ctx, mine.cast(), 5, round, 0, c"ping_pong.rs:3:1".as_ptr()) };
        if me == 1 {
            signal(round);
        }
    }
}
