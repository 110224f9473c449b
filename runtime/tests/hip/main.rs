//! The HIP driver, and what it shares with CUDA's, against a library that stands in for AMD's.

#[path = "../common/mod.rs"]
mod common;
mod ipc;
mod launches;
mod refusals;
mod stand_in;
mod stream;
mod trace;

use std::ffi::{CStr, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use common::{alloc, barrier_all, failure, free, threads};
use stand_in::{State, Turn, code};
use symm_abi::heap::TABLE_OFFSET;
use symm_runtime::abi::{symm_rt_copy, symm_rt_launch};
use symm_runtime::{Bootstrap, Config, Device, Rank, Ranks, Spawn, heap_stride, run, spawn_processes};

/// Words of the array that a program works on.
const WORDS: usize = 8;
const SCALAR: i32 = 1000;

fn config(ranks: u32) -> Config {
    let mut config = threads(ranks);
    config.device = Device::Hip(code());
    config.heap_size = 3 << 20;
    config
}

/// A one-dimensional memref, as compiled code passes it.
#[repr(C)]
struct Memref {
    allocated: *mut u8,
    aligned: *mut u8,
    offset: u64,
    size: u64,
    stride: u64,
}

fn launch(rank: &Rank, name: &CStr, dims: [i64; 7], args: &[*const c_void], kinds: &CStr) {
    let loc = c"p.mlir:9:3".as_ptr();
    // SAFETY: the arguments are of these kinds.
    unsafe { symm_rt_launch(rank.ctx(), name.as_ptr(), None, dims.as_ptr(), args.as_ptr(), kinds.as_ptr(), loc) };
}

/// Launches a kernel that takes only the context.
fn launch_plain(rank: &Rank, name: &CStr, dims: [i64; 7], kinds: &CStr) {
    let ctx = rank.ctx();
    launch(rank, name, dims, &[(&raw const ctx).cast()], kinds);
}

/// Launches `write` on every second word of an array from `at` on.
fn launch_write(rank: &Rank, at: *mut u8, dims: [i64; 7], kinds: &CStr) {
    let memref = Memref { allocated: at, aligned: at, offset: 0, size: WORDS as u64 / 2, stride: 2 };
    let (ctx, scalar) = (rank.ctx(), SCALAR);
    let args: [*const c_void; 3] = [(&raw const ctx).cast(), (&raw const memref).cast(), (&raw const scalar).cast()];
    launch(rank, c"kernels::write", dims, &args, kinds);
}

const ONE_BLOCK: [i64; 7] = [1, 1, 1, 32, 1, 1, 0];

/// Copies in, launches, copies out; what is there then, and where it was.
fn program(rank: &Rank, kinds: &CStr) -> ([i64; WORDS], u64) {
    let at = alloc(rank, size_of::<[i64; WORDS]>() as u64, c"p.mlir:1:1");
    let (filled, mut cleared, mut result) = ([7_i64; WORDS], [7_i64; WORDS], [7_i64; WORDS]);
    let (bytes, loc) = (size_of_val(&result) as u64, c"p.mlir:2:1".as_ptr());
    // SAFETY: this many bytes each.
    unsafe {
        symm_rt_copy(rank.ctx(), cleared.as_mut_ptr().cast(), at, bytes, loc);
        assert_eq!(cleared, [0; WORDS], "alloc clears");
        symm_rt_copy(rank.ctx(), at, filled.as_ptr().cast(), bytes, loc);
    }
    barrier_all(rank, c"p.mlir:3:1");
    launch_write(rank, at, [3, 2, 1, 64, 2, 1, 512], kinds);
    barrier_all(rank, c"p.mlir:4:1");
    // SAFETY: this many bytes each.
    unsafe { symm_rt_copy(rank.ctx(), result.as_mut_ptr().cast(), at, bytes, loc) };
    free(rank, at, c"p.mlir:5:1");
    (result, at as u64)
}

/// The text with which a run of [`program`] on two ranks fails.
fn refusal() -> String {
    failure(&config(2), |rank| {
        program(rank, c"~cm1v");
    })
}

fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
}

/// One device's own words and the next lower rank's, as `write` makes them.
fn written(rank: i64, ranks: i64) -> [i64; WORDS] {
    let before = (rank + ranks - 1) % ranks;
    std::array::from_fn(|index| {
        let (pair, scalar) = (i64::try_from(index / 2).unwrap(), i64::from(SCALAR));
        if index % 2 == 0 { scalar + rank + pair } else { -(scalar + before) - pair }
    })
}

#[test]
fn a_program_runs_on_every_version() {
    // (HIP_VERSION, whether memory can be had that is not cached)
    for (version, uncached) in [(60_032_830, 0), (70_051_831, 1), (70_100_000, 1)] {
        for ranks in [1, 2, 3] {
            let turn = Turn::new(|state| (state.version, state.uncached) = (version, uncached));
            let outcome = run(&config(ranks), |rank| Ok(program(rank, c"cm1v").0)).unwrap();
            for (rank, words) in (0..).zip(outcome.values) {
                assert_eq!(words, written(rank, ranks.into()), "rank {rank} of {ranks}, version {version}");
            }
            let state = turn.state();
            assert_eq!(state.live, [0; 11], "everything was given back");
            assert_eq!(state.access, if ranks == 1 { 0b1 } else { 0b11 }, "every device got access");
            assert_eq!(state.kind, if uncached == 1 { 0x4000_0000 } else { 1 });
        }
    }
}

