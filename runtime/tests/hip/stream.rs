//! Streams, events, graphs and loaded code, as a rank that has joined uses them.

use std::thread;
use std::time::Duration;

use symm_runtime::{Arg, Device, Error, Grid, Rank, join};

use crate::stand_in::{Launch, State, Turn, code};
use crate::{assert_has, config};

/// Lets `body` run on each of `ranks` ranks, each on a thread; what the library has seen then.
fn on<T: Send + 'static>(
    ranks: u32,
    turn: &Turn,
    body: impl Fn(Rank) -> Result<T, Error> + Send + Copy + 'static,
) -> (Vec<Result<T, Error>>, State) {
    let mut config = config(ranks);
    config.device = Device::Hip(Vec::new());
    let threads: Vec<_> = join(&config).unwrap().into_iter().map(|rank| thread::spawn(move || body(rank))).collect();
    let ended = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    (ended, turn.state())
}

/// The words that the kernel `write` writes with `scalar`: this rank's, and between them the rank's before.
fn expected(rank: &Rank, scalar: i64) -> Vec<i64> {
    let before = (rank.rank() + rank.num_ranks() - 1) % rank.num_ranks();
    (0..4).flat_map(|i| [scalar + i64::from(rank.rank()) + i, -(scalar + i64::from(before)) - i]).collect()
}

fn words(bytes: &[u8]) -> Vec<i64> {
    bytes.chunks(8).map(|word| i64::from_le_bytes(word.try_into().unwrap())).collect()
}

fn write_args(rank: &Rank, data: *mut u8, scalar: i32) -> [Arg; 7] {
    [rank.device_ctx().into(), data.into(), data.into(), 0_u64.into(), 4_u64.into(), 2_u64.into(), scalar.into()]
}

#[test]
fn code_is_loaded_once_and_launched_with_its_arguments() {
    let turn = Turn::new(|_| ());
    let (ended, state) = on(2, &turn, |rank| {
        let (module, again) = (rank.load(&code()[0])?, rank.load(&code()[0])?);
        let missing = module.kernel("missing").unwrap_err();
        assert_has(&missing.to_string(), &["tests/hip/stream.rs:", "HIP could not find kernel missing"]);
        assert!(matches!(missing.cause(), Error::Gpu { .. }));
        let kernel = again.kernel("write")?;
        let (data, stream) = (rank.alloc(64, 0)?, rank.create_stream()?);
        let grid = Grid { blocks: [3, 2, 1], threads: [64, 2, 1], shared_bytes: 512, waits: true, barrier: false };
        rank.barrier()?;
        // SAFETY: these are its arguments.
        unsafe { stream.launch(&kernel, &grid, &write_args(&rank, data, 1000))? };
        stream.synchronize()?;
        rank.barrier()?;
        let mut bytes = [0; 64];
        rank.read(data, &mut bytes)?;
        assert_eq!(words(&bytes), expected(&rank, 1000));
        rank.free(data)?;
        drop(stream);
        rank.leave()
    });
    ended.into_iter().for_each(Result::unwrap);
    assert_eq!(state.live, [0; 11], "everything was given back");
    assert_eq!(state.loaded, 2, "one module on each device");
    for launch in state.launches() {
        assert_eq!((launch.grid, launch.block, launch.shared, launch.cooperative), ([3, 2, 1], [64, 2, 1], 512, 1));
        assert_eq!(launch.values()[6], 1000, "four bytes and no more");
        assert_eq!(launch.table[..2], [i64::from(launch.device), 2], "the table in device memory");
    }
}

#[test]
fn a_graph_does_again_what_was_recorded_in_its_order() {
    let turn = Turn::new(|_| ());
    let (ended, state) = on(1, &turn, |rank| {
        let kernels = rank.load(&code()[0])?;
        let (write, nothing) = (kernels.kernel("write")?, kernels.kernel("nothing")?);
        let (data, copy, stream) = (rank.alloc(64, 0)?, rank.alloc(64, 0)?, rank.create_stream()?);
        let args = write_args(&rank, data, 7);
        stream.begin_capture()?;
        // SAFETY: these are its arguments; the copy is between allocations of that size.
        unsafe {
            stream.launch(&write, &Grid::new(2, 32), &args)?;
            stream.copy(copy, data, 64)?;
            stream.launch(&nothing, &Grid::new(1, 1), &args[..1])?;
        }
        let graph = stream.end_capture()?;
        let mut bytes = [1; 64];
        rank.read(copy, &mut bytes)?;
        assert_eq!(bytes, [0; 64], "nothing was done yet");
        for _ in 0..20 {
            rank.write(copy, &[9; 64])?;
            // SAFETY: as above.
            unsafe { stream.launch_graph(&graph)? };
            stream.synchronize()?;
            rank.read(copy, &mut bytes)?;
            assert_eq!(words(&bytes), expected(&rank, 7), "the copy comes after the kernel");
        }
        drop((graph, stream));
        rank.leave()
    });
    ended.into_iter().for_each(Result::unwrap);
    assert_eq!(state.live, [0; 11], "everything was given back");
    let names: Vec<String> = state.launches().iter().map(Launch::name).collect();
    assert_eq!(names, ["write", "nothing"].repeat(20));
}

