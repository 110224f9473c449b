//! Ranks that join a run on threads of their own, and what they ask of it.

mod common;

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use common::{GE, env, read, signal, threads, wait};
use symm_runtime::{Arg, Config, Coords, Error, Grid, Kernel, Rank, join, set_call, set_call_site};

/// What `body` returns on each of `ranks` ranks, each on a thread.
fn on<T: Send + 'static>(
    config: &Config,
    body: impl Fn(Rank) -> Result<T, Error> + Send + Sync + Clone + 'static,
) -> Vec<Result<T, Error>> {
    let start = |rank| {
        let body = body.clone();
        thread::spawn(move || body(rank))
    };
    let threads: Vec<_> = join(config).unwrap().into_iter().map(start).collect();
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

/// The same, where no rank may fail.
fn well<T: Send + 'static>(
    ranks: u32,
    body: impl Fn(Rank) -> Result<T, Error> + Send + Sync + Clone + 'static,
) -> Vec<T> {
    on(&threads(ranks), body).into_iter().map(Result::unwrap).collect()
}

fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
}

#[test]
fn addresses_are_translated_and_checked() {
    well(3, |rank| {
        let (me, bases) = (rank.rank(), rank.heap_bases());
        assert_eq!((bases.len(), rank.num_ranks(), rank.heap_size()), (3, 3, 64 << 20));
        let data = rank.alloc(64, 512)?;
        assert_eq!(data as u64 % 512, 0);
        for peer in 0..3 {
            let there = rank.as_remote(data, peer)?;
            let distance = bases[peer as usize] - bases[me as usize];
            assert_eq!(there as i64 - data as i64, distance);
            assert_eq!(rank.is_symmetric(there), peer == me);
        }
        assert!(!rank.is_symmetric((&raw const me).cast()));
        let elsewhere = rank.as_remote((&raw const me).cast(), 0).unwrap_err();
        assert!(matches!(elsewhere.cause(), Error::NotSymmetric { .. }));
        let text = rank.as_remote(data, 3).unwrap_err().to_string();
        assert_has(&text, &["tests/rank.rs:", &format!("rank {me}: rank 3 out of range [0, 3)")]);
        let end = (bases[2] + (64 << 20) - 4) as *const u8;
        assert!(rank.read(end, &mut [0; 4]).is_ok());
        assert!(matches!(rank.read(end, &mut [0; 5]).unwrap_err().cause(), Error::NotSymmetric { bytes: 5, .. }));
        assert!(rank.write((bases[0] - 1) as *mut u8, &[1]).is_err());
        rank.barrier()?;
        rank.leave()
    });
}

#[test]
fn broadcast_takes_any_number_of_bytes() {
    well(3, |rank| {
        for (root, bytes) in [(1, 0), (0, 1), (2, 65_536), (1, 65_537), (2, 300_001)] {
            let pattern = |from: u32| (0..bytes).map(move |i: u32| (i * 7 + from).to_le_bytes()[0]);
            let mut data: Vec<u8> = pattern(rank.rank()).collect();
            rank.broadcast(root, &mut data)?;
            assert!(data.into_iter().eq(pattern(root)), "{bytes} bytes from {root}");
        }
        assert!(matches!(rank.broadcast(3, &mut []).unwrap_err().cause(), Error::NoSuchRank { rank: 3, num_ranks: 3 }));
        rank.leave()
    });
}

#[test]
fn ranks_that_disagree_are_told_and_may_go_on() {
    for text in well(2, |rank| {
        set_call_site((rank.rank() == 1).then_some("train.py:41"));
        let differs = rank.alloc(64 << rank.rank(), 0).unwrap_err().to_string();
        set_call_site(None);
        let data = rank.alloc(64, 0)?;
        rank.free(data)?;
        let again = rank.free(data).unwrap_err();
        assert!(matches!(again.cause(), Error::NotAllocated(_)));
        rank.leave().map(|()| differs)
    }) {
        assert_has(&text, &["rank 0: alloc of 64 bytes at ", "tests/rank.rs:", "rank 1: alloc of 128 bytes"]);
        assert_has(&text, &["at train.py:41"]);
    }
}