#[test]
fn ranks_in_processes_exchange_memory() {
    let args = ["--exact", "as_one_rank", "--ignored", "--quiet"].map(Into::into).to_vec();
    let program = std::env::current_exe().unwrap();
    spawn_processes(&Spawn { ranks: 3, program, args, input: Vec::new(), grace: Duration::from_secs(5) }).unwrap();
}

#[test]
#[ignore = "the test above starts it once for each rank"]
fn as_one_rank() {
    let turn = Turn::new(|_| ());
    let mut config = config(1);
    config.ranks = Ranks::Process(Bootstrap::from_env().unwrap());
    let outcome = run(&config, |rank| Ok((rank.rank(), program(rank, c"~cm1v").0))).unwrap();
    let (rank, words) = outcome.values[0];
    assert_eq!(words, written(rank.into(), 3));
    let state = turn.state();
    assert_eq!(state.live, [0; 11], "everything was given back");
    assert_eq!(state.access, 1 << (rank % 2), "only this rank's device needs access");
    assert_eq!(state.launches()[0].device, rank % 2);
}

#[test]
fn arguments_are_packed_as_kernels_take_them() {
    let turn = Turn::new(|_| ());
    let outcome = run(&config(2), |rank| Ok((program(rank, c"cm1v").1, rank.ctx() as u64))).unwrap();
    let state = turn.state();
    assert_eq!(state.launches().len(), 2);
    for launch in state.launches() {
        let (at, ctx) = outcome.values[launch.device as usize];
        let [table, fields @ .., scalar] = launch.values() else { panic!("no parameters") };
        assert_eq!(fields, [at, at, 0, WORDS as u64 / 2, 2], "a memref is five parameters");
        assert_eq!(*scalar, u64::from(SCALAR.cast_unsigned()), "four bytes and no more");
        assert_ne!(*table, ctx, "a kernel gets the table that is in device memory");
        let [rank, ranks, first, second, report] = launch.table;
        assert_eq!((rank, ranks), (i64::from(launch.device), 2));
        assert_eq!(second - first, 4 << 20, "the stride of heaps of 3 MiB");
        assert!(report != 0, "there is a record for faults");
        assert_eq!((launch.name().as_str(), launch.grid, launch.block), ("write", [3, 2, 1], [64, 2, 1]));
        assert_eq!((launch.shared, launch.cooperative), (512, 0));
    }
}

#[test]
fn memory_of_the_host_is_refused_as_an_argument() {
    let _turn = Turn::new(|_| ());
    let text = failure(&config(1), |rank| {
        let mut words = [0_i64; WORDS];
        launch_write(rank, words.as_mut_ptr().cast(), ONE_BLOCK, c"cm1v");
    });
    assert_has(&text, &["p.mlir:9:3", "argument 1 of kernel @kernels::write is host memory", "symm.alloc"]);
}

#[test]
fn a_context_table_that_is_not_this_ranks_is_refused() {
    let _turn = Turn::new(|_| ());
    let others = Arc::new(AtomicU64::new(0));
    let text = failure(&config(2), move |rank| {
        let at = alloc(rank, 64, c"p.mlir:1:1") as u64;
        if rank.rank() == 1 {
            others.store(at, Ordering::Relaxed);
        }
        barrier_all(rank, c"p.mlir:3:1");
        if rank.rank() == 0 {
            let take =
                |context: u64| launch(rank, c"kernels::nothing", ONE_BLOCK, &[(&raw const context).cast()], c"c");
            // A table in its own heap is its own business.
            take(at);
            take(others.load(Ordering::Relaxed));
        }
    });
    assert_has(&text, &["rank 0", "p.mlir:9:3", "argument 0 of kernel @kernels::nothing is no context table of this"]);
}

#[test]
fn a_failed_check_is_told_by_its_record() {
    let turn = Turn::new(|_| ());
    let text = failure(&config(2), |rank| {
        if rank.rank() == 1 {
            launch_plain(rank, c"kernels::fault", [2, 3, 1, 32, 1, 1, 0], c"c");
        }
        barrier_all(rank, c"p.mlir:4:1");
    });
    assert_has(&text, &["p.mlir:3:5: rank 1, block (1,2,0), thread 7 of @kernels::fault: index -3 is not below 8"]);
    drop(turn);

    let _turn = Turn::new(|_| ());
    let text = failure(&config(1), |rank| launch_plain(rank, c"kernels::fail", ONE_BLOCK, c"c"));
    assert_has(&text, &["p.mlir:9:3: rank 0", "HIP could not run a kernel or a copy: unspecified launch failure"]);
}