#[test]
fn what_cannot_be_captured_is_refused() {
    let turn = Turn::new(|_| ());
    let (ended, _) = on(1, &turn, |rank| {
        let stream = rank.create_stream()?;
        stream.begin_capture()?;
        stream.synchronize()
    });
    let text = ended[0].as_ref().unwrap_err().to_string();
    assert_has(&text, &["operation not permitted when stream is capturing (hipErrorStreamCaptureUnsupported)"]);
}

#[test]
fn events_are_recorded_awaited_and_measured() {
    let turn = Turn::new(|_| ());
    let (ended, state) = on(2, &turn, |rank| {
        let (stream, first, second) = (rank.create_stream()?, rank.create_event()?, rank.create_event()?);
        assert!(!first.has_happened()?);
        stream.record(&first)?;
        rank.stream().wait_for(&first)?;
        rank.stream().record(&second)?;
        let (happened, between) = (second.has_happened()?, second.milliseconds_since(&first)?);
        drop((stream, first, second));
        let barrier = rank.stream().barrier().unwrap_err().to_string();
        assert_has(&barrier, &["the driver hip has no barrier in stream order", "symm.barrier"]);
        rank.leave().map(|()| (happened, between))
    });
    for ended in ended {
        assert_eq!(ended.unwrap(), (true, 1.5));
    }
    assert_eq!(state.live, [0; 11], "everything was given back");
}

#[test]
fn a_fault_ends_the_run_for_ranks_that_have_joined() {
    let turn = Turn::new(|_| ());
    let (ended, _) = on(2, &turn, |rank| {
        let kernels = rank.load(&code()[0])?;
        rank.barrier()?;
        if rank.rank() == 1 {
            let ctx = [Arg::from(rank.device_ctx())];
            // SAFETY: it takes the context.
            unsafe { rank.stream().launch(&kernels.kernel("fault")?, &Grid::new(6, 32), &ctx)? };
            return rank.stream().synchronize();
        }
        let hangs = [Arg::from(rank.device_ctx())];
        // SAFETY: it takes the context.
        unsafe { rank.stream().launch(&kernels.kernel("hang")?, &Grid::new(1, 32), &hangs)? };
        rank.stream().synchronize()
    });
    let texts: Vec<String> = ended.into_iter().map(|ended| ended.unwrap_err().to_string()).collect();
    assert_has(&texts[1], &["p.mlir:3:5: rank 1, block (5,0,0), thread 7 of @kernels::fault: index -3 is not below 8"]);
    assert_has(&texts[0], &["stopped, because rank 1 reported", "index -3 is not below 8"]);
}

#[test]
fn every_refusal_names_the_function() {
    for (function, action) in [
        ("hipEventCreateWithFlags", "make an event"),
        ("hipEventRecord", "record an event"),
        ("hipStreamWaitEvent", "let a stream wait for an event"),
        ("hipStreamBeginCapture", "begin to capture a graph"),
        ("hipStreamEndCapture", "capture a graph"),
        ("hipGraphInstantiateWithFlags", "make a graph that can be launched"),
        ("hipGraphLaunch", "launch a graph"),
    ] {
        let turn = Turn::new(|state| state.refuse(function, -1, 101));
        let (ended, _) = on(1, &turn, |rank| {
            let (stream, event) = (rank.create_stream()?, rank.create_event()?);
            stream.record(&event)?;
            stream.wait_for(&event)?;
            stream.begin_capture()?;
            let graph = stream.end_capture()?;
            // SAFETY: there is nothing in it.
            unsafe { stream.launch_graph(&graph) }
        });
        let text = ended[0].as_ref().unwrap_err().to_string();
        assert_has(&text, &["HIP could not ", action, ": invalid device ordinal (hipErrorInvalidDevice)"]);
    }
}