#[test]
fn ranks_have_to_call_the_same_in_their_callers_words_too() {
    for text in well(2, |rank| {
        set_call(["float32", "int32"][rank.rank() as usize]);
        let differs = rank.alloc(64, 0).unwrap_err().to_string();
        set_call("both");
        rank.alloc(64, 0)?;
        rank.leave().map(|()| differs)
    }) {
        assert_has(&text, &["ranks disagree on a collective operation", "rank 0: float32 at ", "rank 1: int32 at "]);
    }
}

#[test]
fn a_run_can_be_ended_and_its_memory_kept_by_other_threads() {
    let ended = on(&threads(2), |rank| {
        let watch = rank.watch();
        if rank.rank() == 0 {
            thread::spawn(move || watch.end("enough")).join().unwrap();
        }
        while rank.barrier().is_ok() {}
        rank.barrier()
    });
    for each in ended {
        assert_has(&each.unwrap_err().to_string(), &["stopped, because rank 0 reported: enough"]);
    }
}

#[test]
fn a_rank_that_is_dropped_ends_the_run() {
    let ended = on(&threads(3), |rank| if rank.rank() == 1 { Ok(()) } else { rank.barrier() });
    for rank in [0, 2] {
        let text = ended[rank].as_ref().unwrap_err().to_string();
        assert_eq!(
            text,
            "stopped, because rank 1 reported: rank 1 was dropped without leaving the run; call Rank::leave \
             (symm_leave) when all is done"
        );
    }
    let after = on(&threads(2), |rank| {
        if rank.rank() == 1 {
            return Ok(());
        }
        while rank.barrier().is_ok() {}
        // Every later call says so too.
        assert!(matches!(rank.alloc(8, 0), Err(Error::Stopped { rank: 1, .. })));
        rank.leave()
    });
    assert!(matches!(after[0], Err(Error::Stopped { rank: 1, .. })));
}

/// Signals the next rank, then waits for its own signal; block 1 of rank 0 waits for what never comes.
unsafe extern "C" fn stuck(args: *const *const c_void, coords: *const Coords) {
    // SAFETY: started with the two arguments that it takes.
    let (env, at) = unsafe { env(args, coords) };
    if at.block[0] == 0 {
        signal(env.remote(env.flag(0), (env.rank() + 1) % env.num_ranks()), 5);
        wait(&env, env.flag(0), GE, 5, c"stuck.mlir:3:5");
    } else if env.rank() == 0 {
        wait(&env, env.flag(1), GE, 7, c"stuck.mlir:5:5");
    }
}

fn launch(rank: &Rank, blocks: u32, data: *mut u8) -> Result<(), Error> {
    let args = [Arg::from(rank.device_ctx()), Arg::from(data)];
    // SAFETY: it takes these arguments.
    unsafe { rank.stream().launch(&Kernel::host("stuck", stuck), &Grid::new(blocks, 1).waiting(), &args) }
}

#[test]
fn launches_run_and_a_deadlock_is_returned() {
    for flag in well(4, |rank| {
        let data = rank.alloc(16, 0)?;
        launch(&rank, 1, data)?;
        rank.stream().synchronize()?;
        rank.leave().map(|()| data as u64)
    }) {
        assert!(flag % 256 == 0);
    }
    let ended = on(&threads(2), |rank| {
        let data = rank.alloc(16, 0)?;
        let launched = launch(&rank, 2, data);
        assert_eq!(read(data), 5, "block 0 has run");
        launched.and_then(|()| rank.barrier())
    });
    for error in ended {
        let text = error.unwrap_err().to_string();
        assert_has(
            &text,
            &[
                "stopped, because rank 0 reported: deadlock",
                "block (1,0,0) of @stuck: wait at stuck.mlir:5:5",
                // For who has such threads.
                "; if another thread of the program sets a flag, say so (Config::helpers_signal, helpers_signal of",
            ],
        );
    }
}

