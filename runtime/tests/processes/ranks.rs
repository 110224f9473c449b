//! What the ranks do that these tests start.

use std::process::{Command, ExitCode};
use std::thread::sleep;
use std::time::Duration;

use symm_runtime::trace::What;
use symm_runtime::{Bootstrap, Config, Coords, Device, Error, Rank, Ranks, Spawn, join, run, spawn_processes};

use crate::common::{GE, alloc, barrier_all, env, launch, read, signal, wait};

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

fn try_as_rank(what: &str) -> Result<String, Error> {
    let mut bootstrap = Bootstrap::from_env()?;
    let rank = bootstrap.rank();
    bootstrap.deadline = Duration::from_secs(if matches!(what, "short" | "stop early") { 3 } else { 20 });
    bootstrap.fingerprint = match what {
        "other program" if rank == 1 => vec![2],
        "no program" if rank == 1 => Vec::new(),
        _ => vec![1],
    };
    bootstrap.options = vec![("steps".to_owned(), if what == "other option" { rank } else { 7 }.to_string())];
    if what == "no option" && rank == 1 {
        bootstrap.options.clear();
    }
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
            let grace = Duration::from_secs(60);
            return spawn_processes(&Spawn { ranks: 3, program, args, input: Vec::new(), grace })
                .map(|()| String::new());
        }
        "die at once 0" | "die at once 1" if what.ends_with(&rank.to_string()) => signal_self("-KILL"),
        "die early" | "stop early" => {
            bootstrap.announce()?;
            if rank == u32::from(what == "die early") {
                sleep(Duration::from_millis(300));
                signal_self(if what == "die early" { "-KILL" } else { "-STOP" });
            }
            sleep(Duration::from_secs(1));
        }
        _ => {}
    }
    let mut config = Config::new(Ranks::Process(bootstrap));
    config.timeout = Some(Duration::from_secs(if what == "stop 1" { 2 } else { 20 }));
    config.heap_size = if what == "other heap" && rank == 1 { 16 << 20 } else { 8 << 20 };
    config.trace = what.ends_with("trace");
    if what.strip_prefix("no device ").is_some_and(|without| without == rank.to_string()) {
        config.device = Device::Cuda(Vec::new());
    }
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

fn signal_self(signal: &str) {
    let _ = Command::new("kill").args([signal, &std::process::id().to_string()]).status();
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
    if what == "join and die" && me == 1 {
        std::process::exit(7);
    }
    rank.barrier()?;
    rank.leave()
}

fn act(what: &str, rank: &Rank) -> Result<u64, Error> {
    let data = alloc(rank, 64 * 8, c"act.mlir:1:1");
    match what {
        "kill 2" | "kill 0" | "kill 2, trace" if what.starts_with(&format!("kill {}", rank.rank())) => {
            sleep(Duration::from_millis(200));
            signal_self("-KILL");
            sleep(Duration::from_secs(60));
        }
        "stop 1" if rank.rank() == 1 => signal_self("-STOP"),
        "exit 1" if rank.rank() == 1 => std::process::exit(3),
        "fault" => drop(alloc(rank, 1 << 30, c"act.mlir:6:1")),
        "error" if rank.rank() == 1 => return Err(Error::Program("cannot compile".to_owned())),
        "deadlock" | "deadlock, trace" => launch(rank, c"stuck", stuck, 2, data, c"act.mlir:8:1"),
        _ => {}
    }
    launch(rank, c"around", around, 4, data, c"act.mlir:10:1");
    barrier_all(rank, c"act.mlir:11:1");
    Ok(read(data))
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

unsafe extern "C" fn stuck(args: *const *const std::ffi::c_void, coords: *const Coords) {
    // SAFETY: started by `launch`.
    let (env, _) = unsafe { env(args, coords) };
    wait(&env, env.flag(0), GE, 7, c"act.mlir:30:5");
}