/// Lets a kernel run on a rank's stream that never ends.
fn hang(rank: &Rank) -> Result<(), Error> {
    let context = [Arg::from(rank.device_ctx())];
    // SAFETY: it takes the context.
    unsafe { rank.stream().launch(&rank.load(&code()[0])?.kernel("hang")?, &Grid::new(1, 32), &context) }
}

#[test]
fn an_alloc_after_a_kernel_that_hangs_ends_with_the_timeout() {
    for ranks in [1, 2] {
        let _turn = Turn::new(|_| ());
        let mut config = config(ranks);
        config.timeout = Some(Duration::from_millis(400));
        config.device = Device::Hip(Vec::new());
        let body = |rank: Rank| {
            if rank.rank() == 0 {
                hang(&rank).unwrap();
            }
            rank.alloc(64, 0).unwrap_err().to_string()
        };
        let threads: Vec<_> =
            join(&config).unwrap().into_iter().map(|rank| thread::spawn(move || body(rank))).collect();
        let texts: Vec<String> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        let waits = "rank 0: waits for its device at ";
        assert_has(&texts[0], &["not finished after 400ms", waits, "; the last launch was of @kernels::hang"]);
    }
}

#[test]
fn a_stream_that_hangs_is_left_after_a_failure() {
    let _turn = Turn::new(|_| ());
    let mut config = config(1);
    config.timeout = Some(Duration::from_millis(300));
    config.device = Device::Hip(Vec::new());
    let rank = join(&config).unwrap().remove(0);
    let (ends, ended) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let (stream, context) = (rank.create_stream().unwrap(), [Arg::from(rank.device_ctx())]);
        let kernel = rank.load(&code()[0]).unwrap().kernel("hang").unwrap();
        // SAFETY: it takes the context.
        unsafe { stream.launch(&kernel, &Grid::new(1, 32), &context).unwrap() };
        let text = stream.synchronize().unwrap_err().to_string();
        drop(stream);
        drop(rank);
        ends.send(text)
    });
    let text = ended.recv_timeout(Duration::from_secs(20)).expect("the library waits for the stream");
    assert_has(&text, &["not finished after 300ms"]);
}

#[test]
fn code_is_loaded_beside_a_kernel_that_hangs() {
    let turn = Turn::new(|_| ());
    let (ended, _) = on(2, &turn, |rank| {
        if rank.rank() == 0 {
            hang(&rank)?;
        }
        let mut other = code();
        other[0].module = "others".to_owned();
        // What its checks say is read from the device.
        rank.load(&other[0])?;
        rank.barrier()
    });
    ended.into_iter().for_each(Result::unwrap);
}

#[test]
fn calls_leave_the_callers_device_current() {
    let turn = Turn::new(|_| ());
    let mut config = config(2);
    config.device = Device::Hip(Vec::new());
    crate::stand_in::make_current(1);
    let ranks = join(&config).unwrap();
    assert_eq!(crate::stand_in::current(), 1, "joining");
    let bodies = ranks.into_iter().map(|rank| {
        thread::spawn(move || {
            let other = 1 - i32::try_from(rank.rank()).unwrap();
            crate::stand_in::make_current(other);
            let data = rank.alloc(64, 0).unwrap();
            rank.write(data, &[1; 64]).unwrap();
            let stream = rank.create_stream().unwrap();
            stream.synchronize().unwrap();
            drop(stream);
            assert_eq!(crate::stand_in::current(), other, "calls");
            rank.leave().unwrap();
            assert_eq!(crate::stand_in::current(), other, "leaving");
        })
    });
    let bodies: Vec<_> = bodies.collect();
    for body in bodies {
        body.join().unwrap();
    }
    assert_eq!(turn.state().live, [0; 11], "everything was given back");
}

#[test]
fn code_that_is_cut_off_is_refused_before_the_library_reads_it() {
    let turn = Turn::new(|_| ());
    let (ended, _) = on(1, &turn, |rank| {
        // An ELF file whose section headers lie past its end.
        let mut image = vec![0_u8; 128];
        image[..6].copy_from_slice(b"\x7fELF\x02\x01");
        image[0x28..0x30].copy_from_slice(&4096_u64.to_le_bytes());
        image[0x3a..0x3c].copy_from_slice(&64_u16.to_le_bytes());
        image[0x3c..0x3e].copy_from_slice(&5_u16.to_le_bytes());
        let code = symm_runtime::DeviceCode { module: "cut".to_owned(), image };
        Ok(rank.load(&code).unwrap_err().to_string())
    });
    assert_has(ended[0].as_ref().unwrap(), &["the code of @cut is truncated: it has 128 bytes, and needs 4416"]);
}