#[test]
fn a_timeout_is_for_one_call() {
    let mut config = threads(2);
    config.timeout = Some(Duration::from_secs(2));
    let ended = on(&config, |rank| {
        for _ in 0..8 {
            thread::sleep(Duration::from_millis(300));
            rank.barrier()?;
        }
        if rank.rank() == 1 {
            while rank.check().is_ok() {
                thread::sleep(Duration::from_millis(1));
            }
        }
        rank.barrier()?;
        rank.leave()
    });
    let text = ended[0].as_ref().unwrap_err().to_string();
    assert_has(&text, &["not finished after 2s", "rank 0: barrier_all at", "waits for rank 1"]);
}

#[test]
fn the_cpus_streams_are_done_at_once() {
    well(2, |rank| {
        let (stream, before, after) = (rank.create_stream()?, rank.create_event()?, rank.create_event()?);
        stream.record(&before)?;
        thread::sleep(Duration::from_millis(3));
        stream.record(&after)?;
        rank.stream().wait_for(&after)?;
        assert!(stream.is_done()? && after.has_happened()? && after.milliseconds_since(&before)? >= 3.0);
        stream.barrier()?;
        let text = stream.begin_capture().unwrap_err().to_string();
        assert_has(&text, &["the driver cpu has no graphs: there every call does its work immediately"]);
        rank.leave()
    });
}

#[test]
fn impossible_launches_are_returned() {
    well(1, |rank| {
        let data = rank.alloc(16, 0)?;
        let text = launch(&rank, 0, data).unwrap_err().to_string();
        assert_has(&text, &["tests/rank.rs:", "@stuck launched with grid [0, 1, 1]"]);
        rank.leave()
    });
}

#[test]
fn a_rank_makes_one_call_at_a_time() {
    static HAS_COME: AtomicBool = AtomicBool::new(false);
    let mut ranks = join(&threads(2)).unwrap();
    let (late, early) = (ranks.pop().unwrap(), ranks.pop().unwrap());
    let (ends, ended) = std::sync::mpsc::channel();
    for stream in [early.stream(), early.stream()] {
        let ends = ends.clone();
        thread::spawn(move || ends.send((stream.barrier(), HAS_COME.load(Ordering::SeqCst))));
    }
    let (refused, _) = ended.recv().unwrap();
    HAS_COME.store(true, Ordering::SeqCst);
    late.barrier().unwrap();
    let (passed, has_come) = ended.recv().unwrap();
    assert!(passed.is_ok() && has_come, "before rank 1 has come: {passed:?}");
    let text = refused.unwrap_err().to_string();
    assert_has(&text, &["another thread is already in a call for rank 0: a rank makes one call at a time"]);
    let ends = [early, late].map(|rank| thread::spawn(move || rank.leave()));
    for end in ends {
        end.join().unwrap().unwrap();
    }
}

#[test]
fn every_call_after_a_failure_says_so() {
    let ended = on(&threads(2), |rank| {
        let (data, stream, event) = (rank.alloc(64, 0)?, rank.stream(), rank.create_event()?);
        rank.barrier()?;
        if rank.rank() == 1 {
            return Ok(());
        }
        while rank.check().is_ok() {
            thread::sleep(Duration::from_millis(1));
        }
        let mut bytes = [0; 64];
        // SAFETY: both are so long.
        let copied = unsafe { stream.copy(bytes.as_mut_ptr(), data, 64) };
        let calls = [
            ("write", rank.write(data, &[1; 64])),
            ("read", rank.read(data, &mut bytes)),
            ("copy", copied),
            ("launch", launch(&rank, 1, data)),
            ("synchronize", stream.synchronize()),
            ("is_done", stream.is_done().map(|_| ())),
            ("record", stream.record(&event)),
            ("create_stream", rank.create_stream().map(|_| ())),
            ("as_remote", rank.as_remote(data, 0).map(|_| ())),
            ("leave", rank.leave()),
        ];
        for (call, ended) in calls {
            assert!(matches!(ended, Err(Error::Stopped { rank: 1, .. })), "{call}: {ended:?}");
        }
        Ok(())
    });
    ended.into_iter().for_each(Result::unwrap);
}