#[test]
fn a_kernel_that_fails_because_of_anothers_fault_names_that() {
    let _turn = Turn::new(|state| state.devices = 1);
    let text = failure(&config(2), |rank| {
        if rank.rank() == 1 {
            launch_plain(rank, c"kernels::sink", [3, 3, 1, 32, 1, 1, 0], c"c");
        }
        let ctx = rank.ctx();
        // Rank 1 never comes back from its launch, and brings down what rank 0 launches sooner or later.
        loop {
            launch(rank, c"kernels::nothing", ONE_BLOCK, &[(&raw const ctx).cast()], c"c");
        }
    });
    assert_has(
        &text,
        &["p.mlir:9:3: rank 0", "p.mlir:3:5: rank 1, block (2,1,0), thread 7 of @kernels::sink: index -3"],
    );
}

#[test]
fn kernels_that_were_not_compiled_are_named() {
    let _turn = Turn::new(|_| ());
    let text = failure(&config(1), |rank| launch_plain(rank, c"others::write", ONE_BLOCK, c"c"));
    assert_has(&text, &["p.mlir:9:3", "@others::write was not compiled for this device"]);
    let text = failure(&config(1), |rank| launch_plain(rank, c"kernels::other", ONE_BLOCK, c"c"));
    assert_has(&text, &["HIP could not find kernel other: named symbol not found (hipErrorNotFound)"]);
}

#[test]
fn a_kernel_that_never_ends_runs_into_the_timeout() {
    let _turn = Turn::new(|_| ());
    let mut config = config(2);
    config.timeout = Some(Duration::from_secs(2));
    let text = failure(&config, |rank| {
        if rank.rank() == 0 {
            launch_plain(rank, c"kernels::hang", ONE_BLOCK, c"c");
        }
        barrier_all(rank, c"p.mlir:4:1");
    });
    assert_has(&text, &["not finished after 2s", "rank 0", "kernels::hang", "p.mlir:9:3", "rank 1", "p.mlir:4:1"]);
}

#[test]
fn the_address_of_the_context_table_says_the_rank() {
    let _turn = Turn::new(|_| ());
    for ranks in 1..=4 {
        let config = config(ranks);
        let stride = heap_stride(config.heap_size);
        let range = (stride * u64::from(ranks)).next_power_of_two();
        let outcome = run(&config, |rank| {
            let base = rank.heap_bases()[rank.rank() as usize].cast_unsigned();
            Ok((rank.device_ctx(), base))
        });
        for (rank, (table, base)) in (0..).zip(outcome.unwrap().values) {
            assert_eq!((table % range / stride, table % range % stride), (rank, TABLE_OFFSET));
            assert_eq!(table - base, TABLE_OFFSET);
        }
    }
}

#[test]
fn devices_are_described_and_have_to_do() {
    let turn = Turn::new(|_| ());
    let devices = Device::hip_devices().unwrap();
    assert_eq!(devices.len(), 2);
    let last = &devices[1];
    assert_eq!((last.name.as_str(), last.chip.as_str(), last.multiprocessors), ("Stand-in 1", "gfx942", 4));
    drop(turn);

    let refused = |change: fn(&mut State)| {
        let _turn = Turn::new(change);
        run(&config(2), |_| Ok(())).unwrap_err().to_string()
    };
    assert_has(&refused(|state| state.devices = 0), &["no HIP device can be used: the driver found no device"]);
    let cached_only = |state: &mut State| (state.gfx90a, state.uncached) = (1, 0);
    assert_has(&refused(cached_only), &["take 4194304 bytes of device 0 for a symmetric heap: invalid argument"]);
    assert_has(&refused(|state| state.peers = 0), &["device 0 cannot access the memory of device 1"]);
}

#[test]
fn heaps_that_no_range_of_addresses_holds_are_refused() {
    let _turn = Turn::new(|_| ());
    let mut config = config(128);
    config.heap_size = 1 << 39;
    let text = run(&config, |_| Ok(())).unwrap_err().to_string();
    assert_has(
        &text,
        &["128 heaps of 549755813888 bytes on GPUs, 70368744177664 bytes of addresses", "at most 32 TiB"],
    );
}

/// Devices have other numbers in each process, as `HIP_VISIBLE_DEVICES` makes them.
#[test]
fn devices_are_compared_by_what_they_are_and_not_by_their_numbers() {
    let args = ["--exact", "sees_other_numbers", "--ignored", "--quiet"].map(Into::into).to_vec();
    let program = std::env::current_exe().unwrap();
    spawn_processes(&Spawn { ranks: 2, program, args, input: Vec::new(), grace: Duration::from_secs(5) }).unwrap();
}

#[test]
#[ignore = "the test above starts it once for each rank"]
fn sees_other_numbers() {
    let bootstrap = Bootstrap::from_env().unwrap();
    let rank = i32::try_from(bootstrap.rank()).unwrap();
    let mut config = config(1);
    config.ranks = Ranks::Process(bootstrap);
    // Both ranks are on one device, whose number is that of the rank; the other cannot be reached from there.
    let _turn = Turn::new(|state| (state.first, state.peers) = (rank, 0));
    run(&config, |rank| Ok(program(rank, c"cm1v"))).unwrap();
}
