//! What the ranks do that these tests start.

use std::io::Write;
use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::Signal;
use symm_runtime::trace::What;
use symm_runtime::{Bootstrap, Config, Coords, Device, Error, Rank, Ranks, Spawn, join, run, spawn_processes};

use crate::PATIENCE;
use crate::common::{GE, alloc, barrier_all, env, launch, read, signal, wait};
use crate::storm::{has_stopped_itself, stop_self};

pub fn as_rank(what: &str) -> ExitCode {
    match try_as_rank(what) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Where the rank is, and what it says of its program.
fn place(what: &str) -> Result<Bootstrap, Error> {
    let mut bootstrap = Bootstrap::from_env()?;
    let rank = bootstrap.rank();
    bootstrap.deadline = match what {
        "short" | "stop early" => Duration::from_secs(3),
        "longest" => Duration::MAX,
        _ => PATIENCE,
    };
    bootstrap.fingerprint = match what {
        "other program" if rank == 1 => vec![2],
        "no program" if rank == 1 => Vec::new(),
        "other long program" => [vec![1; 300_000], vec![u8::from(rank == 1)]].concat(),
        "long program" => vec![1; 300_000],
        _ => vec![1],
    };
    bootstrap.options = match what {
        "other option" => vec![("steps".to_owned(), rank.to_string())],
        "other long option" => vec![("text".to_owned(), "x".repeat(300_000) + &(rank == 1).to_string())],
        "no option" if rank == 1 => Vec::new(),
        _ => vec![("steps".to_owned(), "7".to_owned())],
    };
    Ok(bootstrap)
}

fn try_as_rank(what: &str) -> Result<String, Error> {
    if !what.starts_with("spawn ") {
        handle_signals();
    }
    if let Some(what) = what.strip_prefix("hosts ") {
        return crate::hosts::as_rank(what);
    }
    if what.starts_with("worlds") {
        return crate::worlds::as_rank(what);
    }
    let bootstrap = place(what)?;
    let rank = bootstrap.rank();
    if let Some(said) = before_joining(what, &bootstrap)? {
        return Ok(said);
    }
    let config = config(what, bootstrap);
    if what.starts_with("join") {
        let rank = join(&config)?.remove(0);
        return join_and_leave(rank, what).map(|()| "joined and left".to_owned());
    }
    let what = what.to_owned();
    let outcome = run(&config, move |rank| act(&what, rank)).map_err(|failure| {
        for event in failure.trace.iter().flat_map(|trace| &trace.events) {
            if let What::Wait { saw, satisfied: false, .. } = event.what {
                println!("rank {}, block {:?}: a wait saw {saw}", event.rank, event.block);
            }
        }
        failure.error
    })?;
    let arrows = outcome.trace.map_or(0, |trace| {
        let ranks: std::collections::BTreeSet<u32> = trace.events.iter().map(|event| event.rank).collect();
        assert_eq!(ranks.len(), 3, "events of all ranks");
        trace.events.iter().filter(|event| matches!(event.what, What::Wait { .. })).count()
    });
    Ok(format!("rank {rank} done, {} of {}, waits traced {arrows}", outcome.values.len(), outcome.values[0]))
}

/// What a rank does before it joins; what it says, if it does not join.
fn before_joining(what: &str, bootstrap: &Bootstrap) -> Result<Option<String>, Error> {
    let rank = bootstrap.rank();
    match what {
        "stay away" if rank == 1 => return Err(Error::Program("no such file".to_owned())),
        "stay away" => sleep(Duration::from_secs(3600)),
        "linger" => {
            println!("{}", std::process::id());
            sleep(Duration::from_secs(3600));
        }
        "spawner" => {
            let program = std::env::current_exe().expect("this program");
            let args = vec!["--as".into(), "linger".into()];
            spawn_processes(&Spawn { ranks: 3, program, args, input: Vec::new(), grace: Duration::ZERO })?;
        }
        spawned if spawned.starts_with("spawn ") => {
            let program = std::env::current_exe().expect("this program");
            let args = vec!["--as".into(), spawned["spawn ".len()..].into()];
            let grace = if what.contains("keep") { Duration::from_secs(1) } else { PATIENCE };
            spawn_processes(&Spawn { ranks: 3, program, args, input: Vec::new(), grace })?;
            return Ok(Some(String::new()));
        }
        "die at once 0" | "die at once 1" if what.ends_with(&rank.to_string()) => signal_self(Signal::KILL),
        "exit at once" => std::process::exit(1),
        "keep" | "keep and fail" => {
            // It has this process's standard output.
            fork(false, || sleep(PATIENCE));
            print!("an unfinished line");
            std::io::stdout().flush().expect("an output");
            std::process::exit(i32::from(what == "keep and fail"));
        }
        "join, closed" => {
            for fd in 0..3 {
                // SAFETY: nobody in this process uses them after this.
                unsafe { libc::close(fd) };
            }
        }
        "fork early" => {
            bootstrap.announce()?;
            if rank == 1 {
                fork_helper();
                signal_self(Signal::KILL);
            }
        }
        "tell" => {
            bootstrap.announce()?;
            tell("announced");
        }
        "slow start" => {
            bootstrap.announce()?;
            sleep(Duration::from_millis(30));
        }
        "die early" | "stop early" => {
            bootstrap.announce()?;
            tell("announced");
            if rank == u32::from(what == "die early") {
                sleep(Duration::from_millis(300));
                if what == "die early" { signal_self(Signal::KILL) } else { stop_self() }
            }
            sleep(Duration::from_secs(1));
        }
        _ => {}
    }
    Ok(None)
}

/// Says to the test how far this rank is.
fn tell(what: &str) {
    println!("{what}");
    std::io::stdout().flush().expect("an output");
}

/// The run that a rank asks for.
fn config(what: &str, bootstrap: Bootstrap) -> Config {
    let rank = bootstrap.rank();
    let mut config = Config::new(Ranks::Process(bootstrap));
    config.timeout = match what {
        "stop 1" => Some(Duration::from_secs(2)),
        "stop 1 for a while" => None,
        "longest" => Some(Duration::MAX),
        _ => Some(PATIENCE),
    };
    config.heap_size = if what == "other heap" && rank == 1 { 16 << 20 } else { 8 << 20 };
    config.trace = what.ends_with("trace");
    if what.strip_prefix("no device ").is_some_and(|without| without == rank.to_string()) {
        config.device = Device::Cuda(Vec::new());
    }
    config
}

fn signal_self(signal: Signal) {
    crate::start::signal(std::process::id(), signal);
}

/// Handlers that do nothing, as a program has for its own children.
fn handle_signals() {
    extern "C" fn nothing(_: libc::c_int) {}
    for signal in [libc::SIGCHLD, libc::SIGUSR1] {
        // SAFETY: a zeroed sigaction is a valid one, and the handler is a static function of its type.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as usize;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

/// Starts a copy of this process, which does `what` and ends; waits for its good end if asked to.
fn fork(waits: bool, what: impl FnOnce()) {
    // SAFETY: the child does what a forked process of a program with threads may, and ends without a clean-up.
    unsafe {
        match libc::fork() {
            0 => {
                what();
                libc::_exit(0);
            }
            child if waits => {
                let mut status = -1;
                while libc::waitpid(child, &raw mut status, 0) < 0 {}
                assert_eq!(status, 0, "the child failed");
            }
            _ => {}
        }
    }
}

/// A child that lives for a while, and holds no output of ours.
fn fork_helper() {
    fork(false, || {
        for fd in 0..3 {
            // SAFETY: nobody in this process uses them any more.
            unsafe { libc::close(fd) };
        }
        sleep(PATIENCE);
    });
}

/// What a child of a rank does that it should not.
fn misuse(what: &str, rank: Rank) {
    let refused = |result: Result<(), Error>| {
        let error = result.expect_err("refused").to_string();
        assert!(error.contains("forked"), "{error}");
    };
    match what {
        "join, fork and call" => {
            refused(rank.barrier());
            refused(rank.alloc(8, 0).map(drop));
            refused(rank.check());
            refused(rank.broadcast(0, &mut [0]));
            refused(rank.stream().barrier());
            std::mem::forget(rank);
        }
        "join, fork and leave" => rank.leave().expect("nothing to leave"),
        "join, fork and run" => {
            std::mem::forget(rank);
            let config = Config::new(Ranks::Threads(2));
            run(&config, |rank| rank.barrier()).expect("a run of its own");
        }
        _ => drop(rank),
    }
}

fn join_and_leave(rank: Rank, what: &str) -> Result<(), Error> {
    let (me, ranks) = (rank.rank(), rank.num_ranks());
    let mut word = (u64::from(me) << 40).to_le_bytes();
    rank.broadcast(ranks - 1, &mut word)?;
    assert_eq!(word, (u64::from(ranks - 1) << 40).to_le_bytes());
    let mail = rank.alloc(8, 0)?;
    rank.write(rank.as_remote(mail, (me + 1) % ranks)?, &u64::from(me).to_le_bytes())?;
    rank.barrier()?;
    rank.read(mail, &mut word)?;
    assert_eq!(u64::from_le_bytes(word), u64::from((me + ranks - 1) % ranks));
    if what == "join, closed" {
        // As a library that complains.
        for fd in [rustix::stdio::stdin(), rustix::stdio::stdout(), rustix::stdio::stderr()] {
            let _ = rustix::io::write(fd, &[b'!'; 4096]);
        }
    }
    if what == "join and die" && me == 1 {
        std::process::exit(7);
    }
    if what.strip_prefix("join, fork and die ").is_some_and(|dead| dead == me.to_string()) {
        fork_helper();
        signal_self(Signal::KILL);
    }
    if what.starts_with("join, fork") && !what.contains("die") && me == ranks - 1 {
        // SAFETY: the copy is the child's; this process goes on with its own.
        fork(true, || misuse(what, unsafe { std::ptr::read(&raw const rank) }));
    }
    rank.barrier()?;
    rank.leave()
}

fn act(what: &str, rank: &Rank) -> Result<u64, Error> {
    let data = alloc(rank, 64 * 8, c"act.mlir:1:1");
    match what {
        "kill 2" | "kill 0" | "kill 2, trace" if what.starts_with(&format!("kill {}", rank.rank())) => {
            // The others are to be in their launches: rank 1 has signalled twice when it waits for rank 0, which waits
            // for this rank.
            while what.ends_with("trace") && (0..4).any(|flag| read(data.wrapping_add(8 * flag)) < 2001) {
                sleep(Duration::from_millis(5));
            }
            sleep(Duration::from_millis(200));
            signal_self(Signal::KILL);
            sleep(Duration::from_secs(60));
        }
        "stop 1" | "stop 1 for a while" if rank.rank() == 1 => stop_self(),
        "fork and die 1" if rank.rank() == 1 => {
            fork_helper();
            signal_self(Signal::KILL);
        }
        // The child returns from here as its parent does.
        // SAFETY: it is a copy of this thread, which holds no lock.
        "fork and return" if rank.rank() == 1 && unsafe { libc::fork() } == 0 => return Ok(0),
        "exit 1" if rank.rank() == 1 => std::process::exit(3),
        "fault" => drop(alloc(rank, 1 << 30, c"act.mlir:6:1")),
        "error" if rank.rank() == 1 => return Err(Error::Program("cannot compile".to_owned())),
        "many blocks" => {
            barrier_all(rank, c"act.mlir:9:1");
            launch(rank, c"rest", rest, 8000, data, c"act.mlir:9:1");
        }
        "deadlock" | "deadlock, trace" => launch(rank, c"stuck", stuck, 2, data, c"act.mlir:8:1"),
        _ => {}
    }
    for _ in 0..if matches!(what, "long trace" | "late trace") { 40 } else { 1 } {
        launch(rank, c"around", around, 4, data, c"act.mlir:10:1");
    }
    barrier_all(rank, c"act.mlir:11:1");
    if what == "late trace" {
        return_late(rank)?;
    }
    Ok(read(data))
}

/// Rank 1 stops itself when it has returned, and the others return after that.
fn return_late(rank: &Rank) -> Result<(), Error> {
    let mut pid = std::process::id().to_le_bytes();
    rank.broadcast(1, &mut pid)?;
    if rank.rank() == 1 {
        std::thread::spawn(|| {
            // Its events don't fit the connection.
            sleep(Duration::from_secs(2));
            stop_self();
        });
        return Ok(());
    }
    while !has_stopped_itself(u32::from_le_bytes(pid)) {
        sleep(Duration::from_millis(5));
    }
    tell("returns");
    Ok(())
}

/// Tells every rank, in turn, a value that depends on the sender, and waits for the neighbour's.
unsafe extern "C" fn around(args: *const *const std::ffi::c_void, coords: *const Coords) {
    // SAFETY: started by `launch`.
    let (env, at) = unsafe { env(args, coords) };
    let mine = env.flag(at.block[0].cast_unsigned());
    let (rank, ranks) = (env.rank(), env.num_ranks());
    for step in 1..=100 {
        signal(env.remote(mine, (rank + 1) % ranks), 1000 * step + rank);
        wait(&env, mine, GE, 1000 * step, c"act.mlir:20:5");
    }
}

/// Comes to an end when all blocks have begun.
unsafe extern "C" fn rest(args: *const *const std::ffi::c_void, coords: *const Coords) {
    // SAFETY: started by `launch`.
    let (env, _) = unsafe { env(args, coords) };
    let begun = crate::common::atomic(env.flag(1)).fetch_add(1, std::sync::atomic::Ordering::AcqRel) + 1;
    if begun == 8000 {
        signal(env.flag(0), 1);
    }
    wait(&env, env.flag(0), GE, 1, c"act.mlir:40:5");
}

unsafe extern "C" fn stuck(args: *const *const std::ffi::c_void, coords: *const Coords) {
    // SAFETY: started by `launch`.
    let (env, _) = unsafe { env(args, coords) };
    wait(&env, env.flag(0), GE, 7, c"act.mlir:30:5");
}