/// What has left keeps its stream, and makes no calls.
#[test]
fn calls_of_a_rank_that_has_left_are_refused() {
    well(2, |rank| {
        let (me, stream, event) = (rank.rank(), rank.stream(), rank.create_event()?);
        rank.leave()?;
        let refused = |ended: Result<(), Error>| {
            let error = ended.expect_err("refused");
            assert!(matches!(error, Error::Program(_)), "{error}");
            assert_eq!(error.to_string(), format!("rank {me} has left the run"));
        };
        refused(stream.barrier());
        refused(stream.synchronize());
        refused(stream.record(&event));
        Ok(())
    });
}

/// Another thread is in a call for the rank, and is told; so is the other rank.
#[test]
fn a_rank_is_abandoned_while_it_waits() {
    let ended = on(&threads(2), |rank| {
        if rank.rank() == 1 {
            thread::sleep(Duration::from_millis(200));
            rank.abandon();
        }
        rank.barrier()
    });
    for error in ended.into_iter().map(Result::unwrap_err) {
        assert_has(&error.to_string(), &["rank 1 was dropped without leaving the run"]);
    }
}

/// Waits for a flag that no block and no rank sets.
unsafe extern "C" fn patient(args: *const *const c_void, coords: *const Coords) {
    // SAFETY: started with the two arguments that it takes.
    let (env, _) = unsafe { env(args, coords) };
    wait(&env, env.flag(0), GE, 1, c"patient.mlir:3:5");
}

#[test]
fn a_helper_thread_may_set_a_flag_late() {
    let mut config = threads(1);
    config.helpers_signal = true;
    let ended = on(&config, |rank| {
        let data = rank.alloc(8, 0)?;
        let flag = data as usize;
        let helper = thread::spawn(move || {
            thread::sleep(Duration::from_millis(3500));
            common::atomic(flag as *mut u8).store(1, Ordering::Release);
        });
        let args = [Arg::from(rank.device_ctx()), Arg::from(data)];
        // SAFETY: it takes these arguments.
        unsafe { rank.stream().launch(&Kernel::host("patient", patient), &Grid::new(1, 1).waiting(), &args)? };
        helper.join().unwrap();
        rank.leave()
    });
    ended.into_iter().for_each(Result::unwrap);
}

#[test]
fn what_a_rank_lends_keeps_the_heaps_mapped() {
    let kept = well(2, |rank| {
        let (memory, data) = (rank.memory(), rank.alloc(64, 0)?);
        let there = rank.as_remote(data, 1 - rank.rank())?;
        rank.write(there, &[7; 64])?;
        rank.barrier()?;
        rank.leave().map(|()| (memory, data as usize))
    });
    for (_memory, data) in &kept {
        // SAFETY: it was allocated, and nobody writes there any more.
        assert_eq!(unsafe { *(*data as *const [u8; 64]) }, [7; 64]);
    }
}

#[test]
fn a_call_that_waits_can_be_interrupted() {
    static ASKED: AtomicBool = AtomicBool::new(false);
    thread_local!(static MINE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) });
    symm_runtime::set_interrupt(|| MINE.get() && ASKED.load(Ordering::Relaxed));
    let ended = on(&threads(3), |rank| {
        MINE.set(rank.rank() == 1);
        if rank.rank() == 2 {
            thread::sleep(Duration::from_millis(300));
            ASKED.store(true, Ordering::Relaxed);
            while rank.check().is_ok() {
                thread::sleep(Duration::from_millis(1));
            }
        }
        rank.barrier()
    });
    for (index, error) in ended.into_iter().enumerate() {
        let text = error.unwrap_err().to_string();
        assert_has(&text, &["interrupted", "rank 1: barrier_all at"]);
        assert_eq!(text.contains("stopped, because rank 1 reported: "), index != 1, "{text}");
    }
}
